/* Events beside calls and results, sessions side by side, and events that are forged or out of order. */
#include "tests/unit/service_rig.h"

#define RESULT ",\"tool_response\":{\"llmContent\":\"x\"}"
#define BEGIN " signer.epoch run.registered"
#define MCP "\"tool_name\":\"mcp_a_b_c\",\"tool_input\":{\"additional_permissions\":true},"

static void a_prompt_is_recorded_as_a_commitment(void **state)
{
    struct rig *w = *state;
    rig_call(w, "BeforeAgent", "\"prompt\":\"rm my secret\"");
    rig_assert_types(w, BEGIN " user.prompt");
    rig_assert_record(w, "user.prompt", "{\"content\":{\"hash\":\"hmac-sha256:");
    rig_assert_record(w, "user.prompt", "\"redacted\":false,\"size\":14}");
    assert_false(rig_files_hold(w, "my secret"));
}

/* The same words twice are two commitments: what is equal must not show. */
static void equal_prompts_do_not_look_equal(void **state)
{
    struct rig *w = *state;
    char request[128];
    rig_call(w, "BeforeAgent", "\"prompt\":\"hi\"");
    rig_call(w, "BeforeAgent", "\"prompt\":\"hi\"");
    assert_true(rig_ask(w, "{\"op\":\"export.begin\",\"run\":\"latest\"}"));
    const char *run = strstr(w->reply, "\"run\":\"");
    assert_non_null(run);
    snprintf(request, sizeof request, "{\"op\":\"export.records\",%.40s,\"size\":4,\"from\":1}", run);
    assert_true(rig_ask(w, request));
    const char *first = strstr(w->reply, "hmac-sha256:");
    assert_non_null(first);
    const char *second = strstr(first + 1, "hmac-sha256:");
    assert_non_null(second);
    assert_int_not_equal(memcmp(first, second, 76), 0);
}

static void a_prompt_that_is_no_text_is_left_out(void **state)
{
    struct rig *w = *state;
    rig_call(w, "BeforeAgent", "\"prompt\":{\"a\":1}");
    rig_call(w, "BeforeAgent", "\"other\":1");
    rig_assert_types(w, BEGIN);
}

static void a_widened_sandbox_is_a_gap(void **state)
{
    struct rig *w = *state;
    rig_call(w, "Notification",
             "\"notification_type\":\"ToolPermission\",\"details\":{\"type\":\"sandbox_expansion\",\"title\":\"t\"}");
    rig_assert_types(w, BEGIN " capture.gap");
    rig_assert_record(w, "capture.gap", "\"kind\":\"reconcile.unexplained_effect\"");
}

#define WIDENS "\"notification_type\":\"ToolPermission\",\"details\":{\"type\":\"sandbox_expansion\"}"

/* Gemini asks about the permissions of a call that was held and approved. */
static void a_question_about_what_was_approved_is_none(void **state)
{
    struct rig *w = *state;
    rig_hold_and_approve(w, RIG_SHELL RIG_NETWORK);
    rig_call(w, "Notification", WIDENS);
    rig_assert_types(w, BEGIN " policy.decision approval.request approval approval.consumed");
    /* With a plain call beside it, the question may be about that one. */
    rig_call(w, "BeforeTool", RIG_SHELL RIG_PLAIN);
    rig_call(w, "Notification", WIDENS);
    rig_assert_record(w, "capture.gap", "\"kind\":\"reconcile.unexplained_effect\"");
}

static void a_question_while_a_call_is_only_held_is_a_gap(void **state)
{
    struct rig *w = *state;
    assert_true(rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK).parked);
    rig_call(w, "Notification", WIDENS);
    rig_assert_record(w, "capture.gap", "\"kind\":\"reconcile.unexplained_effect\"");
}

static void another_notice_is_not(void **state)
{
    struct rig *w = *state;
    rig_call(w, "Notification", "\"details\":{\"type\":\"exec\",\"command\":\"x\"}");
    rig_call(w, "Notification", "\"details\":\"sandbox_expansion\"");
    rig_call(w, "Notification", "");
    rig_assert_types(w, BEGIN);
}

