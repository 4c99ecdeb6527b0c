/* Held calls: each row of the table in docs/approvals.md, and what must not happen. */
#include "tests/unit/service_rig.h"

static void held_call_waits_for_a_person(void **state)
{
    struct rig *w = *state;
    char id[RIG_ID_BYTES];
    struct rig_hook got = rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK);
    assert_true(got.parked);
    rig_pass(w, 3000);
    rig_tick(w);
    assert_false(rig_answered(w, &got));
    rig_pending_id(w, 0, id);
    assert_true(rig_answer(w, id, "approve"));
    assert_non_null(strstr(w->reply, "\"delivery\":\"waiting\""));
    assert_non_null(strstr(w->reply, "\"self_approved\":true"));
    assert_true(rig_answered(w, &got));
    assert_true(got.allow);
    rig_call(w, "AfterTool", RIG_SHELL RIG_NETWORK ",\"tool_response\":{}");
    rig_assert_types(
        w, " signer.epoch run.registered policy.decision approval.request approval approval.consumed tool.result");
    rig_assert_record(w, "approval", "\"wait_ms\":3000");
    rig_assert_record(w, "policy.decision", "\"rule_ids\":[\"TK-A004\"]");
}

static void rejected_call_is_denied_with_the_reason(void **state)
{
    struct rig *w = *state;
    char id[RIG_ID_BYTES], request[256];
    struct rig_hook got = rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK);
    rig_pending_id(w, 0, id);
    snprintf(
        request, sizeof request,
        "{\"op\":\"approvals.answer\",\"id\":\"%.12s\",\"decision\":\"reject\",\"reason\":\"not on my\\u001b[2J box\"}",
        id);
    assert_true(rig_ask(w, request));
    assert_true(rig_answered(w, &got));
    assert_false(got.allow);
    assert_non_null(strstr(got.out, "rejected"));
    assert_non_null(strstr(got.out, "not on my?[2J box"));
    assert_false(rig_answer(w, id, "approve"));
    assert_non_null(strstr(w->reply, "\"error\":\"STATE\""));
    rig_assert_types(w, " signer.epoch run.registered policy.decision approval.request approval");
}

static void an_answer_is_used_once(void **state)
{
    struct rig *w = *state;
    char id[RIG_ID_BYTES];
    rig_hold_and_miss(w, id);
    assert_true(rig_answer(w, id, "approve"));
    assert_non_null(strstr(w->reply, "\"delivery\":\"kept\""));
    struct rig_hook again = rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK);
    assert_false(again.parked);
    assert_true(again.allow);
    struct rig_hook third = rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK);
    assert_true(third.parked);
}

static void a_late_answer_lasts_five_minutes(void **state)
{
    struct rig *w = *state;
    char id[RIG_ID_BYTES];
    rig_hold_and_miss(w, id);
    assert_true(rig_answer(w, id, "approve"));
    rig_pass(w, 300 * 1000);
    struct rig_hook got = rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK);
    assert_true(got.parked);
    rig_tick(w);
    rig_assert_record(w, "approval.expired", id);
}

static void a_late_answer_is_for_this_directory(void **state)
{
    struct rig *w = *state;
    char id[RIG_ID_BYTES];
    rig_hold_and_miss(w, id);
    assert_true(rig_answer(w, id, "approve"));
    assert_true(rig_call_in(w, "BeforeTool", RIG_SHELL RIG_NETWORK, "/elsewhere").parked);
    rig_assert_record(w, "approval.binding_mismatch", id);
}

static void a_late_answer_is_for_this_policy(void **state)
{
    struct rig *w = *state;
    char id[RIG_ID_BYTES];
    rig_hold_and_miss(w, id);
    assert_true(rig_answer(w, id, "approve"));
    rig_change(w, "UPDATE approvals SET policy_hash = replace(policy_hash, 'sha256:', 'sha256-')");
    assert_true(rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK).parked);
    rig_assert_record(w, "approval.binding_mismatch", id);
}

static void a_late_answer_is_for_this_user_and_session(void **state)
{
    struct rig *w = *state;
    char id[RIG_ID_BYTES];
    const char other[] =
        "{\"session_id\":\"s-2\",\"cwd\":\"/w\",\"hook_event_name\":\"BeforeTool\"," RIG_SHELL RIG_NETWORK "}";
    rig_hold_and_miss(w, id);
    assert_true(rig_answer(w, id, "approve"));
    assert_true(rig_payload(w, "BeforeTool", other, sizeof other - 1).parked);
    w->uid = 1001;
    assert_true(rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK).parked);
    w->uid = 1000;
    assert_true(rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK).allow);
}

static void more_grants_do_not_ride_on_an_answer(void **state)
{
    struct rig *w = *state;
    char id[RIG_ID_BYTES];
    rig_hold_and_miss(w, id);
    assert_true(rig_answer(w, id, "approve"));
    assert_true(rig_call(w, "BeforeTool", RIG_SHELL RIG_MORE).parked);
    rig_assert_record(w, "approval.binding_mismatch", id);
    struct rig_hook got = rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK);
    assert_true(got.allow);
}

static void identical_call_attaches_to_an_approval_that_nobody_waits_on(void **state)
{
    struct rig *w = *state;
    char id[RIG_ID_BYTES], other[RIG_ID_BYTES];
    rig_hold_and_miss(w, id);
    struct rig_hook got = rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK);
    assert_true(got.parked);
    assert_int_equal(rig_pending_count(w), 1);
    rig_pending_id(w, 0, other);
    assert_string_equal(id, other);
    assert_true(rig_answer(w, id, "approve"));
    assert_true(rig_answered(w, &got));
    assert_true(got.allow);
    rig_assert_types(
        w, " signer.epoch run.registered policy.decision approval.request policy.decision approval approval.consumed");
}

