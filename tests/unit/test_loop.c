#define _GNU_SOURCE
#include "tests/unit/loop_rig.h"

#include "signer/batch.h"

static void a_hook_is_answered(void **state)
{
    (void)state;
    int64_t before = peer_now_ms();
    expect_answer(send_hook("allow"), true, "gemini BeforeTool 5 543");
    assert_in_range(shared->last_deadline_ms, before + 60000 - 1500, peer_now_ms() + 60000);
    assert_int_equal(shared->last_uid, getuid());
    assert_int_equal(shared->last_pid, getpid());
    expect_answer(send_hook("deny"), false, "gemini BeforeTool 4 432");
    expect_answer(send_hook(""), true, "gemini BeforeTool 0 0");
    expect_count(&shared->delivered, 3);
    assert_int_equal(shared->undelivered, 0);
}

static void frames_may_come_byte_by_byte(void **state)
{
    (void)state;
    uint8_t frame[FRAME_HEAD_BYTES + FRAME_MAX_META + 5];
    size_t len = hook_start(frame, 0, 5);
    memcpy(frame + len, "allow", 5);
    int fds[3];
    for (int i = 0; i < 3; i++)
        fds[i] = dial(rig.agent);
    for (size_t i = 0; i < len + 5; i++) {
        for (int k = 0; k < 3; k++)
            assert_int_equal(peer_write(fds[k], frame + i, 1, soon()), 0);
        if (i % 8 == 0)
            poll(NULL, 0, 1);
    }
    for (int i = 0; i < 3; i++)
        expect_answer(fds[i], true, "gemini BeforeTool 5 543");
}

static void the_largest_payload_is_read(void **state)
{
    (void)state;
    char want[64];
    unsigned sum = 0;
    uint8_t *payload = malloc(FRAME_MAX_PAYLOAD);
    assert_non_null(payload);
    for (size_t i = 0; i < FRAME_MAX_PAYLOAD; i++)
        sum += payload[i] = (uint8_t)(i * 7 + i / 1000);
    snprintf(want, sizeof want, "gemini BeforeTool %d %u", FRAME_MAX_PAYLOAD, sum);
    expect_answer(send_hook_bytes(payload, FRAME_MAX_PAYLOAD), true, want);
    free(payload);
}

static void an_oversize_payload_is_announced(void **state)
{
    (void)state;
    uint8_t frame[FRAME_HEAD_BYTES + FRAME_MAX_META];
    size_t len = hook_start(frame, FRAME_OVERSIZE, 0);
    int fd = dial(rig.agent);
    assert_int_equal(peer_write(fd, frame, len, soon()), 0);
    expect_answer(fd, true, "gemini BeforeTool 0 0");
    assert_int_equal(shared->last_oversize, 1);
}

/* Sends bytes and expects that the connection ends, and nothing else. */
static void breaks(const char *path, const void *bytes, size_t len)
{
    int fd = dial(path), hooks = shared->hooks, requests = shared->requests;
    assert_int_equal(peer_write(fd, bytes, len, soon()), 0);
    expect_closed(fd);
    assert_int_equal(shared->hooks, hooks);
    assert_int_equal(shared->requests, requests);
}

static void breaks_head(const char *path, uint8_t kind, uint8_t flags, uint32_t a, uint32_t b)
{
    uint8_t raw[FRAME_HEAD_BYTES];
    struct frame_head head = {.kind = kind, .flags = flags, .a = a, .b = b};
    frame_head_write(&head, raw);
    breaks(path, raw, sizeof raw);
}

static void whoever_breaks_a_rule_is_closed(void **state)
{
    (void)state;
    breaks(rig.agent, "GET / HTTP/1.1\r\n", 16);
    breaks(rig.control, "GET / HTTP/1.1\r\n", 16);
    breaks(rig.agent, "TKC2\1\0\0\0\0\0\0\x20\0\0\0\0", 16);
    breaks(rig.agent, "TKC1\1\0\0\1\0\0\0\x20\0\0\0\0", 16);
    breaks_head(rig.agent, FRAME_HOOK, 0, FRAME_MAX_META + 1, 1);
    breaks_head(rig.agent, FRAME_HOOK, 0, 22, FRAME_MAX_PAYLOAD + 1);
    breaks_head(rig.agent, FRAME_HOOK, 0, 0xffffffff, 0xffffffff);
    breaks_head(rig.agent, FRAME_HOOK, FRAME_OVERSIZE, 22, 1);
    breaks_head(rig.agent, FRAME_HOOK, 0x80, 22, 1);
    breaks_head(rig.agent, 9, 0, 0, 0);
    breaks_head(rig.control, FRAME_REQUEST, 0, 0, FRAME_MAX_REQUEST + 1);
    breaks_head(rig.control, FRAME_REQUEST, 0, 1, 1);
    expect_alive();
    ask("hello", FRAME_ERROR);
}

