/*
 * yaml.h - a configuration or a policy as a person writes it, YAML or JSON, read into JSON values that know where they
 * stand in the file.
 *
 * Invariant: a document is one value of the JSON data model with no key twice. What YAML has beyond that (anchors,
 * aliases, tags, merge keys, directives, several documents, keys that are not text) is refused, not guessed at.
 * Plain scalars mean what YAML 1.2's core schema says, so `no` and `on` are text; an integer with leading zeros, which
 * other readers take for octal, is refused. Hostile: the text.
 *
 * A text that starts with `{`, or whose name ends in .json, is JSON and is read strictly (evidence/json.h).
 */
#ifndef POLICY_YAML_H
#define POLICY_YAML_H

#include <stddef.h>

#include "evidence/arena.h"
#include "evidence/err.h"
#include "evidence/json.h"

enum {
    YAML_MAX_BYTES = 1 << 20,
    YAML_MAX_DEPTH = 32, /* lists and mappings inside each other */
    YAML_MAX_NODES = 1 << 16,
    YAML_ARENA_BYTES = 32 << 20, /* an arena that any document fits into */
};

struct yaml;

/* A place in the text, both from 1; the column counts characters. */
struct yaml_place {
    size_t line, column;
};

/* Reads the whole text. `name` is the file's, for messages; it is copied. The document and its values live in the
 * arena. An empty document is null. Errors: UTF8, SYNTAX, DUPLICATE_KEY, NON_FINITE, INT_RANGE, LONE_SURROGATE, DEPTH,
 * TOO_LARGE, NOMEM; the fault is "NAME:LINE:COLUMN: what is wrong". */
enum err yaml_read(struct arena *arena, const char *name, const void *text, size_t len, const struct yaml **out,
                   struct fault *fault) MUST_USE;

/* The outermost value. */
const struct json *yaml_root(const struct yaml *doc);

/* Where `node` stands: the root or a value that json_get or json_at found below it. For a member of a mapping this is
 * the place of its key. {0, 0} for a value that is not in the document. Takes time in proportion to the document. */
struct yaml_place yaml_position(const struct yaml *doc, const struct json *node);

/* Puts "NAME:LINE:COLUMN: <message>" into the fault, for an error that the reader of the document finds; without line
 * and column for a value that is not in the document. */
void yaml_say(const struct yaml *doc, const struct json *node, struct fault *fault, const char *format, ...)
    PRINTF_LIKE(4, 5);

#endif
