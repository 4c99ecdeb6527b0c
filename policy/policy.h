/*
 * policy.h - what may run: a call in, a decision out. Pure: no clock, no files, no state.
 *
 * Invariant: deny > ask > flag > allow, every matching rule is named, and a call that cannot be judged (arguments that
 * are not strict JSON, a subject over its limit, memory that ran out) is never let through. Hostile: tool and arguments.
 * docs/policy.md says what the built-in policy does.
 */
#ifndef POLICY_POLICY_H
#define POLICY_POLICY_H

#include <stdbool.h>
#include <stddef.h>

#include "evidence/arena.h"
#include "evidence/digest.h"
#include "evidence/err.h"
#include "evidence/json.h"
#include "policy/grants.h"

enum verdict { VERDICT_ALLOW, VERDICT_FLAG, VERDICT_ASK, VERDICT_DENY }; /* in order of strength */

enum { POLICY_MAX_RULES_HIT = 32, POLICY_MAX_SUBJECT_BYTES = 64 << 10, POLICY_MAX_TOOL_BYTES = 256 };

/* Nobody can judge a call whose arguments are longer than this as canonical JSON: asking about it is a deny. */
enum { POLICY_MAX_SHOWN_BYTES = 1 << 20 };

struct policy;

/* One tool call as the harness sent it. */
struct policy_call {
    const char *tool;        /* the harness's own name */
    const struct json *args; /* NULL when they could not be read as strict JSON */
    const char *args_error;  /* why not, in our words; may be NULL. Repeated in the reason if short plain ASCII */
};

struct policy_hit {
    const char *rule_id; /* "TK-A004" */
    const char *reason;  /* for people and the model: plain words, ASCII, no agent text, no path */
};

struct decision {
    enum verdict verdict;
    size_t hit_count; /* rules that matched, strongest section first; at most POLICY_MAX_RULES_HIT */
    struct policy_hit hits[POLICY_MAX_RULES_HIT];
    struct grants grants; /* what the call asks for; empty when the arguments could not be read */
};

/* The policy that is built in. Errors: NOMEM. The caller frees it. */
enum err policy_builtin(struct policy **out) MUST_USE;
void policy_free(struct policy *p);

/* The policy as canonical JSON (its snapshot in a bundle), and "sha256:<hex>" of those bytes. Borrowed from `p`. */
const char *policy_snapshot(const struct policy *p, size_t *len);
const char *policy_hash(const struct policy *p);

/* Decides. Strings in *out live in `arena` or in `p`. Never fails: what goes wrong inside is a deny
 * (TK-ENGINE-ERROR). */
void policy_decide(const struct policy *p, struct arena *arena, const struct policy_call *call, struct decision *out);

/* "allow", "flag", "ask", "deny". */
const char *policy_verdict_name(enum verdict v);

#endif
