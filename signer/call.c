/* Tool calls: decided, recorded, answered. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "evidence/commit.h"
#include "policy/grants.h"
#include "signer/ids.h"
#include "signer/service_internal.h"
#include "signer/store_record.h"

#define ENGINE "tracekit-c@" TRACEKIT_VERSION
#define NO_DETOUR " Another way to the same effect is refused too."
#define RULE_PENDING "TK-PENDING"

/* A reply that shows arguments has two objects around them, and whoever reads it has the same limit. */
enum { ARGS_MAX_DEPTH = JSON_MAX_DEPTH - 2 };
_Static_assert(SERVICE_OPEN_APPROVALS == 200, "reason in deny_full");

void call_deny(const struct harness *harness, const char *reason, struct service_answer *answer)
{
    answer->allow = false;
    buf_init(&answer->out, FRAME_MAX_OUT);
    buf_init(&answer->err, FRAME_MAX_OUT);
    harness->deny(reason, &answer->out, &answer->err);
}

void call_allow(const struct harness *harness, struct service_answer *answer)
{
    answer->allow = true;
    buf_init(&answer->out, FRAME_MAX_OUT);
    buf_init(&answer->err, FRAME_MAX_OUT);
    harness->allow(&answer->out);
}

/* One call while it is decided. */
struct deciding {
    struct service_call *call;
    struct decision decision;
    char tool_call_id[IDS_PREFIXED_BYTES];
    char decision_id[IDS_PREFIXED_BYTES];
    struct call_digests digests;
    struct ask_state ask; /* when the policy asks */
    bool is_lifted;       /* a pause let it go */
};

static struct json *decision_data(struct service *s, const struct deciding *d, const char *nonce, struct arena *arena)
{
    char commitment[DIGEST_HMAC_TEXT_BYTES], tool[POLICY_MAX_TOOL_BYTES + 1];
    struct json *data = json_new_object(arena), *ids = json_new_array(arena), *reasons = json_new_array(arena);

    harness_ascii(d->call->message.tool, POLICY_MAX_TOOL_BYTES, tool);
    for (size_t i = 0; i < d->decision.hit_count; i++) {
        json_add(arena, ids, json_new_string(arena, d->decision.hits[i].rule_id));
        json_add(arena, reasons, json_new_string(arena, d->decision.hits[i].reason));
    }
    json_set_string(arena, data, "tool_use_id", d->tool_call_id);
    json_set_string(arena, data, "decision", policy_verdict_name(d->decision.verdict));
    json_set(arena, data, "rule_ids", ids);
    json_set(arena, data, "reasons", reasons);
    json_set_string(arena, data, "policy_hash", policy_hash(s->policy));
    json_set_string(arena, data, "tool",
                    strlen(d->call->message.tool) <= POLICY_MAX_TOOL_BYTES ? d->call->message.tool : tool);
    json_set_string(arena, data, "decision_id", d->decision_id);
    json_set_string(arena, data, "engine", ENGINE);
    json_set_string(arena, data, "nonce", nonce);
    if (d->call->message.args != NULL) {
        seal_commit(s->seal, d->decision_id, d->digests.whole, commitment);
        json_set_string(arena, data, "args_commitment", commitment);
    }
    return data;
}

static enum err record_decision(struct service *s, struct deciding *d)
{
    char nonce[IDS_HEX_BYTES];
    enum err e = ids_hex(nonce);
    if (e != ERR_OK)
        return e;
    struct arena *arena = arena_new(SERVICE_RECORD_ARENA_BYTES);
    const struct ledger_event event = {.type = "policy.decision",
                                       .source = "hook",
                                       .tier = "T1",
                                       .args_source = "parsed",
                                       .engine = ENGINE,
                                       .tool_call_id = d->tool_call_id,
                                       .data = decision_data(s, d, nonce, arena)};
    e = run_append(s, &d->call->run, &event, arena);
    arena_free(arena);
    return e == ERR_OK ? store_record_policy_used(s->store, d->call->run.id, policy_hash(s->policy)) : e;
}

