/* Approvals: answered, used once, expired (docs/approvals.md). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "signer/service_internal.h"

#define US_PER_S INT64_C(1000000)
#define HOW_TO_ANSWER "A person answers with: tracekit approvals approve "

bool approval_is_fresh(const struct service *s, const struct store_approval *a)
{
    /* With a clock that was set back nobody knows how old the answer is. */
    return s->now.wall_us >= a->answered_us && s->now.wall_us < a->answered_us + SERVICE_LATE_ANSWER_S * US_PER_S;
}

bool approval_is_too_late(const struct service *s, int64_t deadline_ms)
{
    return s->now.mono_ms >= deadline_ms - SERVICE_HOOK_MARGIN_MS;
}

/* A record whose data is the approval's id and nothing else. */
static enum err record_bare(struct service *s, struct store_run *run, const char *type, const char *id,
                            const char *tool_call_id)
{
    struct arena *arena = arena_new(SERVICE_RECORD_ARENA_BYTES);
    struct json *data = json_new_object(arena);
    json_set_string(arena, data, "approval_id", id);
    const struct ledger_event event = {.type = type, .source = "signer", .tool_call_id = tool_call_id, .data = data};
    enum err e = run_append(s, run, &event, arena);
    arena_free(arena);
    return e;
}

enum err approval_consume(struct service *s, struct store_run *run, const char *id, const char *tool_call_id)
{
    enum err e = record_bare(s, run, "approval.consumed", id, tool_call_id);
    return e == ERR_OK ? store_approval_set_state(s->store, id, STORE_APPROVAL_CONSUMED, 0) : e;
}

/* --- answering ------------------------------------------------------------------------------------------------------ */

static enum err record_answer(struct service *s, struct store_run *run, const struct store_approval *a,
                              const struct approval_answer *answer, const char *decision)
{
    char subject[24], approver[32];
    bool self = (int64_t)answer->peer.uid == a->uid;
    int64_t waited_ms = (s->now.wall_us - a->created_us) / 1000;
    struct arena *arena = arena_new(SERVICE_RECORD_ARENA_BYTES);
    struct json *data = json_new_object(arena), *identity = json_new_object(arena);

    snprintf(subject, sizeof subject, "%lu", (unsigned long)answer->peer.uid);
    snprintf(approver, sizeof approver, "uid:%s", subject);
    json_set_string(arena, identity, "scheme", "uid");
    json_set_string(arena, identity, "subject", subject);
    json_set_bool(arena, identity, "attested", true);
    json_set_string(arena, data, "tool_use_id", a->tool_call_id);
    json_set_string(arena, data, "approval_id", a->id);
    json_set_string(arena, data, "decision", decision);
    json_set_string(arena, data, "approver", approver);
    json_set(arena, data, "approver_identity", identity);
    json_set_int(arena, data, "approver_uid", answer->peer.uid);
    json_set_string(arena, data, "channel", "rpc");
    json_set_bool(arena, data, "self_approved", self);
    json_set_bool(arena, data, "same_user", self);
    json_set_int(arena, data, "wait_ms", waited_ms > 0 ? waited_ms : 0);
    if (answer->reason[0] != '\0')
        json_set_string(arena, data, "reason", answer->reason);
    const struct ledger_event event = {
        .type = "approval", .source = "signer", .tool_call_id = a->tool_call_id, .data = data};
    enum err e = run_append(s, run, &event, arena);
    arena_free(arena);
    return e;
}

static enum err deny_waiter(struct service *s, struct waiter *w, const char *reason)
{
    struct service_answer answer;
    enum err e = store_call_set_state(s->store, w->tool_call_id, STORE_CALL_DENIED);
    if (e != ERR_OK)
        return e;
    call_deny(w->harness, reason, &answer);
    waiters_answer(w, &answer);
    return ERR_OK;
}

static enum err allow_waiter(struct service *s, struct store_run *run, const char *id, struct waiter *w)
{
    struct service_answer answer;
    enum err e = approval_consume(s, run, id, w->tool_call_id);
    if (e == ERR_OK)
        e = store_call_set_state(s->store, w->tool_call_id, STORE_CALL_ALLOWED);
    if (e != ERR_OK)
        return e;
    call_allow(w->harness, &answer);
    waiters_answer(w, &answer);
    return ERR_OK;
}

/* The hook's time is up and nobody has answered: the call is denied, the approval stays answerable. */
static enum err end_wait(struct service *s, struct waiter *w)
{
    char reason[HARNESS_MAX_REASON];
    snprintf(reason, sizeof reason,
             "tracekit: no answer yet to %s. " HOW_TO_ANSWER
             "%s ; after that, repeat exactly this call within five minutes. Another way to the same effect is refused"
             " too.",
             w->approval_id, w->approval_id);
    return deny_waiter(s, w, reason);
}

static enum err reject(struct service *s, const struct store_approval *a, const struct approval_answer *answer)
{
    char reason[HARNESS_MAX_REASON], said[200];
    struct waiter *w = waiters_by_approval(&s->waiters, a->id);
    enum err e = store_approval_set_state(s->store, a->id, STORE_APPROVAL_REJECTED, s->now.wall_us);
    if (e != ERR_OK || w == NULL)
        return e;
    harness_ascii(answer->reason, sizeof said - 1, said);
    snprintf(
        reason, sizeof reason,
        "tracekit: a person rejected this call (%s)%s%s. Do not repeat it. Another way to the same effect is refused"
        " too.",
        a->id, said[0] != '\0' ? ": " : "", said);
    return deny_waiter(s, w, reason);
}

