/*
 * store_approval.h - approvals, as rows (docs/approvals.md has their states).
 *
 *   pending --approve--> approved --used--> consumed          pending --reject--> rejected
 *      |                    |
 *      +------ time --------+------> expired
 *
 * The sealed arguments (args) are there while an approval is pending or approved, and go with the change that ends it.
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

/* Inserts a pending approval with its sealed arguments. */
enum err store_approval_insert(struct store *s, const struct store_approval *a, const void *args,
                               size_t args_len) MUST_USE;
/* Moves it to another state; the sealed arguments stay only in pending and approved. answered_us 0 leaves it. */
enum err store_approval_set_state(struct store *s, const char *id, const char *state, int64_t answered_us) MUST_USE;

enum err store_approval_get(struct store *s, const char *id, struct store_approval *out) MUST_USE; /* NOT_FOUND */
/* By a unique prefix of the id. Errors: NOT_FOUND, AMBIGUOUS. */
enum err store_approval_find(struct store *s, const char *prefix, struct store_approval *out) MUST_USE;
/* Appends the sealed arguments. Errors: NOT_FOUND when they are gone. */
enum err store_approval_args(struct store *s, const char *id, struct buf *out) MUST_USE;

/* Visits, oldest first; the visit must not write. Those of a run with this base digest that are pending or approved;
 * all in a state, at most `limit`; all of a run that are pending or approved. */
typedef enum err store_approval_visit(void *ctx, const struct store_approval *a);
enum err store_approval_of_call(struct store *s, int64_t run, const char *base_digest, store_approval_visit *visit,
                                void *ctx) MUST_USE;
enum err store_approval_in_state(struct store *s, const char *state, int64_t limit, store_approval_visit *visit,
                                 void *ctx) MUST_USE;
enum err store_approval_of_run(struct store *s, int64_t run, store_approval_visit *visit, void *ctx) MUST_USE;

/* How many are pending; of one run, or of all with run 0. */
enum err store_approval_pending(struct store *s, int64_t run, int64_t *count) MUST_USE;

#endif
