#include "policy/yaml_internal.h"

#include <stdbool.h>
#include <stdint.h>

/* Finds where the values of a text stand that the strict parser has accepted: nothing here can be malformed. */
struct scan {
    const char *text;
    size_t len, at;
    struct yaml_place here;
    size_t depth;
    bool in_object[YAML_MAX_DEPTH];
    bool wants_key; /* the next string is a key */
    bool has_key;   /* `key` is the place of the next value's key */
    struct yaml_place key;
};

static void step(struct scan *s)
{
    char c = s->text[s->at++];
    if (c == '\n')
        s->here = (struct yaml_place){.line = s->here.line + 1, .column = 1};
    else if (((uint8_t)c & 0xc0) != 0x80)
        s->here.column++;
}

/* Past the string's closing quote. */
static void skip_string(struct scan *s)
{
    step(s);
    while (s->text[s->at] != '"') {
        if (s->text[s->at] == '\\')
            step(s);
        step(s);
    }
    step(s);
}

static bool is_literal(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-' || c == '+' || c == '.' || c == 'E';
}

static enum err value(struct yaml *doc, struct scan *s)
{
    enum err e = yaml_add_place(doc, s->has_key ? s->key : s->here);
    s->has_key = false;
    if (e != ERR_OK)
        return e;
    char c = s->text[s->at];
    if (c == '{' || c == '[') {
        if (s->depth == YAML_MAX_DEPTH)
            return ERR_DEPTH;
        s->in_object[s->depth++] = s->wants_key = c == '{';
        step(s);
    } else if (c == '"') {
        skip_string(s);
    } else {
        while (s->at < s->len && is_literal(s->text[s->at]))
            step(s);
    }
    return ERR_OK;
}

/* Takes one token. */
static enum err token(struct yaml *doc, struct scan *s)
{
    switch (s->text[s->at]) {
    case ' ':
    case '\t':
    case '\r':
    case '\n':
    case ':':
        step(s);
        return ERR_OK;
    case ',':
        s->wants_key = s->in_object[s->depth - 1];
        step(s);
        return ERR_OK;
    case '}':
    case ']':
        s->depth--;
        s->wants_key = false;
        step(s);
        return ERR_OK;
    case '"':
        if (!s->wants_key)
            return value(doc, s);
        s->key = s->here;
        s->has_key = true;
        s->wants_key = false;
        skip_string(s);
        return ERR_OK;
    default:
        return value(doc, s);
    }
}

enum err yaml_parse_json(struct yaml *doc, const char *text, size_t len, struct fault *fault)
{
    struct json_fault bad = {.err = ERR_OK};
    enum err e = json_parse(doc->arena, text, len, &doc->root, &bad);
    if (e != ERR_OK)
        return yaml_fail(doc, e, yaml_place_of(text, bad.offset), err_text(e), fault);
    struct scan s = {.text = text, .len = len, .here = {1, 1}};
    while (e == ERR_OK && s.at < s.len)
        e = token(doc, &s);
    if (e != ERR_OK)
        return yaml_fail(doc, e, s.here, err_text(e), fault);
    return ERR_OK;
}
