#include "policy/rules.h"

/* The pattern ".". */
static bool any(const char *subject)
{
    return subject[0] != '\0';
}

static const struct rule builtin[] = {
    {
        .id = "TK-A004",
        .section = VERDICT_ASK,
        .field = RULE_GRANTS,
        .pattern = ".",
        .reason = "asks for more than the sandbox allows",
        .matches = any,
    },
};

const struct rule *rules_builtin(size_t *count)
{
    *count = sizeof builtin / sizeof builtin[0];
    return builtin;
}

const char *rules_field_name(enum rule_field field)
{
    switch (field) {
    case RULE_GRANTS:
        return "grants";
    }
    return "unknown";
}
