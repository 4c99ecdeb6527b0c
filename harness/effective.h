/*
 * effective.h - the settings that Gemini CLI would use, and the file that each of them came from.
 *
 * Invariant: the order of files, the rules by which keys are merged, and what of a file is refused are those of Gemini
 * CLI 0.61.0 (docs/gemini.md). What depends on Gemini's whole schema is left as it stands in the file: whether a text
 * such as "false" counts as a boolean. Pure: file texts and the environment come from the caller. Hostile: the texts.
 */
#ifndef HARNESS_EFFECTIVE_H
#define HARNESS_EFFECTIVE_H

#include "harness/settings_node.h"

enum { SETTINGS_FILE_BYTES = 1 << 20 };

/* One file as it was read; `path` is for messages. */
struct settings_file {
    const char *path;
    const char *text; /* NULL: there is no such file */
    size_t len;
};

/* Parses one file; *out is NULL when there is none; `env` as in settings_node_read. Gemini does not start with a file that fails here for its syntax, or
 * because it holds no object. Errors: CONFIG (with path, line and column), TOO_LARGE, DEPTH (limits of ours), NOMEM. */
enum err effective_read(struct arena *arena, const struct settings_file *file, enum settings_scope scope,
                        const struct settings_environment *env, struct settings_node **out,
                        struct fault *fault) MUST_USE;

/* Merges files (NULL: none), the built-in values first, those of SETTINGS_SYSTEM last. The workspace's file counts only
 * in a trusted folder: leave it out otherwise. Errors: NOMEM. */
enum err effective_merge(struct arena *arena, struct settings_node *const files[static SETTINGS_SCOPES],
                         struct settings_node **out) MUST_USE;

/* "user settings", and where they usually lie. Static. */
const char *effective_scope_name(enum settings_scope scope);

#endif
