#include "signer/loop.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

#include "signer/batch.h"
#include "signer/clock.h"

enum { EVENTS_AT_ONCE = 256 };

/* What epoll says of what is no connection; a connection's lower half is below CONNS_MAX. */
enum { AGENT_SOCKET = CONNS_MAX, CONTROL_SOCKET, STOP };

struct loop {
    const struct loop_setup *setup;
    struct conns conns;
    struct batch batch;
    struct clock now;
    int64_t polled_ms; /* when epoll last returned */
    int64_t sweep_ms, log_ms;
    int64_t listen_ms; /* when the sockets are asked again; 0: they are watched */
    bool is_stopping;
};

static enum err failed(const char *what, struct fault *fault)
{
    return fault_set(fault, errno == ENOMEM ? ERR_NOMEM : ERR_IO, "%s: %s", what, strerror(errno));
}

/* Adds, or with `op` EPOLL_CTL_MOD changes, what is no connection. */
static int watch(struct loop *l, int op, int fd, uint32_t what, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.u64 = what};
    return epoll_ctl(l->conns.epoll_fd, op, fd, &event);
}

static enum err watch_all(struct loop *l, struct fault *fault)
{
    const struct loop_setup *s = l->setup;
    if (watch(l, EPOLL_CTL_ADD, s->stop_fd, STOP, EPOLLIN) != 0 ||
        watch(l, EPOLL_CTL_ADD, s->agent->fd, AGENT_SOCKET, EPOLLIN) != 0 ||
        watch(l, EPOLL_CTL_ADD, s->control->fd, CONTROL_SOCKET, EPOLLIN) != 0)
        return failed("cannot watch the sockets", fault);
    return ERR_OK;
}

/* With nothing left to accept a connection with, the sockets would wake us for ever. `events` 0 lets them be. */
static void watch_sockets(struct loop *l, uint32_t events)
{
    const struct loop_setup *s = l->setup;
    bool is_done = watch(l, EPOLL_CTL_MOD, s->agent->fd, AGENT_SOCKET, events) == 0 &&
                   watch(l, EPOLL_CTL_MOD, s->control->fd, CONTROL_SOCKET, events) == 0;
    l->listen_ms = events == 0 || !is_done ? l->now.mono_ms + LOOP_RETRY_MS : 0;
}

