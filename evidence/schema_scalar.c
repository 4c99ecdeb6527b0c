#include <string.h>

#include "evidence/schema_internal.h"

static uint32_t type_bits(const struct json *name)
{
    static const struct {
        const char *name;
        uint32_t bits;
    } types[] = {
        {"object", 1u << JSON_OBJECT},
        {"array", 1u << JSON_ARRAY},
        {"string", 1u << JSON_STRING},
        {"boolean", 1u << JSON_TRUE | 1u << JSON_FALSE},
        {"null", 1u << JSON_NULL},
        {"integer", 1u << JSON_INT},
        {"number", 1u << JSON_INT | 1u << JSON_REAL},
    };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (json_equal_cstr(name, types[i].name))
            return types[i].bits;
    return 0;
}

static enum err load_types(struct schema_loading *l, const struct json *text, struct schema_node *node)
{
    const struct json *type = json_get(text, "type");
    size_t count = json_is(type, JSON_ARRAY) ? json_count(type) : 1;

    if (type == NULL)
        return ERR_OK;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits = type_bits(json_is(type, JSON_ARRAY) ? json_at(type, i) : type);
        if (bits == 0)
            return schema_load_refuse(l, "type", "not a known type");
        node->types |= bits;
    }
    return node->types != 0 ? ERR_OK : schema_load_refuse(l, "type", "no type at all");
}

/* One allowed value. */
static enum err add_value(struct schema_loading *l, const struct json *v, struct schema_values *values)
{
    double number = json_true(v) ? 1 : 0;
    size_t len = 0;

    switch (json_type(v)) {
    case JSON_NULL:
        values->null = true;
        return ERR_OK;
    case JSON_STRING: {
        const char *text = json_text(v, &len);
        const char *copy = arena_copy(l->schema->arena, text, len);
        if (copy == NULL)
            return ERR_NOMEM;
        schema_names_add(&values->texts, copy, len, 0);
        return ERR_OK;
    }
    case JSON_INT:
    case JSON_REAL:
        (void)json_number(v, &number);
        values->numbers[values->number_count++] = number;
        return ERR_OK;
    case JSON_FALSE:
    case JSON_TRUE:
        values->numbers[values->number_count++] = number;
        return ERR_OK;
    case JSON_ARRAY:
    case JSON_OBJECT:
        break;
    }
    return schema_load_refuse(l, "const or enum", "not a string, number, boolean or null");
}

/* `count` allowed values: the elements of `list`, or `list` itself when it stands for one. */
static enum err load_values(struct schema_loading *l, const struct json *list, bool single,
                            const struct schema_values **out)
{
    if (list == NULL)
        return ERR_OK;
    if (!single && !json_is(list, JSON_ARRAY))
        return schema_load_refuse(l, "enum", "not an array");
    size_t count = single ? 1 : json_count(list);
    struct schema_values *values = schema_load_alloc(l, 1, sizeof *values);
    if (values == NULL)
        return ERR_NOMEM;
    values->numbers = schema_load_alloc(l, count, sizeof *values->numbers);
    enum err e = schema_names_init(&values->texts, l->schema->arena, count);
    if (e != ERR_OK || values->numbers == NULL)
        return ERR_NOMEM;
    for (size_t i = 0; i < count; i++) {
        e = add_value(l, single ? list : json_at(list, i), values);
        if (e != ERR_OK)
            return e;
    }
    *out = values;
    return ERR_OK;
}

/* Compiles a pattern, each different one once. */
static enum err load_pattern(struct schema_loading *l, const struct json *v, struct schema_node *node)
{
    struct schema *s = l->schema;
    struct fault inner = {""};
    size_t i = 0;

    if (v == NULL)
        return ERR_OK;
    const char *text = json_cstr(v);
    if (text == NULL)
        return schema_load_refuse(l, "pattern", "not a string");
    while (i < s->pattern_count && strcmp(s->pattern_texts[i], text) != 0)
        i++;
    if (i == SCHEMA_MAX_PATTERNS)
        return schema_load_refuse(l, "pattern", "too many different patterns");
    if (i == s->pattern_count) {
        s->pattern_texts[i] = arena_copy(s->arena, text, strlen(text));
        if (s->pattern_texts[i] == NULL)
            return ERR_NOMEM;
        enum err e = pattern_new(text, &s->patterns[i], &inner);
        if (e != ERR_OK)
            return e == ERR_NOMEM ? e : schema_load_refuse(l, "pattern", inner.text);
        s->pattern_count++;
    }
    node->pattern = s->patterns[i];
    node->pattern_text = s->pattern_texts[i];
    return ERR_OK;
}

static enum err load_size(struct schema_loading *l, const struct json *text, const char *keyword, size_t *out)
{
    const struct json *v = json_get(text, keyword);
    int64_t n = 0;

    if (v == NULL)
        return ERR_OK;
    if (!json_int(v, &n) || n < 0)
        return schema_load_refuse(l, keyword, "not an integer of 0 or more");
    *out = (size_t)n;
    return ERR_OK;
}

static enum err load_limits(struct schema_loading *l, const struct json *text, struct schema_node *node)
{
    const struct json *minimum = json_get(text, "minimum"), *maximum = json_get(text, "maximum");

    if (minimum != NULL && !json_number(minimum, &node->minimum))
        return schema_load_refuse(l, "minimum", "not a number");
    if (maximum != NULL && !json_number(maximum, &node->maximum))
        return schema_load_refuse(l, "maximum", "not a number");
    enum err e = load_size(l, text, "minLength", &node->min_length);
    if (e == ERR_OK)
        e = load_size(l, text, "maxLength", &node->max_length);
    if (e == ERR_OK)
        e = load_size(l, text, "minItems", &node->min_items);
    if (e == ERR_OK)
        e = load_size(l, text, "maxItems", &node->max_items);
    return e;
}

enum err schema_scalar_load(struct schema_loading *l, const struct json *text, struct schema_node *node)
{
    enum err e = load_types(l, text, node);
    if (e == ERR_OK)
        e = load_values(l, json_get(text, "const"), true, &node->constant);
    if (e == ERR_OK)
        e = load_values(l, json_get(text, "enum"), false, &node->enumerated);
    if (e == ERR_OK)
        e = load_pattern(l, json_get(text, "pattern"), node);
    if (e == ERR_OK)
        e = load_limits(l, text, node);
    return e;
}
