/* Random bytes at both sockets: payloads and requests that were valid before something happened to them. Whatever it was,
 * the signer serves on, and its ledger stays one that a third party takes (rig_teardown). */
#include "tests/unit/service_rig.h"

#include <time.h>

enum { ROUNDS = 200, BATCH = 50, MAX_CHANGES = 4, ROOM = 4096 };

static unsigned next_random(unsigned *state)
{
    *state = *state * 1664525U + 1013904223U;
    return *state >> 8;
}

static unsigned take_seed(void)
{
    const char *given = getenv("TEST_SEED");
    unsigned seed = given != NULL ? (unsigned)strtoul(given, NULL, 10) : (unsigned)time(NULL);
    print_message("# TEST_SEED=%u\n", seed);
    return seed;
}

static const char *const payloads[] = {
    "{\"session_id\":\"s-1\",\"cwd\":\"/w\",\"hook_event_name\":\"BeforeTool\"," RIG_SHELL RIG_NETWORK "}",
    "{\"session_id\":\"s-1\",\"cwd\":\"/w\",\"hook_event_name\":\"BeforeTool\"," RIG_SHELL RIG_MORE "}",
    "{\"session_id\":\"s-2\",\"cwd\":\"/w\",\"hook_event_name\":\"BeforeTool\"," RIG_SHELL RIG_PLAIN "}",
    "{\"session_id\":\"s-1\",\"cwd\":\"/w\",\"hook_event_name\":\"AfterTool\"," RIG_SHELL RIG_NETWORK
    ",\"tool_response\":{\"llmContent\":\"x\",\"error\":{\"message\":\"no\"}}}",
    "{\"session_id\":\"s-2\",\"cwd\":\"/w\",\"hook_event_name\":\"SessionEnd\",\"reason\":\"exit\"}",
};

static const char *const events[] = {"BeforeTool", "BeforeTool", "BeforeTool", "AfterTool", "SessionEnd"};

static const char *const requests[] = {
    "{\"op\":\"hello\"}",
    "{\"op\":\"approvals.list\"}",
    "{\"op\":\"approvals.show\",\"id\":\"@\"}",
    "{\"op\":\"approvals.answer\",\"id\":\"@\",\"decision\":\"approve\",\"reason\":\"why\"}",
    "{\"op\":\"approvals.answer\",\"id\":\"@\",\"decision\":\"reject\"}",
    "{\"op\":\"runs.list\",\"limit\":3}",
    "{\"op\":\"trust\"}",
    "{\"op\":\"export.begin\",\"run\":\"latest\"}",
    "{\"op\":\"export.records\",\"run\":\"tracekit/signer\",\"size\":1,\"from\":0}",
    "{\"op\":\"export.proofs\",\"size\":1,\"seqs\":[0]}",
    "{\"op\":\"export.policy\",\"hash\":\"sha256:00\"}",
};

/* What may stand where something else stood. */
static const char *const tokens[] = {
    "\"",    "\\",         "{",
    "}",     "[",          "]",
    ",",     ":",          "null",
    "true",  "\\u0000",    "\\ud800",
    "\xff",  "\xc3\xa9",   "\xf0\x9f\x92\xa5",
    "1e999", "-0",         "9007199254740993",
    "\n",    "\"a\":1,",   "[[[[[[[[",
    "",      "latest",     "network",
    "apr-",  "session_id", "\"cwd\":\"/x\",",
};

/* Replaces up to three bytes by a token. */
static size_t change(unsigned *seed, char text[static ROOM], size_t len)
{
    const char *token = tokens[next_random(seed) % (sizeof tokens / sizeof tokens[0])];
    size_t at = len > 0 ? next_random(seed) % len : 0, gone = next_random(seed) % 4, put = strlen(token);
    gone = gone < len - at ? gone : len - at;
    memmove(text + at + put, text + at + gone, len - at - gone);
    memcpy(text + at, token, put);
    return len - gone + put;
}

static size_t damaged(unsigned *seed, const char *whole, char text[static ROOM])
{
    size_t len = strlen(whole);
    memcpy(text, whole, len);
    for (unsigned n = next_random(seed) % (MAX_CHANGES + 1); n > 0; n--)
        len = change(seed, text, len);
    return len;
}

static void send_hook(struct rig *w, unsigned *seed)
{
    char text[ROOM];
    struct service_answer answer;
    bool parked = false;
    size_t i = next_random(seed) % (sizeof payloads / sizeof payloads[0]);
    size_t len = damaged(seed, payloads[i], text);
    struct frame_meta meta = {.wait_ms = next_random(seed) % 10000, .harness = "gemini"};
    snprintf(meta.event, sizeof meta.event, "%s", events[i]);
    const struct service_hook hook = {.token = ++w->token,
                                      .peer = {.pid = 1, .uid = 1000, .gid = 1000},
                                      .meta = &meta,
                                      .deadline_ms = w->now.mono_ms + meta.wait_ms,
                                      .payload = (const uint8_t *)text,
                                      .payload_len = len};
    assert_int_equal(service_hook(w->service, &hook, &parked, &answer), ERR_OK);
    if (parked)
        return;
    assert_int_equal(buf_err(&answer.out), ERR_OK);
    assert_true(answer.out.len > 0 && answer.out.len < FRAME_MAX_OUT && answer.err.len < FRAME_MAX_OUT);
    buf_wipe(&answer.out);
    buf_wipe(&answer.err);
    service_delivered(w->service, hook.token);
}

static void send_request(struct rig *w, unsigned *seed, const char *id)
{
    char whole[ROOM], text[ROOM];
    const char *request = requests[next_random(seed) % (sizeof requests / sizeof requests[0])];
    const char *at = strchr(request, '@');
    struct peer peer = {.pid = 1, .uid = 1000, .gid = 1000};
    struct buf reply;
    bool refused = false;
    if (at == NULL)
        snprintf(whole, sizeof whole, "%s", request);
    else
        snprintf(whole, sizeof whole, "%.*s%s%s", (int)(at - request), request, id, at + 1);
    size_t len = damaged(seed, whole, text);
    buf_init(&reply, FRAME_MAX_REPLY);
    assert_int_equal(service_request(w->service, &peer, (const uint8_t *)text, len, &reply, &refused), ERR_OK);
    assert_true(reply.len > 2 && reply.data[0] == '{');
    buf_wipe(&reply);
}

static void any_bytes_are_served(void **state)
{
    struct rig *w = *state;
    struct rig_hook got;
    char id[RIG_ID_BYTES] = "apr-00000000";
    unsigned seed = take_seed();
    for (int round = 0; round < ROUNDS; round++) {
        assert_int_equal(service_begin(w->service, &w->now), ERR_OK);
        for (int i = 0; i < BATCH; i++) {
            if (next_random(&seed) % 3 > 0)
                send_hook(w, &seed);
            else
                send_request(w, &seed, id);
        }
        assert_int_equal(service_commit(w->service), ERR_OK);
        while (rig_next_answer(w, &got))
            service_delivered(w->service, got.token);
        if (rig_pending_count(w) > 0)
            rig_pending_id(w, 0, id);
        rig_pass(w, next_random(&seed) % 4000);
        rig_tick(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {RIG_TEST(any_bytes_are_served)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
