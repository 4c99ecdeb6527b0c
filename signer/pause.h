/*
 * pause.h - the gate switched off by a person, for a while, with a trace (docs/pause.md).
 *
 * Invariant: a pause has a record of its beginning on the disk before it lets the first call go, and one of its end:
 * when its time is over (by either clock), when a person ends it, when the signer stops, or at the next start when it
 * did not stop in order. Each call that it lets go is recorded as flagged, with the rules that would have stopped it,
 * and each run with such a call has a gap. Hostile: the reason.
 */
#ifndef SIGNER_PAUSE_H
#define SIGNER_PAUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "evidence/arena.h"
#include "evidence/err.h"
#include "evidence/json.h"
#include "policy/policy.h"
#include "signer/store_run.h"
#include "wire/peer.h"

#define PAUSE_RULE "TK-PAUSED"

enum { PAUSE_MAX_S = 3600, PAUSE_REASON_BYTES = 1025, PAUSE_MARKED = 64 };

struct service;

/* Zeroed: there is none. */
struct pause {
    int64_t until_ms; /* CLOCK_MONOTONIC; 0: not paused */
    int64_t from_us, until_us;
    uid_t uid;
    char reason[PAUSE_REASON_BYTES]; /* printable ASCII */
    uint64_t lifted;                 /* calls that it let go */
    size_t marked_count;             /* runs that have their gap; the newest PAUSE_MARKED are remembered */
    int64_t marked[PAUSE_MARKED];
};

/* Whether the gate is paused at this batch's moment. */
bool pause_holds(const struct service *s);

/* `seconds` from 1 to PAUSE_MAX_S. Errors besides the fatal ones: STATE (it is paused already), with a fault. */
enum err pause_begin(struct service *s, const struct peer *peer, int64_t seconds, const char *reason,
                     struct fault *fault) MUST_USE;
/* Errors besides the fatal ones: STATE (it is not paused), with a fault. */
enum err pause_end(struct service *s, const struct peer *peer, struct fault *fault) MUST_USE;
/* Ends one whose time is over. */
enum err pause_sweep(struct service *s) MUST_USE;
/* The signer stops. */
enum err pause_stop(struct service *s) MUST_USE;
/* At a start, outside a transaction: the record of the end that a signer owed that did not stop in order. */
enum err pause_recover(struct service *s) MUST_USE;

/* Turns a decision that would stop a call into a flagged one. True when it did. */
bool pause_lift(struct service *s, struct decision *d);
/* The gap of a run in which it did, once. */
enum err pause_mark(struct service *s, struct store_run *run) MUST_USE;

/* {"until", "left_s", "uid", "reason", "lifted"}, or null. In the arena. */
const struct json *pause_view(const struct service *s, struct arena *arena);

#endif
