/*
 * gemini_files.h - the files that Gemini CLI would read if it were started here and now, and what they say.
 *
 * Invariant: a file that is there and cannot be read, or that is no regular file, is an error and never taken for one
 * that is not there. Each is opened once. Hostile: the files, and the environment's names of them.
 */
#ifndef CLI_GEMINI_FILES_H
#define CLI_GEMINI_FILES_H

#include <stdbool.h>

#include "cli/paths.h"
#include "evidence/arena.h"
#include "harness/effective.h"
#include "harness/folders.h"

struct gemini_files {
    struct arena *arena;                                       /* holds everything */
    char folder[FOLDERS_PATH_BYTES], home[FOLDERS_PATH_BYTES]; /* the present one; Gemini's home */
    struct settings_file settings[SETTINGS_SCOPES];            /* `text` is NULL for what Gemini does not read */
    const struct settings_node *merged;
    bool trusted;             /* Gemini trusts the folder: the workspace's settings are merged */
    bool unsure;              /* folderTrust.enabled is a text: Gemini may take it either way */
    struct settings_file env; /* the .env file; see gemini_files_env */
};

/* Reads and merges. `out` is zeroed before, and wiped with gemini_files_close in any case. Errors: those of effective_read
 * and folders_judge; PATH (no home, no present directory), IO (a file that cannot be read), with a fault that names the
 * file. */
enum err gemini_files_open(struct gemini_files *out, struct fault *fault) MUST_USE;
void gemini_files_close(struct gemini_files *f);

/* Finds and reads the .env file that Gemini would take, into f->env. `trusted`: as Gemini takes the folder in the end.
 * Errors: IO, TOO_LARGE, NOMEM, PATH. */
enum err gemini_files_env(struct gemini_files *f, bool trusted, struct fault *fault) MUST_USE;

/* Whether Gemini takes the variable from f->env: it is not set yet, and the settings do not exclude it. */
bool gemini_files_env_counts(const struct gemini_files *f, const char *name);

#endif
