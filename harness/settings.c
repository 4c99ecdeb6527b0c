#include "harness/settings.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "harness/jsonc.h"
#include "harness/settings_internal.h"

static const char NEW_TEXT[] = "{}\n";

static void place(const char *text, size_t offset, size_t *line, size_t *column)
{
    *line = *column = 1;
    for (size_t i = 0; i < offset; i++) {
        *column = text[i] == '\n' ? 1 : *column + 1;
        *line += text[i] == '\n';
    }
}

static enum err fail_at(const char *text, size_t offset, enum err e, struct fault *fault, const char *what)
{
    size_t line, column;
    place(text, offset, &line, &column);
    return fault_set(fault, e, "line %zu, column %zu: %s", line, column, what);
}

enum err settings_fail(const struct settings *s, enum err e, size_t offset, struct fault *fault, const char *what)
{
    return fail_at((const char *)s->text.data, offset, e, fault, what);
}

/* What people get wrong most, told by what stands at the place of the fault. */
static const char *explain(const char *plain, size_t len, const struct json_fault *bad)
{
    size_t before = bad->offset;
    char c = bad->offset < len ? plain[bad->offset] : '\0';
    while (before > 0 && strchr(" \t\n\r", plain[before - 1]) != NULL && plain[before - 1] != '\0')
        before--;
    if (bad->err == ERR_UTF8)
        return "not UTF-8; save the file as UTF-8";
    if (bad->err == ERR_DEPTH)
        return "nested more than 128 deep, which is more than we edit; edit the file by hand";
    if ((c == '}' || c == ']') && before > 0 && plain[before - 1] == ',')
        return "a comma before a closing bracket, with which Gemini does not start; take the comma out";
    if (c == '\'')
        return "a single quote, with which Gemini does not start; write \"...\" instead";
    if (bad->offset >= len)
        return "the file ends too early, and Gemini does not start with it; complete it";
    return "not JSON, and Gemini does not start with it; correct it here";
}

static enum err check_start(const char *text, const char *plain, size_t len, struct fault *fault)
{
    struct span all = span_whole(plain, len);
    if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        return fail_at(text, 0, ERR_SYNTAX, fault,
                       "a byte order mark, with which Gemini does not start; save the file as UTF-8 without BOM");
    if (all.from == all.to)
        return fail_at(text, 0, ERR_SYNTAX, fault,
                       "nothing in it, with which Gemini does not start; remove the file, or write {} into it");
    return ERR_OK;
}

static enum err check_syntax(const char *text, const char *plain, size_t len, struct fault *fault)
{
    struct json_fault bad = {.err = ERR_OK}, loose;
    const struct json *v = NULL;
    enum err e = check_start(text, plain, len, fault);
    if (e != ERR_OK)
        return e;
    struct arena *arena = arena_new(SETTINGS_ARENA_BYTES);
    e = json_parse_loose(arena, plain, len, &v, &bad, &loose);
    if (e == ERR_NOMEM || e == ERR_TOO_LARGE)
        fault_set(fault, e, "%s", err_text(e));
    else if (e != ERR_OK)
        fail_at(text, bad.offset, e, fault, explain(plain, len, &bad));
    else if (!json_is(v, JSON_OBJECT))
        e = fail_at(text, span_whole(plain, len).from, ERR_CONFIG, fault,
                    "no object, with which Gemini does not start; write {} instead");
    arena_free(arena);
    return e;
}

/* An editor shows a line end where Gemini sees none, so that a comment may swallow more than it seems; and what we put
 * behind one would make one line end of the two. */
static enum err check_returns(const char *text, size_t len, struct fault *fault)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] == '\r' && (i + 1 == len || text[i + 1] != '\n'))
            return fail_at(text, i, ERR_CONFIG, fault,
                           "a carriage return without a line feed, which is no line end for Gemini; save the file with "
                           "usual line ends");
    return ERR_OK;
}

enum err settings_refresh(struct settings *s, struct fault *fault)
{
    if (buf_err(&s->text) != ERR_OK)
        return fault_set(fault, buf_err(&s->text), "%s", err_text(s->text.err));
    char *plain = malloc(s->text.len + 1);
    if (plain == NULL)
        return fault_set(fault, ERR_NOMEM, "%s", err_text(ERR_NOMEM));
    memcpy(plain, s->text.data, s->text.len);
    plain[s->text.len] = '\0';
    jsonc_strip(plain, s->text.len);
    free(s->plain);
    s->plain = plain;
    return ERR_OK;
}

/* Line ends and indentation, by the first line break and the first indented line. */
static void learn_style(struct settings *s)
{
    const char *text = s->plain, *end = text + s->text.len;
    const char *newline = memchr(text, '\n', s->text.len);
    s->newline = newline != NULL && newline > text && newline[-1] == '\r' ? "\r\n" : "\n";
    memcpy(s->unit, "  ", 3);
    while (newline != NULL) {
        const char *line = newline + 1;
        size_t n = 0;
        while (line + n < end && line[n] == (line[0] == '\t' ? '\t' : ' '))
            n++;
        bool blank = line + n >= end || line[n] == '\r' || line[n] == '\n' || line[n] == ' ' || line[n] == '\t';
        if (n > 0 && !blank) {
            size_t step = line[0] == '\t' ? 1 : n < SETTINGS_UNIT_BYTES / 2 ? n : SETTINGS_UNIT_BYTES / 2;
            memset(s->unit, line[0], step);
            s->unit[step] = '\0';
            return;
        }
        newline = memchr(line, '\n', (size_t)(end - line));
    }
}

