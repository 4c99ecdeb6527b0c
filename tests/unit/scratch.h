/*
 * scratch.h - a directory of its own for a test, and its removal. Needs _GNU_SOURCE (nftw).
 */
#ifndef UNIT_SCRATCH_H
#define UNIT_SCRATCH_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SCRATCH_PATH_BYTES = 64 };

/* Makes an empty directory with mode 0700, with a path that leaves room for a socket's name. */
static inline void scratch_make(char path[static SCRATCH_PATH_BYTES])
{
    snprintf(path, SCRATCH_PATH_BYTES, "/tmp/tracekit-test-XXXXXX");
    if (mkdtemp(path) == NULL) {
        perror("mkdtemp");
        abort();
    }
}

static inline int scratch_remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
    (void)st;
    (void)type;
    (void)where;
    return remove(path);
}

static inline void scratch_remove(const char *path)
{
    if (nftw(path, scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) != 0)
        perror(path);
}

#endif
