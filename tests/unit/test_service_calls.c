/* Tool calls through the service: decided, recorded, answered, and what came of them. */
#include "tests/unit/service_rig.h"

#include <sqlite3.h>

static void plain_call_is_allowed_and_recorded(void **state)
{
    struct rig *w = *state;
    struct rig_hook got = rig_call(w, "BeforeTool", RIG_SHELL RIG_PLAIN);
    assert_false(got.parked);
    assert_true(got.allow);
    assert_string_equal(got.out, "{}");
    rig_call(w, "AfterTool", RIG_SHELL RIG_PLAIN ",\"tool_response\":{\"llmContent\":\"hi\"}");
    rig_call(w, "SessionEnd", "\"reason\":\"exit\"");
    rig_pass(w, 5000);
    rig_tick(w);
    rig_assert_types(w, " signer.epoch run.registered policy.decision tool.result run.closing run.final");
}

static void failed_tool_is_not_ok(void **state)
{
    struct rig *w = *state;
    rig_call(w, "BeforeTool", RIG_SHELL RIG_PLAIN);
    rig_call(w, "AfterTool",
             RIG_SHELL RIG_PLAIN ",\"tool_response\":{\"llmContent\":\"x\",\"error\":{\"message\":\"no\"}}");
    rig_assert_record(w, "tool.result", "\"ok\":false");
}

static void loose_arguments_are_denied(void **state)
{
    struct rig *w = *state;
    const char *const bad[] = {"{\"command\":\"a\",\"command\":\"b\"}",
                               "{\"command\":\"\\ud800\"}",
                               "{\"n\":9007199254740993}",
                               "{\"n\":1e999}",
                               "[1]",
                               "null",
                               "\"x\""};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char rest[256];
        snprintf(rest, sizeof rest, RIG_SHELL "%s", bad[i]);
        struct rig_hook got = rig_call(w, "BeforeTool", rest);
        assert_false(got.parked);
        assert_false(got.allow);
        assert_non_null(strstr(got.out, "TK-ARGS-INVALID"));
    }
    rig_assert_record(w, "policy.decision", "\"rule_ids\":[\"TK-ARGS-INVALID\"]");
    rig_assert_no_record(w, "policy.decision", "args_commitment");
}

static void unreadable_payloads_are_denied_and_counted(void **state)
{
    struct rig *w = *state;
    const char *const bad[] = {"",
                               "{",
                               "null",
                               "{\"session_id\":\"s\"}",
                               "\xff",
                               "{}{}",
                               "{\"session_id\":\"a b\",\"hook_event_name\":\"BeforeTool\"}",
                               "{\"session_id\":\"s\",\"hook_event_name\":\"AfterTool\"}"};
    size_t count = sizeof bad / sizeof bad[0];
    for (size_t i = 0; i < count; i++) {
        struct rig_hook got = rig_payload(w, "BeforeTool", bad[i], strlen(bad[i]));
        assert_false(got.parked);
        assert_false(got.allow);
        assert_non_null(strstr(got.out, "\"decision\":\"deny\""));
    }
    assert_true(rig_payload(w, "AfterTool", "{", 1).allow);
    assert_false(rig_payload(w, "NoSuchEvent", "{}", 2).allow);
    rig_pass(w, 10001);
    rig_tick(w);
    char expected[32];
    snprintf(expected, sizeof expected, "\"count\":%zu", count + 2);
    rig_assert_record(w, "refusal.summary", expected);
}

static void what_was_never_decided_is_a_gap(void **state)
{
    struct rig *w = *state;
    rig_call(w, "AfterTool", RIG_SHELL RIG_PLAIN ",\"tool_response\":{}");
    rig_assert_record(w, "capture.gap", "reconcile.result_without_call");
    rig_call(w, "AfterTool", RIG_SHELL RIG_NETWORK ",\"tool_response\":{}");
    rig_assert_record(w, "capture.gap", "executed_against_policy");
}

