/*
 * settings_node.h - a tree of settings in which each value knows the file it came from.
 *
 * Invariant: at most JSON_MAX_DEPTH deep and SETTINGS_NODE_MEMBERS wide; strings are expanded as Gemini CLI expands them
 * when it reads a file ($NAME, ${NAME}, ${NAME:-default}). Nodes live in an arena and borrow from the parsed file.
 * Hostile: the values, and the environment that expands them.
 */
#ifndef HARNESS_SETTINGS_NODE_H
#define HARNESS_SETTINGS_NODE_H

#include <stdbool.h>
#include <stddef.h>

#include "evidence/arena.h"
#include "evidence/buf.h"
#include "evidence/err.h"
#include "evidence/json.h"

enum { SETTINGS_NODE_MEMBERS = 1000, SETTINGS_NODE_TEXT_BYTES = 1 << 20 };

/* Where a value stands, in the order in which Gemini merges. */
enum settings_scope {
    SETTINGS_BUILT_IN,
    SETTINGS_SYSTEM_DEFAULTS,
    SETTINGS_USER,
    SETTINGS_WORKSPACE,
    SETTINGS_SYSTEM,
    SETTINGS_SCOPES,
};

enum settings_kind { SETTINGS_VALUE, SETTINGS_LIST, SETTINGS_OBJECT };

struct settings_node {
    enum settings_kind kind;
    enum settings_scope scope; /* of an object: the file that made it one */
    const char *key;           /* in an object; a NUL stands behind it */
    size_t key_len;
    const struct json *value; /* of a SETTINGS_VALUE: string, number, true, false or null */
    struct settings_node *first, *last, *next;
    size_t count;
};

/* The value of a variable of the environment, or NULL. Borrowed until the next call. */
typedef const char *settings_lookup(void *context, const char *name);

struct settings_environment {
    settings_lookup *look_up;
    void *context;
};

/* A tree of a parsed file; with `env` NULL nothing is expanded. Errors: TOO_LARGE (an object or a list is too wide, or an expanded text too long), NOMEM. */
enum err settings_node_read(struct arena *arena, const struct json *json, enum settings_scope scope,
                            const struct settings_environment *env, struct settings_node **out) MUST_USE;

/* Appends `text` with what Gemini expands in it; bytes that are not UTF-8 become U+FFFD, as node reads them. */
void settings_node_expand(struct buf *out, const char *text, size_t len, const struct settings_environment *env);

/* Appends `text`, each byte that belongs to no valid UTF-8 sequence as U+FFFD. */
void settings_node_repair(struct buf *out, const char *text, size_t len);

/* A copy that shares its children; `next` is NULL. NULL when out of memory, or for NULL. */
struct settings_node *settings_node_copy(struct arena *arena, const struct settings_node *node);
void settings_node_append(struct settings_node *parent, struct settings_node *child);

/* The member of an object, or NULL. */
struct settings_node *settings_node_member(const struct settings_node *node, const char *key, size_t key_len);
/* The value below keys with dots between them: "tools.sandbox". NULL: not there, or a key on the way is no object. */
const struct settings_node *settings_node_at(const struct settings_node *root, const char *keys);

/* Whether JavaScript takes it for true. False for NULL. */
bool settings_node_truthy(const struct settings_node *node);
/* The text of a string without NUL bytes, otherwise NULL. */
const char *settings_node_text(const struct settings_node *node);
/* Whether it is the literal true, false, or null. */
bool settings_node_is(const struct settings_node *node, enum json_type type);

#endif
