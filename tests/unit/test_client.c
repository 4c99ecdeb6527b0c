#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/scratch.h"
#include "wire/client.h"
#include "wire/frame.h"
#include "wire/peer.h"

enum { SERVER_MS = 20000, ARENA_BYTES = 64 << 20 };

/* What the server answers to each request of one connection, in turn; after the last one it closes. */
struct answer {
    struct frame_head head;
    const char *text;
    size_t len;  /* how many bytes of head and text are sent */
    int hold_ms; /* and then nothing for so long */
};

static char scratch[SCRATCH_PATH_BYTES];
static char path[SCRATCH_PATH_BYTES + 16];
static int listener = -1;
static pthread_t server;
static const struct answer *answers;
static size_t answer_count;
static char request_text[FRAME_MAX_REQUEST + 1]; /* the newest request */

static int read_request(int fd)
{
    uint8_t bytes[FRAME_HEAD_BYTES];
    struct frame_head head;
    int64_t deadline = peer_now_ms() + SERVER_MS;
    if (peer_read(fd, bytes, sizeof bytes, deadline) != 0 || frame_head_read(bytes, &head) != 0 ||
        head.kind != FRAME_REQUEST || peer_read(fd, request_text, head.b, deadline) != 0)
        return -1;
    request_text[head.b] = '\0';
    return 0;
}

static void *serve(void *unused)
{
    int fd = accept(listener, NULL, NULL);
    for (size_t i = 0; i < answer_count && read_request(fd) == 0; i++) {
        const struct answer *a = &answers[i];
        uint8_t bytes[FRAME_HEAD_BYTES];
        char nothing;
        frame_head_write(&a->head, bytes);
        size_t head_len = a->len < sizeof bytes ? a->len : sizeof bytes;
        (void)!peer_write(fd, bytes, head_len, peer_now_ms() + SERVER_MS);
        (void)!peer_write(fd, a->text, a->len - head_len, peer_now_ms() + SERVER_MS);
        if (a->hold_ms > 0)
            (void)!peer_read(fd, &nothing, 1, peer_now_ms() + a->hold_ms);
    }
    close(fd);
    return unused;
}

