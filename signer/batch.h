/*
 * batch.h - one transaction: what is ready goes to the service, the service commits, and then the answers leave.
 *
 * Invariant: no byte of an answer is written before the commit that it rests on has returned OK. What the service is
 * told about hooks that are gone and answers that were lost it is told in a batch too.
 */
#ifndef SIGNER_BATCH_H
#define SIGNER_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "evidence/err.h"
#include "signer/clock.h"
#include "signer/conns.h"
#include "signer/service.h"

enum {
    BATCH_MAX = 256,          /* frames and news in one transaction */
    BATCH_TICK_MAX_MS = 1000, /* the service is asked at least that often */
};

struct batch {
    struct service *service; /* borrowed, like conns */
    struct conns *conns;
    int64_t next_tick_ms; /* 0: at once */
};

/* Whether there is anything to do at this moment. */
bool batch_is_due(const struct batch *b, int64_t now_ms);

/* Runs one. `is_last` asks the service to answer every parked hook (service_stop). After an error nothing that was in it
 * has been answered, and the signer must end. Errors: those of the service. Syncs the disk. */
enum err batch_run(struct batch *b, const struct clock *now, bool is_last) MUST_USE;

/* Writes on at an answer that the commit has released, and tells the service when it is delivered. */
void batch_send(struct batch *b, struct conn *conn, int64_t now_ms);

#endif