static void every_event_begins_a_run(void **state)
{
    static const char *const events[] = {"SessionStart", "BeforeAgent", "AfterAgent",   "PreCompress",
                                         "BeforeModel",  "AfterModel",  "Notification", "BeforeToolSelection",
                                         "BeforeTool",   "AfterTool"};
    struct rig *w = *state;
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        rig_call(w, events[i], RIG_SHELL RIG_PLAIN RESULT);
        rig_call(w, "SessionEnd", "");
        rig_pass(w, 5000);
        rig_tick(w);
    }
    assert_true(rig_ask(w, "{\"op\":\"runs.list\"}"));
    int runs = 0;
    for (const char *at = w->reply; (at = strstr(at, "\"state\":\"final\"")) != NULL; at++)
        runs++;
    assert_int_equal(runs, sizeof events / sizeof events[0]);
}

/* An MCP tool's name does not say where its server's name ends: the person who is asked is told. */
static void an_mcp_call_shows_its_server(void **state)
{
    struct rig *w = *state;
    char id[RIG_ID_BYTES], request[128];
    rig_call(w, "BeforeTool",
             MCP "\"mcp_context\":{\"server_name\":\"a_b\",\"tool_name\":\"c\"},\"original_request_name\":\"first\"");
    rig_pending_id(w, 0, id);
    snprintf(request, sizeof request, "{\"op\":\"approvals.show\",\"id\":\"%s\"}", id);
    assert_true(rig_ask(w, request));
    assert_non_null(strstr(w->reply, "\"server\":\"a_b\""));
    assert_non_null(strstr(w->reply, "\"server_tool\":\"c\""));
    assert_non_null(strstr(w->reply, "\"replaces\":\"first\""));
}

static void a_half_context_is_none(void **state)
{
    struct rig *w = *state;
    rig_call(w, "BeforeTool", MCP "\"mcp_context\":{\"server_name\":\"a_b\",\"tool_name\":3}");
    assert_true(rig_ask(w, "{\"op\":\"approvals.list\"}"));
    assert_null(strstr(w->reply, "\"server\""));
}

static struct rig_hook in_session(struct rig *w, const char *session, const char *event, const char *rest)
{
    char payload[1024];
    int n = snprintf(payload, sizeof payload, "{\"session_id\":\"%s\",\"cwd\":\"/w\",\"hook_event_name\":\"%s\",%s}",
                     session, event, rest);
    return rig_payload(w, event, payload, (size_t)n);
}

static void sessions_do_not_mix(void **state)
{
    struct rig *w = *state;
    in_session(w, "one", "BeforeTool", RIG_SHELL RIG_PLAIN);
    in_session(w, "two", "AfterTool", RIG_SHELL RIG_PLAIN RESULT);
    rig_assert_types(w, BEGIN " policy.decision run.registered tool.result capture.gap");
    rig_assert_record(w, "capture.gap", "\"kind\":\"reconcile.result_without_call\"");
    in_session(w, "one", "AfterTool", RIG_SHELL RIG_PLAIN RESULT);
    rig_assert_types(w, BEGIN " policy.decision run.registered tool.result capture.gap tool.result");
}

/* Another user's events are another run's, whatever session they name. */
static void users_do_not_mix(void **state)
{
    struct rig *w = *state;
    in_session(w, "one", "BeforeTool", RIG_SHELL RIG_PLAIN);
    w->uid = 1001;
    in_session(w, "one", "SessionEnd", "\"reason\":\"exit\"");
    in_session(w, "one", "AfterTool", RIG_SHELL RIG_PLAIN RESULT);
    rig_assert_record(w, "capture.gap", "\"kind\":\"reconcile.result_without_call\"");
    w->uid = 1000;
    in_session(w, "one", "AfterTool", RIG_SHELL RIG_PLAIN RESULT);
    rig_assert_types(w, BEGIN " policy.decision run.registered tool.result capture.gap tool.result");
}

static void a_result_before_its_call_is_a_gap(void **state)
{
    struct rig *w = *state;
    rig_call(w, "AfterTool", RIG_SHELL RIG_PLAIN RESULT);
    rig_call(w, "BeforeTool", RIG_SHELL RIG_PLAIN);
    rig_assert_types(w, BEGIN " tool.result capture.gap policy.decision");
}