static void each_socket_understands_its_own_kind(void **state)
{
    (void)state;
    breaks_head(rig.agent, FRAME_REQUEST, 0, 0, 2);
    breaks_head(rig.agent, FRAME_REPLY, 0, 0, 2);
    breaks_head(rig.agent, FRAME_ANSWER, 0, 2, 0);
    breaks_head(rig.control, FRAME_HOOK, 0, 22, 2);
    breaks_head(rig.control, FRAME_REPLY, 0, 0, 2);
    breaks_head(rig.control, FRAME_ANSWER, 0, 2, 0);
    expect_alive();
}

static void a_bad_meta_is_a_broken_rule(void **state)
{
    (void)state;
    uint8_t frame[FRAME_HEAD_BYTES + FRAME_MAX_META];
    size_t len = hook_start(frame, 0, 0);
    frame[FRAME_HEAD_BYTES + 5] = '/';
    breaks(rig.agent, frame, len);
    hook_start(frame, 0, 0);
    frame[FRAME_HEAD_BYTES + 4] = 60;
    breaks(rig.agent, frame, len);
    breaks_head(rig.agent, FRAME_HOOK, 0, 0, 0);
    expect_alive();
}

static void half_a_frame_reaches_nobody(void **state)
{
    (void)state;
    uint8_t frame[FRAME_HEAD_BYTES + FRAME_MAX_META];
    size_t len = hook_start(frame, 0, 100);
    for (size_t i = 0; i <= len; i++) {
        int fd = dial(rig.agent);
        assert_int_equal(peer_write(fd, frame, i, soon()), 0);
        close(fd);
    }
    expect_alive();
    assert_int_equal(shared->hooks, 1);
}

static void answers_leave_only_after_the_commit(void **state)
{
    (void)state;
    shared->commit_ms = 300;
    for (int i = 0; i < 3; i++) {
        int commits = shared->commits;
        int fd = send_hook("allow");
        uint8_t byte;
        assert_int_equal(peer_read(fd, &byte, 1, soon()), 0);
        assert_true(shared->commits > commits);
        close(fd);
        fd = dial(rig.control);
        commits = shared->commits;
        send_request(fd, "x");
        assert_int_equal(peer_read(fd, &byte, 1, soon()), 0);
        assert_true(shared->commits > commits);
        close(fd);
    }
}

static void what_is_ready_together_shares_a_commit(void **state)
{
    (void)state;
    int fds[200];
    shared->commit_ms = 500;
    int before = shared->commits;
    for (int i = 0; i < 200; i++)
        fds[i] = send_hook("allow");
    for (int i = 0; i < 200; i++)
        expect_answer(fds[i], true, "gemini BeforeTool 5 543");
    assert_int_equal(shared->hooks, 200);
    assert_true(shared->commits - before < 50);
    assert_in_range(shared->most, 10, 256);
}

static void after_a_failed_commit_nobody_is_answered(void **state)
{
    (void)state;
    int parked = send_hook("park");
    expect_count(&shared->hooks, 1);
    shared->commit_fails = 1;
    int fd = send_hook("allow"), control = dial(rig.control);
    expect_closed(fd);
    expect_closed(parked);
    expect_closed(control);
    assert_int_equal(rig_stop(), ERR_SYNC);
    assert_non_null(strstr(shared->last_line, "nobody was answered"));
}

static void after_a_failed_hook_nobody_is_answered(void **state)
{
    (void)state;
    shared->commit_ms = 200; /* so that the next two come in one batch */
    int first = send_hook("allow");
    expect_count(&shared->hooks, 1);
    int good = send_hook("allow"), bad = send_hook("fail");
    expect_answer(first, true, "gemini BeforeTool 5 543");
    expect_closed(good);
    expect_closed(bad);
    assert_int_equal(rig_stop(), ERR_STORE);
}

static void after_a_failed_request_nobody_is_answered(void **state)
{
    (void)state;
    int fd = dial(rig.control);
    send_request(fd, "fail");
    expect_closed(fd);
    assert_int_equal(rig_stop(), ERR_NOMEM);
}

