#define _GNU_SOURCE /* struct ucred */
#include "wire/peer.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_PAUSE_MS = 1, LONGEST_PAUSE_MS = 32 };

int peer_address(const char *path, struct sockaddr_un *out)
{
    size_t len = strlen(path);
    if (len == 0 || len > PEER_MAX_PATH)
        return -1;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, path, len);
    *out = address;
    return 0;
}

int peer_get(int fd, struct peer *out)
{
    struct ucred ucred;
    socklen_t len = sizeof ucred;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &ucred, &len) != 0)
        return -1;
    if (len != sizeof ucred) {
        errno = EPROTO;
        return -1;
    }
    *out = (struct peer){.pid = ucred.pid, .uid = ucred.uid, .gid = ucred.gid};
    return 0;
}

int64_t peer_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail: the clock exists and the pointer is ours */
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Milliseconds left, for poll; 0 when there are none. */
static int left_ms(int64_t deadline_ms)
{
    int64_t left = deadline_ms - peer_now_ms();
    return left <= 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left;
}

/* Waits until `fd` is ready for `events` (or broken, which the next call on it will tell). With fd -1 it only waits. */
static int wait_until(int fd, short events, int64_t deadline_ms)
{
    for (;;) {
        int left = left_ms(deadline_ms);
        if (left == 0) {
            errno = ETIMEDOUT;
            return -1;
        }
        struct pollfd p = {.fd = fd, .events = events};
        int n = poll(&p, 1, left);
        if (n > 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return -1;
    }
}

/* Sleeps; -1 with ETIMEDOUT when the deadline comes first. */
static int pause_ms(int ms, int64_t deadline_ms)
{
    int64_t until = peer_now_ms() + ms;
    if (until < deadline_ms) {
        wait_until(-1, 0, until);
        return 0;
    }
    return wait_until(-1, 0, deadline_ms);
}

/* A full queue is the one failure that time mends: no event says when there is room again, so we ask. */
static int connect_patiently(int fd, const struct sockaddr_un *address, int64_t deadline_ms)
{
    for (int ms = FIRST_PAUSE_MS;; ms = ms < LONGEST_PAUSE_MS ? 2 * ms : ms) {
        if (connect(fd, (const struct sockaddr *)address, sizeof *address) == 0)
            return 0;
        if (errno != EAGAIN && errno != EINTR)
            return -1;
        if (pause_ms(ms, deadline_ms) != 0)
            return -1;
    }
}

int peer_connect(const char *path, int64_t deadline_ms)
{
    struct sockaddr_un address;
    if (peer_address(path, &address) != 0) {
        errno = path[0] == '\0' ? EINVAL : ENAMETOOLONG;
        return -1;
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    if (connect_patiently(fd, &address, deadline_ms) != 0) {
        int saved = errno;
        close(fd);
        errno = saved;
        return -1;
    }
    return fd;
}

int peer_read(int fd, void *bytes, size_t len, int64_t deadline_ms)
{
    uint8_t *at = bytes;
    while (len > 0) {
        ssize_t n = recv(fd, at, len, MSG_DONTWAIT);
        if (n == 0) {
            errno = ECONNRESET;
            return -1;
        }
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            return -1;
        if (n > 0) {
            at += n;
            len -= (size_t)n;
        }
        /* Also after a success, so that a peer which sends byte after byte does not outlive the deadline. */
        if (len > 0 && wait_until(fd, POLLIN, deadline_ms) != 0)
            return -1;
    }
    return 0;
}

int peer_write(int fd, const void *bytes, size_t len, int64_t deadline_ms)
{
    const uint8_t *at = bytes;
    while (len > 0) {
        ssize_t n = send(fd, at, len, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            return -1;
        if (n > 0) {
            at += n;
            len -= (size_t)n;
        }
        if (len > 0 && wait_until(fd, POLLOUT, deadline_ms) != 0)
            return -1;
    }
    return 0;
}