static void each_waiting_hook_has_an_approval_of_its_own(void **state)
{
    struct rig *w = *state;
    char id[RIG_ID_BYTES];
    struct rig_hook first = rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK);
    struct rig_hook second = rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK), got;
    assert_int_equal(rig_pending_count(w), 2);
    rig_pending_id(w, 0, id);
    assert_true(rig_answer(w, id, "approve"));
    assert_true(rig_next_answer(w, &got));
    assert_true(got.allow);
    assert_true(got.token == first.token || got.token == second.token);
    assert_false(rig_next_answer(w, &got));
    assert_int_equal(rig_pending_count(w), 1);
}

static void an_approval_expires_after_an_hour(void **state)
{
    struct rig *w = *state;
    char id[RIG_ID_BYTES];
    rig_hold_and_miss(w, id);
    rig_pass(w, 3600 * 1000 - 58000 - 1);
    rig_tick(w);
    assert_int_equal(rig_pending_count(w), 1);
    rig_pass(w, 1);
    assert_false(rig_answer(w, id, "approve"));
    assert_non_null(strstr(w->reply, "expired"));
    assert_int_equal(rig_pending_count(w), 0);
    rig_assert_record(w, "approval.expired", id);
}

static void a_hook_without_time_consumes_nothing(void **state)
{
    struct rig *w = *state;
    char id[RIG_ID_BYTES];
    struct rig_hook got = rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK);
    rig_pending_id(w, 0, id);
    rig_pass(w, 58000);
    assert_true(rig_answer(w, id, "approve"));
    assert_non_null(strstr(w->reply, "\"delivery\":\"kept\""));
    assert_true(rig_answered(w, &got));
    assert_false(got.allow);
    rig_assert_types(w, " signer.epoch run.registered policy.decision approval.request approval");
}

static void a_hook_that_left_keeps_its_approval_open(void **state)
{
    struct rig *w = *state;
    struct rig_hook got = rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK);
    assert_int_equal(service_begin(w->service, &w->now), ERR_OK);
    assert_int_equal(service_hook_gone(w->service, got.token), ERR_OK);
    assert_int_equal(service_commit(w->service), ERR_OK);
    assert_int_equal(rig_pending_count(w), 1);
    assert_non_null(strstr(w->reply, "\"waiting\":false"));
}

static void an_undelivered_allow_is_a_gap(void **state)
{
    struct rig *w = *state;
    char id[RIG_ID_BYTES];
    struct rig_hook got = rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK);
    rig_pending_id(w, 0, id);
    assert_true(rig_answer(w, id, "approve"));
    assert_true(rig_next_answer(w, &got));
    assert_true(got.allow);
    assert_int_equal(service_begin(w->service, &w->now), ERR_OK);
    assert_int_equal(service_undelivered(w->service, got.token), ERR_OK);
    assert_int_equal(service_commit(w->service), ERR_OK);
    rig_assert_record(w, "capture.gap", "policy_timeout");
}

/* The person says yes and the hook leaves, both in one batch: the approval is used up, so the gap has to be there. */
static void an_approval_consumed_for_a_hook_that_leaves_is_a_gap(void **state)
{
    struct rig *w = *state;
    char id[RIG_ID_BYTES], request[256];
    struct peer peer = {.pid = 1, .uid = 1000, .gid = 1000};
    struct service_answer a;
    struct buf reply;
    uint64_t token = 0;
    bool refused = true;
    struct rig_hook got = rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK);
    rig_pending_id(w, 0, id);
    snprintf(request, sizeof request, "{\"op\":\"approvals.answer\",\"id\":\"%s\",\"decision\":\"approve\"}", id);
    buf_init(&reply, FRAME_MAX_REPLY);
    assert_int_equal(service_begin(w->service, &w->now), ERR_OK);
    assert_int_equal(service_request(w->service, &peer, (const uint8_t *)request, strlen(request), &reply, &refused),
                     ERR_OK);
    assert_false(refused);
    assert_int_equal(service_hook_gone(w->service, got.token), ERR_OK);
    assert_int_equal(service_commit(w->service), ERR_OK);
    buf_wipe(&reply);
    assert_false(service_next_answer(w->service, &token, &a));
    rig_assert_types(w, " signer.epoch run.registered policy.decision approval.request approval approval.consumed"
                        " capture.gap");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(held_call_waits_for_a_person),
        RIG_TEST(rejected_call_is_denied_with_the_reason),
        RIG_TEST(an_answer_is_used_once),
        RIG_TEST(a_late_answer_lasts_five_minutes),
        RIG_TEST(a_late_answer_is_for_this_directory),
        RIG_TEST(a_late_answer_is_for_this_policy),
        RIG_TEST(a_late_answer_is_for_this_user_and_session),
        RIG_TEST(more_grants_do_not_ride_on_an_answer),
        RIG_TEST(identical_call_attaches_to_an_approval_that_nobody_waits_on),
        RIG_TEST(each_waiting_hook_has_an_approval_of_its_own),
        RIG_TEST(an_approval_expires_after_an_hour),
        RIG_TEST(a_hook_without_time_consumes_nothing),
        RIG_TEST(a_hook_that_left_keeps_its_approval_open),
        RIG_TEST(an_undelivered_allow_is_a_gap),
        RIG_TEST(an_approval_consumed_for_a_hook_that_leaves_is_a_gap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
