#include "policy/policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/buf.h"
#include "evidence/jcs.h"
#include "policy/rules.h"
#include "policy/snapshot.h"

enum { MAX_REASON_BYTES = 200 };

/* The reasons below say these numbers. */
_Static_assert(POLICY_MAX_TOOL_BYTES == 256 && POLICY_MAX_SUBJECT_BYTES == 64 << 10, "reasons in invalid and decide");
_Static_assert(POLICY_MAX_SHOWN_BYTES == 1 << 20, "reason in judge_size");
_Static_assert(GRANTS_MAX == 256 && GRANTS_MAX_PATH_BYTES == 4096, "reason in decide");

struct policy {
    const struct rule *rules; /* static */
    size_t rule_count;
    struct buf snapshot;
    char hash[DIGEST_TEXT_BYTES];
};

const char *policy_verdict_name(enum verdict v)
{
    switch (v) {
    case VERDICT_ALLOW:
        return "allow";
    case VERDICT_FLAG:
        return "flag";
    case VERDICT_ASK:
        return "ask";
    case VERDICT_DENY:
        return "deny";
    }
    return "deny";
}

enum err policy_builtin(struct policy **out)
{
    struct policy *p = calloc(1, sizeof *p);
    if (p == NULL)
        return ERR_NOMEM;
    p->rules = rules_builtin(&p->rule_count);
    buf_init(&p->snapshot, SNAPSHOT_MAX_BYTES);
    enum err e = snapshot_write(&p->snapshot, p->rules, p->rule_count);
    if (e != ERR_OK)
        goto out;
    uint8_t hash[DIGEST_BYTES];
    digest_sha256(p->snapshot.data, p->snapshot.len, hash);
    digest_text(hash, p->hash);
    *out = p;
    p = NULL;
out:
    policy_free(p);
    return e;
}

void policy_free(struct policy *p)
{
    if (p == NULL)
        return;
    buf_wipe(&p->snapshot);
    free(p);
}

const char *policy_snapshot(const struct policy *p, size_t *len)
{
    *len = p->snapshot.len;
    return (const char *)p->snapshot.data;
}

const char *policy_hash(const struct policy *p)
{
    return p->hash;
}

/* --- deciding --- */

static void hit(struct decision *d, enum verdict section, const char *rule_id, const char *reason)
{
    if (section > d->verdict)
        d->verdict = section;
    if (d->hit_count < POLICY_MAX_RULES_HIT)
        d->hits[d->hit_count++] = (struct policy_hit){.rule_id = rule_id, .reason = reason};
}

static bool is_plain(const char *text, size_t max)
{
    size_t len = strnlen(text, max + 1);
    for (size_t i = 0; i < len; i++) {
        if (text[i] < ' ' || text[i] > '~')
            return false;
    }
    return len <= max;
}

/* The caller's words are repeated only if no agent can have put a terminal sequence or a wall of text into them. */
static const char *unreadable(struct arena *arena, const char *why)
{
    static const char bare[] = "the arguments are not strict JSON";
    if (why == NULL || !is_plain(why, MAX_REASON_BYTES - sizeof bare - 2))
        return bare;
    char text[MAX_REASON_BYTES];
    int len = snprintf(text, sizeof text, "%s: %s", bare, why);
    const char *reason = arena_copy(arena, text, (size_t)len);
    return reason != NULL ? reason : bare;
}

/* Why the call cannot be judged at all; NULL when it can. */
static const char *invalid(struct arena *arena, const struct policy_call *call)
{
    if (call->tool == NULL || call->tool[0] == '\0')
        return "the call names no tool";
    if (strnlen(call->tool, POLICY_MAX_TOOL_BYTES + 1) > POLICY_MAX_TOOL_BYTES)
        return "the name of the tool is over 256 bytes";
    if (call->args == NULL)
        return unreadable(arena, call->args_error);
    if (!json_is(call->args, JSON_OBJECT))
        return "the arguments are not a JSON object";
    return NULL;
}

static bool command_is_oversize(const struct json *args)
{
    size_t len = 0;
    return json_text(json_get(args, "command"), &len) != NULL && len > POLICY_MAX_SUBJECT_BYTES;
}

/* The kinds of grant that a rule hits, one bit each. */
static unsigned matched_kinds(const struct rule *rule, const struct grants *grants)
{
    unsigned kinds = 0;
    for (size_t i = 0; i < grants->count; i++) {
        if (rule->matches(grants->list[i].text))
            kinds |= 1U << grants->list[i].kind;
    }
    return kinds;
}

