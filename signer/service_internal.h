/*
 * service_internal.h - the parts of the service, and what they share. Only the files of the service include this:
 * service.c (batches and time), service_open.c, waiters.c (parked hooks), run.c, call.c, result.c, heard.c, ask.c, shown.c,
 * approval.c, control.c, control_export.c, control_status.c.
 */
#ifndef SIGNER_SERVICE_INTERNAL_H
#define SIGNER_SERVICE_INTERNAL_H

#include "evidence/arena.h"
#include "policy/policy.h"
#include "signer/harness.h"
#include "signer/ledger.h"
#include "signer/pause.h"
#include "signer/seal.h"
#include "signer/service.h"
#include "signer/store.h"
#include "signer/store_approval.h"
#include "signer/store_call.h"
#include "signer/store_run.h"
#include "signer/waiters.h"

enum {
    SERVICE_PAYLOAD_ARENA_BYTES = 128 << 20, /* what one payload's values may take */
    SERVICE_RECORD_ARENA_BYTES = 1 << 20,    /* what one record's values may take */
    SERVICE_APPROVAL_S = 3600,               /* how long a person may take */
    SERVICE_LATE_ANSWER_S = 300,             /* how long an answer that came late stays usable */
    SERVICE_HOOK_MARGIN_MS = 2000,           /* an answer leaves this long before the hook's deadline, or not at all */
    SERVICE_GRACE_MS = 5000,                 /* after SessionEnd, late results are still taken */
    SERVICE_START_MS = 10000,                /* so young a run may be told of its session's start late */
    SERVICE_IDLE_S = 3600,                   /* a run without events and without pending approvals ends */
    SERVICE_RUN_MAX_BYTES = 60 << 20,        /* a run is ended and continued: one run's file holds at most 64 MiB; */
    SERVICE_RUN_HARD_BYTES = 63 << 20,       /* at the latest here, even with calls and approvals in flight */
    SERVICE_SWEEP_LIMIT = 256,               /* rows looked at in one sweep */
    SERVICE_OPEN_APPROVALS = 200,            /* of one user, pending or approved: more nobody could judge */
};

/* The agent socket's name in rows. */
#define SERVICE_SOCKET_AGENT "agent"

struct service {
    struct config config;
    struct store *store;
    struct ledger *ledger;
    struct seal *seal;
    struct policy *policy;
    struct waiters waiters;
    struct pause pause;
    struct clock now;          /* of the present batch */
    int64_t started_us;        /* when the service was opened */
    bool broken;               /* a batch failed: nothing is served any more */
    uint64_t unreadable_count; /* payloads refused because nobody could be told apart by them, not yet recorded */
    int64_t unreadable_from_us, unreadable_to_us, unreadable_since_ms;
    int64_t swept_run; /* row id of the last open run that a sweep looked at */
};

/* What is known of one hook call while it is served. */
struct service_call {
    const struct service_hook *hook;
    const struct harness *harness;
    struct harness_message message;
    struct arena *arena; /* holds the message and what is derived from it */
    struct store_run run;
};

/* --- run.c: runs begin, close and end -------------------------------------------------------------------------- */

/* The live run of this caller and session, registered when there is none. */
enum err run_of_call(struct service *s, struct service_call *call) MUST_USE;
/* The run of this caller and session that is closing. Errors: NOT_FOUND. */
enum err run_closing_of_call(struct service *s, const struct service_call *call, struct store_run *out) MUST_USE;
/* SessionStart: a run that is there already closes, unless it is younger than SERVICE_START_MS; then as run_of_call. */
enum err run_session_start(struct service *s, struct service_call *call) MUST_USE;
/* SessionEnd: run.closing; the run ends SERVICE_GRACE_MS later. Nothing when there is no open run. */
enum err run_session_end(struct service *s, struct service_call *call) MUST_USE;
/* run.final and its checkpoint; pending approvals expire first. */
enum err run_finish(struct service *s, struct store_run *run) MUST_USE;
/* Ends what is due. */
enum err run_sweep(struct service *s) MUST_USE;
/* Appends to a run with a fresh arena for what `event` does not hold itself. */
enum err run_append(struct service *s, struct store_run *run, const struct ledger_event *event,
                    struct arena *arena) MUST_USE;
/* capture.gap. `tool_call_id` may be NULL; `reason` is ours, without agent text. */
enum err run_gap(struct service *s, struct store_run *run, const char *kind, const char *tool_call_id,
                 const char *reason) MUST_USE;

/* --- call.c: tool calls are decided and answered ---------------------------------------------------------------- */

enum err call_before_tool(struct service *s, struct service_call *call, bool *parked,
                          struct service_answer *answer) MUST_USE;
/* What a call is known by: digests of its arguments, and of those without what asks for grants. Empty when they could not
 * be read at all. Arguments that are not strict JSON are read forgivingly, both when they come and when they have run. */