static enum err remember_call(struct service *s, const struct deciding *d, const char *state)
{
    struct store_call row = {.run = d->call->run.id, .decided_us = s->now.wall_us};
    if (d->digests.whole[0] == '\0')
        return ERR_OK;
    snprintf(row.tool_call_id, sizeof row.tool_call_id, "%s", d->tool_call_id);
    snprintf(row.tool, sizeof row.tool, "%s", d->call->message.tool);
    snprintf(row.digest, sizeof row.digest, "%s", d->digests.whole);
    snprintf(row.bare, sizeof row.bare, "%s", d->digests.bare);
    snprintf(row.cwd, sizeof row.cwd, "%s", d->call->message.cwd);
    snprintf(row.decision_id, sizeof row.decision_id, "%s", d->decision_id);
    snprintf(row.state, sizeof row.state, "%s", state);
    return store_call_insert(s->store, &row);
}

void call_describe(const struct decision *d, char *out, size_t room)
{
    if (d->hit_count == 0)
        snprintf(out, room, "no rule");
    else
        snprintf(out, room, "%s (%s)", d->hits[0].rule_id, d->hits[0].reason);
}

/* An allowed call is kept among the waiters until the loop says that its answer left. */
static enum err allow(struct service *s, const struct deciding *d, struct service_answer *answer)
{
    struct waiter w = {
        .token = d->call->hook->token, .state = WAITER_LEAVING, .harness = d->call->harness, .run = d->call->run.id};
    snprintf(w.tool_call_id, sizeof w.tool_call_id, "%s", d->tool_call_id);
    enum err e = waiters_add(&s->waiters, &w);
    if (e == ERR_OK)
        call_allow(d->call->harness, answer);
    return e;
}

static enum err refuse(struct service *s, struct deciding *d, struct service_answer *answer)
{
    char rule[200], reason[HARNESS_MAX_REASON];
    call_describe(&d->decision, rule, sizeof rule);
    snprintf(reason, sizeof reason, "tracekit: denied by rule %s. %s" NO_DETOUR, rule,
             d->ask.is_full ? "Repeat it when some of them are answered." : "Do not repeat it.");
    call_deny(d->call->harness, reason, answer);
    return remember_call(s, d, STORE_CALL_DENIED);
}

static enum err park(struct service *s, const struct deciding *d, const char *approval_id)
{
    struct waiter w = {.token = d->call->hook->token,
                       .state = WAITER_WAITING,
                       .harness = d->call->harness,
                       .run = d->call->run.id,
                       .deadline_ms = d->call->hook->deadline_ms};
    snprintf(w.approval_id, sizeof w.approval_id, "%s", approval_id);
    snprintf(w.tool_call_id, sizeof w.tool_call_id, "%s", d->tool_call_id);
    return waiters_add(&s->waiters, &w);
}

/* The answer came late, and is used by this call, unless its hook has no time left to deliver it. */
static enum err use_answer(struct service *s, struct deciding *d, struct service_answer *answer)
{
    const char *id = d->ask.usable.id;
    char reason[HARNESS_MAX_REASON];
    if (!approval_is_too_late(s, d->call->hook->deadline_ms)) {
        enum err e = approval_consume(s, &d->call->run, id, d->tool_call_id);
        if (e == ERR_OK)
            e = remember_call(s, d, STORE_CALL_ALLOWED);
        return e == ERR_OK ? allow(s, d, answer) : e;
    }
    snprintf(reason, sizeof reason,
             "tracekit: %s is approved, but this hook had no time left to say so. Repeat exactly this call." NO_DETOUR,
             id);
    call_deny(d->call->harness, reason, answer);
    return remember_call(s, d, STORE_CALL_DENIED);
}

static enum err hold(struct service *s, struct deciding *d, bool *parked, struct service_answer *answer)
{
    char id[IDS_PREFIXED_BYTES];
    const struct ask ask = {.call = d->call,
                            .decision = &d->decision,
                            .state = &d->ask,
                            .tool_call_id = d->tool_call_id,
                            .decision_id = d->decision_id,
                            .digest = d->digests.whole};
    if (d->ask.usable.is_there)
        return use_answer(s, d, answer);
    enum err e = ask_approval(s, &ask, &d->call->run, id);
    if (e == ERR_OK)
        e = remember_call(s, d, STORE_CALL_HELD);
    if (e == ERR_OK)
        e = park(s, d, id);
    *parked = e == ERR_OK;
    return e;
}

