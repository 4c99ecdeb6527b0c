#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/schema.h"
#include "evidence/schema_internal.h"

enum { PARSE_BYTES = 16 << 20 };

static enum err load_node(struct schema_loading *l, const struct json *text, unsigned depth,
                          const struct schema_node **out);

enum err schema_load_refuse(const struct schema_loading *l, const char *keyword, const char *why)
{
    return fault_set(l->fault, ERR_SCHEMA, "schema, %s, %s: %s", l->place, keyword, why);
}

void *schema_load_alloc(struct schema_loading *l, size_t count, size_t size)
{
    void *p = arena_alloc(l->schema->arena, (count + 1) * size);
    if (p != NULL)
        memset(p, 0, (count + 1) * size);
    return p;
}

static enum err check_keywords(const struct schema_loading *l, const struct json *text)
{
    static const char *const known[] = {
        "type",        "const",    "enum",    "required", "properties", "additionalProperties",
        "items",       "oneOf",    "allOf",   "if",       "then",       "propertyNames",
        "$ref",        "pattern",  "minimum", "maximum",  "minLength",  "maxLength",
        "minItems",    "maxItems", "$schema", "$id",      "$defs",      "title",
        "description",
    };
    if (!json_is(text, JSON_OBJECT))
        return schema_load_refuse(l, "a schema", "not an object");
    for (size_t i = 0; i < json_count(text); i++) {
        size_t k = 0, len = 0;
        const char *key = json_key(text, i, &len);
        while (k < sizeof known / sizeof known[0] && (strlen(known[k]) != len || memcmp(known[k], key, len) != 0))
            k++;
        if (k == sizeof known / sizeof known[0])
            return fault_set(l->fault, ERR_SCHEMA, "schema, %s: unknown keyword %.40s", l->place, key);
    }
    return ERR_OK;
}

static enum err load_definition(struct schema_loading *l, struct schema_definition *d, unsigned depth)
{
    const char *place = l->place;

    if (d->node != NULL)
        return ERR_OK;
    if (d->loading)
        return schema_load_refuse(l, d->name, "leads back to itself");
    d->loading = true;
    l->place = d->name;
    enum err e = load_node(l, d->text, depth, &d->node);
    l->place = place;
    d->loading = false;
    return e;
}

static enum err load_reference(struct schema_loading *l, const struct json *ref, unsigned depth,
                               const struct schema_node **out)
{
    static const char prefix[] = "#/$defs/";

    const char *name = json_cstr(ref);
    if (name == NULL || strncmp(name, prefix, sizeof prefix - 1) != 0)
        return schema_load_refuse(l, "$ref", "does not begin with #/$defs/");
    name += sizeof prefix - 1;
    for (size_t i = 0; i < l->definition_count; i++) {
        struct schema_definition *d = &l->definitions[i];
        if (strcmp(d->name, name) != 0)
            continue;
        enum err e = load_definition(l, d, depth + 1);
        if (e == ERR_OK)
            *out = d->node;
        return e;
    }
    return schema_load_refuse(l, name, "no such definition");
}

/* Loads a schema inside another, `parent`. */
enum err schema_load_child(struct schema_loading *l, const struct json *text, unsigned depth,
                           struct schema_node *parent, const struct schema_node **out)
{
    enum err e = load_node(l, text, depth + 1, out);
    if (e != ERR_OK)
        return e;
    if ((*out)->height >= parent->height)
        parent->height = (*out)->height + 1;
    return parent->height <= SCHEMA_MAX_DEPTH ? ERR_OK : schema_load_refuse(l, "a schema", "nested too deeply");
}

/* allOf or oneOf. */
static enum err load_list(struct schema_loading *l, const struct json *text, unsigned depth, struct schema_node *node,
                          struct schema_list *out)
{
    if (text == NULL)
        return ERR_OK;
    if (!json_is(text, JSON_ARRAY) || json_count(text) == 0)
        return schema_load_refuse(l, "allOf or oneOf", "not an array of schemas");
    out->nodes = schema_load_alloc(l, json_count(text), sizeof *out->nodes);
    if (out->nodes == NULL)
        return ERR_NOMEM;
    for (; out->count < json_count(text); out->count++) {
        enum err e = schema_load_child(l, json_at(text, out->count), depth, node, &out->nodes[out->count]);
        if (e != ERR_OK)
            return e;
    }
    return ERR_OK;
}

/* The property and its one text when a part of an allOf is {"if": {"properties": {P: {"const": TEXT}}}, "then": ...}. */
static bool is_choice(const struct json *part, const char **property, const struct json **constant)
{
    const struct json *condition = json_get(part, "if"), *properties = json_get(condition, "properties");
    const struct json *only = json_at(properties, 0);

    *property = json_key(properties, 0, NULL);
    *constant = json_get(only, "const");
    return json_count(part) == 2 && json_get(part, "then") != NULL && json_count(condition) == 1 &&
           json_count(properties) == 1 && json_count(only) == 1 && json_is(*constant, JSON_STRING);
}

/* Fills in node->choice when every part of the allOf is such a choice by the same property. It only saves time: the
 * parts mean what they mean without it. */