static void a_parked_hook_gets_its_answer_later(void **state)
{
    (void)state;
    int fd = send_hook("park");
    expect_silence(fd, 300);
    expect_alive();
    ask("answer", 0);
    expect_answer(fd, true, "approved");
    expect_count(&shared->delivered, 2);
    assert_int_equal(shared->gone, 0);
}

static void a_parked_hook_that_goes_is_reported(void **state)
{
    (void)state;
    for (int i = 1; i <= 20; i++) {
        int fd = send_hook("park");
        expect_count(&shared->hooks, i);
        if (i % 2 == 0)
            shutdown(fd, SHUT_WR);
        else
            close(fd);
        expect_count(&shared->gone, i);
        assert_int_equal(shared->last_gone_was_parked, 1);
        if (i % 2 == 0)
            expect_closed(fd);
    }
    ask("answer", 0);
    expect_alive();
    assert_int_equal(shared->undelivered, 0);
}

/* It sends its frame and dies at once: the frame counts, and so does its end. */
static void a_hook_that_dies_right_after_its_frame_is_served(void **state)
{
    (void)state;
    shared->commit_ms = 50;
    close(send_hook("park"));
    expect_count(&shared->gone, 1);
    close(send_hook("allow"));
    expect_count(&shared->undelivered, 1);
    assert_int_equal(shared->hooks, 2);
    assert_int_equal(shared->delivered, 0);
}

/* The answer is on its way in the very batch during which the hook goes. */
static void an_answer_for_a_hook_that_went_is_undelivered(void **state)
{
    (void)state;
    int fd = send_hook("park"), control = dial(rig.control);
    expect_count(&shared->hooks, 1);
    shared->commit_ms = 300;
    send_request(control, "answer");
    expect_count(&shared->requests, 1);
    close(fd);
    expect_reply(control, 0);
    expect_count(&shared->undelivered, 1);
    assert_int_equal(shared->gone, 0);
    close(control);
}

/* The same, when there is so much to do that the news of its end has to wait for the next batch. */
static void even_when_the_news_comes_a_batch_later(void **state)
{
    (void)state;
    enum { HOOKS = 253, REQUESTS = 6 };
    int parked = send_hook("park"), answer = dial(rig.control), hooks[HOOKS], requests[REQUESTS];
    expect_count(&shared->hooks, 1);
    shared->commit_ms = 3000;
    int busy = send_hook("allow");
    expect_count(&shared->hooks, 2);
    send_request(answer, "answer"); /* all this while the commit goes on */
    for (int i = 0; i < HOOKS; i++)
        hooks[i] = send_hook("allow");
    for (int i = 0; i < REQUESTS; i++) {
        requests[i] = dial(rig.control);
        send_request(requests[i], "hello");
    }
    close(parked);
    assert_int_equal(shared->requests, 0);
    expect_count(&shared->delivered, 1);
    shared->commit_ms = 0;
    expect_count(&shared->undelivered, 1);
    assert_int_equal(shared->gone, 0);
    assert_int_equal(shared->most, BATCH_MAX);
    expect_reply(answer, 0);
    close(answer);
    for (int i = 0; i < HOOKS; i++)
        expect_answer(hooks[i], true, "gemini BeforeTool 5 543");
    for (int i = 0; i < REQUESTS; i++) {
        expect_reply(requests[i], FRAME_ERROR);
        close(requests[i]);
    }
    expect_answer(busy, true, "gemini BeforeTool 5 543");
}

static void a_parked_hook_says_nothing_more(void **state)
{
    (void)state;
    int fd = send_hook("park");
    expect_count(&shared->hooks, 1);
    assert_int_equal(peer_write(fd, "x", 1, soon()), 0);
    expect_closed(fd);
    expect_count(&shared->gone, 1);
    assert_int_equal(shared->last_gone_was_parked, 1);
}

static void an_answer_that_is_no_frame_is_undelivered(void **state)
{
    (void)state;
    expect_closed(send_hook("too-long"));
    expect_count(&shared->undelivered, 1);
    expect_alive();
}

