/* A call is held: a late answer is used, an idle approval attached to, or a new one asked for (docs/approvals.md). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "evidence/commit.h"
#include "evidence/jcs.h"
#include "signer/ids.h"
#include "signer/service_internal.h"

#define US_PER_S INT64_C(1000000)

struct look {
    struct service *s;
    const struct harness_message *message;
    const char *digest;
    struct ask_state *state;
};

static void find(struct ask_found *found, const struct store_approval *a)
{
    if (found->is_there)
        return;
    found->is_there = true;
    snprintf(found->id, sizeof found->id, "%s", a->id);
    snprintf(found->digest, sizeof found->digest, "%s", a->digest);
}

static enum err consider(void *ctx, const struct store_approval *a)
{
    struct look *l = ctx;
    bool same = strcmp(a->digest, l->digest) == 0 && strcmp(a->tool, l->message->tool) == 0 &&
                strcmp(a->cwd, l->message->cwd) == 0 && strcmp(a->policy_hash, policy_hash(l->s->policy)) == 0;
    if (strcmp(a->state, STORE_APPROVAL_APPROVED) == 0) {
        if (approval_is_fresh(l->s, a))
            find(same ? &l->state->usable : &l->state->mismatch, a);
    } else if (same && a->expires_us > l->s->now.wall_us && waiters_by_approval(&l->s->waiters, a->id) == NULL) {
        find(&l->state->idle, a);
    }
    return ERR_OK;
}

enum err ask_look(struct service *s, const struct service_call *call, const struct call_digests *digests,
                  struct ask_state *out)
{
    int64_t open = 0;
    struct look l = {.s = s, .message = &call->message, .digest = digests->whole, .state = out};
    memset(out, 0, sizeof *out);
    snprintf(out->base, sizeof out->base, "%s", digests->bare);
    enum err e = store_approval_of_call(s->store, call->run.id, out->base, consider, &l);
    if (e == ERR_OK)
        e = store_approval_open_of_user(s->store, call->hook->peer.uid, &open);
    out->is_full = !out->usable.is_there && !out->idle.is_there && open >= SERVICE_OPEN_APPROVALS;
    return e;
}

static struct json *rule_ids(const struct decision *d, struct arena *arena)
{
    struct json *ids = json_new_array(arena);
    for (size_t i = 0; i < d->hit_count; i++)
        json_add(arena, ids, json_new_string(arena, d->hits[i].rule_id));
    return ids;
}

static enum err write_facts(const struct decision *d, struct arena *arena, char out[static STORE_FACTS_BYTES])
{
    struct json *facts = json_new_object(arena), *reasons = json_new_array(arena);
    struct buf text;
    for (size_t i = 0; i < d->hit_count; i++)
        json_add(arena, reasons, json_new_string(arena, d->hits[i].reason));
    json_set(arena, facts, "rule_ids", rule_ids(d, arena));
    json_set(arena, facts, "reasons", reasons);
    buf_init(&text, STORE_FACTS_BYTES - 1);
    enum err e = jcs_write(&text, facts);
    if (e == ERR_OK) {
        memcpy(out, text.data, text.len);
        out[text.len] = '\0';
    }
    buf_wipe(&text);
    return e;
}

/* The binding: exactly what a person's answer will be about. */
static struct json *binding(struct service *s, const struct store_approval *a, const struct store_run *run,
                            const char *commitment, const char *nonce, struct arena *arena)
{
    char expires[CLOCK_TEXT_BYTES];
    struct json *b = json_new_object(arena);
    clock_text(a->expires_us, expires);
    json_set_int(arena, b, "v", 1);
    json_set_string(arena, b, "approval_id", a->id);
    json_set_string(arena, b, "tenant", run->tenant);
    json_set_string(arena, b, "run_id", run->run_id);
    json_set_string(arena, b, "tool_call_id", a->tool_call_id);
    json_set_int(arena, b, "attempt", 0);
    json_set_string(arena, b, "tool", a->tool);
    json_set_string(arena, b, "args_commitment", commitment);
    json_set_string(arena, b, "args_source", "parsed");
    json_set_string(arena, b, "policy_hash", policy_hash(s->policy));
    json_set_string(arena, b, "nonce", nonce);
    json_set_string(arena, b, "expires_at", expires);
    return b;
}

