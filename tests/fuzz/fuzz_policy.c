/*
 * fuzz_policy.c - the input is an `additional_permissions` value; the call that has it is decided.
 *
 * Property: a call is allowed only if the value is provably empty, which is decided here a second time from the document
 * (docs/policy.md); and no reason carries anything but plain ASCII.
 */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "evidence/buf.h"
#include "policy/policy.h"

enum { ARENA_BYTES = 8 << 20, MAX_INPUT = 1 << 20 };

static bool nothing(const struct json *v)
{
    if (json_type(v) == JSON_NULL || json_type(v) == JSON_FALSE)
        return true;
    return (json_is(v, JSON_ARRAY) || json_is(v, JSON_OBJECT)) && json_count(v) == 0;
}

/* An object in which only these two keys stand, both with nothing behind them. */
static bool only(const struct json *v, const char *a, const char *b,
                 bool (*is_empty)(const struct json *, const char *))
{
    if (!json_is(v, JSON_OBJECT))
        return false;
    size_t known = (json_get(v, a) != NULL) + (json_get(v, b) != NULL);
    return known == json_count(v) && is_empty(v, a) && is_empty(v, b);
}

static bool path_list_is_empty(const struct json *v, const char *key)
{
    return nothing(json_get(v, key));
}

static bool permission_is_empty(const struct json *v, const char *key)
{
    const struct json *p = json_get(v, key);
    return nothing(p) || (strcmp(key, "fileSystem") == 0 && only(p, "read", "write", path_list_is_empty));
}

static bool asks_for_nothing(const struct json *args)
{
    const struct json *v = json_get(args, "additional_permissions");
    return nothing(v) || only(v, "network", "fileSystem", permission_is_empty);
}

static void check_decision(const struct decision *d, const struct json *args)
{
    if (args == NULL)
        FUZZ_CHECK(d->verdict == VERDICT_DENY);
    else
        FUZZ_CHECK((d->verdict == VERDICT_ALLOW) == asks_for_nothing(args));
    FUZZ_CHECK((d->verdict == VERDICT_ALLOW) == (d->hit_count == 0));
    FUZZ_CHECK(d->verdict != VERDICT_ASK || d->grants.count > 0);
    FUZZ_CHECK(d->grants.count <= GRANTS_MAX);
    for (size_t i = 0; i < d->hit_count; i++) {
        FUZZ_CHECK(d->hits[i].reason[0] != '\0');
        for (const char *c = d->hits[i].reason; *c != '\0'; c++)
            FUZZ_CHECK(*c >= ' ' && *c <= '~');
    }
    for (size_t i = 1; i < d->grants.count; i++)
        FUZZ_CHECK(d->grants.list[i - 1].kind <= d->grants.list[i].kind);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > MAX_INPUT)
        return 0;
    struct policy *policy = NULL;
    struct arena *arena = arena_new(ARENA_BYTES);
    struct buf text;
    buf_init(&text, MAX_INPUT + 256);
    buf_puts(&text, "{\"command\":\"true\",\"additional_permissions\":");
    buf_put(&text, data, size);
    buf_puts(&text, "}");
    FUZZ_CHECK(arena != NULL && buf_err(&text) == ERR_OK && policy_builtin(&policy) == ERR_OK);

    const struct json *args = NULL;
    enum err e = json_parse(arena, text.data, text.len, &args, NULL);
    struct policy_call call = {.tool = "run_shell_command", .args = args, .args_error = e ? err_text(e) : NULL};
    struct decision d;
    policy_decide(policy, e == ERR_NOMEM ? NULL : arena, &call, &d);
    if (e == ERR_NOMEM)
        FUZZ_CHECK(d.verdict == VERDICT_DENY);
    else
        check_decision(&d, args);

    policy_free(policy);
    buf_wipe(&text);
    arena_free(arena);
    return 0;
}
