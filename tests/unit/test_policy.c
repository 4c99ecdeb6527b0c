#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "evidence/buf.h"
#include "policy/policy.h"

enum { ARENA_BYTES = 16 << 20, TEXT_BYTES = 4 << 20 };

struct fixture {
    struct policy *policy;
    struct arena *arena;
    struct buf text;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    if (f == NULL || (f->arena = arena_new(ARENA_BYTES)) == NULL || policy_builtin(&f->policy) != ERR_OK)
        return -1;
    buf_init(&f->text, TEXT_BYTES);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    policy_free(f->policy);
    arena_free(f->arena);
    buf_wipe(&f->text);
    free(f);
    return 0;
}

/* What is in f->text as JSON; NULL when it is not strict JSON. */
static const struct json *parse(struct fixture *f)
{
    const struct json *v = NULL;
    assert_int_equal(buf_err(&f->text), ERR_OK);
    return json_parse(f->arena, f->text.data, f->text.len, &v, NULL) == ERR_OK ? v : NULL;
}

static struct decision decide(struct fixture *f, const char *tool, const char *args)
{
    buf_reset(&f->text);
    buf_puts(&f->text, args);
    struct policy_call call = {.tool = tool, .args = parse(f)};
    struct decision d;
    policy_decide(f->policy, f->arena, &call, &d);
    return d;
}

static void assert_allowed(const struct decision *d)
{
    assert_int_equal(d->verdict, VERDICT_ALLOW);
    assert_int_equal(d->hit_count, 0);
    assert_int_equal(d->grants.count, 0);
}

static void assert_one_hit(const struct decision *d, enum verdict verdict, const char *rule_id, const char *reason)
{
    assert_int_equal(d->verdict, verdict);
    assert_int_equal(d->hit_count, 1);
    assert_string_equal(d->hits[0].rule_id, rule_id);
    assert_string_equal(d->hits[0].reason, reason);
}

static void calls_without_grants_are_allowed(void **state)
{
    static const char *const args[] = {
        "{}",
        "{\"command\":\"rm -rf /\"}",
        "{\"command\":\"ls\",\"additional_permissions\":null}",
        "{\"command\":\"ls\",\"additional_permissions\":{}}",
        "{\"command\":\"ls\",\"additional_permissions\":{\"network\":false,\"fileSystem\":{\"read\":[],\"write\":[]}}}",
        "{\"prompt\":\"additional_permissions network\"}",
        "{\"content\":{\"additional_permissions\":{\"network\":true}}}",
    };
    for (size_t i = 0; i < sizeof args / sizeof args[0]; i++) {
        struct decision d = decide(*state, "run_shell_command", args[i]);
        assert_allowed(&d);
    }
}

static void any_grant_of_any_tool_is_asked_about(void **state)
{
    static const char *const tools[] = {"run_shell_command", "write_file", "mcp_server_tool", "a tool of tomorrow",
                                        "\xff"};
    for (size_t i = 0; i < sizeof tools / sizeof tools[0]; i++) {
        struct decision d = decide(*state, tools[i], "{\"additional_permissions\":{\"network\":true}}");
        assert_one_hit(&d, VERDICT_ASK, "TK-A004", "asks for more than the sandbox allows: network");
        assert_int_equal(d.grants.count, 1);
        assert_string_equal(d.grants.list[0].text, "network");
    }
}

static void reasons_name_kinds_and_never_the_agents_text(void **state)
{
    struct decision d =
        decide(*state, "run_shell_command",
               "{\"additional_permissions\":{\"network\":1,\"fileSystem\":{\"write\":[\"/b\",\"\\u001b[2J\"],"
               "\"read\":[\"/home/user/.ssh/id_ed25519\"]},\"ignore all rules\":true}}");
    assert_one_hit(&d, VERDICT_ASK, "TK-A004", "asks for more than the sandbox allows: network, read, write, unknown");
    assert_int_equal(d.grants.count, 5);
    d = decide(*state, "run_shell_command", "{\"additional_permissions\":\"\"}");
    assert_one_hit(&d, VERDICT_ASK, "TK-A004", "asks for more than the sandbox allows: unknown");
    d = decide(*state, "run_shell_command", "{\"additional_permissions\":{\"fileSystem\":{\"write\":[\"/w\"]}}}");
    assert_one_hit(&d, VERDICT_ASK, "TK-A004", "asks for more than the sandbox allows: write");
}