static enum err load_choice(struct schema_loading *l, const struct json *all_of, struct schema_node *node)
{
    const char *property = NULL, *first = NULL;
    const struct json *constant = NULL;

    if (json_count(all_of) < 2 || !is_choice(json_at(all_of, 0), &first, &constant))
        return ERR_OK;
    struct schema_choice *choice = schema_load_alloc(l, 1, sizeof *choice);
    if (choice == NULL)
        return ERR_NOMEM;
    choice->property = arena_copy(l->schema->arena, first, strlen(first));
    if (choice->property == NULL || schema_names_init(&choice->texts, l->schema->arena, json_count(all_of)) != ERR_OK)
        return ERR_NOMEM;
    for (uint32_t i = 0; i < json_count(all_of); i++) {
        size_t len = 0;
        if (!is_choice(json_at(all_of, i), &property, &constant) || strcmp(property, first) != 0)
            return ERR_OK;
        const char *text = json_text(constant, &len);
        const char *copy = arena_copy(l->schema->arena, text, len);
        if (copy == NULL)
            return ERR_NOMEM;
        if (schema_names_add(&choice->texts, copy, len, i) != i)
            return ERR_OK; /* two parts for one text */
    }
    node->choice = choice;
    return ERR_OK;
}

static enum err load_parts(struct schema_loading *l, const struct json *text, unsigned depth, struct schema_node *node)
{
    const struct json *items = json_get(text, "items"), *condition = json_get(text, "if");
    const struct json *consequence = json_get(text, "then");
    enum err e = ERR_OK;

    if (items != NULL)
        e = schema_load_child(l, items, depth, node, &node->items);
    if (e == ERR_OK && condition != NULL)
        e = schema_load_child(l, condition, depth, node, &node->condition);
    if (e == ERR_OK && consequence != NULL)
        e = schema_load_child(l, consequence, depth, node, &node->consequence);
    if (e == ERR_OK)
        e = load_list(l, json_get(text, "oneOf"), depth, node, &node->one_of);
    if (e == ERR_OK)
        e = load_list(l, json_get(text, "allOf"), depth, node, &node->all_of);
    if (e == ERR_OK)
        e = load_choice(l, json_get(text, "allOf"), node);
    return e;
}

static enum err load_node(struct schema_loading *l, const struct json *text, unsigned depth,
                          const struct schema_node **out)
{
    if (depth > SCHEMA_MAX_DEPTH)
        return schema_load_refuse(l, "a schema", "nested too deeply");
    enum err e = check_keywords(l, text);
    if (e != ERR_OK)
        return e;
    if (json_get(text, "$ref") != NULL) /* what stands beside it does not count */
        return load_reference(l, json_get(text, "$ref"), depth, out);
    struct schema_node *node = schema_load_alloc(l, 1, sizeof *node);
    if (node == NULL)
        return ERR_NOMEM;
    node->height = 1;
    node->minimum = -(double)INFINITY;
    node->maximum = (double)INFINITY;
    node->max_length = SIZE_MAX;
    node->max_items = SIZE_MAX;
    e = schema_scalar_load(l, text, node);
    if (e == ERR_OK)
        e = schema_object_load(l, text, depth, node);
    if (e == ERR_OK)
        e = load_parts(l, text, depth, node);
    if (e == ERR_OK)
        *out = node;
    return e;
}

/* Loads every definition, also one that nothing refers to: a keyword that we do not know must not hide there. */
static enum err load_definitions(struct schema_loading *l, const struct json *definitions)
{
    size_t count = json_count(definitions);

    l->definitions = schema_load_alloc(l, count, sizeof *l->definitions);
    if (l->definitions == NULL)
        return ERR_NOMEM;
    for (size_t i = 0; i < count; i++) {
        l->definitions[i].name = json_key(definitions, i, NULL);
        l->definitions[i].text = json_at(definitions, i);
    }
    l->definition_count = count;
    for (size_t i = 0; i < count; i++) {
        enum err e = load_definition(l, &l->definitions[i], 0);
        if (e != ERR_OK)
            return e;
    }
    return ERR_OK;
}

enum err schema_load(const void *text, size_t len, struct schema **out, struct fault *fault)
{
    struct json_fault where;
    const struct json *root = NULL;
    struct arena *parsed = arena_new(PARSE_BYTES);
    struct schema *s = calloc(1, sizeof *s);
    enum err e = ERR_NOMEM;

    if (parsed == NULL || s == NULL)
        goto out;
    s->arena = arena_new(SCHEMA_ARENA_BYTES);
    if (s->arena == NULL)
        goto out;
    e = json_parse(parsed, text, len, &root, &where);
    if (e != ERR_OK) {
        if (e != ERR_NOMEM)
            e = fault_set(fault, ERR_SCHEMA, "schema, byte %zu: %s", where.offset, err_text(e));
        goto out;
    }
    struct schema_loading l = {.schema = s, .place = "top", .fault = fault};
    e = load_definitions(&l, json_get(root, "$defs"));
    if (e == ERR_OK)
        e = load_node(&l, root, 0, &s->root);
    if (e != ERR_OK)
        goto out;
    *out = s;
    s = NULL;
out:
    schema_free(s);
    arena_free(parsed);
    return e;
}
