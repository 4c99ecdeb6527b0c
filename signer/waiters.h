/*
 * waiters.h - hooks that are parked, and answers on their way out.
 *
 * Invariant: a token is in at most one of these states: waiting for an approval, answered and about to leave, or (for an
 * allow) on its way until the loop says that it was delivered or not. At most one waiter waits on one approval.
 */
#ifndef SIGNER_WAITERS_H
#define SIGNER_WAITERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "evidence/err.h"
#include "signer/harness.h"
#include "signer/ids.h"
#include "signer/service.h"

enum { WAITERS_MAX = 1024 };

enum waiter_state { WAITER_WAITING, WAITER_ANSWERED, WAITER_LEAVING };

struct waiter {
    uint64_t token;
    enum waiter_state state;
    const struct harness *harness;
    int64_t run; /* row id */
    int64_t deadline_ms;
    char approval_id[IDS_PREFIXED_BYTES]; /* "" for one that never waited */
    char tool_call_id[IDS_PREFIXED_BYTES];
    struct service_answer answer; /* owned while ANSWERED */
};

struct waiters {
    size_t count, room;
    struct waiter *list; /* owned */
};

void waiters_init(struct waiters *w);
void waiters_wipe(struct waiters *w);

/* Adds one. Errors: NOMEM, TOO_LARGE when WAITERS_MAX are there. Pointers to waiters last until the next add or remove. */
enum err waiters_add(struct waiters *w, const struct waiter *waiter) MUST_USE;
void waiters_remove(struct waiters *w, uint64_t token);
struct waiter *waiters_by_token(struct waiters *w, uint64_t token);             /* NULL when absent */
struct waiter *waiters_by_approval(struct waiters *w, const char *approval_id); /* one that is WAITING; or NULL */

/* Gives a waiting one its answer (ownership moves). */
void waiters_answer(struct waiter *waiter, const struct service_answer *answer);
/* Takes the next answer: the waiter is LEAVING from here on when it was an allow, else gone. */
bool waiters_next(struct waiters *w, uint64_t *token, struct service_answer *answer);

#endif
