/* Payloads, requests and clocks that mean harm: none of them ends the signer, and none of them gets more than it should.
 * (What any random byte does is in test_service_random.c.) */
#include "tests/unit/service_rig.h"

#include "evidence/json.h"
#include "signer/conns.h"
#include "signer/waiters.h"

enum { MAX_TOOL_BYTES = 256, MAX_CWD_BYTES = 4096, MAX_REASON_BYTES = 1024, USERS_PENDING = 200 };

#define LIST "{\"op\":\"approvals.list\"}"

/* --- payloads --- */

/* "{" and the members that every payload has, for session s-1 in /w. */
static void begin(struct buf *b, const char *event)
{
    buf_init(b, FRAME_MAX_PAYLOAD);
    buf_printf(b, "{\"session_id\":\"s-1\",\"cwd\":\"/w\",\"hook_event_name\":\"%s\"", event);
}

/* Closes the payload, sends it and frees it. */
static struct rig_hook send(struct rig *w, const char *event, struct buf *b)
{
    buf_putc(b, '}');
    assert_int_equal(buf_err(b), ERR_OK);
    struct rig_hook got = rig_payload(w, event, (const char *)b->data, b->len);
    buf_wipe(b);
    return got;
}

static void repeat(struct buf *b, const char *text, size_t count)
{
    for (size_t i = 0; i < count; i++)
        buf_puts(b, text);
}

static struct rig_hook call_tool(struct rig *w, const char *event, const char *character, size_t count)
{
    struct buf b;
    begin(&b, event);
    buf_puts(&b, ",\"tool_name\":\"");
    repeat(&b, character, count);
    buf_puts(&b, "\",\"tool_input\":" RIG_NETWORK);
    return send(w, event, &b);
}

static void tools_of_odd_names_are_recorded(void **state)
{
    struct rig *w = *state;
    assert_true(call_tool(w, "BeforeTool", "\xf0\x9f\x92\xa5", MAX_TOOL_BYTES / 4).parked);
    assert_true(call_tool(w, "BeforeTool", "\\u0001", MAX_TOOL_BYTES).parked);
    const struct {
        const char *character;
        size_t count;
    } denied[] = {{"x", 0},
                  {"x", MAX_TOOL_BYTES + 1},
                  {"\xf0\x9f\x92\xa5", MAX_TOOL_BYTES / 4 + 1},
                  {"\xc3\xa9", 129},
                  {"\\u0000", 1},
                  {"\\ud800", 1},
                  {"x", 1 << 20},
                  {"\xef\xbf\xbf", 5 << 20}};
    for (size_t i = 0; i < sizeof denied / sizeof denied[0]; i++) {
        struct rig_hook got = call_tool(w, "BeforeTool", denied[i].character, denied[i].count);
        assert_false(got.parked);
        assert_false(got.allow);
        call_tool(w, "AfterTool", denied[i].character, denied[i].count);
    }
}

static struct rig_hook call_in(struct rig *w, const char *session, const struct buf *cwd)
{
    struct buf b;
    buf_init(&b, FRAME_MAX_PAYLOAD);
    buf_printf(&b, "{\"session_id\":\"%s\",\"cwd\":\"", session);
    buf_put(&b, cwd->data, cwd->len);
    buf_puts(&b, "\",\"hook_event_name\":\"BeforeTool\"," RIG_SHELL RIG_NETWORK);
    return send(w, "BeforeTool", &b);
}

static void odd_sessions_are_recorded(void **state)
{
    struct rig *w = *state;
    char session[256 + 2];
    struct buf cwd;
    buf_init(&cwd, 16);
    memset(session, '~', sizeof session - 1);
    session[sizeof session - 1] = '\0';
    assert_true(call_in(w, session + 1, &cwd).parked);
    assert_false(call_in(w, session, &cwd).parked);
    assert_true(call_in(w, "\\\"", &cwd).parked);
    assert_false(call_in(w, "", &cwd).parked);
    assert_false(call_in(w, "\\u0000", &cwd).parked);
    assert_false(call_in(w, "\xc3\xa9", &cwd).parked);
    buf_wipe(&cwd);
}

static void odd_directories_are_recorded(void **state)
{
    struct rig *w = *state;
    struct buf cwd;
    buf_init(&cwd, FRAME_MAX_PAYLOAD);
    buf_puts(&cwd, "\\\"'; DROP TABLE runs; --\\n\\r\\u001b[2J\xf0\x9f\x92\xa5");
    assert_true(call_in(w, "s", &cwd).parked);
    assert_true(rig_ask(w, LIST));
    buf_reset(&cwd);
    repeat(&cwd, "\\u0001", MAX_CWD_BYTES);
    assert_true(call_in(w, "s", &cwd).parked);
    assert_true(rig_ask(w, LIST));
    buf_puts(&cwd, "x");
    assert_false(call_in(w, "s", &cwd).parked);
    buf_wipe(&cwd);
}

