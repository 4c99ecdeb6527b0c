/* The signer's service, driven through service.h alone, with a clock that the tests move. After each test the whole
 * ledger is checked as a third party would: every record opens, verifies, is valid and continues the chain. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "evidence/base64.h"
#include "evidence/record.h"
#include "evidence/schema.h"
#include "signer/service.h"
#include "signer/store_record.h"

#define SECOND_US INT64_C(1000000)
#define SHELL "\"tool_name\":\"run_shell_command\",\"tool_input\":"
#define PLAIN "{\"command\":\"echo hi\"}"
#define NETWORK "{\"command\":\"echo hi\",\"additional_permissions\":{\"network\":true}}"
#define MORE "{\"command\":\"echo hi\",\"additional_permissions\":{\"network\":true,\"fileSystem\":{\"write\":[\"/etc\"]}}}"

struct world {
    char dir[64];
    struct config config;
    struct clock now;
    struct service *service;
    uint64_t token;
    struct schema *schema;
};

static void open_service(struct world *w)
{
    struct fault fault = {""};
    assert_int_equal(service_open(&w->config, &w->now, &w->service, &fault), ERR_OK);
}

static int setup(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    snprintf(w->dir, sizeof w->dir, "/tmp/test_service.XXXXXX");
    assert_non_null(mkdtemp(w->dir));
    w->config.dev = true;
    snprintf(w->config.data_dir, sizeof w->config.data_dir, "%s", w->dir);
    snprintf(w->config.tenant, sizeof w->config.tenant, "local");
    w->now = (struct clock){.wall_us = INT64_C(1800000000) * SECOND_US, .mono_ms = 1000000};
    assert_int_equal(schema_new(&w->schema), ERR_OK);
    open_service(w);
    *state = w;
    return 0;
}

static void pass(struct world *w, int64_t ms)
{
    w->now.wall_us += ms * 1000;
    w->now.mono_ms += ms;
}

/* --- the whole ledger ------------------------------------------------------------------------------------------------ */

struct audit {
    struct world *w;
    int64_t seq;
    uint8_t pub[32];
    char head[DIGEST_TEXT_BYTES];
    char types[8192]; /* " type type type" */
    char last[2048];  /* the newest record's line */
    const char *want; /* a type whose newest line `found` becomes */
    char found[4096];
};

static enum err audit_row(void *ctx, const struct store_record *row)
{
    struct audit *a = ctx;
    struct arena *arena = arena_new(1 << 22);
    const struct json *value = NULL;
    struct record r;
    struct fault fault = {""};
    assert_int_equal(json_parse(arena, row->line, row->line_len, &value, NULL), ERR_OK);
    assert_int_equal(record_open(value, &r), ERR_OK);
    if (row->seq == 0) {
        uint8_t der[64];
        size_t len = 0, text_len = 0;
        const char *spki = json_text(json_get(json_at(json_get(r.data, "keys"), 0), "spki"), &text_len);
        assert_int_equal(base64_decode(spki, text_len, der, sizeof der, &len), ERR_OK);
        assert_int_equal(ed25519_spki_parse(der, len, a->pub), ERR_OK);
    }
    assert_int_equal(record_verify(&r, a->pub), ERR_OK);
    if (schema_check(a->w->schema, r.event, &fault) != ERR_OK)
        fail_msg("%s: %s", fault.text, row->line);
    assert_int_equal(r.seq, a->seq++);
    assert_string_equal(r.prev_hash, a->head);
    snprintf(a->head, sizeof a->head, "%s", r.hash);
    size_t used = strlen(a->types);
    snprintf(a->types + used, sizeof a->types - used, " %s", r.type);
    if (a->want != NULL && strcmp(a->want, r.type) == 0)
        snprintf(a->found, sizeof a->found, "%s", row->line);
    arena_free(arena);
    return ERR_OK;
}

/* Closes the service, reads everything, opens it again. `want` may be NULL. */
static void audit(struct world *w, struct audit *a, const char *want)
{
    struct store *store = NULL;
    char path[128];
    memset(a, 0, sizeof *a);
    a->w = w;
    a->want = want;
    snprintf(a->head, sizeof a->head, "%s", DIGEST_ZERO_TEXT);
    service_close(w->service);
    w->service = NULL;
    snprintf(path, sizeof path, "%s/ledger.db", w->dir);
    assert_int_equal(store_open(path, &store, NULL), ERR_OK);
    assert_int_equal(store_record_from(store, 0, audit_row, a), ERR_OK);
    store_close(store);
    open_service(w);
}

static void assert_types(struct world *w, const char *expected)
{
    struct audit *a = malloc(sizeof *a);
    audit(w, a, NULL);
    if (strcmp(a->types, expected) != 0)
        fail_msg("records are%s, expected%s", a->types, expected);
    free(a);
}

