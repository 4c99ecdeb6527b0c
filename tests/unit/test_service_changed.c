/* What ran, compared with what was decided. */
#include "tests/unit/service_rig.h"

#define RESULT ",\"tool_response\":{\"llmContent\":\"x\"}"
#define REOPENS ",\"tool_response\":{\"llmContent\":\"x\",\"error\":{\"type\":\"sandbox_expansion_required\"}}"
#define BEGIN " signer.epoch run.registered"

static void end_run(struct rig *w)
{
    rig_call(w, "SessionEnd", "");
    rig_pass(w, 5000);
    rig_tick(w);
}

/* The program asked its user, who said yes: it runs the call again with more permissions, and asks no hook. */
static void permissions_that_the_program_added(void **state)
{
    struct rig *w = *state;
    assert_true(rig_call(w, "BeforeTool", RIG_SHELL RIG_PLAIN).allow);
    rig_call(w, "AfterTool", RIG_SHELL RIG_PLAIN REOPENS);
    rig_assert_record(w, "tool.result", "\"ok\":false");
    rig_call(w, "AfterTool", RIG_SHELL RIG_NETWORK RESULT);
    rig_assert_types(w, BEGIN " policy.decision tool.result tool.result capture.gap");
    rig_assert_record(w, "capture.gap", "\"kind\":\"executed_against_policy\"");
    rig_assert_record(w, "capture.gap", "permissions were added or changed after the decision");
    rig_assert_record(w, "capture.gap", "held by rule TK-A004");
    rig_assert_record(w, "capture.gap", "\"tool_use_id\":\"call-");
    end_run(w);
    rig_assert_types(w, BEGIN " policy.decision tool.result tool.result capture.gap run.closing run.final");
}

/* What was granted is not enough: it asks for more, and runs a third time. All of it is one call. */
static void permissions_that_the_program_added_twice(void **state)
{
    struct rig *w = *state;
    rig_call(w, "BeforeTool", RIG_SHELL RIG_PLAIN);
    rig_call(w, "AfterTool", RIG_SHELL RIG_PLAIN REOPENS);
    rig_call(w, "AfterTool", RIG_SHELL RIG_NETWORK REOPENS);
    rig_assert_types(w, BEGIN " policy.decision tool.result tool.result capture.gap");
    rig_call(w, "AfterTool", RIG_SHELL RIG_MORE RESULT);
    rig_assert_types(w, BEGIN " policy.decision tool.result tool.result capture.gap tool.result capture.gap");
    rig_assert_no_record(w, "capture.gap", "never decided");
    rig_assert_record(w, "capture.gap", "held by rule TK-A004");
    end_run(w);
    rig_assert_no_record(w, "capture.gap", "decided_not_completed");
}

static void permissions_that_ask_for_nothing(void **state)
{
    struct rig *w = *state;
    rig_call(w, "BeforeTool", RIG_SHELL RIG_PLAIN);
    rig_call(w, "AfterTool",
             RIG_SHELL "{\"command\":\"echo hi\",\"additional_permissions\":{\"network\":false}}" RESULT);
    rig_assert_record(w, "capture.gap", "\"kind\":\"reconcile.args_mismatch\"");
    rig_assert_types(w, BEGIN " policy.decision tool.result capture.gap");
}

/* A yes to one thing is no yes to more. */
static void more_than_was_approved(void **state)
{
    struct rig *w = *state;
    rig_hold_and_approve(w, RIG_SHELL RIG_NETWORK);
    rig_call(w, "AfterTool", RIG_SHELL RIG_MORE RESULT);
    rig_assert_record(w, "capture.gap", "\"kind\":\"executed_against_policy\"");
    rig_assert_types(w, BEGIN " policy.decision approval.request approval approval.consumed tool.result capture.gap");
}

static void what_was_held_ran_with_less(void **state)
{
    struct rig *w = *state;
    rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK);
    rig_call(w, "AfterTool", RIG_SHELL RIG_PLAIN RESULT);
    rig_assert_record(w, "capture.gap", "the call ran while it was held");
}

static void arguments_that_a_hook_rewrote(void **state)
{
    struct rig *w = *state;
    rig_call(w, "BeforeTool", RIG_SHELL RIG_PLAIN);
    rig_call(w, "AfterTool", RIG_SHELL "{\"command\":\"echo elsewise\"}" RESULT);
    rig_assert_record(w, "capture.gap", "\"kind\":\"reconcile.args_mismatch\"");
    rig_assert_record(w, "capture.gap", "arguments were changed");
    rig_assert_no_record(w, "capture.gap", "elsewise");
    end_run(w);
    rig_assert_types(w, BEGIN " policy.decision tool.result capture.gap run.closing run.final");
}

static void rewritten_into_what_policy_holds(void **state)
{
    struct rig *w = *state;
    rig_call(w, "BeforeTool", RIG_SHELL RIG_PLAIN);
    rig_call(w, "AfterTool",
             RIG_SHELL "{\"command\":\"echo elsewise\",\"additional_permissions\":{\"network\":true}}" RESULT);
    rig_assert_record(w, "capture.gap", "\"kind\":\"executed_against_policy\"");
    rig_assert_record(w, "capture.gap", "arguments were changed");
}