/* A result of 16 MiB whose canonical form is more than four times as long. */
static void results_that_grow_are_recorded(void **state)
{
    struct rig *w = *state;
    struct buf b;
    begin(&b, "AfterTool");
    buf_puts(&b, "," RIG_SHELL RIG_PLAIN ",\"tool_response\":[");
    repeat(&b, "1e20,", (FRAME_MAX_PAYLOAD - b.len) / 5 - 1);
    buf_puts(&b, "0]");
    assert_true(send(w, "AfterTool", &b).allow);
    rig_assert_record(w, "tool.result", "\"size\":738");
}

/* As deep as a payload may be: what is held can also be shown, to a reader with the same limit. */
static void what_is_held_can_be_read_back(void **state)
{
    struct rig *w = *state;
    char id[RIG_ID_BYTES], request[128];
    for (size_t depth = JSON_MAX_DEPTH - 5; depth < JSON_MAX_DEPTH; depth++) {
        struct buf b;
        begin(&b, "BeforeTool");
        buf_puts(&b, "," RIG_SHELL "{\"additional_permissions\":{\"network\":true},\"x\":");
        repeat(&b, "[", depth - 1);
        repeat(&b, "]", depth - 1);
        buf_puts(&b, "}");
        struct rig_hook got = send(w, "BeforeTool", &b);
        if (!got.parked) {
            assert_int_equal(depth, JSON_MAX_DEPTH - 1);
            assert_non_null(strstr(got.out, "TK-ARGS-INVALID"));
            return;
        }
        rig_pending_id(w, 0, id);
        snprintf(request, sizeof request, "{\"op\":\"approvals.show\",\"id\":\"%s\"}", id);
        assert_true(rig_ask(w, request));
        struct arena *arena = arena_new(1 << 20);
        const struct json *reply = NULL;
        assert_int_equal(json_parse(arena, w->reply, strlen(w->reply), &reply, NULL), ERR_OK);
        arena_free(arena);
        assert_true(rig_answer(w, id, "reject"));
        assert_true(rig_answered(w, &got));
    }
    fail_msg("arguments of any depth are held");
}

/* --- floods --- */

static struct rig_hook call_with_grants(struct rig *w, size_t command_bytes, size_t count, size_t path_bytes)
{
    struct buf b;
    begin(&b, "BeforeTool");
    buf_puts(&b, "," RIG_SHELL "{\"command\":\"");
    repeat(&b, "x", command_bytes);
    buf_puts(&b, "\",\"additional_permissions\":{\"fileSystem\":{\"write\":[");
    for (size_t i = 0; i < count; i++) {
        buf_printf(&b, "%s\"/%zu", i > 0 ? "," : "", i);
        repeat(&b, "x", path_bytes - (i < 10 ? 2 : i < 100 ? 3 : 4));
        buf_puts(&b, "\"");
    }
    buf_puts(&b, "]}}}");
    return send(w, "BeforeTool", &b);
}

/* Each asks for almost 1 MiB of paths: the list of them stays within a reply, and leaves out none for ever. */
static void a_list_of_many_grants_fits_a_reply(void **state)
{
    struct rig *w = *state;
    char id[RIG_ID_BYTES];
    int seen = 0;
    for (int i = 0; i < 3; i++) {
        assert_true(call_with_grants(w, 600, 256, 4082).parked);
        rig_pass(w, 1);
    }
    assert_true(call_with_grants(w, 600, 256, 4090).parked);
    for (; rig_pending_count(w) > 0; seen++) {
        rig_pending_id(w, 0, id);
        assert_true(rig_answer(w, id, "reject"));
    }
    assert_int_equal(seen, 4);
}

static void grants_over_the_limit_are_denied(void **state)
{
    struct rig *w = *state;
    assert_true(call_with_grants(w, 1, 256, 8).parked);
    struct rig_hook got = call_with_grants(w, 1, 257, 8);
    assert_false(got.parked);
    assert_non_null(strstr(got.out, "TK-OVERSIZE"));
    got = call_with_grants(w, 1, 300, 8);
    assert_false(got.parked);
    assert_false(got.allow);
}

static struct rig_hook hold_numbered(struct rig *w, int i)
{
    char rest[256];
    snprintf(rest, sizeof rest, RIG_SHELL "{\"command\":\"%d\",\"additional_permissions\":{\"network\":true}}", i);
    return rig_call(w, "BeforeTool", rest);
}

static void a_user_has_a_number_of_approvals(void **state)
{
    struct rig *w = *state;
    struct rig_hook got;
    for (int i = 0; i < USERS_PENDING; i++)
        assert_true(hold_numbered(w, i).parked);
    got = hold_numbered(w, USERS_PENDING);
    assert_false(got.parked);
    assert_false(got.allow);
    assert_non_null(strstr(got.out, "TK-PENDING"));
    rig_assert_record(w, "policy.decision", "\"decision\":\"deny\"");
    assert_int_equal(rig_pending_count(w), USERS_PENDING);
    /* Nobody waits any more: the same call attaches to its approval, for that makes none. */
    assert_true(hold_numbered(w, 7).parked);
    /* Another user has as many of his own. */
    w->uid = 1001;
    assert_true(hold_numbered(w, USERS_PENDING).parked);
    w->uid = 1000;
    assert_false(hold_numbered(w, USERS_PENDING).parked);
    rig_pass(w, 3600 * 1000);
    rig_tick(w);
    while (rig_next_answer(w, &got))
        assert_false(got.allow);
    assert_true(hold_numbered(w, USERS_PENDING).parked);
}

