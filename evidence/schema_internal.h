/*
 * schema_internal.h - a JSON Schema as structs. For evidence/schema*.c and their test only.
 *
 * Invariant: a loaded schema has no cycles, and no path through it (references followed) is longer than SCHEMA_MAX_DEPTH:
 * that bounds the recursion of schema_check, whatever the event. Every pointer lives in the schema's arena, but the
 * patterns.
 */
#ifndef EVIDENCE_SCHEMA_INTERNAL_H
#define EVIDENCE_SCHEMA_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "evidence/arena.h"
#include "evidence/err.h"
#include "evidence/json.h"
#include "evidence/pattern.h"

enum {
    SCHEMA_MAX_DEPTH = 32,
    SCHEMA_MAX_PATTERNS = 64, /* different ones */
    SCHEMA_MAX_REQUIRED = 64, /* of one object: the bits of an uint64_t */
    SCHEMA_ARENA_BYTES = 8 << 20,
};

/* A set of strings, each with a number: a hash table that is full to half at most. */
struct schema_name {
    const char *text; /* NULL: a free slot */
    uint32_t len, hash, number;
};

struct schema_names {
    uint32_t mask; /* slots - 1; the slots are a power of two */
    uint32_t count, longest;
    struct schema_name *slots;
};

/* Room for `count` names. Errors: NOMEM. */
enum err schema_names_init(struct schema_names *names, struct arena *arena, size_t count) MUST_USE;
/* Adds a name with the number it is given, unless it is there already; returns the number it has. `text` is borrowed. */
uint32_t schema_names_add(struct schema_names *names, const char *text, size_t len, uint32_t number);
bool schema_names_find(const struct schema_names *names, const char *text, size_t len, uint32_t *number);

struct schema_node;

/* A property, or a name that is only required. */
struct schema_member {
    const char *name;
    const struct schema_node *node; /* NULL when `properties` does not have it */
    uint64_t required;              /* its bit, or 0 */
};

/* The keywords about objects. */
struct schema_object {
    struct schema_names names; /* number: index into members */
    struct schema_member *members;
    uint64_t required;                    /* all the bits */
    bool closed;                          /* additionalProperties: false */
    const struct schema_node *additional; /* or a schema for them; NULL: anything */
    const struct schema_node *property_names;
};

/* const and enum: strings in a set, everything else as a number. */
struct schema_values {
    struct schema_names texts;
    double *numbers; /* true and false are 1 and 0, as upstream compares them */
    size_t number_count;
    bool null;
};

struct schema_list {
    const struct schema_node **nodes;
    size_t count;
};

/* An allOf whose parts all read "if this one property is that text, then ...": one of them at most applies to an object
 * that has the property. */
struct schema_choice {
    const char *property;
    struct schema_names texts; /* number: index into the allOf */
};

struct schema_node {
    uint32_t types;  /* bit 1 << json_type for each allowed type; 0: any */
    uint32_t height; /* the longest path down from here, in nodes */
    const struct schema_values *constant, *enumerated;
    const struct pattern *pattern;
    const char *pattern_text;
    double minimum, maximum;                             /* -+infinity when absent */
    size_t min_length, max_length, min_items, max_items; /* lengths in code points; 0 and SIZE_MAX when absent */
    const struct schema_object *object;
    const struct schema_node *items, *condition, *consequence;
    struct schema_list all_of, one_of;
    const struct schema_choice *choice; /* how to find the right part of all_of; NULL: try each */
};

struct schema {
    struct arena *arena;
    const struct schema_node *root;
    struct pattern *patterns[SCHEMA_MAX_PATTERNS];
    const char *pattern_texts[SCHEMA_MAX_PATTERNS];
    size_t pattern_count;
};

/* A schema being loaded. */
struct schema_definition {
    const char *name;
    const struct json *text;
    const struct schema_node *node; /* NULL until it is loaded */
    bool loading;                   /* on the way: meeting it again is a cycle */
};

struct schema_loading {
    struct schema *schema;
    struct schema_definition *definitions;
    size_t definition_count;
    const char *place; /* the definition at hand */
    struct fault *fault;
};

/* Writes the fault and returns ERR_SCHEMA. */
enum err schema_load_refuse(const struct schema_loading *l, const char *keyword, const char *why) MUST_USE;
/* Zeroes for `count` objects, and one more; NULL when out of memory. */
void *schema_load_alloc(struct schema_loading *l, size_t count, size_t size);
/* Loads a schema that stands inside another one, `parent`. */
enum err schema_load_child(struct schema_loading *l, const struct json *text, unsigned depth,
                           struct schema_node *parent, const struct schema_node **out) MUST_USE;
/* The keywords about single values and limits; those about objects. */
enum err schema_scalar_load(struct schema_loading *l, const struct json *text, struct schema_node *node) MUST_USE;
enum err schema_object_load(struct schema_loading *l, const struct json *text, unsigned depth,
                            struct schema_node *node) MUST_USE;

/* Loads a schema from its text. Errors: SCHEMA with a fault (what, and where in the schema), NOMEM. */
enum err schema_load(const void *text, size_t len, struct schema **out, struct fault *fault) MUST_USE;

#endif
