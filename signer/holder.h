/*
 * holder.h - the key holder: the only place with signing keys.
 *
 * Invariant: it signs a record only when the event continues the chain that the holder itself keeps (its log id, the
 * next seq, the hash of the record before), and a checkpoint only over its own tree of what it signed. So whoever talks
 * to it can add to the log, but cannot sign a second history beside it. This interface is narrow on purpose: it can
 * become a process of its own.
 *
 * A record that was signed and then not stored would fork the log with the next one: after a failed commit the
 * holder must be thrown away together with everything else in memory.
 */
#ifndef SIGNER_HOLDER_H
#define SIGNER_HOLDER_H

#include <stddef.h>
#include <stdint.h>

#include "evidence/buf.h"
#include "evidence/digest.h"
#include "evidence/ed25519.h"
#include "evidence/err.h"
#include "evidence/json.h"
#include "evidence/note.h"
#include "evidence/tree.h"

struct holder;

/* Opens the keys record.key and log.key in `directory`; makes them when `create`, which is only right for a data
 * directory that never had a ledger. Errors: NOT_FOUND, CONFIG, IO, SYNC, RANDOM, NOMEM. */
enum err holder_open(int directory, int create, struct holder **out, struct fault *fault) MUST_USE;
void holder_close(struct holder *h); /* wipes the keys */

/* The record key's public half, its kid, and the log key as a vkey named `origin`. */
const uint8_t *holder_public(const struct holder *h);
const char *holder_kid(const struct holder *h);
enum err holder_log_vkey(const struct holder *h, const char *origin, struct note_vkey *out) MUST_USE;

/* Where the log stands: called once, with a tree and head hash that were checked against the ledger. `origin` and
 * `log_id` are copied. Errors: STATE (called twice). */
enum err holder_start(struct holder *h, const char *log_id, const char *origin, const struct tree *tree,
                      const uint8_t head[static DIGEST_BYTES]) MUST_USE;

struct holder_signature {
    uint8_t hash[DIGEST_BYTES];
    char hash_text[DIGEST_TEXT_BYTES];
    uint8_t sig[ED25519_SIGNATURE_BYTES];
};

/* Signs the next record's event. Complete subtrees are told to `completed` (may be NULL). Errors: CHAIN (it does not
 * continue the log: our own bug or an attack; nothing was signed), NOMEM, those of `completed`. */
enum err holder_sign_record(struct holder *h, const struct json *event, tree_completed *completed, void *ctx,
                            struct holder_signature *out) MUST_USE;

/* Appends a signed note over the whole log as the holder knows it. Errors: STATE (empty log), NOMEM. */
enum err holder_sign_checkpoint(struct holder *h, struct buf *note) MUST_USE;

/* Records signed so far, the hash of the last one (zeros for none). */
uint64_t holder_size(const struct holder *h);
const uint8_t *holder_head(const struct holder *h);

#endif
