/*
 * gemini_read.h - one file that Gemini CLI would read.
 *
 * Invariant: never waits for a file that is a pipe or a device; a file that is there and cannot be read is an error.
 * Hostile: paths and files.
 */
#ifndef CLI_GEMINI_READ_H
#define CLI_GEMINI_READ_H

#include <stdbool.h>

#include "evidence/arena.h"
#include "harness/effective.h"
#include "harness/folders.h"

/* Reads file->path into file->text and file->len; leaves them when there is no such file. Errors: IO (it cannot be read,
 * or is no regular file), TOO_LARGE (over SETTINGS_FILE_BYTES), NOMEM. */
enum err gemini_read(struct arena *arena, struct settings_file *file, struct fault *fault) MUST_USE;

/* Whether anything is there, at the end of symbolic links. */
bool gemini_read_is_there(const char *path);

/* Whether Gemini takes it for a system file: it and all directories above it, also of where symbolic links lead, belong
 * to root, and nobody else may write to them. `path` is absolute and normalized. False also for what is not there. */
bool gemini_read_is_secure(const char *path);

/* A folders_resolve. */
bool gemini_read_resolve(void *context, const char *path, char out[static FOLDERS_PATH_BYTES]);

#endif
