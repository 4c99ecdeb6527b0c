/*
 * store_approval.h - approvals, as rows (docs/approvals.md has their states).
 *
 *   pending --approve--> approved --used--> consumed          pending --reject--> rejected
 *      |                    |
 *      +------ time --------+------> expired
 *
 * What is sealed (the arguments, and what a list shows of them) is there while an approval is pending or approved, and
 * goes with the change that ends it.
 */
#ifndef SIGNER_STORE_APPROVAL_H
#define SIGNER_STORE_APPROVAL_H

#include "evidence/buf.h"
#include "signer/store_run.h"

#define STORE_APPROVAL_PENDING "pending"
#define STORE_APPROVAL_APPROVED "approved"
#define STORE_APPROVAL_CONSUMED "consumed"
#define STORE_APPROVAL_REJECTED "rejected"
#define STORE_APPROVAL_EXPIRED "expired"

enum { STORE_FACTS_BYTES = 8192 };

struct store_approval {
    char id[IDS_PREFIXED_BYTES];
    int64_t run;
    char tool_call_id[IDS_PREFIXED_BYTES]; /* of the call that asked */
    char decision_id[IDS_PREFIXED_BYTES];
    char tool[STORE_TOOL_BYTES];
    char digest[DIGEST_TEXT_BYTES];
    char base_digest[DIGEST_TEXT_BYTES]; /* of the arguments without additional_permissions */
    char cwd[STORE_CWD_BYTES];
    char policy_hash[DIGEST_TEXT_BYTES];
    char binding_digest[DIGEST_TEXT_BYTES];
    char facts[STORE_FACTS_BYTES]; /* canonical JSON {"reasons":[…],"rule_ids":[…]} */
    char socket[STORE_NAME_BYTES];
    int64_t uid; /* who asked */
    char state[STORE_NAME_BYTES];
    int64_t created_us, expires_us;
    int64_t answered_us; /* 0 while unanswered */
};

/* Inserts a pending approval with its sealed arguments and what a list shows of them (signer/shown.h). */
enum err store_approval_insert(struct store *s, const struct store_approval *a, const struct buf *args,
                               const struct buf *shown) MUST_USE;
/* Moves one that is pending or approved to another state; what is sealed stays only in these two. answered_us 0 leaves
 * that. Errors: LEDGER when it has ended. */
enum err store_approval_set_state(struct store *s, const char *id, const char *state, int64_t answered_us) MUST_USE;

enum err store_approval_get(struct store *s, const char *id, struct store_approval *out) MUST_USE; /* NOT_FOUND */
/* By a unique prefix of the id. Errors: NOT_FOUND, AMBIGUOUS. */
enum err store_approval_find(struct store *s, const char *prefix, struct store_approval *out) MUST_USE;
/* Appends what is sealed. Errors: NOT_FOUND when it is gone. */
enum err store_approval_args(struct store *s, const char *id, struct buf *out) MUST_USE;
enum err store_approval_shown(struct store *s, const char *id, struct buf *out) MUST_USE;

/* Visits; the visit must not write. Those of a run with this base digest that are pending or approved, and all of a run
 * that are, in the order in which they were asked; all in a state (one of these two), in the order of created_us, at
 * most `limit`. */
typedef enum err store_approval_visit(void *ctx, const struct store_approval *a);
enum err store_approval_of_call(struct store *s, int64_t run, const char *base_digest, store_approval_visit *visit,
                                void *ctx) MUST_USE;
enum err store_approval_in_state(struct store *s, const char *state, int64_t limit, store_approval_visit *visit,
                                 void *ctx) MUST_USE;
enum err store_approval_of_run(struct store *s, int64_t run, store_approval_visit *visit, void *ctx) MUST_USE;

/* How many are pending: of all, or of one run. How many of one user are pending or approved. */
enum err store_approval_pending(struct store *s, int64_t *count) MUST_USE;
enum err store_approval_pending_of_run(struct store *s, int64_t run, int64_t *count) MUST_USE;
enum err store_approval_open_of_user(struct store *s, int64_t uid, int64_t *count) MUST_USE;

#endif
