#include "signer/waiters.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void waiters_init(struct waiters *w)
{
    memset(w, 0, sizeof *w);
}

static void drop_answer(struct waiter *waiter)
{
    if (waiter->state != WAITER_ANSWERED)
        return;
    buf_wipe(&waiter->answer.out);
    buf_wipe(&waiter->answer.err);
}

void waiters_wipe(struct waiters *w)
{
    for (size_t i = 0; i < w->count; i++)
        drop_answer(&w->list[i]);
    free(w->list);
    waiters_init(w);
}

enum err waiters_add(struct waiters *w, const struct waiter *waiter)
{
    if (w->count == WAITERS_MAX)
        return ERR_TOO_LARGE;
    if (w->count == w->room) {
        size_t room = w->room == 0 ? 16 : w->room * 2;
        struct waiter *list = realloc(w->list, room * sizeof *list);
        if (list == NULL)
            return ERR_NOMEM;
        w->list = list;
        w->room = room;
    }
    w->list[w->count++] = *waiter;
    return ERR_OK;
}

void waiters_remove(struct waiters *w, uint64_t token)
{
    for (size_t i = 0; i < w->count; i++) {
        if (w->list[i].token != token)
            continue;
        drop_answer(&w->list[i]);
        /* In order, so that answers leave in the order in which their hooks came. */
        memmove(&w->list[i], &w->list[i + 1], (w->count - i - 1) * sizeof w->list[0]);
        w->count--;
        return;
    }
}

struct waiter *waiters_by_token(struct waiters *w, uint64_t token)
{
    for (size_t i = 0; i < w->count; i++)
        if (w->list[i].token == token)
            return &w->list[i];
    return NULL;
}

struct waiter *waiters_by_approval(struct waiters *w, const char *approval_id)
{
    for (size_t i = 0; i < w->count; i++)
        if (w->list[i].state == WAITER_WAITING && strcmp(w->list[i].approval_id, approval_id) == 0)
            return &w->list[i];
    return NULL;
}

void waiters_answer(struct waiter *waiter, const struct service_answer *answer)
{
    assert(waiter->state == WAITER_WAITING);
    waiter->answer = *answer;
    waiter->state = WAITER_ANSWERED;
}

bool waiters_next(struct waiters *w, uint64_t *token, struct service_answer *answer)
{
    for (size_t i = 0; i < w->count; i++) {
        struct waiter *waiter = &w->list[i];
        if (waiter->state != WAITER_ANSWERED)
            continue;
        *token = waiter->token;
        *answer = waiter->answer;
        waiter->state = WAITER_LEAVING;
        if (!answer->allow)
            waiters_remove(w, *token);
        return true;
    }
    return false;
}