/* Whether the newest record of a type holds a text. */
static void assert_record(struct world *w, const char *type, const char *text)
{
    struct audit *a = malloc(sizeof *a);
    audit(w, a, type);
    if (strstr(a->found, text) == NULL)
        fail_msg("the newest %s does not hold %s: %s", type, text, a->found);
    free(a);
}

static int teardown(void **state)
{
    struct world *w = *state;
    char command[128];
    struct audit *a = malloc(sizeof *a);
    audit(w, a, NULL);
    free(a);
    service_close(w->service);
    schema_free(w->schema);
    snprintf(command, sizeof command, "rm -rf '%s'", w->dir);
    int rc = system(command);
    free(w);
    return rc;
}

/* --- hooks and requests ---------------------------------------------------------------------------------------------- */

struct got {
    bool parked, allow;
    char out[1024];
    uint64_t token;
};

static void take(struct got *got, struct service_answer *answer)
{
    got->allow = answer->allow;
    assert_true(answer->out.len < sizeof got->out);
    if (answer->out.len > 0)
        memcpy(got->out, answer->out.data, answer->out.len);
    got->out[answer->out.len] = '\0';
    buf_wipe(&answer->out);
    buf_wipe(&answer->err);
}

static struct got raw_hook(struct world *w, const char *event, const char *payload, size_t len)
{
    struct got got = {.token = ++w->token};
    struct frame_meta meta = {.wait_ms = 60000, .harness = "gemini"};
    struct service_answer answer;
    snprintf(meta.event, sizeof meta.event, "%s", event);
    const struct service_hook hook = {.token = got.token,
                                      .peer = {.pid = 4242, .uid = 1000, .gid = 1000},
                                      .meta = &meta,
                                      .deadline_ms = w->now.mono_ms + 60000,
                                      .payload = (const uint8_t *)payload,
                                      .payload_len = len};
    assert_int_equal(service_begin(w->service, &w->now), ERR_OK);
    assert_int_equal(service_hook(w->service, &hook, &got.parked, &answer), ERR_OK);
    assert_int_equal(service_commit(w->service), ERR_OK);
    if (!got.parked) {
        take(&got, &answer);
        service_delivered(w->service, got.token);
    }
    return got;
}

static struct got hook_in(struct world *w, const char *event, const char *rest, const char *cwd)
{
    char payload[4096];
    int n = snprintf(payload, sizeof payload,
                     "{\"session_id\":\"s-1\",\"cwd\":\"%s\",\"hook_event_name\":\"%s\",\"timestamp\":\"t\"%s%s}", cwd,
                     event, rest[0] != '\0' ? "," : "", rest);
    return raw_hook(w, event, payload, (size_t)n);
}

static struct got hook(struct world *w, const char *event, const char *rest)
{
    return hook_in(w, event, rest, "/w");
}

static void tick(struct world *w)
{
    int64_t next = 0;
    assert_int_equal(service_begin(w->service, &w->now), ERR_OK);
    assert_int_equal(service_tick(w->service, &next), ERR_OK);
    assert_int_equal(service_commit(w->service), ERR_OK);
    assert_true(next > w->now.mono_ms);
}

/* The answer that a parked hook has by now; false when it has none. */
static bool answered(struct world *w, struct got *got)
{
    struct service_answer answer;
    uint64_t token = 0;
    if (!service_next_answer(w->service, &token, &answer))
        return false;
    assert_int_equal(token, got->token);
    take(got, &answer);
    if (got->allow)
        service_delivered(w->service, token);
    return true;
}

static char reply_text[1 << 20];

/* One request by `uid`; the reply's text, and whether it was refused. */
static bool ask_as(struct world *w, uid_t uid, const char *request)
{
    struct peer peer = {.pid = 1, .uid = uid, .gid = 1000};
    struct buf reply;
    bool refused = false;
    buf_init(&reply, FRAME_MAX_REPLY);
    assert_int_equal(service_begin(w->service, &w->now), ERR_OK);
    assert_int_equal(service_request(w->service, &peer, (const uint8_t *)request, strlen(request), &reply, &refused),
                     ERR_OK);
    assert_int_equal(service_commit(w->service), ERR_OK);
    assert_true(reply.len < sizeof reply_text);
    memcpy(reply_text, reply.data, reply.len);
    reply_text[reply.len] = '\0';
    buf_wipe(&reply);
    return !refused;
}

static bool ask(struct world *w, const char *request)
{
    return ask_as(w, 1000, request);
}

/* The n-th pending approval's id. */
static void pending_id(struct world *w, int n, char id[64])
{
    assert_true(ask(w, "{\"op\":\"approvals.list\"}"));
    const char *at = reply_text;
    for (int i = 0; i <= n; i++) {
        at = strstr(at, "\"id\":\"apr-");
        if (at == NULL)
            fail_msg("there are not %d pending approvals: %s", n + 1, reply_text);
        at += 6;
    }
    snprintf(id, 64, "%.36s", at);
}

