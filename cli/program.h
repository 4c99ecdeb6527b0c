/*
 * program.h - other programs: beside this one, or on PATH, found without a shell, and whether others could put another
 * one in their place.
 *
 * Hostile: PATH, and the directories that it names.
 */
#ifndef CLI_PROGRAM_H
#define CLI_PROGRAM_H

#include <stdbool.h>

#include "cli/paths.h"
#include "evidence/err.h"

enum program_found {
    PROGRAM_FOUND,
    PROGRAM_MISSING,  /* in no directory of PATH; or there is no PATH */
    PROGRAM_RELATIVE, /* a directory before it has no absolute path: what is found depends on the folder */
    PROGRAM_OPEN,     /* a directory before it, or its own, may be written to by others than root and this user */
};

/* Whether a regular file lies there that we may run. */
bool program_is_there(const char *path);

/* The path that `name` has beside the running program, whether there is anything or not. Errors: PATH with a fault. */
enum err program_beside(const char *name, char out[static PATHS_MAX], struct fault *fault) MUST_USE;

/* Finds `name` in the directories of `path` (NULL: there is none), as execvp would. `out` is filled when it is FOUND. */
enum program_found program_find(const char *path, const char *name, char out[static PATHS_MAX]);

#endif