static enum err fill(struct settings *s, const void *text, size_t len, struct fault *fault)
{
    buf_init(&s->text, SETTINGS_MAX_BYTES + (64 << 10));
    buf_put(&s->text, text, len);
    s->first = malloc(len + 1);
    if (s->first == NULL)
        return fault_set(fault, ERR_NOMEM, "%s", err_text(ERR_NOMEM));
    memcpy(s->first, text, len);
    s->first_len = len;
    enum err e = settings_refresh(s, fault);
    if (e == ERR_OK)
        learn_style(s);
    return e;
}

enum err settings_open(const void *text, size_t len, struct settings **out, struct fault *fault)
{
    if (len > SETTINGS_MAX_BYTES)
        return fault_set(fault, ERR_TOO_LARGE, "more than %d bytes, which is more than we edit; edit it by hand",
                         SETTINGS_MAX_BYTES);
    if (len == 0)
        return fault_set(
            fault, ERR_SYNTAX,
            "line 1, column 1: nothing in it, with which Gemini does not start; remove the file, or write {} into it");
    struct settings *s = calloc(1, sizeof *s);
    if (s == NULL)
        return fault_set(fault, ERR_NOMEM, "%s", err_text(ERR_NOMEM));
    enum err e = fill(s, text, len, fault);
    if (e == ERR_OK)
        e = check_syntax(s->first, s->plain, len, fault);
    if (e == ERR_OK)
        e = check_returns(s->first, len, fault);
    if (e != ERR_OK) {
        settings_free(s);
        return e;
    }
    *out = s;
    return ERR_OK;
}

enum err settings_new(struct settings **out)
{
    enum err e = settings_open(NEW_TEXT, sizeof NEW_TEXT - 1, out, NULL);
    if (e == ERR_OK)
        (*out)->fresh = true;
    return e;
}

void settings_free(struct settings *s)
{
    if (s == NULL)
        return;
    buf_wipe(&s->text);
    free(s->plain);
    free(s->first);
    free(s);
}

const char *settings_text(const struct settings *s, size_t *len)
{
    *len = s->text.len;
    return (const char *)s->text.data;
}

bool settings_is_bare(const struct settings *s)
{
    bool only_brackets = true;
    for (size_t i = 0; i < s->text.len; i++)
        only_brackets = only_brackets && s->text.data[i] != '\0' && strchr("{} \t\r\n", s->text.data[i]) != NULL;
    return s->bare && only_brackets;
}

struct span settings_top(const struct settings *s)
{
    return span_whole(s->plain, s->text.len);
}

enum err settings_value(const struct settings *s, struct span at, struct arena *arena, const struct json **out,
                        struct fault *fault)
{
    struct json_fault bad, loose;
    enum err e = json_parse_loose(arena, s->plain + at.from, at.to - at.from, out, &bad, &loose);
    return e == ERR_OK ? e : settings_fail(s, e, at.from, fault, err_text(e));
}

/* Whether a key, which may be written with escapes, is this one. */
static bool key_is(const struct settings *s, struct span key, const char *name)
{
    const char *text = s->plain + key.from;
    size_t len = key.to - key.from;
    if (memchr(text, '\\', len) == NULL)
        return len == strlen(name) + 2 && memcmp(text + 1, name, len - 2) == 0;
    struct arena *arena = arena_new(16 * len + 4096);
    const struct json *v = NULL;
    bool same = settings_value(s, key, arena, &v, NULL) == ERR_OK && json_equal_cstr(v, name);
    arena_free(arena);
    return same;
}

static enum err check_shape(const struct settings *s, const struct span_item *item, const char *path,
                            enum settings_shape shape, struct fault *fault)
{
    char what[160];
    char c = s->plain[item->value.from];
    if (shape == SETTINGS_ANY || (shape == SETTINGS_OBJECT && c == '{') || (shape == SETTINGS_ARRAY && c == '['))
        return ERR_OK;
    struct buf b;
    buf_init(&b, sizeof what);
    buf_printf(&b, "\"%.40s\" is no %s; give it the shape that Gemini's documentation shows, or take it out", path,
               shape == SETTINGS_OBJECT ? "object" : "array");
    buf_putc(&b, '\0');
    enum err e = settings_fail(s, ERR_CONFIG, item->value.from, fault,
                               buf_err(&b) == ERR_OK ? (const char *)b.data : "a value of the wrong shape");
    buf_wipe(&b);
    return e;
}

enum err settings_look(const struct settings *s, struct span object, const char *path, enum settings_shape shape,
                       struct span_item *out, bool *found, struct fault *fault)
{
    struct span_walk walk;
    struct span_item item, hit = {{0, 0}, {0, 0}, 0};
    const char *dot = strrchr(path, '.'), *name = dot != NULL ? dot + 1 : path;
    bool seen = false;
    span_open(&walk, s->plain, object);
    while (span_next(&walk, &item)) {
        if (!key_is(s, item.key, name))
            continue;
        if (seen)
            return settings_fail(s, ERR_DUPLICATE_KEY, item.from, fault,
                                 "this key stands here a second time, and Gemini takes the last; leave one");
        hit = item;
        seen = true;
    }
    *found = seen;
    if (!seen)
        return ERR_OK;
    enum err e = check_shape(s, &hit, path, shape, fault);
    if (e == ERR_OK)
        *out = hit;
    return e;
}
