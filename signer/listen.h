/*
 * listen.h - a Unix socket that listens at a path, put there and taken away safely.
 *
 * Invariant: only a dead socket of our own is ever unlinked to make room, and at the end only the very socket that we
 * bound. Nobody can connect before the mode is what it should be. The caller holds the data directory's lock.
 * Hostile: what already lies at the path.
 */
#ifndef SIGNER_LISTEN_H
#define SIGNER_LISTEN_H

#include <sys/types.h>

#include "evidence/err.h"
#include "wire/peer.h"

struct listen {
    int fd; /* non-blocking and CLOEXEC; -1 when closed */
    dev_t dev;
    ino_t ino;
    char path[PEER_MAX_PATH + 1];
};

/* Listens at `path`, in a directory that is ours and that others cannot write to (datadir_make). Mode 0600, or 0660
 * for a `group` other than (gid_t)-1. Errors: PATH (too long, or something else lies there), STATE (somebody answers
 * there), IO. Nothing of ours is left on failure. */
enum err listen_open(const char *path, gid_t group, struct listen *out, struct fault *fault) MUST_USE;

/* Stops listening and unlinks the socket, if it is still ours. Does nothing when closed already. */
void listen_close(struct listen *l);

#endif
