/* Clocks that are wrong, jump, or have run out. */
#include "tests/unit/service_rig.h"

#define US_PER_S INT64_C(1000000)
#define YEAR_9999_US (INT64_C(253402300799) * US_PER_S)

/* Somebody sets the wall clock; the monotonic one does not notice. */
static void set_clock(struct rig *w, int64_t wall_us)
{
    w->now.wall_us = wall_us;
}

static void a_late_answer_does_not_outlive_a_clock_that_is_set_back(void **state)
{
    struct rig *w = *state;
    char id[RIG_ID_BYTES];
    rig_hold_and_miss(w, id);
    assert_true(rig_answer(w, id, "approve"));
    set_clock(w, w->now.wall_us - 3600 * US_PER_S);
    assert_true(rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK).parked);
    rig_tick(w);
    rig_assert_record(w, "approval.expired", id);
}

static void waiting_times_are_never_negative(void **state)
{
    struct rig *w = *state;
    char id[RIG_ID_BYTES];
    rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK);
    rig_pending_id(w, 0, id);
    rig_pass(w, 59999);
    assert_int_equal(rig_pending_count(w), 1); /* the hook's time is over, the tick has not come yet */
    assert_non_null(strstr(w->reply, "\"wait_left_s\":0"));
    set_clock(w, w->now.wall_us - 7200 * US_PER_S);
    assert_true(rig_answer(w, id, "approve"));
    rig_assert_record(w, "approval", "\"wait_ms\":0");
}

static void unreadable_payloads_are_recorded_whatever_the_clock_says(void **state)
{
    struct rig *w = *state;
    rig_payload(w, "BeforeTool", "{", 1);
    rig_pass(w, 10000);
    set_clock(w, w->now.wall_us - 7200 * US_PER_S);
    rig_tick(w);
    rig_assert_record(w, "refusal.summary", "\"count\":1");
}

static void a_closed_run_ends_whatever_the_clock_says(void **state)
{
    struct rig *w = *state;
    rig_call(w, "SessionStart", "");
    rig_call(w, "SessionEnd", "");
    rig_pass(w, 5000);
    set_clock(w, w->now.wall_us - 7200 * US_PER_S);
    rig_tick(w);
    rig_assert_types(w, " signer.epoch run.registered run.closing run.final");
}

static void live_through(struct rig *w)
{
    char id[RIG_ID_BYTES];
    struct rig_hook got = rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK);
    assert_true(got.parked);
    rig_payload(w, "BeforeTool", "{", 1);
    rig_pass(w, 11000);
    rig_tick(w);
    rig_pending_id(w, 0, id);
    assert_true(rig_answer(w, id, "approve"));
    assert_true(rig_answered(w, &got));
    assert_true(got.allow);
    rig_call(w, "AfterTool", RIG_SHELL RIG_NETWORK ",\"tool_response\":{}");
    rig_call(w, "SessionEnd", "");
    rig_pass(w, 5000);
    rig_tick(w);
    assert_true(rig_ask(w, "{\"op\":\"runs.list\"}"));
    assert_true(rig_ask(w, "{\"op\":\"export.begin\",\"run\":\"latest\"}"));
    rig_assert_record(w, "run.final", "head_run_seq");
}

static void any_clock_gives_valid_records(void **state)
{
    struct rig *w = *state;
    const int64_t walls[] = {0, 1, YEAR_9999_US, YEAR_9999_US + US_PER_S, INT64_MAX / 2, -1, INT64_MIN / 2};
    for (size_t i = 0; i < sizeof walls / sizeof walls[0]; i++) {
        set_clock(w, walls[i]);
        live_through(w);
    }
}

/* --- the hook's own time --- */

static void a_hook_without_time_leaves_a_late_answer_to_the_next(void **state)
{
    struct rig *w = *state;
    char id[RIG_ID_BYTES];
    rig_hold_and_miss(w, id);
    assert_true(rig_answer(w, id, "approve"));
    w->wait_ms = 2000;
    struct rig_hook got = rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK);
    assert_false(got.parked);
    assert_false(got.allow);
    assert_non_null(strstr(got.out, id));
    w->wait_ms = 2001;
    got = rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK);
    assert_true(got.allow);
    rig_assert_types(w, " signer.epoch run.registered policy.decision approval.request approval policy.decision"
                        " policy.decision approval.consumed");
}

static void waits_of_any_length_end(void **state)
{
    struct rig *w = *state;
    char id[RIG_ID_BYTES];
    w->wait_ms = 0;
    struct rig_hook got = rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK);
    assert_true(got.parked);
    rig_pending_id(w, 0, id);
    rig_tick(w);
    assert_true(rig_answered(w, &got));
    assert_false(got.allow);
    w->wait_ms = UINT32_MAX;
    got = rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK);
    assert_true(got.parked);
    rig_pass(w, 3600 * 1000);
    rig_tick(w);
    assert_true(rig_answered(w, &got));
    assert_false(got.allow);
    assert_non_null(strstr(got.out, "expired"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_late_answer_does_not_outlive_a_clock_that_is_set_back),
        RIG_TEST(waiting_times_are_never_negative),
        RIG_TEST(unreadable_payloads_are_recorded_whatever_the_clock_says),
        RIG_TEST(a_closed_run_ends_whatever_the_clock_says),
        RIG_TEST(any_clock_gives_valid_records),
        RIG_TEST(a_hook_without_time_leaves_a_late_answer_to_the_next),
        RIG_TEST(waits_of_any_length_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