/* Whatever was held is overwritten when it ends: a transaction of many megabytes, after which the log is cut again. */
static void large_calls_may_end_together(void **state)
{
    struct rig *w = *state;
    struct rig_hook got;
    for (int i = 0; i < 30; i++) {
        struct buf b;
        begin(&b, "BeforeTool");
        buf_printf(&b, "," RIG_SHELL "{\"n\":%d,\"additional_permissions\":{\"network\":true},\"x\":\"", i);
        repeat(&b, "xxxxxxxxxxxxxxxx", 65000);
        buf_puts(&b, "\"}");
        assert_true(send(w, "BeforeTool", &b).parked);
    }
    rig_pass(w, 3600 * 1000);
    rig_tick(w);
    while (rig_next_answer(w, &got))
        assert_false(got.allow);
    for (int i = 0; i < 5; i++)
        assert_true(rig_call(w, "BeforeTool", RIG_SHELL RIG_PLAIN).allow);
}

static void the_loop_never_has_more_hooks_than_we_take(void **state)
{
    (void)state;
    assert_true((int)CONNS_MAX <= (int)WAITERS_MAX);
}

/* --- requests --- */

static void reasons_of_the_longest_kind_are_recorded(void **state)
{
    struct rig *w = *state;
    char id[RIG_ID_BYTES];
    rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK);
    rig_pending_id(w, 0, id);
    for (size_t extra = 2; extra-- > 0;) {
        struct buf b;
        buf_init(&b, FRAME_MAX_REQUEST);
        buf_printf(&b, "{\"op\":\"approvals.answer\",\"id\":\"%s\",\"decision\":\"reject\",\"reason\":\"", id);
        repeat(&b, "\xf0\x9f\x92\xa5", MAX_REASON_BYTES / 4);
        repeat(&b, "x", extra);
        buf_put(&b, "\"}", 3);
        assert_true(rig_ask(w, (const char *)b.data) == (extra == 0));
        buf_wipe(&b);
    }
    struct rig_hook got;
    assert_true(rig_next_answer(w, &got));
    assert_false(got.allow);
}

static void requests_with_keys_that_only_look_known_are_refused(void **state)
{
    struct rig *w = *state;
    const char *const bad[] = {
        "{\"op\":\"hello\",\"op\\u0000\":1}",
        "{\"op\":\"runs.list\",\"limit\\u0000x\":1}",
        "{\"op\\u0000\":\"hello\"}",
        "{\"op\":\"hello\\u0000\"}",
        "{\"op\":\"approvals.show\",\"id\":\"apr-\\u0000\"}",
        "{\"op\":\"runs.list\",\"limit\":1.0}",
        "{\"op\":\"runs.list\",\"limit\":501}",
        "{\"op\":\"export.begin\",\"run\":\"\"}",
        "{\"op\":\"export.begin\",\"run\":\"tracekit/signer\"}",
        "{\"op\":\"export.records\",\"run\":\"latest\",\"size\":1,\"from\":0}",
        "{\"op\":\"export.records\",\"run\":\"tracekit/signer\",\"size\":9007199254740991,\"from\":0}",
        "{\"op\":\"export.records\",\"run\":\"tracekit/signer\",\"size\":1,\"from\":-1}",
        "{\"op\":\"export.proofs\",\"size\":1,\"seqs\":[-1]}",
        "{\"op\":\"export.proofs\",\"size\":1,\"seqs\":[0.0]}",
        "{\"op\":\"export.proofs\",\"size\":1,\"seqs\":{\"a\":0}}",
        "{\"op\":\"export.proofs\",\"size\":0,\"seqs\":[]}",
        "{\"op\":\"export.policy\",\"hash\":\"sha256:\"}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (rig_ask(w, bad[i]))
            fail_msg("%s is served: %s", bad[i], w->reply);
    assert_true(
        rig_ask(w, "{\"op\":\"export.records\",\"run\":\"tracekit/signer\",\"size\":1,\"from\":9007199254740991}"));
    assert_true(rig_ask(w, "{\"op\":\"export.proofs\",\"size\":1,\"seqs\":[0,0,0]}"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(tools_of_odd_names_are_recorded),
        RIG_TEST(odd_sessions_are_recorded),
        RIG_TEST(odd_directories_are_recorded),
        RIG_TEST(results_that_grow_are_recorded),
        RIG_TEST(what_is_held_can_be_read_back),
        RIG_TEST(a_list_of_many_grants_fits_a_reply),
        RIG_TEST(grants_over_the_limit_are_denied),
        RIG_TEST(a_user_has_a_number_of_approvals),
        RIG_TEST(large_calls_may_end_together),
        RIG_TEST(the_loop_never_has_more_hooks_than_we_take),
        RIG_TEST(reasons_of_the_longest_kind_are_recorded),
        RIG_TEST(requests_with_keys_that_only_look_known_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