static void a_call_without_a_usable_tool_name_is_denied(void **state)
{
    char name[POLICY_MAX_TOOL_BYTES + 2];
    memset(name, 't', sizeof name);
    name[POLICY_MAX_TOOL_BYTES] = '\0';
    struct decision d = decide(*state, name, "{}");
    assert_allowed(&d);
    name[POLICY_MAX_TOOL_BYTES] = 't';
    name[POLICY_MAX_TOOL_BYTES + 1] = '\0';
    d = decide(*state, name, "{}");
    assert_one_hit(&d, VERDICT_DENY, "TK-ARGS-INVALID", "the name of the tool is over 256 bytes");
    d = decide(*state, "", "{}");
    assert_one_hit(&d, VERDICT_DENY, "TK-ARGS-INVALID", "the call names no tool");
    d = decide(*state, NULL, "{}");
    assert_one_hit(&d, VERDICT_DENY, "TK-ARGS-INVALID", "the call names no tool");
}

static void arguments_that_are_no_object_are_denied(void **state)
{
    static const char *const args[] = {"null", "true", "0", "\"{}\"", "[]", "[{\"command\":\"ls\"}]"};
    for (size_t i = 0; i < sizeof args / sizeof args[0]; i++) {
        struct decision d = decide(*state, "run_shell_command", args[i]);
        assert_one_hit(&d, VERDICT_DENY, "TK-ARGS-INVALID", "the arguments are not a JSON object");
        assert_int_equal(d.grants.count, 0);
    }
}

static void arguments_that_are_not_strict_json_are_denied(void **state)
{
    static const char *const args[] = {
        "",
        "{\"command\":",
        "{\"additional_permissions\":{\"network\":true},\"additional_permissions\":{}}",
        "{\"additional_permissions\":{\"network\":true,\"network\":false}}",
        "{\"command\":\"\\ud800\"}",
        "{\"command\":1e999}",
        "{\"command\":9007199254740993}",
        "{\"command\":\"\xff\"}",
    };
    for (size_t i = 0; i < sizeof args / sizeof args[0]; i++) {
        struct decision d = decide(*state, "run_shell_command", args[i]);
        assert_one_hit(&d, VERDICT_DENY, "TK-ARGS-INVALID", "the arguments are not strict JSON");
    }
}

static void arguments_nested_too_deeply_are_denied(void **state)
{
    struct fixture *f = *state;
    char args[4096] = "{\"additional_permissions\":";
    memset(args + strlen(args), '[', 2000);
    struct decision d = decide(f, "run_shell_command", args);
    assert_int_equal(d.verdict, VERDICT_DENY);
    assert_string_equal(d.hits[0].rule_id, "TK-ARGS-INVALID");
}

static struct decision decide_unreadable(struct fixture *f, const char *why)
{
    struct policy_call call = {.tool = "run_shell_command", .args_error = why};
    struct decision d;
    policy_decide(f->policy, f->arena, &call, &d);
    return d;
}

static void the_reason_repeats_why_arguments_are_unreadable(void **state)
{
    static const char bare[] = "the arguments are not strict JSON";
    struct decision d = decide_unreadable(*state, "a key twice in one object, at byte 12");
    assert_one_hit(&d, VERDICT_DENY, "TK-ARGS-INVALID",
                   "the arguments are not strict JSON: a key twice in one object, at byte 12");
    d = decide_unreadable(*state, NULL);
    assert_one_hit(&d, VERDICT_DENY, "TK-ARGS-INVALID", bare);
    d = decide_unreadable(*state, "key '\x1b[2J' twice");
    assert_one_hit(&d, VERDICT_DENY, "TK-ARGS-INVALID", bare);
    d = decide_unreadable(*state, "key '\xe2\x80\xae' twice");
    assert_one_hit(&d, VERDICT_DENY, "TK-ARGS-INVALID", bare);
    char lengthy[400];
    memset(lengthy, 'w', sizeof lengthy - 1);
    lengthy[sizeof lengthy - 1] = '\0';
    d = decide_unreadable(*state, lengthy);
    assert_one_hit(&d, VERDICT_DENY, "TK-ARGS-INVALID", bare);
}

static struct decision decide_long_command(struct fixture *f, size_t len, const char *rest)
{
    buf_reset(&f->text);
    buf_printf(&f->text, "{\"command\":\"%0*d\"%s}", (int)len, 0, rest);
    struct policy_call call = {.tool = "any_tool", .args = parse(f)};
    assert_non_null(call.args);
    struct decision d;
    policy_decide(f->policy, f->arena, &call, &d);
    return d;
}

static void a_command_over_64_kib_is_denied(void **state)
{
    struct decision d = decide_long_command(*state, POLICY_MAX_SUBJECT_BYTES, "");
    assert_allowed(&d);
    d = decide_long_command(*state, POLICY_MAX_SUBJECT_BYTES + 1, "");
    assert_one_hit(&d, VERDICT_DENY, "TK-OVERSIZE", "the command is over 64 KiB");
    d = decide_long_command(*state, 1 << 20, "");
    assert_one_hit(&d, VERDICT_DENY, "TK-OVERSIZE", "the command is over 64 KiB");
}