static int pending_count(struct world *w)
{
    int n = 0;
    assert_true(ask(w, "{\"op\":\"approvals.list\"}"));
    for (const char *at = reply_text; (at = strstr(at, "\"id\":\"apr-")) != NULL; at++)
        n++;
    return n;
}

static bool answer(struct world *w, const char *id, const char *decision)
{
    char request[256];
    snprintf(request, sizeof request, "{\"op\":\"approvals.answer\",\"id\":\"%s\",\"decision\":\"%s\"}", id, decision);
    return ask(w, request);
}

/* A held call whose wait ended without an answer; its approval's id. */
static void hold_and_miss(struct world *w, char id[64])
{
    struct got got = hook(w, "BeforeTool", SHELL NETWORK);
    assert_true(got.parked);
    pending_id(w, 0, id);
    pass(w, 58000);
    tick(w);
    assert_true(answered(w, &got));
    assert_false(got.allow);
    assert_non_null(strstr(got.out, id));
    assert_non_null(strstr(got.out, "no answer yet"));
}

/* --- tests ------------------------------------------------------------------------------------------------------------ */

static void plain_call_is_allowed_and_recorded(void **state)
{
    struct world *w = *state;
    struct got got = hook(w, "BeforeTool", SHELL PLAIN);
    assert_false(got.parked);
    assert_true(got.allow);
    assert_string_equal(got.out, "{}");
    hook(w, "AfterTool", SHELL PLAIN ",\"tool_response\":{\"llmContent\":\"hi\"}");
    hook(w, "SessionEnd", "\"reason\":\"exit\"");
    pass(w, 5000);
    tick(w);
    assert_types(w, " signer.epoch run.registered policy.decision tool.result run.closing run.final");
}

static void failed_tool_is_not_ok(void **state)
{
    struct world *w = *state;
    hook(w, "BeforeTool", SHELL PLAIN);
    hook(w, "AfterTool", SHELL PLAIN ",\"tool_response\":{\"llmContent\":\"x\",\"error\":{\"message\":\"no\"}}");
    assert_record(w, "tool.result", "\"ok\":false");
}

static void held_call_waits_for_a_person(void **state)
{
    struct world *w = *state;
    char id[64];
    struct got got = hook(w, "BeforeTool", SHELL NETWORK);
    assert_true(got.parked);
    pass(w, 3000);
    tick(w);
    assert_false(answered(w, &got));
    pending_id(w, 0, id);
    assert_true(answer(w, id, "approve"));
    assert_non_null(strstr(reply_text, "\"delivery\":\"waiting\""));
    assert_non_null(strstr(reply_text, "\"self_approved\":true"));
    assert_true(answered(w, &got));
    assert_true(got.allow);
    hook(w, "AfterTool", SHELL NETWORK ",\"tool_response\":{}");
    assert_types(w, " signer.epoch run.registered policy.decision approval.request approval approval.consumed tool.result");
    assert_record(w, "approval", "\"wait_ms\":3000");
    assert_record(w, "policy.decision", "\"rule_ids\":[\"TK-A004\"]");
}

static void rejected_call_is_denied_with_the_reason(void **state)
{
    struct world *w = *state;
    char id[64], request[256];
    struct got got = hook(w, "BeforeTool", SHELL NETWORK);
    pending_id(w, 0, id);
    snprintf(request, sizeof request,
             "{\"op\":\"approvals.answer\",\"id\":\"%.12s\",\"decision\":\"reject\",\"reason\":\"not on my\\u001b[2J box\"}", id);
    assert_true(ask(w, request));
    assert_true(answered(w, &got));
    assert_false(got.allow);
    assert_non_null(strstr(got.out, "rejected"));
    assert_non_null(strstr(got.out, "not on my?[2J box"));
    assert_false(answer(w, id, "approve"));
    assert_non_null(strstr(reply_text, "\"error\":\"STATE\""));
    assert_types(w, " signer.epoch run.registered policy.decision approval.request approval");
}

static void an_answer_is_used_once(void **state)
{
    struct world *w = *state;
    char id[64];
    hold_and_miss(w, id);
    assert_true(answer(w, id, "approve"));
    assert_non_null(strstr(reply_text, "\"delivery\":\"kept\""));
    struct got again = hook(w, "BeforeTool", SHELL NETWORK);
    assert_false(again.parked);
    assert_true(again.allow);
    struct got third = hook(w, "BeforeTool", SHELL NETWORK);
    assert_true(third.parked);
}

static void a_late_answer_lasts_five_minutes(void **state)
{
    struct world *w = *state;
    char id[64];
    hold_and_miss(w, id);
    assert_true(answer(w, id, "approve"));
    pass(w, 300 * 1000);
    struct got got = hook(w, "BeforeTool", SHELL NETWORK);
    assert_true(got.parked);
    tick(w);
    assert_record(w, "approval.expired", id);
}

