/*
 * json.h - strict JSON values.
 *
 * Invariant: a value that json_parse returned in strict mode has exactly one canonical form (jcs.h) in every
 * language: valid UTF-8, no key twice, no lone surrogate, every number finite, every integer token within
 * +-(2^53 - 1), nested at most JSON_MAX_DEPTH deep. Implements section 1 of upstream's format-v2.md.
 *
 * Hostile: the text. The parser never recurses on it, uses memory in proportion to its length (bounded by the arena),
 * and says the byte offset of what it refuses.
 *
 * Values are immutable once parsed; builder calls make new ones. All of them live in an arena.
 */
#ifndef EVIDENCE_JSON_H
#define EVIDENCE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "evidence/arena.h"
#include "evidence/err.h"

enum {
    JSON_MAX_DEPTH = 128, /* arrays and objects inside each other */
};
#define JSON_MAX_INT INT64_C(9007199254740991) /* 2^53 - 1 */

enum json_type { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_INT, JSON_REAL, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json; /* one value */

/* What is wrong with a text, and where. */
struct json_fault {
    enum err err;  /* UTF8 SYNTAX DUPLICATE_KEY NON_FINITE INT_RANGE LONE_SURROGATE DEPTH TOO_LARGE NOMEM, or OK */
    size_t offset; /* in bytes from the start of the text */
    size_t line;   /* from 1 */
    size_t column; /* in bytes, from 1 */
};

/* Parses `len` bytes as exactly one JSON text (white space around it allowed, a BOM not). On success *out is the value.
 * Strings are copied into the arena; `text` may go afterwards. On failure *out is untouched, what the arena was given is
 * waste, and *fault (may be NULL) says what and where. Errors: those of struct json_fault; TOO_LARGE is the arena's
 * maximum, or a text of 4 GiB. Of several faults the one is named that comes first in the text, but UTF-8 is checked
 * before all else, and a duplicate key counts from where its object closes. Takes O(n log n) time. */
enum err json_parse(struct arena *arena, const void *text, size_t len, const struct json **out,
                    struct json_fault *fault) MUST_USE;

/* Like json_parse, but forgives what is JSON and yet has no one canonical form: of duplicate keys the last wins, a lone
 * surrogate becomes U+FFFD, an integer token out of range becomes a real, an overflowing number becomes
 * +-1.7976931348623157e308. The first such thing is put into *loose (never NULL; err OK when there was none; untouched on
 * failure). Invalid UTF-8, syntax, NaN, Infinity and depth still fail. For reading who sent a payload that must be
 * refused. */
enum err json_parse_loose(struct arena *arena, const void *text, size_t len, const struct json **out,
                          struct json_fault *fault, struct json_fault *loose) MUST_USE;

/* Reading. All accept NULL for a missing value, so that a chain of look-ups is checked once at its end. */
enum json_type json_type(const struct json *v);          /* JSON_NULL for NULL */
bool json_is(const struct json *v, enum json_type type); /* false for NULL */
bool json_is_bool(const struct json *v);
/* The value of `key` (NUL-terminated, without NUL bytes) in an object; NULL when absent or `v` is no object. */
const struct json *json_get(const struct json *v, const char *key);
/* A string's bytes (UTF-8, with a NUL behind them; may also hold NUL bytes) and length; NULL when `v` is no string. */
const char *json_text(const struct json *v, size_t *len);
/* A string without NUL bytes; NULL otherwise. */
const char *json_cstr(const struct json *v);
/* json_cstr(json_get(v, key)). */
const char *json_get_cstr(const struct json *v, const char *key);
/* Whether `v` is an integer token (no '.' or exponent), and which. */
bool json_int(const struct json *v, int64_t *out);
bool json_number(const struct json *v, double *out); /* integers too */
bool json_true(const struct json *v);                /* is it the literal true */
/* Elements of an array or members of an object; 0 for anything else. */
size_t json_count(const struct json *v);
const struct json *json_at(const struct json *v, size_t index);        /* element, or member's value; in text order */
const char *json_key(const struct json *v, size_t index, size_t *len); /* member's key; len may be NULL */
bool json_equal_cstr(const struct json *v, const char *text);          /* is it this string */

/* Building. The json_new_* functions return NULL when the arena fails, when a text is NULL or not UTF-8, and when an
 * integer is out of range. json_set and json_add that are given NULL for the container or the value mark the container
 * (when there is one) as broken, and jcs_write of a broken value fails with NOMEM: so a value is built without a check at
 * each step, and never comes out with a part missing. A container may be filled before or after it was put into another
 * one. */
struct json *json_new_object(struct arena *arena);
struct json *json_new_array(struct arena *arena);
const struct json *json_new_string(struct arena *arena, const char *text);           /* NUL-terminated UTF-8 */
const struct json *json_new_text(struct arena *arena, const char *text, size_t len); /* UTF-8 */
const struct json *json_new_int(struct arena *arena, int64_t v);                     /* within +-JSON_MAX_INT */
const struct json *json_new_bool(bool v);
const struct json *json_new_null(void);
/* Sets a key that the object does not have yet (a second set of one key is our own bug: asserted). `key` is copied. The
 * cost grows with the number of members: not for objects whose size comes from outside. `object` and `array` come from
 * json_new_object and json_new_array. */
void json_set(struct arena *arena, struct json *object, const char *key, const struct json *value);
void json_set_string(struct arena *arena, struct json *object, const char *key, const char *text);
void json_set_int(struct arena *arena, struct json *object, const char *key, int64_t v);
void json_set_bool(struct arena *arena, struct json *object, const char *key, bool v);
void json_add(struct arena *arena, struct json *array, const struct json *value);

/* The object without that member; the object itself when it has none. Shares the members' values and keys. NULL when the
 * arena fails. */
const struct json *json_without(struct arena *arena, const struct json *object, const char *key);

#endif