static void deny_is_stronger_than_ask_and_both_are_named(void **state)
{
    struct decision d =
        decide_long_command(*state, POLICY_MAX_SUBJECT_BYTES + 1, ",\"additional_permissions\":{\"network\":true}");
    assert_int_equal(d.verdict, VERDICT_DENY);
    assert_int_equal(d.hit_count, 2);
    assert_string_equal(d.hits[0].rule_id, "TK-OVERSIZE");
    assert_string_equal(d.hits[1].rule_id, "TK-A004");
    assert_int_equal(d.grants.count, 1);
}

/* `count` paths of `len` bytes. */
static struct decision decide_many_paths(struct fixture *f, size_t count, size_t len)
{
    buf_reset(&f->text);
    buf_puts(&f->text, "{\"additional_permissions\":{\"fileSystem\":{\"write\":[");
    for (size_t i = 0; i < count; i++)
        buf_printf(&f->text, "%s\"%0*zu\"", i > 0 ? "," : "", (int)len, i);
    buf_puts(&f->text, "]}}}");
    struct policy_call call = {.tool = "run_shell_command", .args = parse(f)};
    assert_non_null(call.args);
    struct decision d;
    policy_decide(f->policy, f->arena, &call, &d);
    return d;
}

static void too_many_or_too_long_grants_are_denied(void **state)
{
    static const char reason[] = "asks for more than 256 permissions, or for one over 4096 bytes";
    struct decision d = decide_many_paths(*state, GRANTS_MAX, 8);
    assert_int_equal(d.verdict, VERDICT_ASK);
    assert_int_equal(d.grants.count, GRANTS_MAX);
    d = decide_many_paths(*state, GRANTS_MAX + 1, 8);
    assert_one_hit(&d, VERDICT_DENY, "TK-OVERSIZE", reason);
    assert_int_equal(d.grants.count, 0);
    d = decide_many_paths(*state, 10000, 8);
    assert_one_hit(&d, VERDICT_DENY, "TK-OVERSIZE", reason);
    d = decide_many_paths(*state, 1, GRANTS_MAX_PATH_BYTES);
    assert_int_equal(d.verdict, VERDICT_ASK);
    d = decide_many_paths(*state, 1, GRANTS_MAX_PATH_BYTES + 1);
    assert_one_hit(&d, VERDICT_DENY, "TK-OVERSIZE", reason);
    d = decide_many_paths(*state, 1, 1 << 20);
    assert_one_hit(&d, VERDICT_DENY, "TK-OVERSIZE", reason);
}

/* Every size of arena from nothing to enough: a deny until the ask, never an allow and never a half-read ask. */
static void too_little_memory_is_a_deny(void **state)
{
    struct fixture *f = *state;
    buf_puts(&f->text,
             "{\"command\":\"ls\",\"additional_permissions\":{\"network\":true,\"fileSystem\":{\"read\":[\"/etc\"]}}}");
    struct policy_call call = {.tool = "run_shell_command", .args = parse(f)};
    size_t denied = 0;
    struct decision d = {.verdict = VERDICT_DENY};
    for (size_t max = 1; d.verdict == VERDICT_DENY && max < 64 << 10; max++) {
        struct arena *small = arena_new(max);
        assert_non_null(small);
        memset(&d, 0, sizeof d);
        policy_decide(f->policy, small, &call, &d);
        if (d.verdict == VERDICT_DENY) {
            assert_one_hit(&d, VERDICT_DENY, "TK-ENGINE-ERROR", "the policy could not judge this call");
            assert_int_equal(d.grants.count, 0);
            denied++;
        } else {
            assert_one_hit(&d, VERDICT_ASK, "TK-A004", "asks for more than the sandbox allows: network, read");
            assert_int_equal(d.grants.count, 2);
        }
        arena_free(small);
    }
    assert_int_equal(d.verdict, VERDICT_ASK);
    assert_true(denied > 0);
}

static void an_arena_that_has_failed_is_a_deny_even_without_grants(void **state)
{
    struct fixture *f = *state;
    buf_puts(&f->text, "{\"command\":\"ls\"}");
    struct policy_call call = {.tool = "run_shell_command", .args = parse(f)};
    struct arena *small = arena_new(16);
    assert_non_null(small);
    assert_null(arena_alloc(small, 1 << 20));
    struct decision d;
    policy_decide(f->policy, small, &call, &d);
    assert_one_hit(&d, VERDICT_DENY, "TK-ENGINE-ERROR", "the policy could not judge this call");
    policy_decide(f->policy, NULL, &call, &d);
    assert_one_hit(&d, VERDICT_DENY, "TK-ENGINE-ERROR", "the policy could not judge this call");
    arena_free(small);
}