static void a_late_answer_is_for_this_directory(void **state)
{
    struct world *w = *state;
    char id[64];
    hold_and_miss(w, id);
    assert_true(answer(w, id, "approve"));
    assert_true(hook_in(w, "BeforeTool", SHELL NETWORK, "/elsewhere").parked);
    assert_record(w, "approval.binding_mismatch", id);
}

static void more_grants_do_not_ride_on_an_answer(void **state)
{
    struct world *w = *state;
    char id[64];
    hold_and_miss(w, id);
    assert_true(answer(w, id, "approve"));
    assert_true(hook(w, "BeforeTool", SHELL MORE).parked);
    assert_record(w, "approval.binding_mismatch", id);
    struct got got = hook(w, "BeforeTool", SHELL NETWORK);
    assert_true(got.allow);
}

static void identical_call_attaches_to_an_approval_that_nobody_waits_on(void **state)
{
    struct world *w = *state;
    char id[64], other[64];
    hold_and_miss(w, id);
    struct got got = hook(w, "BeforeTool", SHELL NETWORK);
    assert_true(got.parked);
    assert_int_equal(pending_count(w), 1);
    pending_id(w, 0, other);
    assert_string_equal(id, other);
    assert_true(answer(w, id, "approve"));
    assert_true(answered(w, &got));
    assert_true(got.allow);
    assert_types(w, " signer.epoch run.registered policy.decision approval.request policy.decision approval approval.consumed");
}

static void each_waiting_hook_has_an_approval_of_its_own(void **state)
{
    struct world *w = *state;
    char id[64];
    struct got first = hook(w, "BeforeTool", SHELL NETWORK), second = hook(w, "BeforeTool", SHELL NETWORK);
    assert_int_equal(pending_count(w), 2);
    pending_id(w, 0, id);
    assert_true(answer(w, id, "approve"));
    struct got got = {.token = first.token};
    if (strstr(reply_text, id) == NULL)
        fail();
    struct service_answer a;
    uint64_t token = 0;
    assert_true(service_next_answer(w->service, &token, &a));
    assert_true(token == first.token || token == second.token);
    got.token = token;
    take(&got, &a);
    assert_true(got.allow);
    assert_false(service_next_answer(w->service, &token, &a));
    assert_int_equal(pending_count(w), 1);
}

static void an_approval_expires_after_an_hour(void **state)
{
    struct world *w = *state;
    char id[64];
    hold_and_miss(w, id);
    pass(w, 3600 * 1000 - 58000 - 1);
    tick(w);
    assert_int_equal(pending_count(w), 1);
    pass(w, 1);
    assert_false(answer(w, id, "approve"));
    assert_non_null(strstr(reply_text, "expired"));
    assert_int_equal(pending_count(w), 0);
    assert_record(w, "approval.expired", id);
}

static void a_hook_without_time_consumes_nothing(void **state)
{
    struct world *w = *state;
    char id[64];
    struct got got = hook(w, "BeforeTool", SHELL NETWORK);
    pending_id(w, 0, id);
    pass(w, 58000);
    assert_true(answer(w, id, "approve"));
    assert_non_null(strstr(reply_text, "\"delivery\":\"kept\""));
    assert_true(answered(w, &got));
    assert_false(got.allow);
    assert_types(w, " signer.epoch run.registered policy.decision approval.request approval");
}

static void a_hook_that_left_keeps_its_approval_open(void **state)
{
    struct world *w = *state;
    struct got got = hook(w, "BeforeTool", SHELL NETWORK);
    assert_int_equal(service_begin(w->service, &w->now), ERR_OK);
    assert_int_equal(service_hook_gone(w->service, got.token), ERR_OK);
    assert_int_equal(service_commit(w->service), ERR_OK);
    assert_int_equal(pending_count(w), 1);
    assert_non_null(strstr(reply_text, "\"waiting\":false"));
}

/* The person says yes and the hook leaves, both in one batch: the approval is used up, so the gap has to be there. */
static void an_approval_consumed_for_a_hook_that_leaves_is_a_gap(void **state)
{
    struct world *w = *state;
    char id[64], request[256];
    struct peer peer = {.pid = 1, .uid = 1000, .gid = 1000};
    struct service_answer a;
    struct buf reply;
    uint64_t token = 0;
    bool refused = true;
    struct got got = hook(w, "BeforeTool", SHELL NETWORK);
    pending_id(w, 0, id);
    snprintf(request, sizeof request, "{\"op\":\"approvals.answer\",\"id\":\"%s\",\"decision\":\"approve\"}", id);
    buf_init(&reply, FRAME_MAX_REPLY);
    assert_int_equal(service_begin(w->service, &w->now), ERR_OK);
    assert_int_equal(
        service_request(w->service, &peer, (const uint8_t *)request, strlen(request), &reply, &refused), ERR_OK);
    assert_false(refused);
    assert_int_equal(service_hook_gone(w->service, got.token), ERR_OK);
    assert_int_equal(service_commit(w->service), ERR_OK);
    buf_wipe(&reply);
    assert_false(service_next_answer(w->service, &token, &a));
    assert_types(w, " signer.epoch run.registered policy.decision approval.request approval approval.consumed"
                    " capture.gap");
}

