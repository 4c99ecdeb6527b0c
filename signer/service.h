/*
 * service.h - what the signer does with what the event loop brings it.
 *
 * Invariant: all that happens between service_begin and service_commit is one transaction, at one moment. Nothing that
 * a service function says may leave the process before service_commit has returned OK; when it fails, everything since
 * service_begin never happened, nobody is answered, and the signer must end (it recovers by reading again).
 *
 * The service knows hooks by a token that the loop chooses (never 0, never used twice). A hook is answered at once or
 * parked; a parked hook's answer comes out of service_next_answer after a later commit. Hostile: payloads, requests.
 */
#ifndef SIGNER_SERVICE_H
#define SIGNER_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "evidence/buf.h"
#include "evidence/err.h"
#include "signer/clock.h"
#include "signer/config.h"
#include "wire/frame.h"
#include "wire/peer.h"

struct service;

/* Opens the data directory (which the caller has locked and made private), checks the ledger from its last checkpoint
 * on, writes what a start has to record, and commits. Errors: LEDGER (with where it does not fit), STORE, VERSION,
 * IO, NOMEM, RANDOM. */
enum err service_open(const struct config *config, const struct clock *now, struct service **out,
                      struct fault *fault) MUST_USE;

/* Signs a last checkpoint when the ledger grew, and closes. Call service_stop and commit before. */
void service_close(struct service *s);

/* Starts a batch; costs nothing until something is written. */
enum err service_begin(struct service *s, const struct clock *now) MUST_USE;
enum err service_commit(struct service *s) MUST_USE;

/* What made a batch fail, for people (such as "database or disk is full"); "" when the store knows nothing of it. Borrowed. */
const char *service_failure(const struct service *s);

/* What a hook gets: both texts at most FRAME_MAX_OUT bytes. */
struct service_answer {
    bool allow;
    struct buf out, err; /* owned by whoever holds the struct; the receiver wipes them with buf_wipe */
};

struct service_hook {
    uint64_t token;
    struct peer peer;
    const struct frame_meta *meta;
    int64_t deadline_ms;    /* CLOCK_MONOTONIC: when the hook gives up (receipt + meta->wait_ms) */
    bool oversize;          /* FRAME_OVERSIZE: there is no payload */
    const uint8_t *payload; /* borrowed for the call */
    size_t payload_len;
};

/* Serves one hook. *parked false: *answer (buffers initialised here) is to be sent after the commit. *parked true: the
 * answer comes later. Errors: STORE, NOMEM, CHAIN: the batch must be given up (service_commit will fail too). */
enum err service_hook(struct service *s, const struct service_hook *hook, bool *parked,
                      struct service_answer *answer) MUST_USE;

/* The next parked hook that now has an answer, after a commit. False when there is none. */
bool service_next_answer(struct service *s, uint64_t *token, struct service_answer *answer);

/* A parked hook's connection ended before its answer (in a batch). */
enum err service_hook_gone(struct service *s, uint64_t token) MUST_USE;
/* An answer of this hook could not be handed to the kernel as a whole (in a batch): a signed gap when it was an
 * allow. Hooks answered at once have tokens too. */
enum err service_undelivered(struct service *s, uint64_t token) MUST_USE;
/* It was. */
void service_delivered(struct service *s, uint64_t token);

/* Serves one control request (in a batch): appends the reply's JSON to `reply` (empty, max FRAME_MAX_REPLY); *refused
 * when it is an error reply. Errors as for service_hook. */
enum err service_request(struct service *s, const struct peer *peer, const uint8_t *text, size_t len, struct buf *reply,
                         bool *refused) MUST_USE;

/* Work that time brings (in a batch): deadlines of parked hooks, expiry, closing runs, checkpoints. *next_ms is
 * when it wants to be called again (CLOCK_MONOTONIC), at most a second away. */
enum err service_tick(struct service *s, int64_t *next_ms) MUST_USE;

/* The signer is going down (in a batch): every parked hook gets a deny. */
enum err service_stop(struct service *s) MUST_USE;

#endif