/* Whether arrays and objects lie deeper inside each other than `depth`, which is at most JSON_MAX_DEPTH. */
static bool is_deeper(const struct json *v, int depth)
{
    if (!json_is(v, JSON_ARRAY) && !json_is(v, JSON_OBJECT))
        return false;
    if (depth == 0)
        return true;
    for (size_t i = 0; i < json_count(v); i++)
        if (is_deeper(json_at(v, i), depth - 1))
            return true;
    return false;
}

enum err call_know(struct arena *arena, const struct harness_message *m, struct call_digests *out)
{
    const struct json *args = m->args != NULL ? m->args : m->args_loose, *bare = NULL;
    out->whole[0] = out->bare[0] = '\0';
    if (args == NULL || commit_args_digest(m->tool, args, out->whole) != ERR_OK) {
        out->whole[0] = '\0';
        return ERR_OK;
    }
    bare = json_without(arena, args, GRANTS_ARGUMENT);
    if (bare == NULL)
        return ERR_NOMEM;
    if (bare != args && commit_args_digest(m->tool, bare, out->bare) == ERR_OK)
        return ERR_OK;
    memcpy(out->bare, out->whole, sizeof out->bare);
    return ERR_OK;
}

/* Nobody is asked about more calls at once than anybody could judge. */
static void deny_full(struct decision *d)
{
    size_t kept = d->hit_count < POLICY_MAX_RULES_HIT ? d->hit_count : POLICY_MAX_RULES_HIT - 1;
    memmove(&d->hits[1], &d->hits[0], kept * sizeof d->hits[0]);
    d->hits[0] =
        (struct policy_hit){.rule_id = RULE_PENDING, .reason = "200 calls of this user wait for a person already"};
    d->hit_count = kept + 1;
    d->verdict = VERDICT_DENY;
}

static enum err decide(struct service *s, struct deciding *d)
{
    struct harness_message *m = &d->call->message;
    enum err e = call_know(d->call->arena, m, &d->digests);
    if (e != ERR_OK)
        return e;
    if (m->args != NULL && (d->digests.whole[0] == '\0' || is_deeper(m->args, ARGS_MAX_DEPTH))) {
        m->args_error = d->digests.whole[0] == '\0' ? "too large to be recorded" : "nested too deeply to be shown";
        m->args = NULL;
    }
    const struct policy_call call = {.tool = m->tool, .args = m->args, .args_error = m->args_error};
    policy_decide(s->policy, d->call->arena, &call, &d->decision);
    d->is_lifted = d->digests.whole[0] != '\0' && pause_lift(s, &d->decision);
    if (d->decision.verdict != VERDICT_ASK)
        return ERR_OK;
    e = ask_look(s, d->call, &d->digests, &d->ask);
    if (e == ERR_OK && d->ask.is_full)
        deny_full(&d->decision);
    return e;
}

enum err call_before_tool(struct service *s, struct service_call *call, bool *parked, struct service_answer *answer)
{
    struct deciding d = {.call = call};
    enum err e = run_of_call(s, call);
    if (e == ERR_OK)
        e = ids_prefixed("call-", d.tool_call_id);
    if (e == ERR_OK)
        e = ids_prefixed("dec-", d.decision_id);
    if (e == ERR_OK)
        e = decide(s, &d);
    if (e == ERR_OK)
        e = record_decision(s, &d);
    if (e == ERR_OK && d.is_lifted)
        e = pause_mark(s, &call->run);
    if (e != ERR_OK)
        return e;
    switch (d.decision.verdict) {
    case VERDICT_ALLOW:
    case VERDICT_FLAG:
        e = remember_call(s, &d, STORE_CALL_ALLOWED);
        return e == ERR_OK ? allow(s, &d, answer) : e;
    case VERDICT_ASK:
        return hold(s, &d, parked, answer);
    case VERDICT_DENY:
        break;
    }
    return refuse(s, &d, answer);
}