struct call_digests {
    char whole[DIGEST_TEXT_BYTES], bare[DIGEST_TEXT_BYTES];
};
/* Errors: NOMEM. */
enum err call_know(struct arena *arena, const struct harness_message *m, struct call_digests *out) MUST_USE;
/* "TK-A004 (asks for more than ...: network)": the strongest rule alone. */
void call_describe(const struct decision *d, char *out, size_t room);
/* Both texts of a deny, initialising *answer. */
void call_deny(const struct harness *harness, const char *reason, struct service_answer *answer);
void call_allow(const struct harness *harness, struct service_answer *answer);

/* --- result.c: what came of them --------------------------------------------------------------------------------- */

/* AfterTool: tool.result under the decision that it belongs to, and a gap when what ran is not what was decided. */
enum err result_take(struct service *s, struct service_call *call) MUST_USE;
/* The run ends: a gap for calls that were let go and whose end nobody reported. */
enum err result_missing(struct service *s, struct store_run *run) MUST_USE;

/* --- heard.c: what else the harness tells -------------------------------------------------------------------------- */

/* user.prompt, with a commitment to what was said. */
enum err heard_prompt(struct service *s, struct service_call *call) MUST_USE;
/* A gap when the program asks its user for what no hook will show. */
enum err heard_notice(struct service *s, struct service_call *call) MUST_USE;

/* --- ask.c: a call is held ------------------------------------------------------------------------------------- */

/* An approval that is there already. */
struct ask_found {
    bool is_there;
    char id[IDS_PREFIXED_BYTES], digest[DIGEST_TEXT_BYTES];
};
/* What is there for a call that policy asks about. */
struct ask_state {
    struct ask_found usable;   /* an answer that came late */
    struct ask_found idle;     /* pending, and nobody waits on it */
    struct ask_found mismatch; /* an answer that came late to another call of the same words */
    char base[DIGEST_TEXT_BYTES];
    bool is_full; /* a new approval would be one too many */
};
enum err ask_look(struct service *s, const struct service_call *call, const struct call_digests *digests,
                  struct ask_state *out) MUST_USE;

/* The call, when its policy.decision is written. */
struct ask {
    const struct service_call *call;
    const struct decision *decision;
    const struct ask_state *state;
    const char *tool_call_id, *decision_id, *digest;
};
/* The approval to wait on, made when there is none; `id` becomes its id. `run` is the call's. */
enum err ask_approval(struct service *s, const struct ask *ask, struct store_run *run,
                      char id[static IDS_PREFIXED_BYTES]) MUST_USE;

/* --- shown.c: what a person is shown of it ---------------------------------------------------------------------- */

/* Inserts a pending approval with all of it, sealed. */
enum err shown_insert(struct service *s, const struct store_approval *a, const struct decision *d,
                      const struct harness_message *m) MUST_USE;
/* The arguments; NULL when the approval has ended, and when they were sealed under a key that is gone. */
enum err shown_args(struct service *s, const char *id, struct arena *arena, const struct json **out) MUST_USE;
/* Sets `grants` and `summary` of a reply's approval; they are empty when shown_args gives NULL. */
enum err shown_read(struct service *s, const char *id, struct arena *arena, struct json *approval) MUST_USE;

/* --- approval.c: what becomes of it ------------------------------------------------------------------------------- */

struct approval_answer {
    bool approve;
    const char *reason;         /* "" for none */
    const char *binding_digest; /* what the person was shown; "" does not check */
    struct peer peer;
};
struct approval_outcome {
    bool delivered; /* a hook waits and gets the answer */
    bool self_approved;
};
/* Errors besides the fatal ones: STATE (not pending any more, or shown otherwise), FORBIDDEN, with a fault. */
enum err approval_answer(struct service *s, const struct store_approval *a, const struct approval_answer *answer,
                         struct approval_outcome *out, struct fault *fault) MUST_USE;
/* Whether an approved one may still be used. */
bool approval_is_fresh(const struct service *s, const struct store_approval *a);
/* Whether a hook has no time left for an answer to reach it. */
bool approval_is_too_late(const struct service *s, int64_t deadline_ms);
/* approval.consumed: this call uses the approval; nothing will again. */
enum err approval_consume(struct service *s, struct store_run *run, const char *id, const char *tool_call_id) MUST_USE;
/* approval.expired, for one that is pending or approved; a waiting hook is denied. */
enum err approval_expire(struct service *s, struct store_run *run, const struct store_approval *a) MUST_USE;
enum err approval_expire_run(struct service *s, struct store_run *run) MUST_USE;
/* Expires what is due; ends the waits whose hooks have no time left. */
enum err approval_sweep(struct service *s) MUST_USE;

/* --- control.c -------------------------------------------------------------------------------------------------- */

/* One request; the reply is built in `arena`. Errors: those that the reply names (NOT_FOUND, ...), or fatal ones. */
enum err control_serve(struct service *s, const struct peer *peer, const struct json *request, struct arena *arena,
                       struct json **reply, struct fault *fault) MUST_USE;
/* control_export.c: export.* */
enum err control_export(struct service *s, const char *op, const struct json *request, struct arena *arena,
                        struct json *reply, struct fault *fault) MUST_USE;

/* control_status.c: `status` */
enum err control_status(struct service *s, struct arena *arena, struct json *reply) MUST_USE;

/* Whether an error means that the batch must be given up. */
bool service_fatal(enum err e);

#endif
