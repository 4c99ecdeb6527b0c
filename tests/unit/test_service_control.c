/* The control socket's requests. */
#include "tests/unit/service_rig.h"

#include <unistd.h>

#include "evidence/digest.h"

static void answers_are_checked(void **state)
{
    struct rig *w = *state;
    char id[RIG_ID_BYTES], request[512];
    rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK);
    rig_pending_id(w, 0, id);
    snprintf(request, sizeof request,
             "{\"op\":\"approvals.answer\",\"id\":\"%s\",\"decision\":\"approve\",\"binding_digest\":\"%s\"}", id,
             DIGEST_ZERO_TEXT);
    assert_false(rig_ask(w, request));
    assert_non_null(strstr(w->reply, "\"error\":\"STATE\""));
    assert_false(rig_answer(w, "apr-00", "approve"));
    assert_non_null(strstr(w->reply, "NOT_FOUND"));
    assert_false(rig_answer(w, "apr-00000000", "approve"));
    assert_non_null(strstr(w->reply, "NOT_FOUND"));
    assert_false(rig_answer(w, id, "maybe"));
    assert_non_null(strstr(w->reply, "PROTOCOL"));
    assert_false(rig_ask(w, "{\"op\":\"approvals.list\",\"x\":1}"));
    assert_false(rig_ask(w, "{\"op\":\"nothing\"}"));
    assert_false(rig_ask(w, "[]"));
    assert_false(rig_ask(w, "{\"op\":\"hello\",\"op\":\"hello\"}"));
    assert_false(
        rig_ask(w, "{\"op\":\"x\",\"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
                   "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9x\xc3\xa9\":1}"));
    assert_int_equal(rig_pending_count(w), 1);
}

static void status_counts_what_is_there(void **state)
{
    struct rig *w = *state;
    char part[CONFIG_PATH_BYTES + 32];
    assert_true(rig_ask(w, "{\"op\":\"status\"}"));
    assert_non_null(strstr(w->reply, "\"runs_open\":0"));
    assert_non_null(strstr(w->reply, "\"pending\":0"));
    rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK);
    rig_call(w, "BeforeTool", RIG_SHELL RIG_MORE);
    assert_true(rig_ask(w, "{\"op\":\"status\"}"));
    assert_non_null(strstr(w->reply, "\"runs_open\":1"));
    assert_non_null(strstr(w->reply, "\"pending\":2"));
    assert_non_null(strstr(w->reply, "\"hooks_waiting\":2"));
    assert_non_null(strstr(w->reply, "\"mode\":\"dev\""));
    assert_non_null(strstr(w->reply, "\"isolation\":\"same-user\""));
    assert_non_null(strstr(w->reply, "\"paused\":null"));
    assert_non_null(strstr(w->reply, "\"unasked\":[]"));
    assert_non_null(strstr(w->reply, "\"started_at\":\"2"));
    snprintf(part, sizeof part, "\"data_dir\":\"%s\"", w->config.data_dir);
    assert_non_null(strstr(w->reply, part));
    snprintf(part, sizeof part, "\"pid\":%ld", (long)getpid());
    assert_non_null(strstr(w->reply, part));
    assert_false(rig_ask(w, "{\"op\":\"status\",\"run\":\"x\"}"));
    assert_non_null(strstr(w->reply, "PROTOCOL"));
}

static void in_system_mode_nobody_answers_for_himself(void **state)
{
    struct rig *w = *state;
    char id[RIG_ID_BYTES];
    service_close(w->service);
    w->config.dev = false;
    rig_open(w);
    rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK);
    rig_pending_id(w, 0, id);
    assert_false(rig_answer(w, id, "approve"));
    assert_non_null(strstr(w->reply, "FORBIDDEN"));
    assert_int_equal(rig_pending_count(w), 1);
    rig_assert_record(w, "approval", "self_approval_refused");
    char request[256];
    snprintf(request, sizeof request, "{\"op\":\"approvals.answer\",\"id\":\"%s\",\"decision\":\"approve\"}", id);
    assert_true(rig_ask_as(w, 1001, request));
    assert_non_null(strstr(w->reply, "\"self_approved\":false"));
}

