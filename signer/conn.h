/*
 * conn.h - one connection: how much of its frame has come, how much of its answer has gone.
 *
 * Invariant: never a byte more is read than the frame announces, never a byte is taken before its length has passed its
 * maximum, and no call here blocks. Implements the signer's side of docs/wire.md. Hostile: everything that is read, and
 * the speed at which the other end reads.
 *
 *   agent     HEAD -> (WAIT) -> BODY -> READY -> PARKED -> WRITE -> FREE
 *                                            \-> HELD  -/
 *   control   HEAD -> (WAIT) -> BODY -> READY -> HELD -> WRITE -> HEAD
 *
 * A hook that goes while it is parked leaves GONE behind, and an answer that could not be written leaves LOST, until the
 * service has been told.
 */
#ifndef SIGNER_CONN_H
#define SIGNER_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "evidence/buf.h"
#include "signer/service.h"
#include "wire/frame.h"
#include "wire/peer.h"

enum conn_kind { CONN_AGENT, CONN_CONTROL, CONN_KINDS };

enum conn_state {
    CONN_FREE,
    CONN_HEAD,   /* reads the head */
    CONN_WAIT,   /* the head has come; there is no room for the rest yet */
    CONN_BODY,   /* reads the rest */
    CONN_READY,  /* a whole frame, for the next batch */
    CONN_PARKED, /* a held call */
    CONN_HELD,   /* has its answer, which waits for the commit */
    CONN_WRITE,  /* writes it */
    CONN_GONE,   /* closed while parked */
    CONN_LOST,   /* closed before the answer was out */
};

struct conn {
    int fd; /* -1 when closed */
    enum conn_state state;
    enum conn_kind kind;
    struct peer peer;
    uint32_t generation; /* differs each time that the slot is used */
    uint32_t watched;    /* what epoll reports for it; 0 when it was not added yet */
    uint64_t token;      /* of the hook's frame; 0 before */
    int64_t seen_ms;     /* no byte of the frame was sent before (CLOCK_MONOTONIC) */
    int64_t deadline_ms; /* when the peer's patience with us, or ours with it, ends; INT64_MAX: never */
    struct frame_head head;
    struct frame_meta meta;
    uint8_t raw[FRAME_HEAD_BYTES];
    size_t raw_len;
    uint8_t *body; /* owned; head.a + head.b bytes */
    size_t body_len;
    size_t charge, wish;                /* bytes of a room that it holds, or waits for (signer/room.h) */
    uint8_t out_head[FRAME_HEAD_BYTES]; /* then out[0], then out[1] */
    struct buf out[2];
    size_t out_sent;
    bool is_out_good;  /* the bytes are a frame */
    struct conn *next; /* in whichever queue it is */
};

/* First in, first out. */
struct conn_queue {
    struct conn *first, *last;
    size_t count;
};

void conn_queue_push(struct conn_queue *q, struct conn *c);
struct conn *conn_queue_pop(struct conn_queue *q); /* NULL when empty */
void conn_queue_remove(struct conn_queue *q, struct conn *c);

enum conn_result {
    CONN_MORE,   /* the other end has to go on first */
    CONN_DONE,   /* complete */
    CONN_CLOSED, /* the other end is gone */
    CONN_BROKEN, /* it broke a rule */
    CONN_NOMEM,
};

/* Makes a free slot the connection `fd`, which it owns from now on. */
void conn_open(struct conn *c, int fd, enum conn_kind kind, const struct peer *peer);

/* Closes the descriptor and frees what the connection holds. The state stays. */
void conn_hang_up(struct conn *c);

/* HEAD: reads on. DONE: `head` is one that this socket understands, with its lengths checked. */
enum conn_result conn_read_head(struct conn *c);
/* Allocates the body. DONE or NOMEM. */
enum conn_result conn_new_body(struct conn *c);
/* BODY: reads on. DONE: the frame is whole, and a hook's meta is in `meta`. */
enum conn_result conn_read_body(struct conn *c);
/* The part of the body behind the meta. */
const uint8_t *conn_payload(const struct conn *c, size_t *len);
/* Frees the body; the connection can read another frame. */
void conn_end_frame(struct conn *c);

/* Takes over the answer's or reply's bytes as what is to be written. */
void conn_set_answer(struct conn *c, struct service_answer *answer);
void conn_set_reply(struct conn *c, struct buf *reply, bool refused);
/* Writes on. DONE (and frees the bytes), MORE, or CLOSED, also when what was set is no frame (a failed buffer, or too
 * long): the other end then does as when we had died. */
enum conn_result conn_write(struct conn *c);

#endif
