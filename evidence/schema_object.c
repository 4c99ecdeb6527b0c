#include "evidence/schema_internal.h"

/* The member of that name, made when it is new; NULL when out of memory. */
static struct schema_member *member_of(struct schema_loading *l, struct schema_object *object, const char *name,
                                       size_t len)
{
    uint32_t fresh = object->names.count;
    const char *copy = arena_copy(l->schema->arena, name, len);
    if (copy == NULL)
        return NULL;
    uint32_t number = schema_names_add(&object->names, copy, len, fresh);
    if (number == fresh)
        object->members[number].name = copy;
    return &object->members[number];
}

static enum err load_properties(struct schema_loading *l, const struct json *properties, unsigned depth,
                                struct schema_node *node, struct schema_object *object)
{
    if (properties != NULL && !json_is(properties, JSON_OBJECT))
        return schema_load_refuse(l, "properties", "not an object");
    for (size_t i = 0; i < json_count(properties); i++) {
        size_t len = 0;
        const char *name = json_key(properties, i, &len);
        struct schema_member *member = member_of(l, object, name, len);
        if (member == NULL)
            return ERR_NOMEM;
        enum err e = schema_load_child(l, json_at(properties, i), depth, node, &member->node);
        if (e != ERR_OK)
            return e;
    }
    return ERR_OK;
}

static enum err load_required(struct schema_loading *l, const struct json *required, struct schema_object *object)
{
    size_t count = json_count(required);

    if (required != NULL && !json_is(required, JSON_ARRAY))
        return schema_load_refuse(l, "required", "not an array");
    if (count > SCHEMA_MAX_REQUIRED)
        return schema_load_refuse(l, "required", "too many names");
    for (size_t i = 0; i < count; i++) {
        size_t len = 0;
        const char *name = json_text(json_at(required, i), &len);
        if (name == NULL)
            return schema_load_refuse(l, "required", "not a string");
        struct schema_member *member = member_of(l, object, name, len);
        if (member == NULL)
            return ERR_NOMEM;
        member->required |= UINT64_C(1) << i;
        object->required |= UINT64_C(1) << i;
    }
    return ERR_OK;
}

/* additionalProperties and propertyNames. */
static enum err load_other_names(struct schema_loading *l, const struct json *text, unsigned depth,
                                 struct schema_node *node, struct schema_object *object)
{
    const struct json *additional = json_get(text, "additionalProperties");
    const struct json *names = json_get(text, "propertyNames");

    object->closed = json_is(additional, JSON_FALSE);
    if (additional != NULL && !json_is_bool(additional)) {
        enum err e = schema_load_child(l, additional, depth, node, &object->additional);
        if (e != ERR_OK)
            return e;
    }
    if (names == NULL)
        return ERR_OK;
    enum err e = schema_load_child(l, names, depth, node, &object->property_names);
    if (e != ERR_OK)
        return e;
    const struct schema_node *n = object->property_names;
    if (n->condition != NULL || n->all_of.count > 0 || n->one_of.count > 0)
        return schema_load_refuse(l, "propertyNames", "allOf, oneOf and if are not supported here");
    return ERR_OK;
}

enum err schema_object_load(struct schema_loading *l, const struct json *text, unsigned depth, struct schema_node *node)
{
    const struct json *properties = json_get(text, "properties"), *required = json_get(text, "required");

    if (properties == NULL && required == NULL && json_get(text, "additionalProperties") == NULL &&
        json_get(text, "propertyNames") == NULL)
        return ERR_OK;
    size_t count = json_count(properties) + json_count(required);
    struct schema_object *object = schema_load_alloc(l, 1, sizeof *object);
    if (object == NULL)
        return ERR_NOMEM;
    object->members = schema_load_alloc(l, count, sizeof *object->members);
    if (object->members == NULL || schema_names_init(&object->names, l->schema->arena, count) != ERR_OK)
        return ERR_NOMEM;
    enum err e = load_properties(l, properties, depth, node, object);
    if (e == ERR_OK)
        e = load_required(l, required, object);
    if (e == ERR_OK)
        e = load_other_names(l, text, depth, node, object);
    node->object = object;
    return e;
}