static void an_undelivered_allow_is_a_gap(void **state)
{
    struct world *w = *state;
    char id[64];
    struct got got = hook(w, "BeforeTool", SHELL NETWORK);
    struct service_answer a;
    uint64_t token = 0;
    pending_id(w, 0, id);
    assert_true(answer(w, id, "approve"));
    assert_true(service_next_answer(w->service, &token, &a));
    assert_int_equal(token, got.token);
    take(&got, &a);
    assert_int_equal(service_begin(w->service, &w->now), ERR_OK);
    assert_int_equal(service_undelivered(w->service, token), ERR_OK);
    assert_int_equal(service_commit(w->service), ERR_OK);
    assert_record(w, "capture.gap", "policy_timeout");
}

static void loose_arguments_are_denied(void **state)
{
    struct world *w = *state;
    const char *const bad[] = {"{\"command\":\"a\",\"command\":\"b\"}", "{\"command\":\"\\ud800\"}",
                               "{\"n\":9007199254740993}", "{\"n\":1e999}", "[1]", "null", "\"x\""};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char rest[256];
        snprintf(rest, sizeof rest, SHELL "%s", bad[i]);
        struct got got = hook(w, "BeforeTool", rest);
        assert_false(got.parked);
        assert_false(got.allow);
        assert_non_null(strstr(got.out, "TK-ARGS-INVALID"));
    }
    struct audit *a = malloc(sizeof *a);
    audit(w, a, "policy.decision");
    assert_non_null(strstr(a->found, "\"rule_ids\":[\"TK-ARGS-INVALID\"]"));
    assert_null(strstr(a->found, "args_commitment"));
    free(a);
}

static void unreadable_payloads_are_denied_and_counted(void **state)
{
    struct world *w = *state;
    const char *const bad[] = {"", "{", "null", "{\"session_id\":\"s\"}", "\xff", "{}{}",
                               "{\"session_id\":\"a b\",\"hook_event_name\":\"BeforeTool\"}",
                               "{\"session_id\":\"s\",\"hook_event_name\":\"AfterTool\"}"};
    size_t count = sizeof bad / sizeof bad[0];
    for (size_t i = 0; i < count; i++) {
        struct got got = raw_hook(w, "BeforeTool", bad[i], strlen(bad[i]));
        assert_false(got.parked);
        assert_false(got.allow);
        assert_non_null(strstr(got.out, "\"decision\":\"deny\""));
    }
    assert_true(raw_hook(w, "AfterTool", "{", 1).allow);
    assert_false(raw_hook(w, "NoSuchEvent", "{}", 2).allow);
    pass(w, 10001);
    tick(w);
    char expected[32];
    snprintf(expected, sizeof expected, "\"count\":%zu", count + 2);
    assert_record(w, "refusal.summary", expected);
}

static void what_was_never_decided_is_a_gap(void **state)
{
    struct world *w = *state;
    hook(w, "AfterTool", SHELL PLAIN ",\"tool_response\":{}");
    assert_record(w, "capture.gap", "reconcile.result_without_call");
    hook(w, "AfterTool", SHELL NETWORK ",\"tool_response\":{}");
    assert_record(w, "capture.gap", "executed_against_policy");
}

static void what_ran_while_held_or_denied_is_a_gap(void **state)
{
    struct world *w = *state;
    char id[64];
    assert_true(hook(w, "BeforeTool", SHELL NETWORK).parked);
    hook(w, "AfterTool", SHELL NETWORK ",\"tool_response\":{}");
    assert_record(w, "capture.gap", "while it was held");
    /* audit reopened the service, so nobody waits on the first approval any more; this call takes it over. */
    struct got got = hook(w, "BeforeTool", SHELL NETWORK);
    pending_id(w, 0, id);
    assert_true(answer(w, id, "reject"));
    assert_true(answered(w, &got));
    hook(w, "AfterTool", SHELL NETWORK ",\"tool_response\":{}");
    assert_record(w, "capture.gap", "although it was denied");
}

static void results_pair_first_in_first_out(void **state)
{
    struct world *w = *state;
    hook(w, "BeforeTool", SHELL PLAIN);
    hook(w, "BeforeTool", SHELL PLAIN);
    hook(w, "AfterTool", SHELL PLAIN ",\"tool_response\":{}");
    hook(w, "AfterTool", SHELL PLAIN ",\"tool_response\":{}");
    hook(w, "AfterTool", SHELL PLAIN ",\"tool_response\":{}");
    assert_types(w, " signer.epoch run.registered policy.decision policy.decision tool.result tool.result tool.result"
                    " capture.gap");
}