static void a_control_connection_asks_again_and_again(void **state)
{
    (void)state;
    int fd = dial(rig.control);
    for (int i = 0; i < 50; i++) {
        send_request(fd, i % 2 == 0 ? "hello" : "big 100000");
        assert_int_equal(expect_reply(fd, i % 2 == 0 ? FRAME_ERROR : 0), i % 2 == 0 ? 5 : 100000);
    }
    send_request(fd, "one");
    send_request(fd, "three");
    assert_int_equal(expect_reply(fd, FRAME_ERROR), 3);
    assert_int_equal(expect_reply(fd, FRAME_ERROR), 5);
    send_request(fd, "big 4194304");
    assert_int_equal(expect_reply(fd, 0), 4194304);
    close(fd);
}

static void time_is_given_to_the_service(void **state)
{
    (void)state;
    shared->tick_ms = 20;
    poll(NULL, 0, 1200); /* the tick before was up to half a second away */
    int ticks = shared->ticks;
    poll(NULL, 0, 400);
    assert_in_range(shared->ticks - ticks, 3, 22);
    shared->tick_ms = -1; /* never again, it says */
    poll(NULL, 0, 100);
    ticks = shared->ticks;
    poll(NULL, 0, 2200);
    assert_in_range(shared->ticks - ticks, 1, 3);
    shared->tick_ms = 0; /* always */
    poll(NULL, 0, 1200);
    ticks = shared->ticks;
    poll(NULL, 0, 200);
    assert_in_range(shared->ticks - ticks, 5, 201);
}

static void a_stop_answers_parked_hooks(void **state)
{
    (void)state;
    int fds[100];
    for (int i = 0; i < 100; i++)
        fds[i] = send_hook("park");
    expect_count(&shared->hooks, 100);
    int idle = dial(rig.control), half = dial(rig.agent);
    assert_int_equal(peer_write(half, "TKC1", 4, soon()), 0);
    expect_alive();
    assert_int_equal(rig_stop(), ERR_OK);
    for (int i = 0; i < 100; i++)
        expect_answer(fds[i], false, "stopped");
    expect_closed(idle);
    expect_closed(half);
    assert_int_equal(shared->stops, 1);
    assert_int_equal(shared->gone, 0);
    assert_int_equal(shared->delivered, 101);
    assert_int_not_equal(access(rig.agent, F_OK), 0);
    assert_int_not_equal(access(rig.control, F_OK), 0);
}

static void a_stop_does_not_wait_for_ever(void **state)
{
    (void)state;
    int fd = dial(rig.control);
    send_request(fd, "big 4194304");
    expect_count(&shared->requests, 1);
    poll(NULL, 0, 200);
    int64_t begin = peer_now_ms();
    close(rig.stop);
    rig.stop = -1;
    while (access(rig.agent, F_OK) == 0 || access(rig.control, F_OK) == 0)
        assert_true(peer_now_ms() < begin + PATIENCE_MS && poll(NULL, 0, 2) == 0);
    /* It waits for the answer to be taken, and nobody can come any more. */
    assert_true(peer_now_ms() - begin < LOOP_FLUSH_MS - 200);
    assert_int_equal(waitpid(rig.pid, NULL, WNOHANG), 0);
    assert_int_equal(rig_stop(), ERR_OK);
    assert_in_range(peer_now_ms() - begin, 1500, 10000);
    close(fd);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_start, rig_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_hook_is_answered),
        TEST(frames_may_come_byte_by_byte),
        TEST(the_largest_payload_is_read),
        TEST(an_oversize_payload_is_announced),
        TEST(whoever_breaks_a_rule_is_closed),
        TEST(each_socket_understands_its_own_kind),
        TEST(a_bad_meta_is_a_broken_rule),
        TEST(half_a_frame_reaches_nobody),
        TEST(answers_leave_only_after_the_commit),
        TEST(what_is_ready_together_shares_a_commit),
        TEST(after_a_failed_commit_nobody_is_answered),
        TEST(after_a_failed_hook_nobody_is_answered),
        TEST(after_a_failed_request_nobody_is_answered),
        TEST(a_parked_hook_gets_its_answer_later),
        TEST(a_parked_hook_that_goes_is_reported),
        TEST(a_hook_that_dies_right_after_its_frame_is_served),
        TEST(an_answer_for_a_hook_that_went_is_undelivered),
        TEST(even_when_the_news_comes_a_batch_later),
        TEST(a_parked_hook_says_nothing_more),
        TEST(an_answer_that_is_no_frame_is_undelivered),
        TEST(a_control_connection_asks_again_and_again),
        TEST(time_is_given_to_the_service),
        TEST(a_stop_answers_parked_hooks),
        TEST(a_stop_does_not_wait_for_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
