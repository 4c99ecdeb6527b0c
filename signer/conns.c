#include "signer/conns.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

enum { SLOT_BITS = 10 };
_Static_assert(CONNS_MAX == 1 << SLOT_BITS, "a slot's number fits into the low bits of a token");
_Static_assert(FRAME_MAX_META + FRAME_MAX_PAYLOAD <= CONNS_LARGE_ROOM, "the largest frame has room");
_Static_assert(FRAME_MAX_REQUEST + FRAME_MAX_REPLY <= CONNS_CONTROL_ROOM, "the largest reply has room");

const struct conns_times CONNS_TIMES = {.frame_ms = 10 * 1000, .write_ms = 10 * 1000, .idle_ms = 60 * 1000};

/* The database must be able to open its files when every place is taken. */
static size_t most_connections(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return CONNS_MAX;
    if (limit.rlim_cur < 2 * CONNS_DESCRIPTORS_KEPT)
        return limit.rlim_cur / 2;
    size_t most = limit.rlim_cur - CONNS_DESCRIPTORS_KEPT;
    return most < CONNS_MAX ? most : CONNS_MAX;
}

enum err conns_open(struct conns *c, const struct conns_times *times, struct fault *fault)
{
    *c = (struct conns){
        .epoll_fd = epoll_create1(EPOLL_CLOEXEC),
        .spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC),
        .max = most_connections(),
        .times = *times,
        .slots = calloc(CONNS_MAX, sizeof *c->slots),
        .rooms = {[CONNS_SMALL].max = CONNS_SMALL_ROOM,
                  [CONNS_LARGE].max = CONNS_LARGE_ROOM,
                  [CONNS_CONTROL].max = CONNS_CONTROL_ROOM},
    };
    if (c->epoll_fd >= 0 && c->spare_fd >= 0 && c->slots != NULL)
        return ERR_OK;
    enum err e = c->slots == NULL ? ERR_NOMEM : ERR_IO;
    fault_set(fault, e, "cannot prepare for connections: %s", strerror(errno));
    conns_close(c);
    return e;
}

void conns_close(struct conns *c)
{
    for (size_t i = 0; i < c->used; i++)
        if (c->slots[i].state != CONN_FREE)
            conn_hang_up(&c->slots[i]);
    free(c->slots);
    tally_wipe(&c->users[CONN_AGENT]);
    tally_wipe(&c->users[CONN_CONTROL]);
    if (c->epoll_fd >= 0)
        close(c->epoll_fd);
    if (c->spare_fd >= 0)
        close(c->spare_fd);
    *c = (struct conns){.epoll_fd = -1, .spare_fd = -1};
}

static size_t slot_of(const struct conns *c, const struct conn *conn)
{
    return (size_t)(conn - c->slots);
}

uint64_t conns_event_data(const struct conns *c, const struct conn *conn)
{
    return (uint64_t)conn->generation << 32 | slot_of(c, conn);
}

struct conn *conns_of_event(const struct conns *c, uint64_t data)
{
    struct conn *conn = &c->slots[data & (CONNS_MAX - 1)];
    return conn->state != CONN_FREE && conn->generation == data >> 32 ? conn : NULL;
}

uint64_t conns_new_token(struct conns *c, struct conn *conn)
{
    c->last_token++;
    return conn->token = c->last_token << SLOT_BITS | slot_of(c, conn);
}

struct conn *conns_find(const struct conns *c, uint64_t token)
{
    struct conn *conn = &c->slots[token & (CONNS_MAX - 1)];
    return token != 0 && conn->state != CONN_FREE && conn->token == token ? conn : NULL;
}

static struct room *room_of(struct conns *c, const struct conn *conn)
{
    if (conn->kind == CONN_CONTROL)
        return &c->rooms[CONNS_CONTROL];
    bool is_small = conn->head.a + conn->head.b <= CONNS_SMALL_BYTES;
    return &c->rooms[is_small ? CONNS_SMALL : CONNS_LARGE];
}

/* False: the kernel has no memory to watch it. */
static bool watch(struct conns *c, struct conn *conn, uint32_t events)
{
    if (conn->watched == events)
        return true;
    struct epoll_event event = {.events = events, .data.u64 = conns_event_data(c, conn)};
    if (epoll_ctl(c->epoll_fd, conn->watched == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, conn->fd, &event) != 0)
        return false;
    conn->watched = events;
    return true;
}

void conns_drop(struct conns *c, struct conn *conn)
{
    assert(conn->state != CONN_FREE && conn->state != CONN_READY);
    if (conn->state == CONN_WAIT)
        conn_queue_remove(&room_of(c, conn)->waiting, conn);
    conn_hang_up(conn);
    room_give(room_of(c, conn), conn, 0);
    tally_drop(&c->users[conn->kind], conn->peer.uid);
    c->count--;
    conn->state = CONN_FREE;
    conn_queue_push(&c->free, conn);
}

/* Closed, but the service has still to be told. */
static void linger(struct conns *c, struct conn *conn, enum conn_state state)
{
    conn_hang_up(conn);
    conn->state = state;
    conn->deadline_ms = INT64_MAX;
    conn_queue_push(&c->ready, conn);
}

/* The head has come. DONE: there is room for the rest; MORE: there is none yet. */
static enum conn_result begin_body(struct conns *c, struct conn *conn)
{
    size_t bytes = (size_t)conn->head.a + conn->head.b + (conn->kind == CONN_CONTROL ? FRAME_MAX_REPLY : 0);
    if (!room_take(room_of(c, conn), conn, bytes)) {
        conn->state = CONN_WAIT;
        conn->deadline_ms = INT64_MAX; /* it is we who let it wait; a hook has its own deadline */
        return CONN_MORE;
    }
    conn->state = CONN_BODY;
    return conn_new_body(conn);
}

