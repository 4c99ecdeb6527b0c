#define _GNU_SOURCE /* accept4 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "signer/conns.h"

enum { AT_ONCE = 256 }; /* then the connections that are there have their turn */

/* Whether one more connection of this peer is within the limits. */
static bool has_place(const struct conns *c, enum conn_kind kind, uid_t uid)
{
    size_t kept = c->max / 4 < CONNS_KEPT_FOR_CONTROL ? c->max / 4 : CONNS_KEPT_FOR_CONTROL;
    size_t most = kind == CONN_CONTROL ? c->max : c->max - kept;
    return c->count < most && tally_count(&c->users[kind], uid) < CONNS_PER_USER;
}

static bool is_same_namespace(pid_t pid, const char *which)
{
    char path[64], ours[64], theirs[64];
    snprintf(path, sizeof path, "/proc/%ld/ns/%s", (long)pid, which);
    ssize_t their_len = readlink(path, theirs, sizeof theirs);
    snprintf(path, sizeof path, "/proc/self/ns/%s", which);
    ssize_t our_len = readlink(path, ours, sizeof ours);
    return their_len > 0 && their_len == our_len && memcmp(ours, theirs, (size_t)our_len) == 0;
}

/* An agent's sandboxed command has our uid, and its file system shows our sockets: what tells it from a person's is that
 * it lives in namespaces of its own. A tripwire: who can leave the sandbox, or see our files, has other ways. */
static bool is_in_sandbox(pid_t pid)
{
    return !is_same_namespace(pid, "user") || !is_same_namespace(pid, "mnt") || !is_same_namespace(pid, "pid");
}

/* The control socket is for our own user, outside of sandboxes, and for root, whatever its mode says. */
static bool is_welcome(enum conn_kind kind, const struct peer *peer)
{
    if (kind == CONN_AGENT)
        return true;
    if (peer->uid == geteuid())
        return !is_in_sandbox(peer->pid);
    return peer->uid == 0;
}

static struct conn *new_slot(struct conns *c)
{
    struct conn *conn = conn_queue_pop(&c->free);
    return conn != NULL ? conn : &c->slots[c->used++];
}

/* Takes the descriptor over or closes it. */
static void welcome(struct conns *c, int fd, enum conn_kind kind, int64_t now_ms)
{
    struct peer peer;
    if (peer_get(fd, &peer) != 0 || !is_welcome(kind, &peer)) {
        c->dropped.foreign++;
        close(fd);
        return;
    }
    if (!has_place(c, kind, peer.uid) || tally_add(&c->users[kind], peer.uid) != 0) {
        c->dropped.refused++;
        close(fd);
        return;
    }
    struct conn *conn = new_slot(c);
    conn_open(conn, fd, kind, &peer);
    conn->deadline_ms = now_ms + (kind == CONN_AGENT ? c->times.frame_ms : c->times.idle_ms);
    c->count++;
    conns_read(c, conn, now_ms);
}

/* Without a free descriptor a connection could not even be refused: it would stay in the queue and wake us for ever. */
static bool refuse_with_spare(struct conns *c, int listener)
{
    if (c->spare_fd < 0)
        return false;
    close(c->spare_fd);
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    bool is_refused = fd >= 0;
    if (is_refused) {
        c->dropped.refused++;
        close(fd);
    }
    c->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return is_refused;
}

bool conns_accept(struct conns *c, int listener, enum conn_kind kind, int64_t now_ms)
{
    if (c->spare_fd < 0)
        c->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    for (int i = 0; i < AT_ONCE; i++) {
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0) {
            welcome(c, fd, kind, now_ms);
            continue;
        }
        if (errno == EAGAIN)
            return true;
        if (errno == EINTR || errno == ECONNABORTED)
            continue;
        if ((errno != EMFILE && errno != ENFILE) || !refuse_with_spare(c, listener))
            return false;
    }
    return true;
}
