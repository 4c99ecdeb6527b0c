/* Results: each is recorded under the decision that it belongs to, and what ran is compared with what was decided
 * (docs/evidence.md). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "evidence/commit.h"
#include "signer/ids.h"
#include "signer/service_internal.h"
#include "signer/store_record.h"

enum { MISSING_NAMED = 16 };

static enum err record_result(struct service *s, struct service_call *call, const struct store_call *known)
{
    char salt_id[IDS_HEX_BYTES], label[64], digest[DIGEST_TEXT_BYTES], commitment[DIGEST_HMAC_TEXT_BYTES];
    uint64_t size = 0;
    struct arena *arena = arena_new(SERVICE_RECORD_ARENA_BYTES);
    struct json *data = json_new_object(arena), *output = json_new_object(arena), *result = json_new_object(arena);

    json_set(arena, result, "result", call->message.result != NULL ? call->message.result : json_new_null());
    enum err e = ids_hex(salt_id);
    if (e == ERR_OK)
        e = commit_value_digest(result, digest, &size);
    if (e == ERR_OK) {
        snprintf(label, sizeof label, "tool.result:%s", salt_id);
        seal_commit(s->seal, label, digest, commitment);
        json_set_string(arena, output, "hash", commitment);
        json_set_int(arena, output, "size", (int64_t)size);
        json_set_bool(arena, output, "redacted", false);
        json_set_string(arena, data, "tool_use_id", known->tool_call_id);
        json_set_bool(arena, data, "ok", call->message.result_ok);
        json_set(arena, data, "output", output);
        if (known->decision_id[0] != '\0')
            json_set_string(arena, data, "decision_id", known->decision_id);
        json_set_string(arena, data, "salt_id", salt_id);
        const struct ledger_event event = {
            .type = "tool.result", .source = "hook", .tier = "T1", .tool_call_id = known->tool_call_id, .data = data};
        e = run_append(s, &call->run, &event, arena);
    }
    arena_free(arena);
    return e;
}

/* How a result fits the decision that it belongs to, best first. */
enum fit {
    FIT_EXACT,  /* it ran as it was decided */
    FIT_GRANTS, /* but for what it asks for beyond its sandbox */
    FIT_TOOL,   /* with other arguments: it is the only open call of that tool */
    FIT_COUNT,
};

static enum err gap_against_decision(struct service *s, struct service_call *call, const struct store_call *known)
{
    return run_gap(s, &call->run, "executed_against_policy", known->tool_call_id,
                   strcmp(known->state, STORE_CALL_HELD) == 0 ? "the call ran while it was held: nobody had approved it"
                                                              : "the call ran although it was denied");
}

/* Nobody decided what ran. True when the policy would have stopped it: then `what` is "held by rule ...". */
static bool is_against_policy(struct service *s, const struct service_call *call, char *what, size_t room)
{
    struct decision decision;
    char rule[200];
    const struct policy_call ran = {
        .tool = call->message.tool, .args = call->message.args, .args_error = call->message.args_error};
    policy_decide(s->policy, call->arena, &ran, &decision);
    if (decision.verdict < VERDICT_ASK)
        return false;
    call_describe(&decision, rule, sizeof rule);
    snprintf(what, room, "%s by rule %s", decision.verdict == VERDICT_DENY ? "denied" : "held", rule);
    return true;
}

static enum err gap_changed(struct service *s, struct service_call *call, const struct store_call *known, enum fit fit)
{
    char against[220], reason[500];
    const char *what = fit == FIT_GRANTS ? "permissions were added or changed"
                                         : "arguments were changed, by another hook or a person,";
    if (!is_against_policy(s, call, against, sizeof against)) {
        snprintf(reason, sizeof reason, "%s after the decision; the policy would have let that run as well", what);
        return run_gap(s, &call->run, "reconcile.args_mismatch", known->tool_call_id, reason);
    }
    snprintf(reason, sizeof reason,
             "%s after the decision: what ran would have been %s, and nobody was asked; a dialog of the agent's own"
             " program is no decision of this policy",
             what, against);
    return run_gap(s, &call->run, "executed_against_policy", known->tool_call_id, reason);
}

