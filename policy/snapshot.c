#include "policy/snapshot.h"

#include "evidence/arena.h"
#include "evidence/jcs.h"
#include "evidence/json.h"

/* Goes up with every change of what the built-in policy decides. */
#define BUILTIN_VERSION "builtin-1"
#define BUILTIN_DESCRIPTION "asks a person about every call that wants more than the sandbox allows"

static struct json *section(struct arena *arena, enum verdict which, const struct rule *rules, size_t count)
{
    struct json *list = json_new_array(arena);
    for (size_t i = 0; i < count; i++) {
        if (rules[i].section != which)
            continue;
        struct json *rule = json_new_object(arena);
        json_set_string(arena, rule, "id", rules[i].id);
        json_set_string(arena, rule, "field", rules_field_name(rules[i].field));
        json_set_string(arena, rule, "pattern", rules[i].pattern);
        json_set_string(arena, rule, "reason", rules[i].reason);
        json_add(arena, list, rule);
    }
    return list;
}

enum err snapshot_write(struct buf *out, const struct rule *rules, size_t count)
{
    struct arena *arena = arena_new(SNAPSHOT_MAX_BYTES);
    struct json *policy = json_new_object(arena);
    json_set_string(arena, policy, "version", BUILTIN_VERSION);
    json_set_string(arena, policy, "description", BUILTIN_DESCRIPTION);
    json_set_string(arena, policy, "unknown_tools", "allow");
    json_set(arena, policy, "deny", section(arena, VERDICT_DENY, rules, count));
    json_set(arena, policy, "ask", section(arena, VERDICT_ASK, rules, count));
    json_set(arena, policy, "flag", section(arena, VERDICT_FLAG, rules, count));
    enum err e = policy != NULL ? jcs_write(out, policy) : ERR_NOMEM;
    arena_free(arena);
    return e;
}
