/* A call is held: a late answer is used, an idle approval attached to, or a new one asked for (docs/approvals.md). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "evidence/commit.h"
#include "evidence/jcs.h"
#include "signer/ids.h"
#include "signer/service_internal.h"

#define US_PER_S INT64_C(1000000)

enum { ARGS_MAX_BYTES = 2 * POLICY_MAX_SHOWN_BYTES };

/* What two calls share that ask for different grants: the tool and all arguments but additional_permissions. Only for
 * looking up rows; never published. */
static enum err base_digest(const char *tool, const struct json *args, char out[static DIGEST_TEXT_BYTES])
{
    struct digest_state state;
    uint8_t hash[DIGEST_BYTES];
    struct buf value;
    enum err e = ERR_OK;

    buf_init(&value, ARGS_MAX_BYTES);
    digest_init(&state);
    digest_update(&state, tool, strlen(tool) + 1);
    for (size_t i = 0; e == ERR_OK && i < json_count(args); i++) {
        size_t len = 0;
        const char *key = json_key(args, i, &len);
        if (strcmp(key, "additional_permissions") == 0)
            continue;
        buf_reset(&value);
        buf_put_u32(&value, (uint32_t)len);
        buf_put(&value, key, len);
        e = jcs_write(&value, json_at(args, i));
        if (e == ERR_OK)
            digest_update(&state, value.data, value.len);
    }
    digest_final(&state, hash);
    digest_text(hash, out);
    buf_wipe(&value);
    return e;
}

struct candidates {
    struct service *s;
    const struct ask *ask;
    bool usable_found, idle_found, mismatch_found;
    struct store_approval usable, idle, mismatch;
};

static enum err consider(void *ctx, const struct store_approval *a)
{
    struct candidates *c = ctx;
    const struct harness_message *m = &c->ask->call->message;
    bool approved = strcmp(a->state, STORE_APPROVAL_APPROVED) == 0;
    bool same = strcmp(a->digest, c->ask->digest) == 0 && strcmp(a->tool, m->tool) == 0 &&
                strcmp(a->cwd, m->cwd) == 0 && strcmp(a->policy_hash, policy_hash(c->s->policy)) == 0;
    if (approved && approval_is_fresh(c->s, a)) {
        if (same && !c->usable_found) {
            c->usable = *a;
            c->usable_found = true;
        } else if (!same && !c->mismatch_found) {
            c->mismatch = *a;
            c->mismatch_found = true;
        }
    } else if (!approved && same && !c->idle_found && a->expires_us > c->s->now.wall_us &&
               waiters_by_approval(&c->s->waiters, a->id) == NULL) {
        c->idle = *a;
        c->idle_found = true;
    }
    return ERR_OK;
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

static enum err store_sealed(struct service *s, const struct store_approval *a, const struct json *args)
{
    struct buf plain, sealed;
    buf_init(&plain, ARGS_MAX_BYTES);
    buf_init(&sealed, ARGS_MAX_BYTES);
    enum err e = jcs_write(&plain, args);
    if (e == ERR_OK)
        e = seal_write(s->seal, plain.data, plain.len, &sealed);
    if (e == ERR_OK)
        e = store_approval_insert(s->store, a, sealed.data, sealed.len);
    buf_wipe(&plain);
    buf_wipe(&sealed);
    return e;
}

static enum err ask_anew(struct service *s, const struct ask *ask, struct store_run *run, const char *base,
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
    snprintf(a.base_digest, sizeof a.base_digest, "%s", base);
    snprintf(a.cwd, sizeof a.cwd, "%s", m->cwd);
    snprintf(a.policy_hash, sizeof a.policy_hash, "%s", policy_hash(s->policy));
    snprintf(a.socket, sizeof a.socket, "%s", SERVICE_SOCKET_AGENT);
    snprintf(a.state, sizeof a.state, "%s", STORE_APPROVAL_PENDING);
    e = record_request(s, ask, run, &a);
    if (e == ERR_OK)
        e = store_sealed(s, &a, m->args);
    if (e == ERR_OK)
        snprintf(id, IDS_PREFIXED_BYTES, "%s", a.id);
    return e;
}

/* The same command came again with other grants, or elsewhere: the approval that is at hand does not cover it. */
static enum err record_mismatch(struct service *s, const struct ask *ask, struct store_run *run,
                                const struct store_approval *a)
{
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

enum err ask_approval(struct service *s, const struct ask *ask, struct store_run *run, bool *allowed,
                      char id[static IDS_PREFIXED_BYTES])
{
    struct candidates c = {.s = s, .ask = ask};
    char base[DIGEST_TEXT_BYTES];
    enum err e = base_digest(ask->call->message.tool, ask->call->message.args, base);
    if (e == ERR_OK)
        e = store_approval_of_call(s->store, run->id, base, consider, &c);
    if (e != ERR_OK)
        return e;
    if (c.usable_found) {
        e = approval_consume(s, run, c.usable.id, ask->tool_call_id);
        if (e != ERR_OK)
            return e;
        snprintf(id, IDS_PREFIXED_BYTES, "%s", c.usable.id);
        *allowed = true;
        return ERR_OK;
    }
    if (c.mismatch_found)
        e = record_mismatch(s, ask, run, &c.mismatch);
    if (e != ERR_OK)
        return e;
    *allowed = false;
    if (!c.idle_found)
        return ask_anew(s, ask, run, base, id);
    snprintf(id, IDS_PREFIXED_BYTES, "%s", c.idle.id);
    return ERR_OK;
}
