/*
 * ledger_check.h - does a stored ledger fit its own evidence?
 *
 * Invariant: success means that the newest checkpoint opens under our log key, the stored tree has its root, every
 * record after it is signed by our record key, continues the chain and the tree, and every unfinished run stands where
 * its last record says. Before the checkpoint nothing is read again: those records are what the checkpoint vouches for,
 * and anyone who verifies a bundle checks them. Hostile: the database.
 */
#ifndef SIGNER_LEDGER_CHECK_H
#define SIGNER_LEDGER_CHECK_H

#include "evidence/digest.h"
#include "evidence/err.h"
#include "evidence/tree.h"
#include "signer/holder.h"
#include "signer/store.h"

struct ledger_expected {
    const char *log_id, *origin;
    const struct holder *holder;
};

struct ledger_state {
    struct tree tree;
    uint8_t head[DIGEST_BYTES]; /* hash of the last record */
    uint64_t covered;           /* the newest checkpoint's size; 0 when there is none */
};

/* Errors: LEDGER with a fault that names the record; STORE, NOMEM. Reads at most LEDGER_CHECKPOINT_RECORDS and a batch
 * of records. */
enum err ledger_check(struct store *store, const struct ledger_expected *expected, struct ledger_state *out,
                      struct fault *fault) MUST_USE;

#endif
