/* The gate switched off for a while leaves a trace: of its beginning, its end, and each call that it let go. */
#include "signer/pause.h"
#include "tests/unit/service_rig.h"

#define RESULT ",\"tool_response\":{\"llmContent\":\"x\"}"
#define PAUSE "{\"op\":\"pause.begin\",\"seconds\":60,\"reason\":\"a \\u001b[2Jlong build\"}"

static void what_would_be_held_runs_flagged(void **state)
{
    struct rig *w = *state;
    assert_true(rig_ask(w, PAUSE));
    assert_non_null(strstr(w->reply, "\"left_s\":60"));
    struct rig_hook hook = rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK);
    assert_true(hook.allow && !hook.parked);
    assert_true(rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK).allow);
    rig_call(w, "AfterTool", RIG_SHELL RIG_NETWORK RESULT);
    rig_call(w, "AfterTool", RIG_SHELL RIG_NETWORK RESULT);
    assert_true(rig_ask(w, "{\"op\":\"pause.end\"}"));
    assert_non_null(strstr(w->reply, "\"lifted\":2"));
    assert_true(rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK).parked);
    rig_assert_types(w,
                     " signer.epoch capture.gap run.registered policy.decision capture.gap policy.decision tool.result"
                     " tool.result capture.gap policy.decision approval.request");
}

static void its_decisions_name_both_rules(void **state)
{
    struct rig *w = *state;
    assert_true(rig_ask(w, PAUSE));
    rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK);
    rig_assert_record(w, "policy.decision", "\"decision\":\"flag\"");
    rig_assert_record(w, "policy.decision", "\"rule_ids\":[\"TK-PAUSED\",\"TK-A004\"]");
    rig_assert_record(w, "capture.gap", "the signer ended while it was paused");
}

static void the_beginning_says_who_and_why(void **state)
{
    struct rig *w = *state;
    assert_true(rig_ask(w, PAUSE));
    rig_ask(w, "{\"op\":\"status\"}");
    assert_non_null(strstr(w->reply, "\"reason\":\"a ?[2Jlong build\""));
    rig_tick(w);
    assert_true(rig_ask(w, "{\"op\":\"pause.end\"}"));
    rig_assert_record(w, "capture.gap", "\"tenant_level\":true");
    rig_assert_record(w, "capture.gap", "ended the pause. 0 calls ran");
}

static void the_longest_reason_is_kept_whole(void **state)
{
    struct rig *w = *state;
    char request[1200], reason[PAUSE_REASON_BYTES], recorded[PAUSE_REASON_BYTES + 32];
    memset(reason, 'a', sizeof reason - 1);
    memcpy(reason + sizeof reason - 4, "END", 4);
    snprintf(request, sizeof request, "{\"op\":\"pause.begin\",\"seconds\":3600,\"reason\":\"%s\"}", reason);
    assert_true(rig_ask(w, request));
    assert_non_null(strstr(w->reply, reason));
    snprintf(recorded, sizeof recorded, "Reason given: %s\"", reason);
    assert_true(rig_files_hold(w, recorded));
}

static void what_is_allowed_stays_allowed(void **state)
{
    struct rig *w = *state;
    assert_true(rig_ask(w, PAUSE));
    rig_call(w, "BeforeTool", RIG_SHELL RIG_PLAIN);
    rig_assert_record(w, "policy.decision", "\"decision\":\"allow\"");
}

static void its_time_ends_it(void **state)
{
    struct rig *w = *state;
    assert_true(rig_ask(w, PAUSE));
    rig_pass(w, 59999);
    assert_true(rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK).allow);
    rig_pass(w, 1);
    assert_true(rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK).parked);
    rig_tick(w);
    rig_assert_record(w, "capture.gap", "the time of the pause is over. 1 calls");
    assert_false(rig_ask(w, "{\"op\":\"pause.end\"}"));
    assert_non_null(strstr(w->reply, "\"STATE\""));
}

/* A clock that is set back makes no pause longer, and one that is set forward ends it. */
static void neither_clock_makes_it_longer(void **state)
{
    struct rig *w = *state;
    assert_true(rig_ask(w, PAUSE));
    w->now.wall_us -= INT64_C(3600) * 1000000;
    rig_pass(w, 60000);
    assert_true(rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK).parked);
    rig_tick(w);
    assert_true(rig_ask(w, PAUSE));
    w->now.wall_us += INT64_C(61) * 1000000;
    assert_true(rig_call(w, "BeforeTool", RIG_SHELL "{\"command\":\"b\",\"additional_permissions\":true}").parked);
}

