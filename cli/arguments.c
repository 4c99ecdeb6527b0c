#include "cli/arguments.h"

#include <string.h>

#include "evidence/jcs.h"

enum {
    INDENT_STEP = 2,
    DEEPEST_INDENT = 10, /* levels; deeper ones say their level instead */
    KEY_BARE_BYTES = 48,
    SCALAR_BYTES = 64,
};

static unsigned indent_of(unsigned depth)
{
    return INDENT_STEP * (depth < DEEPEST_INDENT ? depth : DEEPEST_INDENT);
}

static void put_indent(const struct term *t, unsigned depth)
{
    fprintf(t->out, "%*s", (int)indent_of(depth), "");
    if (depth > DEEPEST_INDENT)
        fprintf(t->out, "(level %u) ", depth);
}

static bool is_bare(const char *key, size_t len)
{
    if (len == 0 || len > KEY_BARE_BYTES)
        return false;
    for (size_t i = 0; i < len; i++) {
        char c = key[i];
        bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                    c == '-' || c == '.';
        if (!good)
            return false;
    }
    return true;
}

static bool has_parts(const struct json *v)
{
    return (json_is(v, JSON_OBJECT) || json_is(v, JSON_ARRAY)) && json_count(v) > 0;
}

/* " = 12", for a value that is neither a string nor one with parts. */
static void put_scalar(const struct term *t, const struct json *v)
{
    struct buf b;
    buf_init(&b, SCALAR_BYTES);
    if (jcs_write(&b, v) == ERR_OK)
        fprintf(t->out, "= %.*s\n", (int)b.len, (const char *)b.data);
    else
        fputs("= (cannot be shown)\n", t->out);
    buf_wipe(&b);
}

static size_t put_string(const struct term *t, unsigned depth, const struct json *v)
{
    size_t len = 0;
    const char *text = json_text(v, &len);
    return term_wrap(t, indent_of(depth), text, len);
}

/* The name of part `i` of `v`, without a newline when it is bare (then *open is true). */
static size_t put_name(const struct term *t, unsigned depth, const struct json *v, size_t i, bool *open)
{
    size_t len = 0;
    put_indent(t, depth);
    *open = true;
    if (json_is(v, JSON_ARRAY)) {
        fprintf(t->out, "[%zu]", i);
        return 0;
    }
    const char *key = json_key(v, i, &len);
    if (is_bare(key, len)) {
        fprintf(t->out, "%.*s", (int)len, key);
        return 0;
    }
    fputs("(key)\n", t->out);
    *open = false;
    return 1 + term_wrap(t, indent_of(depth), key, len);
}

static size_t put_parts(const struct term *t, unsigned depth, const struct json *v);

/* The value of a name that stands at `depth`. */
static size_t put_value(const struct term *t, unsigned depth, const struct json *v, bool open)
{
    if (json_is(v, JSON_STRING) || has_parts(v)) {
        if (open)
            fputc('\n', t->out);
        size_t lines = json_is(v, JSON_STRING) ? put_string(t, depth + 1, v) : put_parts(t, depth + 1, v);
        return lines + open;
    }
    if (open)
        fputc(' ', t->out);
    else
        put_indent(t, depth + 1);
    put_scalar(t, v);
    return 1;
}

/* At most JSON_MAX_DEPTH deep: the parser refuses what is deeper. */
static size_t put_parts(const struct term *t, unsigned depth, const struct json *v)
{
    size_t lines = 0;
    if (depth > JSON_MAX_DEPTH) {
        fputs("(too deep to be shown)\n", t->out);
        return 1;
    }
    for (size_t i = 0; i < json_count(v); i++) {
        bool open = false;
        lines += put_name(t, depth, v, i, &open);
        lines += put_value(t, depth, json_at(v, i), open);
    }
    return lines;
}

size_t arguments_print(const struct term *t, const struct json *args)
{
    if (json_is(args, JSON_STRING))
        return put_string(t, 1, args);
    if (has_parts(args))
        return put_parts(t, 1, args);
    put_indent(t, 1);
    put_scalar(t, args);
    return 1;
}
