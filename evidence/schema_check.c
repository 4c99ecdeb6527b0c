#include <stdio.h>
#include <string.h>

#include "evidence/schema.h"
#include "evidence/schema_internal.h"

enum { SHOWN_KEY_BYTES = 40 };

/* Where in the event we are: a list from the inside out, on the stack. */
struct place {
    const struct place *outer;
    const char *key; /* NULL: an array's element */
    size_t len;      /* of the key, or the element's index */
};

struct checking {
    struct fault *fault; /* NULL while trying whether something applies */
    enum err broken;     /* a pattern that could not be matched: no verdict */
};

static bool check(struct checking *c, const struct schema_node *n, const struct json *v, const struct place *at);

/* Writes "event.data.keys[0].kid: why" with the outermost names first. Returns false. */
static bool refuse(const struct checking *c, const struct place *at, const char *why, const char *what)
{
    const struct place *places[SCHEMA_MAX_DEPTH + 1];
    size_t depth = 0, used = 0;
    char path[FAULT_TEXT_BYTES] = "event";

    if (c->fault == NULL)
        return false;
    for (; at->outer != NULL && depth < sizeof places / sizeof places[0]; at = at->outer)
        places[depth++] = at;
    used = strlen(path);
    while (depth-- > 0 && used < sizeof path) {
        const struct place *p = places[depth];
        int shown = p->len < SHOWN_KEY_BYTES ? (int)p->len : SHOWN_KEY_BYTES;
        int n = p->key == NULL ? snprintf(path + used, sizeof path - used, "[%zu]", p->len)
                               : snprintf(path + used, sizeof path - used, ".%.*s", shown, p->key);
        used += n < 0 ? 0 : (size_t)n;
    }
    (void)fault_set(c->fault, ERR_SCHEMA, "%.200s: %s%.80s", path, why, what);
    return false;
}

static bool in_texts(const struct schema_values *values, const char *text, size_t len)
{
    uint32_t number = 0;
    return schema_names_find(&values->texts, text, len, &number);
}

/* As upstream compares: true and false equal the numbers 1 and 0. */
static bool in_values(const struct schema_values *values, const struct json *v)
{
    double number = json_true(v) ? 1 : 0;
    size_t len = 0;

    const char *text = json_text(v, &len);
    if (text != NULL)
        return in_texts(values, text, len);
    if (json_is(v, JSON_NULL))
        return values->null;
    if (!json_is_bool(v) && !json_number(v, &number))
        return false;
    for (size_t i = 0; i < values->number_count; i++)
        if (!(values->numbers[i] < number) && !(values->numbers[i] > number))
            return true;
    return false;
}

static size_t code_points(const char *text, size_t len)
{
    size_t count = 0;
    for (size_t i = 0; i < len; i++)
        count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}

static bool matches(struct checking *c, const struct pattern *pattern, const char *text, size_t len)
{
    bool matched = false;
    enum err e = pattern_match(pattern, text, len, &matched);
    if (e != ERR_OK)
        c->broken = e;
    return matched;
}

/* The keywords about strings. A code point has one to four bytes, so most lengths need no counting. */
static bool check_text(struct checking *c, const struct schema_node *n, const char *text, size_t len,
                       const struct place *at)
{
    if (len > n->max_length && code_points(text, len) > n->max_length)
        return refuse(c, at, "too long", "");
    if (len < n->min_length || (len / 4 < n->min_length && code_points(text, len) < n->min_length))
        return refuse(c, at, "too short", "");
    if (n->pattern != NULL && !matches(c, n->pattern, text, len))
        return refuse(c, at, "does not match ", n->pattern_text);
    return true;
}

/* A property's name, as propertyNames checks it: a string like any other. */
static bool check_name(struct checking *c, const struct schema_node *n, const struct place *at)
{
    if (n->types != 0 && (n->types & 1u << JSON_STRING) == 0)
        return refuse(c, at, "not an allowed name", "");
    if ((n->constant != NULL && !in_texts(n->constant, at->key, at->len)) ||
        (n->enumerated != NULL && !in_texts(n->enumerated, at->key, at->len)))
        return refuse(c, at, "not an allowed name", "");
    return check_text(c, n, at->key, at->len, at);
}

static bool refuse_missing(const struct checking *c, const struct schema_object *o, uint64_t missing,
                           const struct place *at)
{
    for (uint32_t i = 0; i < o->names.count; i++)
        if ((o->members[i].required & missing) != 0)
            return refuse(c, at, "missing required field ", o->members[i].name);
    return false;
}

