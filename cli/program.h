/*
 * program.h - a program on PATH, found without a shell, and whether others could put another one in its place.
 *
 * Hostile: PATH, and the directories that it names.
 */
#ifndef CLI_PROGRAM_H
#define CLI_PROGRAM_H

#include <stdbool.h>

#include "cli/paths.h"

enum program_found {
    PROGRAM_FOUND,
    PROGRAM_MISSING,  /* in no directory of PATH; or there is no PATH */
    PROGRAM_RELATIVE, /* a directory before it has no absolute path: what is found depends on the folder */
    PROGRAM_OPEN,     /* a directory before it, or its own, may be written to by others than root and this user */
};

/* Finds `name` in the directories of `path` (NULL: there is none), as execvp would. `out` is filled when it is FOUND. */
enum program_found program_find(const char *path, const char *name, char out[static PATHS_MAX]);

#endif
