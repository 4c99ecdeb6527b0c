#include "policy/yaml.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "evidence/visible.h"
#include "policy/yaml_internal.h"

enum { FIRST_PLACES = 64 };

enum err yaml_add_place(struct yaml *doc, struct yaml_place place)
{
    if (doc->count == YAML_MAX_NODES)
        return ERR_TOO_LARGE;
    if (doc->count == doc->cap) {
        size_t cap = doc->cap == 0 ? FIRST_PLACES : 2 * doc->cap;
        struct yaml_place *places = arena_alloc(doc->arena, cap * sizeof *places);
        if (places == NULL)
            return ERR_NOMEM;
        if (doc->count > 0)
            memcpy(places, doc->places, doc->count * sizeof *places);
        doc->places = places;
        doc->cap = cap;
    }
    doc->places[doc->count++] = place;
    return ERR_OK;
}

struct yaml_place yaml_place_of(const char *text, size_t offset)
{
    struct yaml_place place = {.line = 1, .column = 1};
    for (size_t i = 0; i < offset; i++) {
        if (text[i] == '\n')
            place = (struct yaml_place){.line = place.line + 1, .column = 1};
        else if (((uint8_t)text[i] & 0xc0) != 0x80) /* a continuation byte is no character of its own */
            place.column++;
    }
    return place;
}

enum err yaml_fail(const struct yaml *doc, enum err e, struct yaml_place place, const char *text, struct fault *fault)
{
    if (place.line == 0)
        return fault_set(fault, e, "%s: %s", doc->name, text);
    return fault_set(fault, e, "%s:%zu:%zu: %s", doc->name, place.line, place.column, text);
}

static enum err check_utf8(const struct yaml *doc, const char *text, size_t len, struct fault *fault)
{
    for (size_t i = 0; i < len;) {
        uint32_t code;
        size_t n = visible_decode((const uint8_t *)text + i, len - i, &code);
        if (n == 0)
            return yaml_fail(doc, ERR_UTF8, yaml_place_of(text, i), err_text(ERR_UTF8), fault);
        i += n;
    }
    return ERR_OK;
}

static bool is_json(const char *name, const char *text, size_t len)
{
    size_t name_len = strlen(name), i = 0;
    if (name_len >= 5 && strcmp(name + name_len - 5, ".json") == 0)
        return true;
    while (i < len && (text[i] == ' ' || text[i] == '\t' || text[i] == '\r' || text[i] == '\n'))
        i++;
    return i < len && text[i] == '{';
}

enum err yaml_read(struct arena *arena, const char *name, const void *text, size_t len, const struct yaml **out,
                   struct fault *fault)
{
    const char *bytes = len > 0 ? text : "";
    struct yaml *doc = arena_alloc(arena, sizeof *doc);
    if (doc == NULL)
        return fault_set(fault, ERR_NOMEM, "%s: %s", name, err_text(ERR_NOMEM));
    *doc = (struct yaml){.arena = arena, .name = arena_copy(arena, name, strlen(name))};
    if (doc->name == NULL)
        return fault_set(fault, ERR_NOMEM, "%s: %s", name, err_text(ERR_NOMEM));
    if (len > YAML_MAX_BYTES)
        return fault_set(fault, ERR_TOO_LARGE, "%s: larger than %d bytes", name, (int)YAML_MAX_BYTES);
    enum err e = check_utf8(doc, bytes, len, fault);
    if (e == ERR_OK)
        e = is_json(name, bytes, len) ? yaml_parse_json(doc, bytes, len, fault)
                                      : yaml_parse_yaml(doc, bytes, len, fault);
    if (e == ERR_OK)
        *out = doc;
    return e;
}

const struct json *yaml_root(const struct yaml *doc)
{
    return doc->root;
}

/* A walk over the values in text order. */
struct walk {
    size_t depth;
    struct {
        const struct json *container;
        size_t next;
    } stack[YAML_MAX_DEPTH];
};

/* The value behind `v`; NULL after the last one. */
static const struct json *walk_on(struct walk *w, const struct json *v)
{
    if (json_count(v) > 0) {
        if (w->depth == YAML_MAX_DEPTH)
            return NULL;
        w->stack[w->depth].container = v;
        w->stack[w->depth++].next = 0;
    }
    while (w->depth > 0 && w->stack[w->depth - 1].next == json_count(w->stack[w->depth - 1].container))
        w->depth--;
    if (w->depth == 0)
        return NULL;
    return json_at(w->stack[w->depth - 1].container, w->stack[w->depth - 1].next++);
}

struct yaml_place yaml_position(const struct yaml *doc, const struct json *node)
{
    struct walk w = {.depth = 0};
    const struct json *v = doc->root;
    for (size_t i = 0; v != NULL && i < doc->count; i++, v = walk_on(&w, v))
        if (v == node)
            return doc->places[i];
    return (struct yaml_place){0, 0};
}

void yaml_say(const struct yaml *doc, const struct json *node, struct fault *fault, const char *format, ...)
{
    char text[FAULT_TEXT_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    (void)yaml_fail(doc, ERR_OK, yaml_position(doc, node), text, fault);
}