/* Resuming gives the old session's id again: a run of its own, and the ended one stays as it was signed. */
static void a_resumed_session_is_a_new_run(void **state)
{
    struct rig *w = *state;
    rig_call(w, "SessionStart", "\"source\":\"startup\"");
    rig_call(w, "SessionEnd", "");
    rig_pass(w, 5000);
    rig_tick(w);
    rig_call(w, "SessionStart", "\"source\":\"resume\"");
    rig_assert_types(w, BEGIN " run.closing run.final run.registered");
}

/* Its program was killed, and nobody told its end. What was in flight ends with the run that decided it. */
static void a_killed_session_that_is_resumed_is_a_new_run(void **state)
{
    struct rig *w = *state;
    rig_call(w, "SessionStart", "\"source\":\"startup\"");
    rig_call(w, "BeforeTool", RIG_SHELL RIG_PLAIN);
    rig_pass(w, 10000);
    rig_call(w, "SessionStart", "\"source\":\"resume\"");
    rig_assert_types(w, BEGIN " policy.decision run.closing run.registered");
    rig_assert_record(w, "run.closing", "\"reason\":\"close_run\"");
    rig_call(w, "BeforeAgent", "\"prompt\":\"go on\"");
    rig_assert_record(w, "user.prompt", "\"run_seq\":1,");
    rig_pass(w, 5000);
    rig_tick(w);
    rig_assert_types(w, BEGIN " policy.decision run.closing run.registered user.prompt capture.gap run.final");
    rig_assert_record(w, "capture.gap", "\"kind\":\"decided_not_completed\"");
}

/* Nobody can use a yes that was given to a session that is gone. */
static void a_resumed_session_asks_again(void **state)
{
    struct rig *w = *state;
    assert_true(rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK).parked);
    rig_pass(w, 10000);
    rig_call(w, "SessionStart", "\"source\":\"resume\"");
    assert_true(rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK).parked);
    rig_pass(w, 5000);
    rig_tick(w);
    rig_assert_types(w, BEGIN " policy.decision approval.request run.closing run.registered policy.decision"
                              " approval.request approval.expired run.final");
    assert_int_equal(rig_pending_count(w), 1);
}

/* A prompt on the command line is told while the start of its session is. */
static void a_start_that_is_told_late_begins_nothing(void **state)
{
    struct rig *w = *state;
    rig_call(w, "BeforeAgent", "\"prompt\":\"hi\"");
    rig_pass(w, 9999);
    rig_call(w, "SessionStart", "\"source\":\"startup\"");
    rig_assert_types(w, BEGIN " user.prompt");
}

/* A subagent's calls carry its parent's session; nothing tells them apart, and nothing needs to. */
static void a_subagents_calls_are_its_parents(void **state)
{
    struct rig *w = *state;
    rig_call(w, "BeforeTool", "\"tool_name\":\"invoke_agent\",\"tool_input\":{\"prompt\":\"x\"}");
    rig_call(w, "BeforeTool", RIG_SHELL RIG_PLAIN);
    rig_call(w, "AfterTool", RIG_SHELL RIG_PLAIN RESULT);
    rig_call(w, "AfterTool", "\"tool_name\":\"invoke_agent\",\"tool_input\":{\"prompt\":\"x\"}" RESULT);
    rig_assert_types(w, BEGIN " policy.decision policy.decision tool.result tool.result");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_prompt_is_recorded_as_a_commitment),
        RIG_TEST(equal_prompts_do_not_look_equal),
        RIG_TEST(a_prompt_that_is_no_text_is_left_out),
        RIG_TEST(a_widened_sandbox_is_a_gap),
        RIG_TEST(a_question_about_what_was_approved_is_none),
        RIG_TEST(a_question_while_a_call_is_only_held_is_a_gap),
        RIG_TEST(another_notice_is_not),
        RIG_TEST(every_event_begins_a_run),
        RIG_TEST(an_mcp_call_shows_its_server),
        RIG_TEST(a_half_context_is_none),
        RIG_TEST(sessions_do_not_mix),
        RIG_TEST(users_do_not_mix),
        RIG_TEST(a_result_before_its_call_is_a_gap),
        RIG_TEST(a_resumed_session_is_a_new_run),
        RIG_TEST(a_killed_session_that_is_resumed_is_a_new_run),
        RIG_TEST(a_resumed_session_asks_again),
        RIG_TEST(a_start_that_is_told_late_begins_nothing),
        RIG_TEST(a_subagents_calls_are_its_parents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
