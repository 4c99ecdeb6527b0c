/*
 * yaml_internal.h - what the two readers of policy/yaml*.c share: the document while it grows.
 *
 * Invariant: places[i] is where the i-th value in text order (a container before what it holds) stands.
 */
#ifndef POLICY_YAML_INTERNAL_H
#define POLICY_YAML_INTERNAL_H

#include "policy/yaml.h"

struct yaml {
    struct arena *arena;
    const char *name;
    const struct json *root;
    struct yaml_place *places;
    size_t count, cap;
};

/* The next value in text order stands at `place`. Errors: TOO_LARGE (over YAML_MAX_NODES), NOMEM. */
enum err yaml_add_place(struct yaml *doc, struct yaml_place place) MUST_USE;

/* The place of the byte at `offset`. */
struct yaml_place yaml_place_of(const char *text, size_t offset);

/* Fails at a place: "NAME:LINE:COLUMN: <text>". */
enum err yaml_fail(const struct yaml *doc, enum err e, struct yaml_place place, const char *text, struct fault *fault);

/* The two readers: fill in root and places. */
enum err yaml_parse_json(struct yaml *doc, const char *text, size_t len, struct fault *fault) MUST_USE;
enum err yaml_parse_yaml(struct yaml *doc, const char *text, size_t len, struct fault *fault) MUST_USE;

#endif