static void what_cannot_be_judged_is_denied(void **state)
{
    struct rig *w = *state;
    assert_true(rig_ask(w, PAUSE));
    assert_false(rig_call(w, "BeforeTool", RIG_SHELL "{\"command\":\"a\",\"command\":\"b\"}").allow);
    assert_false(rig_call(w, "BeforeTool", RIG_SHELL "[]").allow);
    assert_false(rig_payload(w, "BeforeTool", "{", 1).allow);
}

static void who_waits_goes_on_waiting(void **state)
{
    struct rig *w = *state;
    struct rig_hook hook = rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK);
    assert_true(hook.parked);
    assert_true(rig_ask(w, PAUSE));
    rig_tick(w);
    assert_false(rig_answered(w, &hook));
    assert_int_equal(rig_pending_count(w), 1);
}

static void a_second_one_is_refused(void **state)
{
    struct rig *w = *state;
    assert_true(rig_ask(w, PAUSE));
    assert_false(rig_ask(w, PAUSE));
    assert_non_null(strstr(w->reply, "\"STATE\""));
    /* One whose time is over, and that no tick has ended yet, is ended first. */
    rig_pass(w, 60000);
    assert_true(rig_ask(w, PAUSE));
    assert_true(rig_ask(w, "{\"op\":\"pause.end\"}"));
    rig_assert_types(w, " signer.epoch capture.gap capture.gap capture.gap capture.gap");
}

static void its_request_is_checked(void **state)
{
    static const char *const bad[] = {
        "{\"op\":\"pause.begin\"}",
        "{\"op\":\"pause.begin\",\"seconds\":60}",
        "{\"op\":\"pause.begin\",\"seconds\":60,\"reason\":\"\"}",
        "{\"op\":\"pause.begin\",\"seconds\":60,\"reason\":\"a\\u0000b\"}",
        "{\"op\":\"pause.begin\",\"seconds\":0,\"reason\":\"a\"}",
        "{\"op\":\"pause.begin\",\"seconds\":3601,\"reason\":\"a\"}",
        "{\"op\":\"pause.begin\",\"seconds\":\"60\",\"reason\":\"a\"}",
        "{\"op\":\"pause.end\",\"seconds\":60}",
    };
    struct rig *w = *state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(rig_ask(w, bad[i]));
        assert_non_null(strstr(w->reply, "\"PROTOCOL\""));
    }
    assert_true(rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK).parked);
}

static void a_stop_ends_it(void **state)
{
    struct rig *w = *state;
    assert_true(rig_ask(w, PAUSE));
    assert_int_equal(service_begin(w->service, &w->now), ERR_OK);
    assert_int_equal(service_stop(w->service), ERR_OK);
    assert_int_equal(service_commit(w->service), ERR_OK);
    rig_assert_record(w, "capture.gap", "the signer stopped, which ends a pause");
    assert_true(rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK).parked);
}

/* The rig's closing is a crash as far as the pause goes: nobody told the service to stop. */
static void a_crash_ends_it(void **state)
{
    struct rig *w = *state;
    assert_true(rig_ask(w, PAUSE));
    rig_assert_types(w, " signer.epoch capture.gap");
    assert_true(rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK).parked);
    rig_assert_record(w, "capture.gap", "the signer ended while it was paused");
    rig_assert_types(w, " signer.epoch capture.gap capture.gap run.registered policy.decision approval.request");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(what_would_be_held_runs_flagged),
        RIG_TEST(its_decisions_name_both_rules),
        RIG_TEST(the_beginning_says_who_and_why),
        RIG_TEST(the_longest_reason_is_kept_whole),
        RIG_TEST(what_is_allowed_stays_allowed),
        RIG_TEST(its_time_ends_it),
        RIG_TEST(neither_clock_makes_it_longer),
        RIG_TEST(what_cannot_be_judged_is_denied),
        RIG_TEST(who_waits_goes_on_waiting),
        RIG_TEST(a_second_one_is_refused),
        RIG_TEST(its_request_is_checked),
        RIG_TEST(a_stop_ends_it),
        RIG_TEST(a_crash_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