static void on_connection(struct loop *l, struct conn *conn, uint32_t events)
{
    bool is_hangup = (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
    switch (conn->state) {
    case CONN_HEAD:
    case CONN_BODY:
        conns_read(&l->conns, conn, l->now.mono_ms);
        return;
    case CONN_WAIT:
        if (is_hangup)
            conns_drop(&l->conns, conn);
        return;
    case CONN_PARKED:
        conns_leave(&l->conns, conn, is_hangup);
        return;
    case CONN_WRITE:
        batch_send(&l->batch, conn, l->now.mono_ms);
        return;
    case CONN_FREE:
    case CONN_READY:
    case CONN_HELD:
    case CONN_GONE:
    case CONN_LOST:
        return; /* its turn comes in a batch */
    }
}

static void on_event(struct loop *l, const struct epoll_event *event)
{
    uint32_t what = (uint32_t)event->data.u64;
    if (what == STOP) {
        l->is_stopping = true;
    } else if (what == AGENT_SOCKET || what == CONTROL_SOCKET) {
        int fd = what == AGENT_SOCKET ? l->setup->agent->fd : l->setup->control->fd;
        enum conn_kind kind = what == AGENT_SOCKET ? CONN_AGENT : CONN_CONTROL;
        if (!conns_accept(&l->conns, fd, kind, l->now.mono_ms))
            watch_sockets(l, 0);
    } else {
        struct conn *conn = conns_of_event(&l->conns, event->data.u64);
        if (conn != NULL)
            on_connection(l, conn, event->events);
    }
}

/* Milliseconds that epoll may sleep. */
static int patience(const struct loop *l, int64_t now_ms)
{
    int64_t until = l->batch.next_tick_ms;
    if (l->conns.ready.count > 0)
        return 0;
    if (l->conns.count > 0 && l->sweep_ms < until)
        until = l->sweep_ms;
    if (l->listen_ms != 0 && l->listen_ms < until)
        until = l->listen_ms;
    return until <= now_ms ? 0 : until - now_ms > BATCH_TICK_MAX_MS ? BATCH_TICK_MAX_MS : (int)(until - now_ms);
}

/* Waits for events and takes those that are there. */
static enum err poll_events(struct loop *l, struct fault *fault)
{
    struct epoll_event events[EVENTS_AT_ONCE];
    int64_t before_ms = clock_read().mono_ms;
    int count = epoll_wait(l->conns.epoll_fd, events, EVENTS_AT_ONCE, patience(l, before_ms));
    if (count < 0 && errno != EINTR)
        return failed("cannot wait for events", fault);
    l->now = clock_read();
    /* What we did not have to wait for may have come at any time since the last look: a hook's wait began then. */
    l->conns.seen_ms = l->now.mono_ms > before_ms ? l->now.mono_ms : l->polled_ms;
    l->polled_ms = l->now.mono_ms;
    for (int i = 0; i < count; i++)
        on_event(l, &events[i]);
    return ERR_OK;
}

/* One line at most every ten seconds, whatever peers do. */
static void log_dropped(struct loop *l, bool is_last)
{
    struct conns_dropped *d = &l->conns.dropped;
    char line[160];
    if (d->refused + d->broken + d->slow + d->foreign == 0 || (!is_last && l->now.mono_ms < l->log_ms))
        return;
    snprintf(line, sizeof line, "connections dropped: %u over a limit, %u broke the protocol, %u too slow, %u foreign",
             d->refused, d->broken, d->slow, d->foreign);
    if (l->setup->log != NULL)
        l->setup->log(l->setup->log_context, line);
    *d = (struct conns_dropped){0};
    l->log_ms = l->now.mono_ms + LOOP_LOG_MS;
}

static enum err run_batch(struct loop *l, bool is_last, struct fault *fault)
{
    enum err e = batch_run(&l->batch, &l->now, is_last);
    if (e != ERR_OK) {
        const char *why = service_failure(l->setup->service);
        return fault_set(fault, e, "a batch could not be recorded, and nobody was answered: %s",
                         why[0] != '\0' ? why : err_text(e));
    }
    return ERR_OK;
}

static enum err step(struct loop *l, struct fault *fault)
{
    enum err e = poll_events(l, fault);
    if (e == ERR_OK && batch_is_due(&l->batch, l->now.mono_ms))
        e = run_batch(l, false, fault);
    if (e != ERR_OK)
        return e;
    if (l->now.mono_ms >= l->sweep_ms) {
        conns_sweep(&l->conns, l->now.mono_ms);
        l->sweep_ms = l->now.mono_ms + LOOP_SWEEP_MS;
    }
    if (l->listen_ms != 0 && l->now.mono_ms >= l->listen_ms)
        watch_sockets(l, EPOLLIN);
    conns_feed(&l->conns, l->now.mono_ms);
    log_dropped(l, false);
    return ERR_OK;
}

/* Lets peers take the answers that the last batch gave. */
static enum err flush(struct loop *l, struct fault *fault)
{
    struct epoll_event events[EVENTS_AT_ONCE];
    int64_t end_ms = l->now.mono_ms + LOOP_FLUSH_MS;
    while (conns_is_writing(&l->conns) && l->now.mono_ms < end_ms) {
        int count = epoll_wait(l->conns.epoll_fd, events, EVENTS_AT_ONCE, (int)(end_ms - l->now.mono_ms));
        if (count < 0 && errno != EINTR)
            return failed("cannot wait for events", fault);
        l->now = clock_read();
        for (int i = 0; i < count; i++)
            on_event(l, &events[i]);
    }
    conns_stop_writing(&l->conns);
    return ERR_OK;
}

static enum err stop(struct loop *l, struct fault *fault)
{
    enum err e = ERR_OK;
    (void)epoll_ctl(l->conns.epoll_fd, EPOLL_CTL_DEL, l->setup->stop_fd, NULL);
    listen_close(l->setup->agent);
    listen_close(l->setup->control);
    conns_stop_reading(&l->conns);
    /* The service answers parked hooks when nothing is left that could park another one. */
    while (e == ERR_OK && l->conns.ready.count > BATCH_MAX)
        e = run_batch(l, false, fault);
    if (e == ERR_OK)
        e = run_batch(l, true, fault);
    if (e == ERR_OK)
        e = flush(l, fault);
    while (e == ERR_OK && l->conns.ready.count > 0)
        e = run_batch(l, false, fault);
    log_dropped(l, true);
    return e;
}

enum err loop_run(const struct loop_setup *setup, struct fault *fault)
{
    struct loop l = {.setup = setup, .now = clock_read()};
    enum err e = conns_open(&l.conns, setup->times != NULL ? setup->times : &CONNS_TIMES, fault);
    if (e != ERR_OK)
        return e;
    l.batch = (struct batch){.service = setup->service, .conns = &l.conns};
    l.polled_ms = l.now.mono_ms;
    e = watch_all(&l, fault);
    while (e == ERR_OK && !l.is_stopping)
        e = step(&l, fault);
    if (e == ERR_OK)
        e = stop(&l, fault);
    conns_close(&l.conns);
    return e;
}