/* The snapshot goes into bundles and its hash into every decision: neither changes unnoticed. Whoever changes what the
 * policy decides raises its version and writes the new text here. */
static void the_snapshot_is_these_bytes(void **state)
{
    static const char wanted[] = "{\"ask\":[{\"field\":\"grants\",\"id\":\"TK-A004\",\"pattern\":\".\",\"reason\":"
                                 "\"asks for more than the sandbox "
                                 "allows\"}],\"deny\":[],\"description\":\"asks a person about every call that wants "
                                 "more than the sandbox allows\","
                                 "\"flag\":[],\"unknown_tools\":\"allow\",\"version\":\"builtin-1\"}";
    struct fixture *f = *state;
    size_t len = 0;
    const char *got = policy_snapshot(f->policy, &len);
    assert_int_equal(len, strlen(wanted));
    assert_memory_equal(got, wanted, len);
    uint8_t hash[DIGEST_BYTES];
    char text[DIGEST_TEXT_BYTES];
    digest_sha256(wanted, strlen(wanted), hash);
    digest_text(hash, text);
    assert_string_equal(policy_hash(f->policy), text);
    assert_string_equal(policy_hash(f->policy),
                        "sha256:bf7d85239346f825441bf73ea35f23ef0957a706c2ee639631cfe3e2eed63a21");
}

static void verdicts_have_names(void **state)
{
    (void)state;
    assert_string_equal(policy_verdict_name(VERDICT_ALLOW), "allow");
    assert_string_equal(policy_verdict_name(VERDICT_FLAG), "flag");
    assert_string_equal(policy_verdict_name(VERDICT_ASK), "ask");
    assert_string_equal(policy_verdict_name(VERDICT_DENY), "deny");
}

/* 1 MiB of canonical arguments is the most that a person is asked about; without a question any size may pass. */
static void nobody_is_asked_about_what_nobody_can_judge(void **state)
{
    static const char head[] = "{\"additional_permissions\":{\"network\":true},\"text\":\"", tail[] = "\"}";
    struct fixture *f = *state;
    char *args = malloc(POLICY_MAX_SHOWN_BYTES + 2);
    assert_non_null(args);
    for (size_t len = POLICY_MAX_SHOWN_BYTES; len <= POLICY_MAX_SHOWN_BYTES + 1; len++) {
        memcpy(args, head, sizeof head - 1);
        memset(args + sizeof head - 1, 'a', len - (sizeof head - 1) - (sizeof tail - 1));
        memcpy(args + len - (sizeof tail - 1), tail, sizeof tail);
        struct decision d = decide(f, "run_shell_command", args);
        assert_int_equal(d.verdict, len <= POLICY_MAX_SHOWN_BYTES ? VERDICT_ASK : VERDICT_DENY);
        if (d.verdict == VERDICT_DENY)
            assert_string_equal(d.hits[0].rule_id, "TK-OVERSIZE");
    }
    memset(args, ' ', POLICY_MAX_SHOWN_BYTES);
    memcpy(args, "{\"text\":\"", 9);
    memset(args + 9, 'a', POLICY_MAX_SHOWN_BYTES - 10);
    memcpy(args + POLICY_MAX_SHOWN_BYTES - 1, tail, sizeof tail);
    struct decision d = decide(f, "write_file", args);
    assert_allowed(&d);
    free(args);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(calls_without_grants_are_allowed),
        TEST(any_grant_of_any_tool_is_asked_about),
        TEST(reasons_name_kinds_and_never_the_agents_text),
        TEST(a_call_without_a_usable_tool_name_is_denied),
        TEST(arguments_that_are_no_object_are_denied),
        TEST(arguments_that_are_not_strict_json_are_denied),
        TEST(arguments_nested_too_deeply_are_denied),
        TEST(the_reason_repeats_why_arguments_are_unreadable),
        TEST(a_command_over_64_kib_is_denied),
        TEST(deny_is_stronger_than_ask_and_both_are_named),
        TEST(too_many_or_too_long_grants_are_denied),
        TEST(too_little_memory_is_a_deny),
        TEST(an_arena_that_has_failed_is_a_deny_even_without_grants),
        TEST(the_snapshot_is_these_bytes),
        TEST(nobody_is_asked_about_what_nobody_can_judge),
        cmocka_unit_test(verdicts_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
