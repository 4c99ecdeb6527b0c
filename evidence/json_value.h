/*
 * json_value.h - how a JSON value lies in memory. For evidence/json*.c and jcs.c only.
 *
 * Invariant: the members of an object stand in text order, and `order` names them sorted by the UTF-16 code units of
 * their keys, which are all different. A container is a handle on a list: copying the struct json makes a second handle
 * on the same list, so that a container may still grow after it was put into another one.
 */
#ifndef EVIDENCE_JSON_VALUE_H
#define EVIDENCE_JSON_VALUE_H

#include "evidence/json.h"

struct json {
    enum json_type type;
    uint32_t len; /* of a string, in bytes */
    union {
        int64_t integer;
        double real;
        const char *text;       /* a NUL stands behind it */
        struct json_list *list; /* NULL: empty, and for ever */
    } as;
};

struct json_member {
    const char *key; /* a NUL stands behind it */
    uint32_t key_len;
    uint32_t key_offset; /* of its opening quote in the text, while parsing */
    struct json value;
};

struct json_list {
    uint32_t count;
    uint32_t cap;
    bool broken;                 /* a part is missing: json_set or json_add failed */
    struct json *items;          /* of an array */
    struct json_member *members; /* of an object */
    uint32_t *order;             /* of an object: indexes into members */
};

/* Compares two keys by UTF-16 code units: less than, equal to or greater than 0. Both are valid UTF-8. */
int json_key_compare(const char *a, size_t a_len, const char *b, size_t b_len);

/* Fills `order` with 0 to count - 1, sorted by the members' keys; equal keys stay in text order. Takes
 * O(count log count) comparisons. Errors: NOMEM. */
enum err json_key_sort(const struct json_member *members, uint32_t count, uint32_t *order) MUST_USE;

/* The place of a key in `order`, or where it would have to be inserted; *found says which. */
uint32_t json_key_find(const struct json_list *list, const char *key, size_t key_len, bool *found);

/* How many bytes from the front are valid UTF-8; `len` when all are. */
size_t json_utf8_prefix(const void *bytes, size_t len);

#endif
