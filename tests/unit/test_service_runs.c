/* Runs: when they begin, close and end. */
#include "tests/unit/service_rig.h"

static void session_end_ends_the_run_once(void **state)
{
    struct rig *w = *state;
    rig_call(w, "SessionEnd", "");
    rig_call(w, "SessionStart", "\"source\":\"startup\"");
    rig_call(w, "SessionEnd", "");
    rig_call(w, "SessionEnd", "");
    rig_call(w, "SessionEnd", "");
    rig_pass(w, 5000);
    rig_tick(w);
    rig_tick(w);
    rig_assert_types(w, " signer.epoch run.registered run.closing run.final");
    assert_true(rig_call(w, "BeforeTool", RIG_SHELL RIG_PLAIN).allow);
    rig_assert_types(w, " signer.epoch run.registered run.closing run.final run.registered policy.decision");
}

static void late_results_are_taken_for_five_seconds(void **state)
{
    struct rig *w = *state;
    rig_call(w, "BeforeTool", RIG_SHELL RIG_PLAIN);
    rig_call(w, "SessionEnd", "");
    rig_pass(w, 4999);
    rig_tick(w);
    rig_call(w, "AfterTool", RIG_SHELL RIG_PLAIN ",\"tool_response\":{}");
    rig_pass(w, 1);
    rig_tick(w);
    rig_assert_types(w, " signer.epoch run.registered policy.decision run.closing tool.result run.final");
}

static void a_call_after_session_end_is_a_new_run(void **state)
{
    struct rig *w = *state;
    rig_call(w, "SessionStart", "");
    rig_call(w, "SessionEnd", "");
    rig_call(w, "BeforeTool", RIG_SHELL RIG_PLAIN);
    rig_assert_types(w, " signer.epoch run.registered run.closing run.registered policy.decision");
}

static void pending_approvals_expire_with_their_run(void **state)
{
    struct rig *w = *state;
    struct rig_hook got = rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK);
    rig_call(w, "SessionEnd", "");
    rig_pass(w, 5000);
    rig_tick(w);
    assert_true(rig_answered(w, &got));
    assert_false(got.allow);
    rig_assert_types(
        w, " signer.epoch run.registered policy.decision approval.request run.closing approval.expired run.final");
}

static void an_idle_run_ends_but_not_while_something_is_pending(void **state)
{
    struct rig *w = *state;
    rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK);
    rig_pass(w, 3599 * 1000);
    rig_tick(w);
    rig_assert_types(w, " signer.epoch run.registered policy.decision approval.request");
    rig_pass(w, 1000); /* the approval expires: that is an event of the run */
    rig_tick(w);
    rig_pass(w, 3600 * 1000);
    rig_tick(w);
    rig_assert_types(
        w, " signer.epoch run.registered policy.decision approval.request approval.expired run.closing run.final");
    rig_assert_record(w, "run.closing", "idle_timeout");
}

/* The tool was still running when its session ended and a new one began: its result belongs to the run that decided it. */
static void a_late_result_goes_to_the_run_that_decided_it(void **state)
{
    struct rig *w = *state;
    rig_call(w, "BeforeTool", RIG_SHELL RIG_PLAIN);
    rig_call(w, "SessionEnd", "");
    rig_call(w, "SessionStart", "");
    rig_call(w, "AfterTool", RIG_SHELL RIG_PLAIN ",\"tool_response\":{}");
    rig_pass(w, 5000);
    rig_tick(w);
    rig_assert_types(w,
                     " signer.epoch run.registered policy.decision run.closing run.registered tool.result run.final");
}

/* The tenant of the signer's own records is no name that only the signer may have. */
static void a_tenant_may_have_any_name(void **state)
{
    struct rig *w = *state;
    service_close(w->service);
    snprintf(w->config.tenant, sizeof w->config.tenant, "tracekit");
    rig_open(w);
    rig_call(w, "BeforeTool", RIG_SHELL RIG_PLAIN);
    rig_call(w, "AfterTool", RIG_SHELL RIG_PLAIN ",\"tool_response\":{}");
    assert_true(rig_ask(w, "{\"op\":\"export.begin\",\"run\":\"latest\"}"));
    assert_non_null(strstr(w->reply, "\"records\":3"));
    assert_true(rig_ask(w, "{\"op\":\"runs.list\"}"));
    assert_null(strstr(w->reply, "tracekit/signer"));
    rig_assert_types(w, " signer.epoch run.registered policy.decision tool.result");
}

static void a_restart_keeps_everything(void **state)
{
    struct rig *w = *state;
    char id[RIG_ID_BYTES], after[RIG_ID_BYTES];
    rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK);
    rig_pending_id(w, 0, id);
    service_close(w->service);
    rig_open(w);
    rig_pending_id(w, 0, after);
    assert_string_equal(id, after);
    assert_true(rig_answer(w, id, "approve"));
    struct rig_hook got = rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK);
    assert_true(got.allow);
}

