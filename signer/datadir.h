/*
 * datadir.h - directories that only we may enter, and the lock that makes us the one signer of a data directory.
 *
 * Invariant: a directory that these functions accepted is a real directory (no symbolic link), belongs to us, and gives
 * nobody else any right, but for the one group that the caller names (enter and list, never write). What they made is
 * on the disk before they return. Hostile: what already lies at the path.
 */
#ifndef SIGNER_DATADIR_H
#define SIGNER_DATADIR_H

#include <sys/types.h>

#include "evidence/err.h"

/* Makes the directory `path` (absolute) with mode 0700, every missing parent too, or checks the one that is there; its
 * parents may be symbolic links. With a `group` other than (gid_t)-1 the directory itself belongs to that group and has
 * mode 0750; one of ours that is stricter is opened to the group. Errors: PATH (with what to do), IO, SYNC. What was
 * made stays on failure. */
enum err datadir_make(const char *path, gid_t group, struct fault *fault) MUST_USE;

/* datadir_make without a group, then takes PATH/lock for as long as *lock stays open and writes our process id into it.
 * Never waits. Errors: LOCKED (with the process that holds it), PATH, IO, SYNC. */
enum err datadir_open(const char *path, int *lock, struct fault *fault) MUST_USE;

/* Gives the lock back. -1 does nothing. */
void datadir_close(int lock);

#endif