static enum conn_result read_on(struct conns *c, struct conn *conn, int64_t now_ms)
{
    enum conn_result r = CONN_DONE;
    if (conn->state == CONN_HEAD) {
        bool is_first = conn->raw_len == 0;
        r = conn_read_head(conn);
        if (is_first && conn->raw_len > 0) {
            conn->seen_ms = c->seen_ms;
            if (conn->kind == CONN_CONTROL) /* a hook's time began when it connected */
                conn->deadline_ms = now_ms + c->times.frame_ms;
        }
        if (r == CONN_DONE)
            r = begin_body(c, conn);
    }
    return r == CONN_DONE ? conn_read_body(conn) : r;
}

void conns_read(struct conns *c, struct conn *conn, int64_t now_ms)
{
    switch (read_on(c, conn, now_ms)) {
    case CONN_MORE:
        if (watch(c, conn, conn->state == CONN_WAIT ? EPOLLRDHUP : EPOLLIN | EPOLLRDHUP))
            return;
        c->dropped.refused++;
        break;
    case CONN_DONE:
        conn->state = CONN_READY;
        conn->deadline_ms = INT64_MAX;
        conn_queue_push(&c->ready, conn);
        return;
    case CONN_CLOSED:
        break;
    case CONN_BROKEN:
        c->dropped.broken++;
        break;
    case CONN_NOMEM:
        c->dropped.refused++;
        break;
    }
    conns_drop(c, conn);
}

/* All of an answer is out. */
static void next_frame(struct conns *c, struct conn *conn, int64_t now_ms)
{
    room_give(room_of(c, conn), conn, 0);
    conn->state = CONN_HEAD;
    conn->deadline_ms = now_ms + c->times.idle_ms;
    if (conn->kind == CONN_AGENT || c->is_closing || !watch(c, conn, EPOLLIN | EPOLLRDHUP))
        conns_drop(c, conn);
}

enum conn_result conns_write(struct conns *c, struct conn *conn, int64_t now_ms)
{
    enum conn_result r = conn_write(conn);
    if (r == CONN_MORE) {
        if (conn->state != CONN_WRITE)
            conn->deadline_ms = now_ms + c->times.write_ms;
        conn->state = CONN_WRITE;
        if (watch(c, conn, EPOLLOUT))
            return r;
        r = CONN_CLOSED;
    }
    if (r == CONN_DONE)
        next_frame(c, conn, now_ms);
    else if (conn->kind == CONN_AGENT)
        linger(c, conn, CONN_LOST);
    else
        conns_drop(c, conn);
    return r;
}

void conns_park(struct conns *c, struct conn *conn)
{
    conn->state = CONN_PARKED;
    /* EPOLLIN: a parked hook has nothing more to say. */
    if (!watch(c, conn, EPOLLIN | EPOLLRDHUP))
        linger(c, conn, CONN_GONE);
}

void conns_leave(struct conns *c, struct conn *conn, bool is_hangup)
{
    assert(conn->state == CONN_PARKED);
    c->dropped.broken += is_hangup ? 0 : 1;
    linger(c, conn, CONN_GONE);
}

void conns_end_frame(struct conns *c, struct conn *conn, size_t kept)
{
    conn_end_frame(conn);
    room_give(room_of(c, conn), conn, kept < conn->charge ? kept : conn->charge);
}

void conns_feed(struct conns *c, int64_t now_ms)
{
    for (int i = 0; i < CONNS_ROOMS; i++) {
        struct conn *conn;
        while ((conn = room_next(&c->rooms[i])) != NULL) {
            conn->state = CONN_BODY;
            conn->deadline_ms = now_ms + c->times.frame_ms;
            if (conn_new_body(conn) == CONN_DONE) {
                conns_read(c, conn, now_ms);
            } else {
                c->dropped.refused++;
                conns_drop(c, conn);
            }
        }
    }
}

static void over_time(struct conns *c, struct conn *conn)
{
    bool is_idle = conn->state == CONN_HEAD && conn->kind == CONN_CONTROL && conn->raw_len == 0;
    c->dropped.slow += is_idle ? 0 : 1;
    if (conn->state == CONN_WRITE && conn->kind == CONN_AGENT)
        linger(c, conn, CONN_LOST);
    else
        conns_drop(c, conn);
}

void conns_sweep(struct conns *c, int64_t now_ms)
{
    for (size_t i = 0; i < c->used; i++)
        if (c->slots[i].state != CONN_FREE && c->slots[i].deadline_ms <= now_ms)
            over_time(c, &c->slots[i]);
}

void conns_stop_reading(struct conns *c)
{
    c->is_closing = true;
    for (size_t i = 0; i < c->used; i++) {
        enum conn_state state = c->slots[i].state;
        if (state == CONN_HEAD || state == CONN_WAIT || state == CONN_BODY)
            conns_drop(c, &c->slots[i]);
    }
}

void conns_stop_writing(struct conns *c)
{
    for (size_t i = 0; i < c->used; i++) {
        struct conn *conn = &c->slots[i];
        if (conn->state == CONN_PARKED)
            linger(c, conn, CONN_GONE);
        else if (conn->state == CONN_WRITE && conn->kind == CONN_AGENT)
            linger(c, conn, CONN_LOST);
        else if (conn->state == CONN_WRITE)
            conns_drop(c, conn);
    }
}

bool conns_is_writing(const struct conns *c)
{
    for (size_t i = 0; i < c->used; i++)
        if (c->slots[i].state == CONN_WRITE)
            return true;
    return false;
}
