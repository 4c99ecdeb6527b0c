/*
 * folders.h - whether Gemini CLI trusts a folder, by the rules in its trustedFolders.json.
 *
 * Invariant: of the rules whose folder is the one in question or above it the one with the longest text wins; where
 * Gemini's choice hangs on the order of its rules, the answer is no. Hostile: the file.
 */
#ifndef HARNESS_FOLDERS_H
#define HARNESS_FOLDERS_H

#include "harness/effective.h"

enum { FOLDERS_RULES = 1000, FOLDERS_PATH_BYTES = 4096 };

enum folders_answer { FOLDERS_UNKNOWN, FOLDERS_NO, FOLDERS_YES };

/* Writes the real path of `path` when there is one, and returns whether. */
typedef bool folders_resolve(void *context, const char *path, char out[static FOLDERS_PATH_BYTES]);

struct folders_place {
    const char *folder; /* absolute and real: where Gemini is to be started */
    folders_resolve *resolve;
    void *context;
};

/* UNKNOWN, which Gemini takes for no, when there is no rule for the folder or no file. Errors: CONFIG (what Gemini
 * refuses), TOO_LARGE (more rules, or longer paths), NOMEM. */
enum err folders_judge(struct arena *arena, const struct settings_file *file, const struct folders_place *place,
                       enum folders_answer *out, struct fault *fault) MUST_USE;

/* `path`, absolute, without "." and ".." and double slashes, a backslash as a slash; a relative one is below `folder`.
 * Errors: PATH (too long). */
enum err folders_normalize(const char *folder, const char *path, char out[static FOLDERS_PATH_BYTES]) MUST_USE;

#endif
