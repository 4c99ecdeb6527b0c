#include "signer/batch.h"

bool batch_is_due(const struct batch *b, int64_t now_ms)
{
    return b->conns->ready.count > 0 || now_ms >= b->next_tick_ms;
}

static enum err serve_hook(struct batch *b, struct conn *conn)
{
    struct service_hook hook = {
        .token = conns_new_token(b->conns, conn),
        .peer = conn->peer,
        .meta = &conn->meta,
        .deadline_ms = conn->seen_ms + conn->meta.wait_ms,
        .oversize = (conn->head.flags & FRAME_OVERSIZE) != 0,
    };
    hook.payload = conn_payload(conn, &hook.payload_len);
    struct service_answer answer = {.allow = false};
    bool is_parked = false;
    enum err e = service_hook(b->service, &hook, &is_parked, &answer);
    if (e != ERR_OK)
        return e;
    conns_end_frame(b->conns, conn, 0);
    if (is_parked) {
        conns_park(b->conns, conn);
    } else {
        conn_set_answer(conn, &answer);
        conn->state = CONN_HELD;
    }
    return ERR_OK;
}

static enum err serve_request(struct batch *b, struct conn *conn)
{
    struct buf reply;
    bool is_refused = false;
    size_t len = 0;
    const uint8_t *text = conn_payload(conn, &len);
    buf_init(&reply, FRAME_MAX_REPLY);
    enum err e = service_request(b->service, &conn->peer, text, len, &reply, &is_refused);
    if (e == ERR_OK) {
        conns_end_frame(b->conns, conn, reply.cap);
        conn_set_reply(conn, &reply, is_refused);
        conn->state = CONN_HELD;
    }
    buf_wipe(&reply);
    return e;
}

/* What became ready, whatever it is. */
static enum err serve(struct batch *b, struct conn *conn)
{
    enum err e = ERR_OK;
    if (conn->state == CONN_READY)
        return conn->kind == CONN_AGENT ? serve_hook(b, conn) : serve_request(b, conn);
    if (conn->state == CONN_GONE)
        e = service_hook_gone(b->service, conn->token);
    else
        e = service_undelivered(b->service, conn->token);
    conns_drop(b->conns, conn);
    return e;
}

static enum err tick(struct batch *b, int64_t now_ms)
{
    int64_t next_ms = 0;
    if (now_ms < b->next_tick_ms)
        return ERR_OK;
    enum err e = service_tick(b->service, &next_ms);
    if (e != ERR_OK)
        return e;
    /* Whatever it says, it gets the processor neither always nor never. */
    int64_t soonest = now_ms + 1, latest = now_ms + BATCH_TICK_MAX_MS;
    b->next_tick_ms = next_ms < soonest ? soonest : next_ms > latest ? latest : next_ms;
    return ERR_OK;
}

void batch_send(struct batch *b, struct conn *conn, int64_t now_ms)
{
    uint64_t token = conn->token;
    bool is_hook = conn->kind == CONN_AGENT;
    if (conns_write(b->conns, conn, now_ms) == CONN_DONE && is_hook)
        service_delivered(b->service, token);
}

/* Parked hooks that have their answer now. */
static void answer_parked(struct batch *b, int64_t now_ms)
{
    uint64_t token;
    struct service_answer answer;
    while (service_next_answer(b->service, &token, &answer)) {
        struct conn *conn = conns_find(b->conns, token);
        if (conn != NULL && conn->state == CONN_PARKED) {
            conn_set_answer(conn, &answer);
            batch_send(b, conn, now_ms);
            continue;
        }
        buf_wipe(&answer.out);
        buf_wipe(&answer.err);
        /* It went while its answer was on the way; the service learns that in the next batch. */
        if (conn != NULL && conn->state == CONN_GONE)
            conn->state = CONN_LOST;
    }
}

enum err batch_run(struct batch *b, const struct clock *now, bool is_last)
{
    struct conn *held[BATCH_MAX];
    size_t count = 0;
    enum err e = service_begin(b->service, now);
    for (size_t i = 0; e == ERR_OK && i < BATCH_MAX && b->conns->ready.count > 0; i++) {
        struct conn *conn = conn_queue_pop(&b->conns->ready);
        e = serve(b, conn);
        if (conn->state == CONN_HELD)
            held[count++] = conn;
    }
    if (e == ERR_OK)
        e = tick(b, now->mono_ms);
    if (e == ERR_OK && is_last)
        e = service_stop(b->service);
    if (e == ERR_OK)
        e = service_commit(b->service);
    if (e != ERR_OK)
        return e;

    for (size_t i = 0; i < count; i++)
        batch_send(b, held[i], now->mono_ms);
    answer_parked(b, now->mono_ms);
    return ERR_OK;
}