/* Of two open calls, nobody can say which one it was. */
static void a_rewritten_call_among_others_is_a_stranger(void **state)
{
    struct rig *w = *state;
    rig_call(w, "BeforeTool", RIG_SHELL RIG_PLAIN);
    rig_call(w, "BeforeTool", RIG_SHELL "{\"command\":\"echo two\"}");
    rig_call(w, "AfterTool", RIG_SHELL "{\"command\":\"echo elsewise\"}" RESULT);
    rig_assert_record(w, "capture.gap", "\"kind\":\"reconcile.result_without_call\"");
    rig_call(w, "AfterTool", RIG_SHELL RIG_PLAIN RESULT);
    rig_call(w, "AfterTool", RIG_SHELL "{\"command\":\"echo two\"}" RESULT);
    end_run(w);
    rig_assert_types(w, BEGIN " policy.decision policy.decision tool.result capture.gap tool.result tool.result"
                              " run.closing run.final");
}

static void another_tool_is_no_rewritten_call(void **state)
{
    struct rig *w = *state;
    rig_call(w, "BeforeTool", RIG_SHELL RIG_PLAIN);
    rig_call(w, "AfterTool", "\"tool_name\":\"read_file\",\"tool_input\":{\"file_path\":\"x\"}" RESULT);
    rig_assert_record(w, "capture.gap", "\"kind\":\"reconcile.result_without_call\"");
}

/* The exact decision comes before one that only looks alike, whatever their order. */
static void an_exact_decision_is_the_better_one(void **state)
{
    struct rig *w = *state;
    struct rig_hook hook = rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK);
    assert_true(hook.parked);
    assert_true(rig_call(w, "BeforeTool", RIG_SHELL RIG_PLAIN).allow);
    rig_call(w, "AfterTool", RIG_SHELL RIG_PLAIN RESULT);
    rig_assert_types(w, BEGIN " policy.decision approval.request policy.decision tool.result");
}

static void what_was_let_go_and_never_ended(void **state)
{
    struct rig *w = *state;
    rig_call(w, "BeforeTool", RIG_SHELL RIG_PLAIN);
    end_run(w);
    rig_assert_types(w, BEGIN " policy.decision run.closing capture.gap run.final");
    rig_assert_record(w, "capture.gap", "\"kind\":\"decided_not_completed\"");
    rig_assert_record(w, "capture.gap", "\"tool_use_id\":\"call-");
}

static void many_that_never_ended_are_counted(void **state)
{
    struct rig *w = *state;
    for (int i = 0; i < 17; i++)
        rig_call(w, "BeforeTool", RIG_SHELL RIG_PLAIN);
    end_run(w);
    rig_assert_record(w, "capture.gap", "17 calls were let go");
    rig_assert_record(w, "run.final", "\"head_run_seq\":19");
}

/* The question is asked, the answer is no: nothing more comes. */
static void a_reopened_call_that_is_given_up(void **state)
{
    struct rig *w = *state;
    rig_call(w, "BeforeTool", RIG_SHELL RIG_PLAIN);
    rig_call(w, "AfterTool", RIG_SHELL RIG_PLAIN REOPENS);
    end_run(w);
    rig_assert_types(w, BEGIN " policy.decision tool.result run.closing capture.gap run.final");
    rig_assert_record(w, "capture.gap", "\"kind\":\"decided_not_completed\"");
}

static void a_denied_call_cannot_be_reopened(void **state)
{
    struct rig *w = *state;
    char id[RIG_ID_BYTES];
    rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK);
    rig_pending_id(w, 0, id);
    assert_true(rig_answer(w, id, "reject"));
    rig_call(w, "AfterTool", RIG_SHELL RIG_NETWORK REOPENS);
    rig_assert_record(w, "capture.gap", "although it was denied");
    rig_call(w, "AfterTool", RIG_SHELL RIG_NETWORK RESULT);
    rig_assert_record(w, "capture.gap", "what ran was never decided");
}

/* A key with a NUL in it is not the one that asks. */
static void bare_arguments_lose_nothing_else(void **state)
{
    struct rig *w = *state;
    rig_call(w, "BeforeTool", RIG_SHELL "{\"a\":1,\"additional_permissions\\u0000\":2,\"z\":3}");
    rig_call(w, "AfterTool",
             RIG_SHELL "{\"z\":3,\"additional_permissions\":[],\"additional_permissions\\u0000\":2,\"a\":1}" RESULT);
    rig_assert_record(w, "capture.gap", "permissions were added or changed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(permissions_that_the_program_added), RIG_TEST(permissions_that_the_program_added_twice),
        RIG_TEST(permissions_that_ask_for_nothing),   RIG_TEST(more_than_was_approved),
        RIG_TEST(what_was_held_ran_with_less),        RIG_TEST(arguments_that_a_hook_rewrote),
        RIG_TEST(rewritten_into_what_policy_holds),   RIG_TEST(a_rewritten_call_among_others_is_a_stranger),
        RIG_TEST(another_tool_is_no_rewritten_call),  RIG_TEST(an_exact_decision_is_the_better_one),
        RIG_TEST(what_was_let_go_and_never_ended),    RIG_TEST(many_that_never_ended_are_counted),
        RIG_TEST(a_reopened_call_that_is_given_up),   RIG_TEST(a_denied_call_cannot_be_reopened),
        RIG_TEST(bare_arguments_lose_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