static enum err known_result(struct service *s, struct service_call *call, const struct store_call *known, enum fit fit)
{
    bool was_allowed = strcmp(known->state, STORE_CALL_ALLOWED) == 0;
    enum err e = record_result(s, call, known);
    /* It may run once more, with more permissions, and so on: each of its results needs the decision. */
    if (e == ERR_OK && !(call->message.result_reopens && was_allowed))
        e = store_call_delete(s->store, known->id);
    if (e == ERR_OK && !was_allowed)
        return gap_against_decision(s, call, known);
    return e == ERR_OK && fit != FIT_EXACT ? gap_changed(s, call, known, fit) : e;
}

/* A result that no decision fits: what would the policy have said to what ran? */
static enum err unknown_result(struct service *s, struct service_call *call)
{
    struct store_call stranger = {.run = call->run.id};
    char against[220], reason[400];
    enum err e = ids_prefixed("call-", stranger.tool_call_id);
    if (e == ERR_OK)
        e = record_result(s, call, &stranger);
    if (e != ERR_OK)
        return e;
    if (!is_against_policy(s, call, against, sizeof against))
        return run_gap(s, &call->run, "reconcile.result_without_call", stranger.tool_call_id,
                       "a result came for arguments that no open decision of this run is about");
    snprintf(reason, sizeof reason,
             "what ran was never decided: these arguments would have been %s; they were changed after the decision, or"
             " the call was never asked about",
             against);
    return run_gap(s, &call->run, "executed_against_policy", stranger.tool_call_id, reason);
}

static enum err find_in(struct service *s, const struct store_call_key *key, enum fit fit, struct store_call *known)
{
    switch (fit) {
    case FIT_EXACT:
        return store_call_match(s->store, key, known);
    case FIT_GRANTS:
        return store_call_match_bare(s->store, key, known);
    case FIT_TOOL:
        return store_call_only(s->store, key, known);
    case FIT_COUNT:
        break;
    }
    return ERR_NOT_FOUND;
}

/* The decision that a result belongs to: of this run, or, when its tool ran longer than its session, of the run before;
 * call->run is the decision's then. */
static enum err find_call(struct service *s, struct service_call *call, struct store_call *known, enum fit *fit)
{
    struct call_digests digests;
    struct store_run closing;
    enum err e = call_know(call->arena, &call->message, &digests);
    if (e != ERR_OK || digests.whole[0] == '\0')
        return e != ERR_OK ? e : ERR_NOT_FOUND;
    e = run_closing_of_call(s, call, &closing);
    if (e != ERR_OK && e != ERR_NOT_FOUND)
        return e;
    bool has_closing = e == ERR_OK && closing.bytes < SERVICE_RUN_HARD_BYTES;
    for (enum fit f = FIT_EXACT; f < FIT_COUNT; f++) {
        struct store_call_key key = {
            .run = call->run.id, .tool = call->message.tool, .digest = digests.whole, .bare = digests.bare};
        *fit = f;
        e = find_in(s, &key, f, known);
        if (e == ERR_NOT_FOUND && has_closing) {
            key.run = closing.id;
            e = find_in(s, &key, f, known);
            if (e == ERR_OK)
                call->run = closing;
        }
        if (e != ERR_NOT_FOUND)
            return e;
    }
    return ERR_NOT_FOUND;
}

enum err result_take(struct service *s, struct service_call *call)
{
    struct store_call known;
    enum fit fit = FIT_EXACT;
    enum err e = run_of_call(s, call);
    if (e != ERR_OK)
        return e;
    e = find_call(s, call, &known, &fit);
    if (e == ERR_NOT_FOUND)
        return unknown_result(s, call);
    return e == ERR_OK ? known_result(s, call, &known, fit) : e;
}

enum err result_missing(struct service *s, struct store_run *run)
{
    char ids[MISSING_NAMED][IDS_PREFIXED_BYTES], reason[200];
    int64_t count = 0;
    enum err e = store_call_unfinished(s->store, run->id, MISSING_NAMED, ids, &count);
    if (e != ERR_OK || count == 0)
        return e;
    if (count > MISSING_NAMED) {
        snprintf(reason, sizeof reason,
                 "%" PRId64
                 " calls were let go, and no end of theirs was reported: cancelled, refused in a dialog of the"
                 " agent's own program, or not reported",
                 count);
        return run_gap(s, run, "decided_not_completed", NULL, reason);
    }
    for (int64_t i = 0; e == ERR_OK && i < count; i++)
        e = run_gap(s, run, "decided_not_completed", ids[i],
                    "the call was let go, and no end of it was reported: cancelled, refused in a dialog of the agent's"
                    " own program, or not reported");
    return e;
}
