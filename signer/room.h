/*
 * room.h - a number of bytes that may be kept for connections, and who waits for some.
 *
 * Invariant: used <= max, and whoever came first is served first: nobody takes room while another one waits.
 */
#ifndef SIGNER_ROOM_H
#define SIGNER_ROOM_H

#include <stdbool.h>
#include <stddef.h>

#include "signer/conn.h"

struct room {
    size_t used, max;
    struct conn_queue waiting;
};

/* Takes `bytes` (at most max) for the connection, or puts it at the end of the queue: false. */
bool room_take(struct room *r, struct conn *c, size_t bytes);
/* Gives back what the connection holds, but for `kept` bytes (at most that). */
void room_give(struct room *r, struct conn *c, size_t kept);
/* The connection that has waited longest, out of the queue and with its room taken, if there is enough now; else NULL. */
struct conn *room_next(struct room *r);

#endif