static void session_end_ends_the_run_once(void **state)
{
    struct world *w = *state;
    hook(w, "SessionEnd", "");
    hook(w, "SessionStart", "\"source\":\"startup\"");
    hook(w, "SessionEnd", "");
    hook(w, "SessionEnd", "");
    hook(w, "SessionEnd", "");
    pass(w, 5000);
    tick(w);
    tick(w);
    assert_types(w, " signer.epoch run.registered run.closing run.final");
    assert_true(hook(w, "BeforeTool", SHELL PLAIN).allow);
    assert_types(w, " signer.epoch run.registered run.closing run.final run.registered policy.decision");
}

static void late_results_are_taken_for_five_seconds(void **state)
{
    struct world *w = *state;
    hook(w, "BeforeTool", SHELL PLAIN);
    hook(w, "SessionEnd", "");
    pass(w, 4999);
    tick(w);
    hook(w, "AfterTool", SHELL PLAIN ",\"tool_response\":{}");
    pass(w, 1);
    tick(w);
    assert_types(w, " signer.epoch run.registered policy.decision run.closing tool.result run.final");
}

static void a_call_after_session_end_is_a_new_run(void **state)
{
    struct world *w = *state;
    hook(w, "SessionStart", "");
    hook(w, "SessionEnd", "");
    hook(w, "BeforeTool", SHELL PLAIN);
    assert_types(w, " signer.epoch run.registered run.closing run.registered policy.decision");
}

static void pending_approvals_expire_with_their_run(void **state)
{
    struct world *w = *state;
    struct got got = hook(w, "BeforeTool", SHELL NETWORK);
    hook(w, "SessionEnd", "");
    pass(w, 5000);
    tick(w);
    assert_true(answered(w, &got));
    assert_false(got.allow);
    assert_types(w, " signer.epoch run.registered policy.decision approval.request run.closing approval.expired run.final");
}

static void an_idle_run_ends_but_not_while_something_is_pending(void **state)
{
    struct world *w = *state;
    hook(w, "BeforeTool", SHELL NETWORK);
    pass(w, 3599 * 1000);
    tick(w);
    assert_types(w, " signer.epoch run.registered policy.decision approval.request");
    pass(w, 1000); /* the approval expires: that is an event of the run */
    tick(w);
    pass(w, 3600 * 1000);
    tick(w);
    assert_types(w, " signer.epoch run.registered policy.decision approval.request approval.expired run.closing run.final");
    assert_record(w, "run.closing", "idle_timeout");
}

static void a_restart_keeps_everything(void **state)
{
    struct world *w = *state;
    char id[64], after[64];
    hook(w, "BeforeTool", SHELL NETWORK);
    pending_id(w, 0, id);
    service_close(w->service);
    open_service(w);
    pending_id(w, 0, after);
    assert_string_equal(id, after);
    assert_true(answer(w, id, "approve"));
    struct got got = hook(w, "BeforeTool", SHELL NETWORK);
    assert_true(got.allow);
}

static void stopping_denies_who_waits(void **state)
{
    struct world *w = *state;
    struct got got = hook(w, "BeforeTool", SHELL NETWORK);
    assert_int_equal(service_begin(w->service, &w->now), ERR_OK);
    assert_int_equal(service_stop(w->service), ERR_OK);
    assert_int_equal(service_commit(w->service), ERR_OK);
    assert_true(answered(w, &got));
    assert_false(got.allow);
    assert_int_equal(pending_count(w), 1);
}

static void answers_are_checked(void **state)
{
    struct world *w = *state;
    char id[64], request[512];
    hook(w, "BeforeTool", SHELL NETWORK);
    pending_id(w, 0, id);
    snprintf(request, sizeof request,
             "{\"op\":\"approvals.answer\",\"id\":\"%s\",\"decision\":\"approve\",\"binding_digest\":\"%s\"}", id,
             DIGEST_ZERO_TEXT);
    assert_false(ask(w, request));
    assert_non_null(strstr(reply_text, "\"error\":\"STATE\""));
    assert_false(answer(w, "apr-00", "approve"));
    assert_non_null(strstr(reply_text, "NOT_FOUND"));
    assert_false(answer(w, "apr-00000000", "approve"));
    assert_non_null(strstr(reply_text, "NOT_FOUND"));
    assert_false(answer(w, id, "maybe"));
    assert_non_null(strstr(reply_text, "PROTOCOL"));
    assert_false(ask(w, "{\"op\":\"approvals.list\",\"x\":1}"));
    assert_false(ask(w, "{\"op\":\"nothing\"}"));
    assert_false(ask(w, "[]"));
    assert_false(ask(w, "{\"op\":\"hello\",\"op\":\"hello\"}"));
    assert_false(ask(w, "{\"op\":\"x\",\"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
                        "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9x\xc3\xa9\":1}"));
    assert_int_equal(pending_count(w), 1);
}

