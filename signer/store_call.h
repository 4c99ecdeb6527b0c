/*
 * store_call.h - calls that were decided and whose result has not come, as rows.
 *
 * The harness gives a call no id, so a call is known by run, tool and the digest of its arguments, and identical ones are
 * paired with their results first in, first out. A row goes when its result comes or its run ends.
 */
#ifndef SIGNER_STORE_CALL_H
#define SIGNER_STORE_CALL_H

#include "signer/store_run.h"

#define STORE_CALL_ALLOWED "allowed"
#define STORE_CALL_HELD "held"     /* asked, and not approved so far */
#define STORE_CALL_DENIED "denied" /* denied, rejected, or its wait ended */

enum { STORE_CALL_MOVED_MAX = 1024, STORE_CALL_LOOKED_AT = 64 };

struct store_call {
    int64_t id;
    int64_t run;
    char tool_call_id[IDS_PREFIXED_BYTES];
    char tool[STORE_TOOL_BYTES];
    char digest[DIGEST_TEXT_BYTES];
    char bare[DIGEST_TEXT_BYTES]; /* of the arguments without those that ask for grants */
    char cwd[STORE_CWD_BYTES];
    char decision_id[IDS_PREFIXED_BYTES];
    char state[STORE_NAME_BYTES];
    int64_t decided_us;
};

enum err store_call_insert(struct store *s, struct store_call *call) MUST_USE; /* sets id */
enum err store_call_set_state(struct store *s, const char *tool_call_id, const char *state) MUST_USE;
enum err store_call_delete(struct store *s, int64_t id) MUST_USE;
enum err store_call_delete_run(struct store *s, int64_t run) MUST_USE;
/* The newest calls of one run, at most STORE_CALL_MOVED_MAX, become another's. */
enum err store_call_move(struct store *s, int64_t from, int64_t to) MUST_USE;

/* Whether the run has calls that are allowed and whose results are still to come. */
enum err store_call_in_flight(struct store *s, int64_t run, bool *out) MUST_USE;

/* What calls are looked for by. Borrowed. */
struct store_call_key {
    int64_t run;
    const char *tool, *digest, *bare;
};

/* The oldest call of this key: an allowed one if there is any, else one that is held, else one that was denied. Errors:
 * NOT_FOUND. */
enum err store_call_match(struct store *s, const struct store_call_key *key, struct store_call *out) MUST_USE;
/* The same, whatever the digest: a call that asked for other grants. */
enum err store_call_match_bare(struct store *s, const struct store_call_key *key, struct store_call *out) MUST_USE;
/* The run's only allowed call of this tool. Errors: NOT_FOUND when there is none, when there are more, and when the run has
 * STORE_CALL_LOOKED_AT allowed calls or more. */
enum err store_call_only(struct store *s, const struct store_call_key *key, struct store_call *out) MUST_USE;

/* Whether the run has allowed calls, fewer than STORE_CALL_LOOKED_AT, and each of them asked for grants. */
enum err store_call_all_ask(struct store *s, int64_t run, bool *out) MUST_USE;

/* The run's allowed calls, oldest first, at most `room` ids; *count is how many there are. */
enum err store_call_unfinished(struct store *s, int64_t run, size_t room, char (*ids)[IDS_PREFIXED_BYTES],
                               int64_t *count) MUST_USE;

#endif