/* Whether this answer may be given at all. An expired approval is expired here, whoever is first to look. */
static enum err check_answer(struct service *s, struct store_run *run, const struct store_approval *a,
                             const struct approval_answer *answer, struct fault *fault)
{
    if (strcmp(a->state, STORE_APPROVAL_PENDING) != 0)
        return fault_set(fault, ERR_STATE, "%s is %s already", a->id,
                         strcmp(a->state, STORE_APPROVAL_CONSUMED) == 0 ? "approved, and its call let go," : a->state);
    if (s->now.wall_us >= a->expires_us) {
        enum err e = approval_expire(s, run, a);
        return e != ERR_OK ? e : fault_set(fault, ERR_STATE, "%s has expired", a->id);
    }
    if (answer->binding_digest[0] != '\0' && strcmp(answer->binding_digest, a->binding_digest) != 0)
        return fault_set(fault, ERR_STATE, "%s is not what was shown: look at it again", a->id);
    if (s->config.dev || (int64_t)answer->peer.uid != a->uid)
        return ERR_OK;
    enum err e = record_answer(s, run, a, answer, "self_approval_refused");
    return e != ERR_OK ? e : fault_set(fault, ERR_FORBIDDEN, "whoever asks may not answer: another user has to");
}

enum err approval_answer(struct service *s, const struct store_approval *a, const struct approval_answer *answer,
                         struct approval_outcome *out, struct fault *fault)
{
    struct store_run run;
    enum err e = store_run_by_id(s->store, a->run, &run);
    if (e == ERR_OK)
        e = check_answer(s, &run, a, answer, fault);
    if (e != ERR_OK)
        return e;
    struct waiter *w = waiters_by_approval(&s->waiters, a->id);
    if (w != NULL && approval_is_too_late(s, w->deadline_ms)) {
        e = end_wait(s, w);
        w = NULL;
    }
    if (e == ERR_OK)
        e = record_answer(s, &run, a, answer, answer->approve ? "approve" : "reject");
    if (e != ERR_OK)
        return e;
    if (!answer->approve)
        e = reject(s, a, answer);
    else
        e = store_approval_set_state(s->store, a->id, STORE_APPROVAL_APPROVED, s->now.wall_us);
    if (e == ERR_OK && answer->approve && w != NULL)
        e = allow_waiter(s, &run, a->id, w);
    if (e != ERR_OK)
        return e;
    out->delivered = w != NULL;
    out->self_approved = (int64_t)answer->peer.uid == a->uid;
    return ERR_OK;
}

/* --- time ----------------------------------------------------------------------------------------------------------- */

enum err approval_expire(struct service *s, struct store_run *run, const struct store_approval *a)
{
    char reason[HARNESS_MAX_REASON];
    struct waiter *w = waiters_by_approval(&s->waiters, a->id);
    enum err e = record_bare(s, run, "approval.expired", a->id, a->tool_call_id);
    if (e == ERR_OK)
        e = store_approval_set_state(s->store, a->id, STORE_APPROVAL_EXPIRED, 0);
    if (e != ERR_OK || w == NULL)
        return e;
    snprintf(reason, sizeof reason,
             "tracekit: %s expired without an answer. Ask the person whether this call is wanted before repeating it."
             " Another way to the same effect is refused too.",
             a->id);
    return deny_waiter(s, w, reason);
}

struct due_ids {
    const struct service *s;
    bool all; /* of a run that ends, or only what is due */
    size_t count;
    char ids[SERVICE_SWEEP_LIMIT][IDS_PREFIXED_BYTES];
};

static enum err collect_due(void *ctx, const struct store_approval *a)
{
    struct due_ids *due = ctx;
    bool approved = strcmp(a->state, STORE_APPROVAL_APPROVED) == 0;
    bool is_due = approved ? !approval_is_fresh(due->s, a) : a->expires_us <= due->s->now.wall_us;
    if ((due->all || is_due) && due->count < SERVICE_SWEEP_LIMIT)
        snprintf(due->ids[due->count++], sizeof due->ids[0], "%s", a->id);
    return ERR_OK;
}

static enum err expire_ids(struct service *s, const struct due_ids *due, struct store_run *run)
{
    struct store_approval a;
    struct store_run own;
    for (size_t i = 0; i < due->count; i++) {
        enum err e = store_approval_get(s->store, due->ids[i], &a);
        if (e == ERR_OK && run == NULL)
            e = store_run_by_id(s->store, a.run, &own);
        if (e == ERR_OK)
            e = approval_expire(s, run != NULL ? run : &own, &a);
        if (e != ERR_OK)
            return e;
    }
    return ERR_OK;
}

enum err approval_expire_run(struct service *s, struct store_run *run)
{
    struct due_ids due = {.s = s, .all = true};
    enum err e = ERR_OK;
    do {
        due.count = 0;
        e = store_approval_of_run(s->store, run->id, collect_due, &due);
        if (e == ERR_OK)
            e = expire_ids(s, &due, run);
    } while (e == ERR_OK && due.count == SERVICE_SWEEP_LIMIT);
    return e;
}

enum err approval_sweep(struct service *s)
{
    struct due_ids due = {.s = s};
    enum err e = ERR_OK;
    for (size_t i = 0; e == ERR_OK && i < s->waiters.count; i++) {
        struct waiter *w = &s->waiters.list[i];
        if (w->state == WAITER_WAITING && approval_is_too_late(s, w->deadline_ms))
            e = end_wait(s, w);
    }
    if (e == ERR_OK)
        e = store_approval_in_state(s->store, STORE_APPROVAL_PENDING, SERVICE_SWEEP_LIMIT, collect_due, &due);
    if (e == ERR_OK)
        e = store_approval_in_state(s->store, STORE_APPROVAL_APPROVED, INT64_MAX, collect_due, &due);
    return e == ERR_OK ? expire_ids(s, &due, NULL) : e;
}