static void what_ran_while_held_or_denied_is_a_gap(void **state)
{
    struct rig *w = *state;
    char id[RIG_ID_BYTES];
    assert_true(rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK).parked);
    rig_call(w, "AfterTool", RIG_SHELL RIG_NETWORK ",\"tool_response\":{}");
    rig_assert_record(w, "capture.gap", "while it was held");
    /* audit reopened the service, so nobody waits on the first approval any more; this call takes it over. */
    struct rig_hook got = rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK);
    rig_pending_id(w, 0, id);
    assert_true(rig_answer(w, id, "reject"));
    assert_true(rig_answered(w, &got));
    rig_call(w, "AfterTool", RIG_SHELL RIG_NETWORK ",\"tool_response\":{}");
    rig_assert_record(w, "capture.gap", "although it was denied");
}

/* Arguments that are not strict JSON are denied; when they ran all the same, that is known to be that call. */
static void what_ran_although_it_could_not_be_read_is_a_gap(void **state)
{
    struct rig *w = *state;
    const char *const bad[] = {"{\"command\":\"a\",\"command\":\"b\"}", "{\"n\":9007199254740993}", "[1]", "null"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char rest[256];
        snprintf(rest, sizeof rest, RIG_SHELL "%s,\"tool_response\":{}", bad[i]);
        assert_false(rig_call(w, "BeforeTool", rest).allow);
        rig_call(w, "AfterTool", rest);
        rig_assert_record(w, "capture.gap", "although it was denied");
    }
}

static void results_pair_first_in_first_out(void **state)
{
    struct rig *w = *state;
    rig_call(w, "BeforeTool", RIG_SHELL RIG_PLAIN);
    rig_call(w, "BeforeTool", RIG_SHELL RIG_PLAIN);
    rig_call(w, "AfterTool", RIG_SHELL RIG_PLAIN ",\"tool_response\":{}");
    rig_call(w, "AfterTool", RIG_SHELL RIG_PLAIN ",\"tool_response\":{}");
    rig_call(w, "AfterTool", RIG_SHELL RIG_PLAIN ",\"tool_response\":{}");
    rig_assert_types(w,
                     " signer.epoch run.registered policy.decision policy.decision tool.result tool.result tool.result"
                     " capture.gap");
}

/* The id of the call that the newest policy.decision is about. */
static void newest_call(struct rig *w, char id[static RIG_ID_BYTES])
{
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    char path[128];
    service_close(w->service);
    snprintf(path, sizeof path, "%s/ledger.db", w->dir);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT tool_call_id FROM calls ORDER BY id DESC LIMIT 1", -1, &stmt, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    snprintf(id, RIG_ID_BYTES, "%s", (const char *)sqlite3_column_text(stmt, 0));
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    rig_open(w);
}

/* Of identical calls the oldest one that was allowed has the result; the one that was not answered in time has none. */
static void a_result_belongs_to_the_oldest_call_that_was_allowed(void **state)
{
    struct rig *w = *state;
    char approval[RIG_ID_BYTES], second[RIG_ID_BYTES], third[RIG_ID_BYTES];
    rig_hold_and_miss(w, approval);
    for (int i = 0; i < 2; i++) {
        struct rig_hook got = rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK);
        rig_pending_id(w, 0, approval);
        assert_true(rig_answer(w, approval, "approve"));
        assert_true(rig_answered(w, &got));
        assert_true(got.allow);
        newest_call(w, i == 0 ? second : third);
    }
    rig_call(w, "AfterTool", RIG_SHELL RIG_NETWORK ",\"tool_response\":{}");
    rig_assert_record(w, "tool.result", second);
    rig_call(w, "AfterTool", RIG_SHELL RIG_NETWORK ",\"tool_response\":{}");
    rig_assert_record(w, "tool.result", third);
    rig_call(w, "AfterTool", RIG_SHELL RIG_NETWORK ",\"tool_response\":{}");
    rig_assert_no_record(w, "tool.result", third);
    rig_assert_record(w, "capture.gap", "although it was denied");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(plain_call_is_allowed_and_recorded),
        RIG_TEST(failed_tool_is_not_ok),
        RIG_TEST(loose_arguments_are_denied),
        RIG_TEST(unreadable_payloads_are_denied_and_counted),
        RIG_TEST(what_was_never_decided_is_a_gap),
        RIG_TEST(what_ran_while_held_or_denied_is_a_gap),
        RIG_TEST(what_ran_although_it_could_not_be_read_is_a_gap),
        RIG_TEST(results_pair_first_in_first_out),
        RIG_TEST(a_result_belongs_to_the_oldest_call_that_was_allowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
