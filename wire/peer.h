/*
 * peer.h - Unix socket addresses and who is at the other end. libc only, because the hook links it.
 *
 * Invariant: identity comes from the kernel (SO_PEERCRED), never from what a peer says.
 */
#ifndef WIRE_PEER_H
#define WIRE_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/un.h>

struct peer {
    pid_t pid;
    uid_t uid;
    gid_t gid;
};

/* Longest path that fits into sockaddr_un, without its NUL. */
enum { PEER_MAX_PATH = sizeof(((struct sockaddr_un *)0)->sun_path) - 1 };

/* Fills in an address. 0, or -1 when `path` is empty or longer than PEER_MAX_PATH. */
int peer_address(const char *path, struct sockaddr_un *out);

/* The credentials of the process at the other end of a connected socket (for a client: of the process that called
 * listen). 0, or -1 with errno. */
int peer_get(int fd, struct peer *out);

/* Milliseconds of CLOCK_MONOTONIC. */
int64_t peer_now_ms(void);

/* Connects a non-blocking CLOEXEC stream socket to `path` before `deadline_ms` (CLOCK_MONOTONIC milliseconds), trying
 * again while the socket's queue is full. Returns the descriptor, or -1 with errno (ETIMEDOUT at the deadline). */
int peer_connect(const char *path, int64_t deadline_ms);

/* Reads or writes exactly `len` bytes before the deadline; handles EINTR, EAGAIN and short transfers; never raises
 * SIGPIPE. 0, or -1 with errno (ETIMEDOUT, or ECONNRESET at end of file). */
int peer_read(int fd, void *bytes, size_t len, int64_t deadline_ms);
int peer_write(int fd, const void *bytes, size_t len, int64_t deadline_ms);

#endif
