/*
 * ledger.h - the log: records appended one by one, signed, chained, in a tree, under checkpoints.
 *
 * Invariant: what the ledger holds in memory (size, head, tree) is what the store will hold after the commit; an opened
 * ledger has been checked from its last checkpoint on (signatures, chain, tree, the checkpoint itself under our log
 * key), and one that does not fit is refused, never continued. The cost of a record does not grow with the log.
 *
 * Implements sections 3 to 6 of upstream's format-v2.md as a writer (docs/evidence.md).
 */
#ifndef SIGNER_LEDGER_H
#define SIGNER_LEDGER_H

#include <stdint.h>

#include "evidence/arena.h"
#include "evidence/buf.h"
#include "evidence/err.h"
#include "evidence/json.h"
#include "evidence/note.h"
#include "signer/clock.h"
#include "signer/store.h"
#include "signer/store_run.h"

#define LEDGER_SIGNER_RUN "tracekit/signer"
#define LEDGER_SIGNER_TENANT "tracekit"

enum {
    LEDGER_CHECKPOINT_RECORDS = 500,  /* a checkpoint at least every so many records ... */
    LEDGER_CHECKPOINT_MS = 10 * 1000, /* ... and this long after the first record without one */
};

struct ledger;

/* Opens the ledger of an open store, outside a transaction; the keys are in `keys` (a directory). With `fresh`, makes keys and the first
 * record (signer.epoch) and commits them. Errors: LEDGER with where it does not fit, NOT_FOUND or CONFIG for the keys,
 * STORE, RANDOM, NOMEM. */
enum err ledger_open(struct store *store, int keys, bool fresh, const struct clock *now, struct ledger **out,
                     struct fault *fault) MUST_USE;
void ledger_close(struct ledger *l);

const char *ledger_log_id(const struct ledger *l);
const char *ledger_origin(const struct ledger *l);
enum err ledger_vkey(const struct ledger *l, struct note_vkey *out) MUST_USE;
uint64_t ledger_size(const struct ledger *l);
uint64_t ledger_covered(const struct ledger *l); /* the newest checkpoint's size */

/* The run of the signer's own records. Borrowed; ledger_append keeps it up to date. */
struct store_run *ledger_signer_run(struct ledger *l);

/* One event to append. Strings are borrowed; NULL leaves an optional field out. */
struct ledger_event {
    const char *type;
    const char *source; /* "hook" or "signer" */
    const struct json *data;
    const char *tool_call_id;
    const char *args_source; /* "parsed" */
    const char *tier;        /* "T1" */
    const char *engine;
};

/* Appends to `run` (whose next_run_seq, head, bytes and active_us move on, here and in the store), in a transaction. `arena` holds the
 * event while it is written. Errors: STORE, CHAIN, NOMEM, TOO_LARGE, RANDOM: each means that the batch must be given
 * up. */
enum err ledger_append(struct ledger *l, struct store_run *run, const struct ledger_event *event,
                       const struct clock *now, struct arena *arena) MUST_USE;

/* Signs a checkpoint over all records, in a transaction, unless the newest one covers them already. */
enum err ledger_checkpoint(struct ledger *l, const struct clock *now) MUST_USE;
/* Whether LEDGER_CHECKPOINT_RECORDS or LEDGER_CHECKPOINT_MS say that one is due. */
bool ledger_checkpoint_due(const struct ledger *l, const struct clock *now);

#endif