static enum err record_request(struct service *s, const struct ask *ask, struct store_run *run,
                               struct store_approval *a)
{
    char salt_id[IDS_HEX_BYTES], nonce[IDS_HEX_BYTES], label[64], commitment[DIGEST_HMAC_TEXT_BYTES];
    char expires[CLOCK_TEXT_BYTES], requester[32];
    struct arena *arena = NULL;
    enum err e = ids_hex(salt_id);
    if (e == ERR_OK)
        e = ids_hex(nonce);
    if (e != ERR_OK)
        return e;
    arena = arena_new(SERVICE_RECORD_ARENA_BYTES);
    snprintf(label, sizeof label, "approval.request:%s", salt_id);
    seal_commit(s->seal, label, a->digest, commitment);
    clock_text(a->expires_us, expires);
    snprintf(requester, sizeof requester, "uid:%" PRId64, a->uid);
    struct json *bound = binding(s, a, run, commitment, nonce, arena);
    e = commit_value_digest(bound, a->binding_digest, NULL);
    if (e == ERR_OK)
        e = write_facts(ask->decision, arena, a->facts);
    if (e == ERR_OK) {
        struct json *data = json_new_object(arena);
        json_set_string(arena, data, "approval_id", a->id);
        json_set_string(arena, data, "policy_hash", policy_hash(s->policy));
        json_set(arena, data, "rule_ids", rule_ids(ask->decision, arena));
        json_set_string(arena, data, "expires_at", expires);
        json_set_string(arena, data, "requester", requester);
        json_set_string(arena, data, "decision_id", ask->decision_id);
        json_set(arena, data, "binding", bound);
        json_set_string(arena, data, "binding_digest", a->binding_digest);
        json_set_string(arena, data, "salt_id", salt_id);
        const struct ledger_event event = {
            .type = "approval.request", .source = "signer", .tool_call_id = a->tool_call_id, .data = data};
        e = run_append(s, run, &event, arena);
    }
    arena_free(arena);
    return e;
}

static enum err ask_anew(struct service *s, const struct ask *ask, struct store_run *run,
                         char id[static IDS_PREFIXED_BYTES])
{
    const struct harness_message *m = &ask->call->message;
    struct store_approval a = {.run = run->id,
                               .uid = ask->call->hook->peer.uid,
                               .created_us = s->now.wall_us,
                               .expires_us = s->now.wall_us + SERVICE_APPROVAL_S * US_PER_S};
    enum err e = ids_prefixed("apr-", a.id);
    if (e != ERR_OK)
        return e;
    snprintf(a.tool_call_id, sizeof a.tool_call_id, "%s", ask->tool_call_id);
    snprintf(a.decision_id, sizeof a.decision_id, "%s", ask->decision_id);
    snprintf(a.tool, sizeof a.tool, "%s", m->tool);
    snprintf(a.digest, sizeof a.digest, "%s", ask->digest);
    snprintf(a.base_digest, sizeof a.base_digest, "%s", ask->state->base);
    snprintf(a.cwd, sizeof a.cwd, "%s", m->cwd);
    snprintf(a.policy_hash, sizeof a.policy_hash, "%s", policy_hash(s->policy));
    snprintf(a.socket, sizeof a.socket, "%s", SERVICE_SOCKET_AGENT);
    snprintf(a.state, sizeof a.state, "%s", STORE_APPROVAL_PENDING);
    e = record_request(s, ask, run, &a);
    if (e == ERR_OK)
        e = shown_insert(s, &a, ask->decision, m);
    if (e == ERR_OK)
        snprintf(id, IDS_PREFIXED_BYTES, "%s", a.id);
    return e;
}

/* The same command came again with other grants, or elsewhere: the approval that is at hand does not cover it. */
static enum err record_mismatch(struct service *s, const struct ask *ask, struct store_run *run)
{
    const struct ask_found *a = &ask->state->mismatch;
    char salt_id[IDS_HEX_BYTES], label[80], approved[DIGEST_HMAC_TEXT_BYTES], asked[DIGEST_HMAC_TEXT_BYTES];
    enum err e = ids_hex(salt_id);
    if (e != ERR_OK)
        return e;
    snprintf(label, sizeof label, "approval.binding_mismatch:%s", salt_id);
    seal_commit(s->seal, label, a->digest, approved);
    seal_commit(s->seal, label, ask->digest, asked);
    struct arena *arena = arena_new(SERVICE_RECORD_ARENA_BYTES);
    struct json *data = json_new_object(arena);
    json_set_string(arena, data, "approval_id", a->id);
    json_set_string(arena, data, "tool_use_id", ask->tool_call_id);
    json_set_string(arena, data, "decision_id", ask->decision_id);
    json_set_string(arena, data, "approved_commitment", approved);
    json_set_string(arena, data, "args_commitment", asked);
    json_set_string(arena, data, "salt_id", salt_id);
    const struct ledger_event event = {
        .type = "approval.binding_mismatch", .source = "signer", .tool_call_id = ask->tool_call_id, .data = data};
    e = run_append(s, run, &event, arena);
    arena_free(arena);
    return e;
}

enum err ask_approval(struct service *s, const struct ask *ask, struct store_run *run,
                      char id[static IDS_PREFIXED_BYTES])
{
    enum err e = ask->state->mismatch.is_there ? record_mismatch(s, ask, run) : ERR_OK;
    if (e != ERR_OK || !ask->state->idle.is_there)
        return e != ERR_OK ? e : ask_anew(s, ask, run, id);
    snprintf(id, IDS_PREFIXED_BYTES, "%s", ask->state->idle.id);
    return ERR_OK;
}
