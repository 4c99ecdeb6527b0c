#include "evidence/json_value.h"

#include <assert.h>
#include <string.h>

enum { FIRST_PARTS = 8 };

static struct json *new_container(struct arena *arena, enum json_type type)
{
    struct json *v = arena_alloc(arena, sizeof *v);
    struct json_list *list = arena_alloc(arena, sizeof *list);
    if (v == NULL || list == NULL)
        return NULL;
    *list = (struct json_list){.count = 0};
    *v = (struct json){.type = type, .as.list = list};
    return v;
}

struct json *json_new_object(struct arena *arena)
{
    return new_container(arena, JSON_OBJECT);
}

struct json *json_new_array(struct arena *arena)
{
    return new_container(arena, JSON_ARRAY);
}

static struct json *new_value(struct arena *arena, struct json value)
{
    struct json *v = arena_alloc(arena, sizeof *v);
    if (v != NULL)
        *v = value;
    return v;
}

const struct json *json_new_text(struct arena *arena, const char *text, size_t len)
{
    if (text == NULL || len >= UINT32_MAX || json_utf8_prefix(text, len) != len)
        return NULL;
    char *copy = arena_copy(arena, text, len);
    if (copy == NULL)
        return NULL;
    return new_value(arena, (struct json){.type = JSON_STRING, .len = (uint32_t)len, .as.text = copy});
}

const struct json *json_new_string(struct arena *arena, const char *text)
{
    return text == NULL ? NULL : json_new_text(arena, text, strlen(text));
}

const struct json *json_new_int(struct arena *arena, int64_t v)
{
    if (v > JSON_MAX_INT || v < -JSON_MAX_INT)
        return NULL;
    return new_value(arena, (struct json){.type = JSON_INT, .as.integer = v});
}

const struct json *json_new_bool(bool v)
{
    static const struct json YES = {.type = JSON_TRUE}, NO = {.type = JSON_FALSE};
    return v ? &YES : &NO;
}

const struct json *json_new_null(void)
{
    static const struct json NOTHING = {.type = JSON_NULL};
    return &NOTHING;
}

/* A larger copy of `old`; the arena keeps the old one, so that pointers to its values stay good. */
static void *larger(struct arena *arena, const void *old, size_t part_bytes, const struct json_list *list, uint32_t cap)
{
    void *copy = arena_alloc(arena, cap * part_bytes);
    if (copy != NULL && list->count > 0)
        memcpy(copy, old, list->count * part_bytes);
    return copy;
}

/* Makes room for one part more. */
static bool grow(struct arena *arena, struct json_list *list, bool object)
{
    if (list->count < list->cap)
        return true;
    if (list->cap > UINT32_MAX / 2)
        return false;
    uint32_t cap = list->cap == 0 ? FIRST_PARTS : 2 * list->cap;
    struct json *items = NULL;
    struct json_member *members = NULL;
    uint32_t *order = NULL;
    if (object) {
        members = larger(arena, list->members, sizeof *members, list, cap);
        order = larger(arena, list->order, sizeof *order, list, cap);
    } else {
        items = larger(arena, list->items, sizeof *items, list, cap);
    }
    if (arena_failed(arena))
        return false;
    list->items = items;
    list->members = members;
    list->order = order;
    list->cap = cap;
    return true;
}

void json_set(struct arena *arena, struct json *object, const char *key, const struct json *value)
{
    if (object == NULL)
        return;
    assert(object->type == JSON_OBJECT && object->as.list != NULL);
    struct json_list *list = object->as.list;
    size_t len = strlen(key);
    char *copy = arena_copy(arena, key, len);
    if (value == NULL || copy == NULL || len >= UINT32_MAX || json_utf8_prefix(key, len) != len ||
        !grow(arena, list, true)) {
        list->broken = true;
        return;
    }
    bool found = false;
    uint32_t at = json_key_find(list, key, len, &found);
    assert(!found);
    memmove(list->order + at + 1, list->order + at, (list->count - at) * sizeof *list->order);
    list->order[at] = list->count;
    list->members[list->count++] = (struct json_member){.key = copy, .key_len = (uint32_t)len, .value = *value};
}

void json_set_string(struct arena *arena, struct json *object, const char *key, const char *text)
{
    json_set(arena, object, key, json_new_string(arena, text));
}

void json_set_int(struct arena *arena, struct json *object, const char *key, int64_t v)
{
    json_set(arena, object, key, json_new_int(arena, v));
}

void json_set_bool(struct arena *arena, struct json *object, const char *key, bool v)
{
    json_set(arena, object, key, json_new_bool(v));
}

void json_add(struct arena *arena, struct json *array, const struct json *value)
{
    if (array == NULL)
        return;
    assert(array->type == JSON_ARRAY && array->as.list != NULL);
    struct json_list *list = array->as.list;
    if (value == NULL || !grow(arena, list, false)) {
        list->broken = true;
        return;
    }
    list->items[list->count++] = *value;
}

const struct json *json_without(struct arena *arena, const struct json *object, const char *key)
{
    bool found = false;
    const struct json_list *old = json_is(object, JSON_OBJECT) ? object->as.list : NULL;
    uint32_t at = old != NULL ? json_key_find(old, key, strlen(key), &found) : 0;
    if (!found)
        return object;
    uint32_t gone = old->order[at];
    struct json *copy = json_new_object(arena);
    if (copy == NULL)
        return NULL;
    struct json_list *list = copy->as.list;
    list->members = arena_alloc(arena, old->count * sizeof *list->members);
    list->order = arena_alloc(arena, old->count * sizeof *list->order);
    if (arena_failed(arena))
        return NULL;
    list->cap = old->count;
    list->broken = old->broken;
    for (uint32_t i = 0; i < old->count; i++) {
        if (i != gone)
            list->members[list->count++] = old->members[i];
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < old->count; i++) {
        uint32_t member = old->order[i];
        if (member != gone)
            list->order[n++] = member < gone ? member : member - 1;
    }
    return copy;
}