static int setup(void **state)
{
    (void)state;
    struct sockaddr_un address;
    scratch_make(scratch);
    snprintf(path, sizeof path, "%s/s", scratch);
    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return peer_address(path, &address) != 0 ||
           bind(listener, (const struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 8) != 0;
}

static int teardown(void **state)
{
    (void)state;
    close(listener);
    scratch_remove(scratch);
    return 0;
}

static void start(const struct answer *script, size_t count)
{
    answers = script;
    answer_count = count;
    assert_int_equal(pthread_create(&server, NULL, serve, NULL), 0);
}

static struct answer reply(uint8_t flags, const char *text)
{
    struct frame_head head = {.kind = FRAME_REPLY, .flags = flags, .b = (uint32_t)strlen(text)};
    return (struct answer){head, text, FRAME_HEAD_BYTES + strlen(text), 0};
}

static void says(const struct fault *fault, const char *words)
{
    if (strstr(fault->text, words) == NULL)
        assert_string_equal(fault->text, words);
}

/* One call on `c` whose outcome must be `want`, with those words in reply or fault. */
static void call(struct client *c, enum err want, const char *words)
{
    struct arena *arena = arena_new(ARENA_BYTES);
    struct json *request = json_new_object(arena);
    const struct json *untouched = json_new_null(), *got = untouched;
    struct fault fault = {""};
    json_set_string(arena, request, "op", "hello");
    assert_int_equal(client_call(c, request, 2000, arena, &got, &fault), want);
    if (want == ERR_OK) {
        assert_true(json_equal_cstr(json_get(got, "answer"), words));
    } else {
        assert_ptr_equal(got, untouched);
        says(&fault, words);
    }
    arena_free(arena);
}

static struct client *open_here(void)
{
    struct client *c = NULL;
    assert_int_equal(client_open(path, (uid_t)-1, &c, NULL), ERR_OK);
    return c;
}

static void end(struct client *c)
{
    client_close(c);
    pthread_join(server, NULL);
}

/* A connection on which one answer leads to `want`, and a good one behind it is still read or not. */
static void one(struct answer a, enum err want, const char *words, bool goes_on)
{
    struct answer script[] = {a, reply(0, "{\"answer\":\"second\"}")};
    start(script, 2);
    struct client *c = open_here();
    call(c, want, words);
    if (goes_on)
        call(c, ERR_OK, "second");
    else
        call(c, ERR_CLOSED, "connect again");
    end(c);
}

static void a_request_is_answered(void **state)
{
    (void)state;
    one(reply(0, "{\"answer\":\"first\"}"), ERR_OK, "first", true);
    assert_string_equal(request_text, "{\"op\":\"hello\"}");
}

static void a_refusal_keeps_its_name(void **state)
{
    (void)state;
    one(reply(FRAME_ERROR, "{\"error\":\"NOT_FOUND\",\"message\":\"no run abc\"}"), ERR_NOT_FOUND, "no run abc", true);
    one(reply(FRAME_ERROR, "{\"error\":\"STATE\",\"message\":\"it has expired\"}"), ERR_STATE, "it has expired", true);
    one(reply(FRAME_ERROR, "{\"error\":\"FORBIDDEN\",\"message\":\"not you\"}"), ERR_FORBIDDEN, "not you", true);
    one(reply(FRAME_ERROR, "{\"error\":\"AMBIGUOUS\"}"), ERR_AMBIGUOUS, err_text(ERR_AMBIGUOUS), true);
    one(reply(FRAME_ERROR, "{\"error\":\"STATE\",\"message\":\"\"}"), ERR_STATE, err_text(ERR_STATE), true);
    one(reply(FRAME_ERROR, "{\"error\":\"STATE\",\"message\":7}"), ERR_STATE, err_text(ERR_STATE), true);
}

static void a_refusal_is_never_a_success(void **state)
{
    (void)state;
    one(reply(FRAME_ERROR, "{\"error\":\"OK\",\"message\":\"m\"}"), ERR_PROTOCOL, "m", true);
    one(reply(FRAME_ERROR, "{\"error\":\"NEW_ONE\",\"message\":\"m\"}"), ERR_PROTOCOL, "m", true);
    one(reply(FRAME_ERROR, "{\"error\":\"state\"}"), ERR_PROTOCOL, err_text(ERR_PROTOCOL), true);
    one(reply(FRAME_ERROR, "{}"), ERR_PROTOCOL, err_text(ERR_PROTOCOL), true);
    one(reply(FRAME_ERROR, "{\"answer\":\"yes\"}"), ERR_PROTOCOL, err_text(ERR_PROTOCOL), true);
}

static void a_reply_is_one_object(void **state)
{
    (void)state;
    one(reply(0, ""), ERR_PROTOCOL, "reply", true);
    one(reply(0, "[]"), ERR_PROTOCOL, "not an object", true);
    one(reply(0, "{\"answer\":\"first\"} x"), ERR_PROTOCOL, "at byte 19", true);
    one(reply(0, "{\"a\":1,\"a\":1}"), ERR_PROTOCOL, err_text(ERR_DUPLICATE_KEY), true);
    one(reply(0, "{\"answer\":\"\xff\"}"), ERR_PROTOCOL, err_text(ERR_UTF8), true);
}

static void a_frame_that_is_none_ends_it(void **state)
{
    (void)state;
    struct answer a = reply(0, "{\"answer\":\"first\"}");
    a.head.kind = FRAME_ANSWER;
    one(a, ERR_FRAME, "version", false);
    a.head.kind = 9;
    one(a, ERR_FRAME, "version", false);
    a.head = (struct frame_head){FRAME_REPLY, FRAME_ALLOW, 0, a.head.b};
    one(a, ERR_FRAME, "version", false);
    a.head = (struct frame_head){FRAME_REPLY, 0, 1, a.head.b};
    one(a, ERR_FRAME, "version", false);
    a.head = (struct frame_head){FRAME_REPLY, 0, 0, FRAME_MAX_REPLY + 1};
    one(a, ERR_FRAME, "version", false);
}

static void a_cut_reply_ends_it(void **state)
{
    (void)state;
    struct answer a = reply(0, "{\"answer\":\"first\"}");
    for (size_t len = 0; len < FRAME_HEAD_BYTES + strlen(a.text); len += 5) {
        struct answer script[] = {{a.head, a.text, len, 0}};
        start(script, 1);
        struct client *c = open_here();
        call(c, ERR_CLOSED, "closed the connection");
        call(c, ERR_CLOSED, "connect again");
        end(c);
    }
}

static void silence_ends_it(void **state)
{
    (void)state;
    struct answer a = reply(0, "{\"answer\":\"first\"}");
    a.len -= 1;
    a.hold_ms = SERVER_MS;
    int64_t began = peer_now_ms();
    one(a, ERR_TIMEOUT, "in time", false);
    int64_t ms = peer_now_ms() - began;
    assert_true(ms >= 1999 && ms < 10000);
}

static void a_long_request_is_not_sent(void **state)
{
    (void)state;
    struct answer script[] = {reply(0, "{\"answer\":\"first\"}")};
    start(script, 1);
    struct client *c = open_here();
    struct arena *arena = arena_new(ARENA_BYTES);
    struct json *request = json_new_object(arena);
    const struct json *got = NULL;
    struct fault fault = {""};
    char *text = calloc(1, FRAME_MAX_REQUEST + 1);
    assert_non_null(text);
    memset(text, 'x', FRAME_MAX_REQUEST);
    json_set_string(arena, request, "op", text);
    assert_int_equal(client_call(c, request, 2000, arena, &got, &fault), ERR_TOO_LARGE);
    says(&fault, "the request");
    assert_int_equal(client_call(c, NULL, 2000, arena, &got, &fault), ERR_NOMEM);
    /* Nothing of it was sent, so the connection is still good. */
    call(c, ERR_OK, "first");
    end(c);
    free(text);
    arena_free(arena);
}

static void the_largest_reply_fits(void **state)
{
    (void)state;
    char *text = malloc(FRAME_MAX_REPLY + 1);
    assert_non_null(text);
    memset(text, ' ', FRAME_MAX_REPLY);
    memcpy(text, "{\"answer\":\"first\"", 17);
    memcpy(text + FRAME_MAX_REPLY - 1, "}", 2);
    one(reply(0, text), ERR_OK, "first", true);
    free(text);
}

static void open_says(const char *to, uid_t uid, enum err want, const char *words)
{
    struct client *untouched = (struct client *)(void *)&scratch, *c = untouched;
    struct fault fault = {""};
    assert_int_equal(client_open(to, uid, &c, &fault), want);
    assert_ptr_equal(c, untouched);
    says(&fault, words);
}

static void who_listens_is_checked(void **state)
{
    (void)state;
    struct client *c = NULL;
    open_says(path, geteuid() + 1, ERR_PEER, "and that is not you");
    assert_int_equal(client_open(path, geteuid(), &c, NULL), ERR_OK);
    client_close(c);
    client_close(NULL);
}

static void what_cannot_be_opened_is_told(void **state)
{
    (void)state;
    char missing[SCRATCH_PATH_BYTES + 16], longer[200];
    snprintf(missing, sizeof missing, "%s/none", scratch);
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    open_says(missing, (uid_t)-1, ERR_CONNECT, "tracekit up");
    open_says(missing, (uid_t)-1, ERR_CONNECT, missing);
    open_says(scratch, (uid_t)-1, ERR_CONNECT, "no signer listens");
    open_says("", (uid_t)-1, ERR_PATH, "107");
    open_says(longer, (uid_t)-1, ERR_PATH, "107");
    int before = dup(0);
    close(before);
    for (int i = 0; i < 5; i++)
        open_says(path, geteuid() + 1, ERR_PEER, "");
    int after = dup(0);
    close(after);
    assert_int_equal(before, after);
}

int main(void)
{
#define WITH_SOCKET(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        WITH_SOCKET(a_request_is_answered),
        WITH_SOCKET(a_refusal_keeps_its_name),
        WITH_SOCKET(a_refusal_is_never_a_success),
        WITH_SOCKET(a_reply_is_one_object),
        WITH_SOCKET(a_frame_that_is_none_ends_it),
        WITH_SOCKET(a_cut_reply_ends_it),
        WITH_SOCKET(silence_ends_it),
        WITH_SOCKET(a_long_request_is_not_sent),
        WITH_SOCKET(the_largest_reply_fits),
        WITH_SOCKET(who_listens_is_checked),
        WITH_SOCKET(what_cannot_be_opened_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