static void arguments_are_shown_while_pending_and_gone_afterwards(void **state)
{
    struct rig *w = *state;
    char id[RIG_ID_BYTES], request[128];
    rig_call(w, "BeforeTool", RIG_SHELL RIG_MORE);
    rig_pending_id(w, 0, id);
    snprintf(request, sizeof request, "{\"op\":\"approvals.show\",\"id\":\"%s\"}", id);
    assert_true(rig_ask(w, request));
    assert_non_null(strstr(w->reply, "\"args\":"
                                     "{\"additional_permissions\""));
    assert_non_null(strstr(w->reply, "\"grants\":[\"network\",\"write:/etc\"]"));
    assert_non_null(strstr(w->reply, "\"summary\":\"echo hi\""));
    assert_true(rig_answer(w, id, "reject"));
    assert_true(rig_ask(w, request));
    assert_null(strstr(w->reply, "\"args\":"));
    assert_non_null(strstr(w->reply, "\"summary\":\"\""));
    assert_non_null(strstr(w->reply, "\"grants\":[]"));
    assert_non_null(strstr(w->reply, "\"state\":\"rejected\""));
    /* And not a byte of them stays in the files, for they were sealed. */
    assert_false(rig_files_hold(w, "echo hi"));
}

/* 1e20 in canonical form is an integer token that strict JSON refuses: such a call can be shown all the same. */
static void numbers_beyond_strict_integers_can_be_shown(void **state)
{
    struct rig *w = *state;
    char id[RIG_ID_BYTES], request[128];
    rig_call(w, "BeforeTool", RIG_SHELL "{\"n\":1e20,\"additional_permissions\":{\"network\":true}}");
    rig_pending_id(w, 0, id);
    snprintf(request, sizeof request, "{\"op\":\"approvals.show\",\"id\":\"%s\"}", id);
    assert_true(rig_ask(w, request));
    assert_non_null(strstr(w->reply, "\"n\":100000000000000000000"));
}

static void export_gives_pages_and_proofs(void **state)
{
    struct rig *w = *state;
    for (int i = 0; i < 40; i++)
        rig_call(w, "BeforeTool", RIG_SHELL RIG_PLAIN);
    assert_true(rig_ask(w, "{\"op\":\"export.begin\",\"run\":\"latest\"}"));
    assert_non_null(strstr(w->reply, "\"records\":41"));
    assert_non_null(strstr(w->reply, "\"size\":42"));
    assert_non_null(strstr(w->reply, "\"proof_seqs\":[0,1,41]"));
    assert_true(rig_ask(w, "{\"op\":\"export.proofs\",\"size\":42,\"seqs\":[0,1,41]}"));
    assert_non_null(strstr(w->reply, "\"41\":["));
    assert_false(rig_ask(w, "{\"op\":\"export.proofs\",\"size\":42,\"seqs\":[42]}"));
    assert_false(rig_ask(w, "{\"op\":\"export.proofs\",\"size\":43,\"seqs\":[1]}"));
    assert_false(rig_ask(w, "{\"op\":\"export.begin\",\"run\":\"nope\"}"));
    assert_true(rig_ask(w, "{\"op\":\"runs.list\"}"));
    assert_non_null(strstr(w->reply, "\"session\":\"s-1\""));
    assert_true(rig_ask(w, "{\"op\":\"trust\"}"));
    assert_true(rig_ask(w, "{\"op\":\"hello\"}"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(answers_are_checked),
        RIG_TEST(status_counts_what_is_there),
        RIG_TEST(in_system_mode_nobody_answers_for_himself),
        RIG_TEST(arguments_are_shown_while_pending_and_gone_afterwards),
        RIG_TEST(numbers_beyond_strict_integers_can_be_shown),
        RIG_TEST(export_gives_pages_and_proofs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
