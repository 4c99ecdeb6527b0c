#include "signer/room.h"

#include <assert.h>

static void take(struct room *r, struct conn *c, size_t bytes)
{
    r->used += bytes;
    c->charge = bytes;
}

bool room_take(struct room *r, struct conn *c, size_t bytes)
{
    assert(bytes <= r->max && c->charge == 0);
    if (r->waiting.count == 0 && bytes <= r->max - r->used) {
        take(r, c, bytes);
        return true;
    }
    c->wish = bytes;
    conn_queue_push(&r->waiting, c);
    return false;
}

void room_give(struct room *r, struct conn *c, size_t kept)
{
    assert(kept <= c->charge && c->charge <= r->used);
    r->used -= c->charge - kept;
    c->charge = kept;
}

struct conn *room_next(struct room *r)
{
    struct conn *c = r->waiting.first;
    if (c == NULL || c->wish > r->max - r->used)
        return NULL;
    conn_queue_pop(&r->waiting);
    take(r, c, c->wish);
    return c;
}
