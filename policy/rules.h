/*
 * rules.h - the rules of a policy, as data (docs/policy.md).
 *
 * A rule belongs to a section (deny, ask or flag), looks at one field of a call, and hits when its pattern is found in
 * one of the field's subjects. Invariant: ids are unique, and none is one that the engine gives itself.
 */
#ifndef POLICY_RULES_H
#define POLICY_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/policy.h"

/* The ids of the engine's own denials: no rule may bear one. */
#define RULES_ARGS_INVALID "TK-ARGS-INVALID" /* no usable tool name, or arguments that are no object of strict JSON */
#define RULES_OVERSIZE "TK-OVERSIZE"         /* a subject over its maximum: never cut, never half read */
#define RULES_ENGINE_ERROR "TK-ENGINE-ERROR" /* we failed */

enum rule_field { RULE_GRANTS }; /* each grant is a subject: "network", "read:/etc" */

struct rule {
    const char *id;
    enum verdict section;
    enum rule_field field;
    const char *pattern;                  /* as the snapshot states it */
    const char *reason;                   /* plain ASCII; a hit on grants adds their kinds */
    bool (*matches)(const char *subject); /* whether the pattern is found in a subject */
};

/* The built-in rules: static, in the order of the snapshot. */
const struct rule *rules_builtin(size_t *count);

/* "grants". */
const char *rules_field_name(enum rule_field field);

#endif