/* "<reason>: network, write". Kinds only: a path would be the agent's text. NULL when the arena fails. */
static const char *grants_reason(struct arena *arena, const struct rule *rule, unsigned kinds)
{
    struct buf text;
    buf_init(&text, MAX_REASON_BYTES);
    buf_puts(&text, rule->reason);
    const char *separator = ": ";
    for (int kind = GRANT_NETWORK; kind <= GRANT_UNKNOWN; kind++) {
        if ((kinds & 1U << kind) == 0)
            continue;
        buf_puts(&text, separator);
        buf_puts(&text, grants_kind_name((enum grant_kind)kind));
        separator = ", ";
    }
    const char *reason = buf_err(&text) == ERR_OK ? arena_copy(arena, text.data, text.len) : NULL;
    buf_wipe(&text);
    return reason;
}

static enum err apply(const struct rule *rule, struct arena *arena, struct decision *d)
{
    switch (rule->field) {
    case RULE_GRANTS: {
        unsigned kinds = matched_kinds(rule, &d->grants);
        if (kinds == 0)
            return ERR_OK;
        const char *reason = grants_reason(arena, rule, kinds);
        if (reason == NULL)
            return ERR_NOMEM;
        hit(d, rule->section, rule->id, reason);
        return ERR_OK;
    }
    }
    return ERR_POLICY;
}

/* The strongest section first, so that a decision names its reasons in the order of their weight. */
static enum err apply_rules(const struct policy *p, struct arena *arena, struct decision *d)
{
    for (int section = VERDICT_DENY; section > VERDICT_ALLOW; section--) {
        for (size_t i = 0; i < p->rule_count; i++) {
            if ((int)p->rules[i].section != section)
                continue;
            enum err e = apply(&p->rules[i], arena, d);
            if (e != ERR_OK)
                return e;
        }
    }
    return ERR_OK;
}

/* A person can only answer for what fits on a screen that a person reads. */
static enum err judge_size(const struct json *args, struct decision *d)
{
    struct buf text;
    buf_init(&text, POLICY_MAX_SHOWN_BYTES);
    enum err e = jcs_write(&text, args);
    buf_wipe(&text);
    if (e != ERR_TOO_LARGE)
        return e;
    /* The strongest comes first. */
    size_t kept = d->hit_count < POLICY_MAX_RULES_HIT ? d->hit_count : POLICY_MAX_RULES_HIT - 1;
    memmove(&d->hits[1], &d->hits[0], kept * sizeof d->hits[0]);
    d->hits[0] = (struct policy_hit){.rule_id = RULES_OVERSIZE,
                                     .reason = "the arguments are over 1 MiB: nobody could judge them"};
    d->hit_count = kept + 1;
    d->verdict = VERDICT_DENY;
    return ERR_OK;
}

static enum err decide(const struct policy *p, struct arena *arena, const struct policy_call *call, struct decision *d)
{
    if (arena_failed(arena))
        return ERR_NOMEM;
    const char *why = invalid(arena, call);
    if (why != NULL) {
        hit(d, VERDICT_DENY, RULES_ARGS_INVALID, why);
        return ERR_OK;
    }
    if (command_is_oversize(call->args))
        hit(d, VERDICT_DENY, RULES_OVERSIZE, "the command is over 64 KiB");
    enum err e = grants_read(arena, call->args, &d->grants);
    if (e == ERR_TOO_LARGE) {
        hit(d, VERDICT_DENY, RULES_OVERSIZE, "asks for more than 256 permissions, or for one over 4096 bytes");
        e = ERR_OK;
    }
    if (e == ERR_OK)
        e = apply_rules(p, arena, d);
    return e == ERR_OK && d->verdict == VERDICT_ASK ? judge_size(call->args, d) : e;
}

void policy_decide(const struct policy *p, struct arena *arena, const struct policy_call *call, struct decision *out)
{
    struct decision d = {.verdict = VERDICT_ALLOW};
    if (decide(p, arena, call, &d) != ERR_OK) {
        d = (struct decision){.verdict = VERDICT_ALLOW};
        hit(&d, VERDICT_DENY, RULES_ENGINE_ERROR, "the policy could not judge this call");
    }
    *out = d;
}
