#include "evidence/json_value.h"

#include <string.h>

static const struct json_list *list_of(const struct json *v, enum json_type type)
{
    return json_is(v, type) ? v->as.list : NULL;
}

enum json_type json_type(const struct json *v)
{
    return v == NULL ? JSON_NULL : v->type;
}

bool json_is(const struct json *v, enum json_type type)
{
    return v != NULL && v->type == type;
}

bool json_is_bool(const struct json *v)
{
    return json_is(v, JSON_TRUE) || json_is(v, JSON_FALSE);
}

bool json_true(const struct json *v)
{
    return json_is(v, JSON_TRUE);
}

const struct json *json_get(const struct json *v, const char *key)
{
    const struct json_list *list = list_of(v, JSON_OBJECT);
    if (list == NULL)
        return NULL;
    bool found = false;
    uint32_t at = json_key_find(list, key, strlen(key), &found);
    return found ? &list->members[list->order[at]].value : NULL;
}

const char *json_text(const struct json *v, size_t *len)
{
    if (!json_is(v, JSON_STRING))
        return NULL;
    if (len != NULL)
        *len = v->len;
    return v->as.text;
}

const char *json_cstr(const struct json *v)
{
    size_t len = 0;
    const char *text = json_text(v, &len);
    return text != NULL && memchr(text, '\0', len) == NULL ? text : NULL;
}

const char *json_get_cstr(const struct json *v, const char *key)
{
    return json_cstr(json_get(v, key));
}

bool json_equal_cstr(const struct json *v, const char *text)
{
    size_t len = 0;
    const char *mine = json_text(v, &len);
    return mine != NULL && len == strlen(text) && memcmp(mine, text, len) == 0;
}

bool json_int(const struct json *v, int64_t *out)
{
    if (!json_is(v, JSON_INT))
        return false;
    *out = v->as.integer;
    return true;
}

bool json_number(const struct json *v, double *out)
{
    if (json_is(v, JSON_INT))
        *out = (double)v->as.integer;
    else if (json_is(v, JSON_REAL))
        *out = v->as.real;
    else
        return false;
    return true;
}

size_t json_count(const struct json *v)
{
    const struct json_list *list = list_of(v, json_is(v, JSON_ARRAY) ? JSON_ARRAY : JSON_OBJECT);
    return list == NULL ? 0 : list->count;
}

const struct json *json_at(const struct json *v, size_t index)
{
    if (index >= json_count(v))
        return NULL;
    const struct json_list *list = v->as.list;
    return v->type == JSON_ARRAY ? &list->items[index] : &list->members[index].value;
}

const char *json_key(const struct json *v, size_t index, size_t *len)
{
    const struct json_list *list = list_of(v, JSON_OBJECT);
    if (list == NULL || index >= list->count)
        return NULL;
    if (len != NULL)
        *len = list->members[index].key_len;
    return list->members[index].key;
}
