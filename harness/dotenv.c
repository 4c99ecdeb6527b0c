#include "harness/dotenv.h"

#include <stdbool.h>
#include <string.h>

struct text {
    const char *at, *end;
};

/* Bytes beyond ASCII may be white space of Unicode, or the mark at a file's start. */
static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r') || (unsigned char)c >= 0x80;
}

static bool is_key_byte(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '-';
}

static bool ends_line(struct text t)
{
    return *t.at == '\n' || *t.at == '\r' ||
           (t.end - t.at > 2 && memcmp(t.at, "\xe2\x80", 2) == 0 && (t.at[2] == '\xa8' || t.at[2] == '\xa9'));
}

static struct text skip_space(struct text t)
{
    while (t.at < t.end && is_space(*t.at))
        t.at++;
    return t;
}

static bool skip_word(struct text *t, const char *word)
{
    size_t len = strlen(word);
    if ((size_t)(t->end - t->at) < len || memcmp(t->at, word, len) != 0)
        return false;
    t->at += len;
    return t->at == t->end || !is_key_byte(*t->at);
}

/* Behind `NAME =` or `NAME: ` when that is what stands here. */
static bool skip_name(struct text *t, const char *name)
{
    struct text rest = skip_space(*t), behind = rest;
    if (skip_word(&behind, "export")) {
        behind = skip_space(behind);
        if (skip_word(&behind, name))
            rest = behind;
        else if (!skip_word(&rest, name))
            return false;
    } else if (!skip_word(&rest, name)) {
        return false;
    }
    behind = skip_space(rest);
    if (behind.at < behind.end && *behind.at == '=') {
        behind.at++;
    } else if (rest.end - rest.at > 1 && rest.at[0] == ':' && is_space(rest.at[1])) {
        behind = rest;
        behind.at++;
    } else {
        return false;
    }
    *t = behind;
    return true;
}

/* Trims, cuts and reports. In double quotes \n and \r stand for the ends of lines. */
static void report(struct text t, bool escapes, dotenv_found *found, void *context)
{
    char value[DOTENV_VALUE_BYTES];
    size_t len = 0;
    t = skip_space(t);
    while (t.at < t.end && len < sizeof value - 1) {
        bool escape = escapes && t.end - t.at > 1 && t.at[0] == '\\' && (t.at[1] == 'n' || t.at[1] == 'r');
        value[len] = escape ? (t.at[1] == 'n' ? '\n' : '\r') : *t.at;
        if (len > 0 || !is_space(value[len]))
            len++;
        t.at += escape ? 2 : 1;
    }
    while (len > 0 && is_space(value[len - 1]))
        len--;
    value[len] = '\0';
    found(context, value);
}

static bool is_quote(char c)
{
    return c == '\'' || c == '"' || c == '`';
}

/* The text between quotes; without an end of it there is none. */
static bool read_quoted(struct text t, struct text *out)
{
    char quote = *t.at++;
    struct text inside = t;
    for (; t.at < t.end; t.at++) {
        if (*t.at == '\\' && t.end - t.at > 1 && t.at[1] == quote) {
            t.at++;
        } else if (*t.at == quote) {
            inside.end = t.at;
            *out = inside;
            return true;
        }
    }
    return false;
}

/* The rest of the line, up to a comment. Quotes around all of it are no part. */
static void report_line(struct text t, dotenv_found *found, void *context)
{
    struct text line = t;
    while (t.at < t.end && *t.at != '\n' && *t.at != '\r' && *t.at != '#')
        t.at++;
    line.end = t.at;
    while (line.at < line.end && is_space(*line.at))
        line.at++;
    while (line.end > line.at && is_space(line.end[-1]))
        line.end--;
    bool quoted = line.end - line.at > 1 && is_quote(*line.at) && line.end[-1] == *line.at;
    bool escapes = line.end > line.at && *line.at == '"';
    if (quoted) {
        line.at++;
        line.end--;
    }
    report(line, escapes, found, context);
}

static void read_value(struct text t, dotenv_found *found, void *context)
{
    struct text start = skip_space(t), inside;
    if (start.at < start.end && is_quote(*start.at) && read_quoted(start, &inside))
        report(inside, *start.at == '"', found, context);
    report_line(t, found, context);
}

void dotenv_values(const char *text, size_t len, const char *name, dotenv_found *found, void *context)
{
    struct text t = {text, text + len};
    bool at_start = true;
    for (; t.at < t.end; t.at++) {
        struct text here = t;
        /* Only the last line of a run of white space is looked at, so that the work stays in proportion. */
        if (at_start && !is_space(*t.at) && skip_name(&here, name))
            read_value(here, found, context);
        at_start = ends_line(t) || (at_start && is_space(*t.at));
    }
}
