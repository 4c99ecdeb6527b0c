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

/* Inserts (sets id) or writes back everything that may change. */
enum err store_run_insert(struct store *s, struct store_run *run) MUST_USE;
enum err store_run_update(struct store *s, const struct store_run *run) MUST_USE;

/* Errors: NOT_FOUND. The newest run of this session that is not final. */
enum err store_run_live(struct store *s, const char *socket, int64_t uid, const char *session,
                        struct store_run *out) MUST_USE;
enum err store_run_by_id(struct store *s, int64_t id, struct store_run *out) MUST_USE;
enum err store_run_by_run_id(struct store *s, const char *run_id, struct store_run *out) MUST_USE;
/* A person's words for a run: a run id or a prefix of one, a session id, or "latest". Errors: NOT_FOUND, AMBIGUOUS. */
enum err store_run_find(struct store *s, const char *words, struct store_run *out) MUST_USE;

/* Visits: the newest `limit` runs but the signer's own, newest first; or all that are not final. The visit must not
 * write. */
typedef enum err store_run_visit(void *ctx, const struct store_run *run);
enum err store_run_newest(struct store *s, int64_t limit, store_run_visit *visit, void *ctx) MUST_USE;
enum err store_run_unfinished(struct store *s, store_run_visit *visit, void *ctx) MUST_USE;

#endif