static bool check_object(struct checking *c, const struct schema_object *o, const struct json *v,
                         const struct place *at)
{
    uint64_t seen = 0;

    for (size_t i = 0, count = json_count(v); i < count; i++) {
        struct place inner = {.outer = at};
        uint32_t number = 0;
        inner.key = json_key(v, i, &inner.len);
        const struct schema_node *node = o->additional;
        bool known = schema_names_find(&o->names, inner.key, inner.len, &number);
        if (known)
            seen |= o->members[number].required;
        if (known && o->members[number].node != NULL)
            node = o->members[number].node;
        else if (o->closed)
            return refuse(c, &inner, "unexpected field", "");
        if (node != NULL && !check(c, node, json_at(v, i), &inner))
            return false;
        if (o->property_names != NULL && !check_name(c, o->property_names, &inner))
            return false;
    }
    return seen == o->required || refuse_missing(c, o, o->required & ~seen, at);
}

static bool check_array(struct checking *c, const struct schema_node *n, const struct json *v, const struct place *at)
{
    size_t count = json_count(v);

    if (count > n->max_items)
        return refuse(c, at, "too many items", "");
    if (count < n->min_items)
        return refuse(c, at, "too few items", "");
    for (size_t i = 0; n->items != NULL && i < count; i++) {
        struct place inner = {.outer = at, .len = i};
        if (!check(c, n->items, json_at(v, i), &inner))
            return false;
    }
    return true;
}

static bool check_number(struct checking *c, const struct schema_node *n, const struct json *v, const struct place *at)
{
    double number = 0;

    if (json_number(v, &number) && number < n->minimum)
        return refuse(c, at, "below the minimum", "");
    if (json_number(v, &number) && number > n->maximum)
        return refuse(c, at, "above the maximum", "");
    return true;
}

/* Whether `v` fits, without a fault when it does not. */
static bool fits(struct checking *c, const struct schema_node *n, const struct json *v, const struct place *at)
{
    struct checking trial = {.broken = c->broken};
    bool fitting = check(&trial, n, v, at);
    c->broken = trial.broken;
    return fitting;
}

static bool check_one_of(struct checking *c, const struct schema_node *n, const struct json *v, const struct place *at)
{
    size_t fitting = 0;

    for (size_t i = 0; i < n->one_of.count; i++)
        fitting += fits(c, n->one_of.nodes[i], v, at);
    return fitting == 1 || refuse(c, at, fitting == 0 ? "fits no alternative" : "fits more than one alternative", "");
}

static bool check_all_of(struct checking *c, const struct schema_node *n, const struct json *v, const struct place *at)
{
    if (n->choice != NULL && json_is(v, JSON_OBJECT)) {
        const struct json *by = json_get(v, n->choice->property);
        uint32_t number = 0;
        size_t len = 0;
        const char *text = json_text(by, &len);
        if (text != NULL && schema_names_find(&n->choice->texts, text, len, &number))
            return check(c, n->all_of.nodes[number]->consequence, v, at);
        if (by != NULL)
            return true; /* the property is none of the texts: no "if" applies */
    }
    for (size_t i = 0; i < n->all_of.count; i++)
        if (!check(c, n->all_of.nodes[i], v, at))
            return false;
    return true;
}

static bool check_parts(struct checking *c, const struct schema_node *n, const struct json *v, const struct place *at)
{
    if (n->one_of.count > 0 && !check_one_of(c, n, v, at))
        return false;
    if (n->all_of.count > 0 && !check_all_of(c, n, v, at))
        return false;
    if (n->condition != NULL && n->consequence != NULL && fits(c, n->condition, v, at))
        return check(c, n->consequence, v, at);
    return true;
}

static bool check(struct checking *c, const struct schema_node *n, const struct json *v, const struct place *at)
{
    enum json_type type = json_type(v);
    bool good = true;
    size_t len = 0;

    if (n->types != 0 && (n->types & 1u << type) == 0)
        return refuse(c, at, "of the wrong type", "");
    if (n->constant != NULL && !in_values(n->constant, v))
        return refuse(c, at, "not the one allowed value", "");
    if (n->enumerated != NULL && !in_values(n->enumerated, v))
        return refuse(c, at, "not one of the allowed values", "");
    switch (type) {
    case JSON_NULL:
    case JSON_FALSE:
    case JSON_TRUE:
        break;
    case JSON_INT:
    case JSON_REAL:
        good = check_number(c, n, v, at);
        break;
    case JSON_STRING: {
        const char *text = json_text(v, &len);
        good = check_text(c, n, text, len, at);
        break;
    }
    case JSON_ARRAY:
        good = check_array(c, n, v, at);
        break;
    case JSON_OBJECT:
        good = n->object == NULL || check_object(c, n->object, v, at);
        break;
    }
    return good && check_parts(c, n, v, at);
}

enum err schema_check(const struct schema *s, const struct json *event, struct fault *fault)
{
    struct fault unused;
    struct checking c = {.fault = fault != NULL ? fault : &unused};
    struct place top = {.outer = NULL};

    bool good = check(&c, s->root, event, &top);
    if (c.broken != ERR_OK)
        return fault_set(fault, ERR_SCHEMA, "a pattern could not be matched: %s", err_text(c.broken));
    return good ? ERR_OK : ERR_SCHEMA;
}