static void in_system_mode_nobody_answers_for_himself(void **state)
{
    struct world *w = *state;
    char id[64];
    service_close(w->service);
    w->config.dev = false;
    open_service(w);
    hook(w, "BeforeTool", SHELL NETWORK);
    pending_id(w, 0, id);
    assert_false(answer(w, id, "approve"));
    assert_non_null(strstr(reply_text, "FORBIDDEN"));
    assert_int_equal(pending_count(w), 1);
    assert_record(w, "approval", "self_approval_refused");
    char request[256];
    snprintf(request, sizeof request, "{\"op\":\"approvals.answer\",\"id\":\"%s\",\"decision\":\"approve\"}", id);
    assert_true(ask_as(w, 1001, request));
    assert_non_null(strstr(reply_text, "\"self_approved\":false"));
}

static void arguments_are_shown_while_pending_and_gone_afterwards(void **state)
{
    struct world *w = *state;
    char id[64], request[128];
    hook(w, "BeforeTool", SHELL MORE);
    pending_id(w, 0, id);
    snprintf(request, sizeof request, "{\"op\":\"approvals.show\",\"id\":\"%s\"}", id);
    assert_true(ask(w, request));
    assert_non_null(strstr(reply_text, "\"args\":" "{\"additional_permissions\""));
    assert_non_null(strstr(reply_text, "\"grants\":[\"network\",\"write:/etc\"]"));
    assert_non_null(strstr(reply_text, "\"summary\":\"echo hi\""));
    assert_true(answer(w, id, "reject"));
    assert_true(ask(w, request));
    assert_null(strstr(reply_text, "\"args\":"));
    assert_non_null(strstr(reply_text, "\"state\":\"rejected\""));
    /* And not a byte of them stays in the files, for they were sealed. */
    char command[256];
    snprintf(command, sizeof command, "! grep -rqa 'echo hi' '%s'", w->dir);
    assert_int_equal(system(command), 0);
}

/* 1e20 in canonical form is an integer token that strict JSON refuses: such a call can be shown all the same. */
static void numbers_beyond_strict_integers_can_be_shown(void **state)
{
    struct world *w = *state;
    char id[64], request[128];
    hook(w, "BeforeTool", SHELL "{\"n\":1e20,\"additional_permissions\":{\"network\":true}}");
    pending_id(w, 0, id);
    snprintf(request, sizeof request, "{\"op\":\"approvals.show\",\"id\":\"%s\"}", id);
    assert_true(ask(w, request));
    assert_non_null(strstr(reply_text, "\"n\":100000000000000000000"));
}

static void records_hold_no_path_and_no_command(void **state)
{
    struct world *w = *state;
    char command[256];
    hook(w, "BeforeTool", SHELL "{\"command\":\"SECRETCOMMAND\",\"additional_permissions\":{\"fileSystem\":{\"read\":[\"/SECRETPATH\"]}}}");
    hook(w, "AfterTool", SHELL "{\"command\":\"x\"},\"tool_response\":{\"llmContent\":\"SECRETRESULT\"}");
    service_close(w->service);
    snprintf(command, sizeof command, "! grep -qraE 'SECRET' '%s'", w->dir);
    assert_int_equal(system(command), 0);
    open_service(w);
}