static void stopping_denies_who_waits(void **state)
{
    struct rig *w = *state;
    struct rig_hook got = rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK);
    assert_int_equal(service_begin(w->service, &w->now), ERR_OK);
    assert_int_equal(service_stop(w->service), ERR_OK);
    assert_int_equal(service_commit(w->service), ERR_OK);
    assert_true(rig_answered(w, &got));
    assert_false(got.allow);
    assert_int_equal(rig_pending_count(w), 1);
}

static void set_bytes(struct rig *w, const char *bytes)
{
    char sql[128];
    snprintf(sql, sizeof sql, "UPDATE runs SET bytes = %s WHERE tenant <> 'tracekit' AND state <> 'final'", bytes);
    rig_change(w, sql);
}

#define MIB_60 "62914560"
#define MIB_63 "66060288"

static void a_full_run_goes_on_in_another_one(void **state)
{
    struct rig *w = *state;
    rig_call(w, "SessionStart", "");
    set_bytes(w, MIB_60);
    assert_true(rig_call(w, "BeforeTool", RIG_SHELL RIG_PLAIN).allow);
    rig_assert_types(w, " signer.epoch run.registered run.closing run.registered run.final policy.decision");
}

static void a_full_run_waits_for_what_is_in_flight(void **state)
{
    struct rig *w = *state;
    char id[RIG_ID_BYTES];
    assert_true(rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK).parked);
    set_bytes(w, MIB_60);
    assert_true(rig_call(w, "BeforeTool", RIG_SHELL RIG_PLAIN).allow);
    rig_assert_types(w, " signer.epoch run.registered policy.decision approval.request policy.decision");
    rig_pending_id(w, 0, id);
    assert_true(rig_answer(w, id, "reject"));
    rig_call(w, "AfterTool", RIG_SHELL RIG_PLAIN ",\"tool_response\":{}");
    set_bytes(w, MIB_63); /* whatever is in flight: the file has a limit */
    assert_true(rig_call(w, "BeforeTool", RIG_SHELL RIG_PLAIN).allow);
    rig_assert_types(w, " signer.epoch run.registered policy.decision approval.request policy.decision approval"
                        " tool.result run.closing run.registered run.final policy.decision");
}

/* The file has a limit even while a tool runs. The call was decided, so its result is no gap. */
static void what_is_in_flight_goes_on_in_the_other_run(void **state)
{
    struct rig *w = *state;
    char id[RIG_ID_BYTES];
    struct rig_hook got = rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK);
    rig_pending_id(w, 0, id);
    assert_true(rig_answer(w, id, "approve"));
    assert_true(rig_answered(w, &got));
    set_bytes(w, MIB_63);
    rig_call(w, "AfterTool", RIG_SHELL RIG_NETWORK ",\"tool_response\":{}");
    rig_assert_types(w, " signer.epoch run.registered policy.decision approval.request approval approval.consumed"
                        " run.closing run.registered run.final tool.result");
}

/* Whatever comes late for a run that is closing: its file has the same limit. */
static void a_closing_run_does_not_grow_without_end(void **state)
{
    struct rig *w = *state;
    rig_call(w, "BeforeTool", RIG_SHELL RIG_PLAIN);
    rig_call(w, "SessionEnd", "");
    set_bytes(w, MIB_63);
    rig_call(w, "SessionStart", "");
    rig_call(w, "AfterTool", RIG_SHELL RIG_PLAIN ",\"tool_response\":{}");
    rig_assert_types(w, " signer.epoch run.registered policy.decision run.closing run.registered tool.result"
                        " capture.gap");
    rig_assert_record(w, "tool.result", "\"run_seq\":1,");
}

static void a_pending_approval_keeps_its_run_open(void **state)
{
    struct rig *w = *state;
    rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK);
    rig_change(w, "UPDATE approvals SET expires_us = expires_us + 3600000000");
    rig_pass(w, 3600 * 1000);
    rig_tick(w);
    rig_assert_types(w, " signer.epoch run.registered policy.decision approval.request");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(session_end_ends_the_run_once),
        RIG_TEST(late_results_are_taken_for_five_seconds),
        RIG_TEST(a_call_after_session_end_is_a_new_run),
        RIG_TEST(pending_approvals_expire_with_their_run),
        RIG_TEST(an_idle_run_ends_but_not_while_something_is_pending),
        RIG_TEST(a_late_result_goes_to_the_run_that_decided_it),
        RIG_TEST(a_tenant_may_have_any_name),
        RIG_TEST(a_pending_approval_keeps_its_run_open),
        RIG_TEST(a_restart_keeps_everything),
        RIG_TEST(a_full_run_goes_on_in_another_one),
        RIG_TEST(a_full_run_waits_for_what_is_in_flight),
        RIG_TEST(what_is_in_flight_goes_on_in_the_other_run),
        RIG_TEST(a_closing_run_does_not_grow_without_end),
        RIG_TEST(stopping_denies_who_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
