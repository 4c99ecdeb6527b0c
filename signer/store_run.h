/*
 * store_run.h - runs, as rows.
 *
 * A run is one session of an agent: found by socket, uid and session id. The signer's own records belong to the run
 * `tracekit/signer` of tenant `tracekit`, which is never registered and never ends.
 */
#ifndef SIGNER_STORE_RUN_H
#define SIGNER_STORE_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "evidence/digest.h"
#include "signer/ids.h"
#include "signer/store.h"

enum {
    STORE_RUN_ID_BYTES = 40, /* 32 hex, or tracekit/signer */
    STORE_TENANT_BYTES = 129,
    STORE_NAME_BYTES = 65, /* harness, socket, state */
    STORE_SESSION_BYTES = 257,
    STORE_TOOL_BYTES = 257,
    STORE_CWD_BYTES = 4097,
};

#define STORE_RUN_OPEN "open"
#define STORE_RUN_CLOSING "closing"
#define STORE_RUN_FINAL "final"

struct store_run {
    int64_t id; /* 0: not stored yet */
    char run_id[STORE_RUN_ID_BYTES];
    char tenant[STORE_TENANT_BYTES];
    char harness[STORE_NAME_BYTES];
    char session[STORE_SESSION_BYTES];
    char socket[STORE_NAME_BYTES];
    int64_t uid;
    char state[STORE_NAME_BYTES];
    int64_t next_run_seq;
    uint8_t head[DIGEST_BYTES];              /* hash of the run's last record, zeros for none */
    int64_t bytes;                           /* of its record lines, newlines included */
    int64_t started_us, active_us, ended_us; /* ended_us: 0 while it has not ended */
};

/* Inserts (sets id). */
enum err store_run_insert(struct store *s, struct store_run *run) MUST_USE;
/* Writes back what each record changes: next_run_seq, head, bytes, active_us. */
enum err store_run_advance(struct store *s, const struct store_run *run) MUST_USE;
/* Writes back state and ended_us. */
enum err store_run_set_state(struct store *s, const struct store_run *run) MUST_USE;

/* Whose run it is. */
struct store_run_key {
    const char *socket;
    int64_t uid;
    const char *session;
};
/* Errors: NOT_FOUND. The newest run with this key that is not final, or that is in `state`. */
enum err store_run_live(struct store *s, const struct store_run_key *key, struct store_run *out) MUST_USE;
enum err store_run_live_in(struct store *s, const struct store_run_key *key, const char *state,
                           struct store_run *out) MUST_USE;
enum err store_run_by_id(struct store *s, int64_t id, struct store_run *out) MUST_USE;
enum err store_run_by_run_id(struct store *s, const char *run_id, struct store_run *out) MUST_USE;
/* A person's words for a run: a run id or a prefix of one, a session id, or "latest". Errors: NOT_FOUND, AMBIGUOUS. */
enum err store_run_find(struct store *s, const char *words, struct store_run *out) MUST_USE;

/* How many are open, the signer's own apart. */
enum err store_run_open_count(struct store *s, int64_t *count) MUST_USE;

/* Visits of all runs but the signer's own: the newest `limit`, newest first; or those in a state that is not final, in
 * the order of their row ids, at most `limit` with a row id above `after`. The visit must not write. */
typedef enum err store_run_visit(void *ctx, const struct store_run *run);
enum err store_run_newest(struct store *s, int64_t limit, store_run_visit *visit, void *ctx) MUST_USE;
struct store_run_range {
    const char *state;
    int64_t after, limit;
};
enum err store_run_in_state(struct store *s, const struct store_run_range *range, store_run_visit *visit,
                            void *ctx) MUST_USE;

#endif