/* Changes the closed database behind the signer's back. */
static void attack(struct world *w, const char *sql)
{
    sqlite3 *db = NULL;
    char path[128];
    snprintf(path, sizeof path, "%s/ledger.db", w->dir);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db,
                                  "DROP TRIGGER records_no_update; DROP TRIGGER records_no_delete;"
                                  "DROP TRIGGER notes_no_update;",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void a_ledger_that_was_changed_is_refused(void **state)
{
    struct world *w = *state;
    struct fault fault = {""};
    const char *const attacks[] = {
        "UPDATE records SET line = replace(line, '\"allow\"', '\"deny\"') WHERE type = 'policy.decision'",
        "DELETE FROM records WHERE seq = (SELECT max(seq) FROM records)",
        "UPDATE records SET hash = zeroblob(32) WHERE seq = 0",
        "UPDATE runs SET next_run_seq = next_run_seq + 1",
        "UPDATE notes SET note = replace(note, 'tracekit.local', 'tracekit.other')",
    };
    hook(w, "BeforeTool", SHELL PLAIN);
    service_close(w->service);
    w->service = NULL;
    for (size_t i = 0; i < sizeof attacks / sizeof attacks[0]; i++) {
        char command[256];
        struct service *service = NULL;
        snprintf(command, sizeof command, "cp '%s/ledger.db' '%s/good.db'", w->dir, w->dir);
        assert_int_equal(system(command), 0);
        attack(w, attacks[i]);
        fault.text[0] = '\0';
        enum err e = service_open(&w->config, &w->now, &service, &fault);
        if (e != ERR_LEDGER)
            fail_msg("%s: %s (%s)", attacks[i], err_name(e), fault.text);
        assert_true(fault.text[0] != '\0');
        snprintf(command, sizeof command, "cd '%s' && rm -f ledger.db-wal ledger.db-shm && mv good.db ledger.db", w->dir);
        assert_int_equal(system(command), 0);
    }
    open_service(w);
}

static void keys_that_others_can_read_are_refused(void **state)
{
    struct world *w = *state;
    struct fault fault = {""};
    struct service *service = NULL;
    char path[128];
    service_close(w->service);
    snprintf(path, sizeof path, "%s/keys/record.key", w->dir);
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(service_open(&w->config, &w->now, &service, &fault), ERR_CONFIG);
    assert_non_null(strstr(fault.text, "chmod 600"));
    assert_int_equal(chmod(path, 0600), 0);
    assert_int_equal(truncate(path, 31), 0);
    assert_int_equal(service_open(&w->config, &w->now, &service, &fault), ERR_CONFIG);
    assert_int_equal(truncate(path, 32), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(service_open(&w->config, &w->now, &service, &fault), ERR_NOT_FOUND);
    /* teardown wants a service: a new data directory */
    char command[256];
    snprintf(command, sizeof command, "rm -rf '%s'/keys '%s'/ledger.db*", w->dir, w->dir);
    assert_int_equal(system(command), 0);
    open_service(w);
}

static void export_gives_pages_and_proofs(void **state)
{
    struct world *w = *state;
    for (int i = 0; i < 40; i++)
        hook(w, "BeforeTool", SHELL PLAIN);
    assert_true(ask(w, "{\"op\":\"export.begin\",\"run\":\"latest\"}"));
    assert_non_null(strstr(reply_text, "\"records\":41"));
    assert_non_null(strstr(reply_text, "\"size\":42"));
    assert_non_null(strstr(reply_text, "\"proof_seqs\":[0,1,41]"));
    assert_true(ask(w, "{\"op\":\"export.proofs\",\"size\":42,\"seqs\":[0,1,41]}"));
    assert_non_null(strstr(reply_text, "\"41\":["));
    assert_false(ask(w, "{\"op\":\"export.proofs\",\"size\":42,\"seqs\":[42]}"));
    assert_false(ask(w, "{\"op\":\"export.proofs\",\"size\":43,\"seqs\":[1]}"));
    assert_false(ask(w, "{\"op\":\"export.begin\",\"run\":\"nope\"}"));
    assert_true(ask(w, "{\"op\":\"runs.list\"}"));
    assert_non_null(strstr(reply_text, "\"session\":\"s-1\""));
    assert_true(ask(w, "{\"op\":\"trust\"}"));
    assert_true(ask(w, "{\"op\":\"hello\"}"));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(plain_call_is_allowed_and_recorded),
        TEST(failed_tool_is_not_ok),
        TEST(held_call_waits_for_a_person),
        TEST(rejected_call_is_denied_with_the_reason),
        TEST(an_answer_is_used_once),
        TEST(a_late_answer_lasts_five_minutes),
        TEST(a_late_answer_is_for_this_directory),
        TEST(more_grants_do_not_ride_on_an_answer),
        TEST(identical_call_attaches_to_an_approval_that_nobody_waits_on),
        TEST(each_waiting_hook_has_an_approval_of_its_own),
        TEST(an_approval_expires_after_an_hour),
        TEST(a_hook_without_time_consumes_nothing),
        TEST(a_hook_that_left_keeps_its_approval_open),
        TEST(an_undelivered_allow_is_a_gap),
        TEST(an_approval_consumed_for_a_hook_that_leaves_is_a_gap),
        TEST(loose_arguments_are_denied),
        TEST(unreadable_payloads_are_denied_and_counted),
        TEST(what_was_never_decided_is_a_gap),
        TEST(what_ran_while_held_or_denied_is_a_gap),
        TEST(results_pair_first_in_first_out),
        TEST(session_end_ends_the_run_once),
        TEST(late_results_are_taken_for_five_seconds),
        TEST(a_call_after_session_end_is_a_new_run),
        TEST(pending_approvals_expire_with_their_run),
        TEST(an_idle_run_ends_but_not_while_something_is_pending),
        TEST(a_restart_keeps_everything),
        TEST(stopping_denies_who_waits),
        TEST(answers_are_checked),
        TEST(in_system_mode_nobody_answers_for_himself),
        TEST(arguments_are_shown_while_pending_and_gone_afterwards),
        TEST(numbers_beyond_strict_integers_can_be_shown),
        TEST(records_hold_no_path_and_no_command),
        TEST(a_ledger_that_was_changed_is_refused),
        TEST(keys_that_others_can_read_are_refused),
        TEST(export_gives_pages_and_proofs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
