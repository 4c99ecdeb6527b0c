#define _GNU_SOURCE
#include "tests/unit/loop_rig.h"

enum { NOBODY = 65534 };

/* Whether the connection has been closed by now. */
static bool is_closed(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    uint8_t byte;
    return poll(&p, 1, 0) == 1 && recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK) <= 0;
}

static void a_user_has_so_many_connections(void **state)
{
    (void)state;
    int fds[300], closed = 0;
    uint8_t start[FRAME_HEAD_BYTES + FRAME_MAX_META + 4];
    size_t len = hook_start(start, 0, 4);
    memcpy(start + len, "park", 4);
    for (int i = 0; i < 300; i++) {
        fds[i] = dial(rig.agent);
        /* May fail: a connection over the limit is closed at once. */
        if (peer_write(fds[i], start, len + 4, soon()) != 0)
            assert_true(errno == EPIPE || errno == ECONNRESET);
    }
    expect_count(&shared->hooks, CONNS_PER_USER);
    for (int64_t end = soon(); closed != 300 - CONNS_PER_USER && peer_now_ms() < end; poll(NULL, 0, 5)) {
        closed = 0;
        for (int i = 0; i < 300; i++)
            closed += is_closed(fds[i]);
    }
    assert_int_equal(closed, 300 - CONNS_PER_USER);
    ask("hello", FRAME_ERROR); /* a person gets through all the same */
    close(fds[0]);
    expect_count(&shared->gone, 1);
    expect_alive(); /* and a place that was left can be taken */
    ask("answer", 0);
    for (int i = 1; i < 300; i++) {
        if (i < CONNS_PER_USER)
            expect_answer(fds[i], true, "approved");
        else
            close(fds[i]);
    }
    expect_count(&shared->delivered, CONNS_PER_USER);
    assert_non_null(strstr(shared->last_line, " over a limit"));
}

static void a_slow_sender_is_dropped(void **state)
{
    (void)state;
    uint8_t frame[FRAME_HEAD_BYTES + FRAME_MAX_META];
    size_t len = hook_start(frame, 0, 100);
    int64_t begin = peer_now_ms();
    int silent = dial(rig.agent), dripping = dial(rig.agent), half = dial(rig.agent), request = dial(rig.control);
    assert_int_equal(peer_write(half, frame, len, soon()), 0);
    assert_int_equal(peer_write(request, "TKC1\3", 5, soon()), 0);
    for (size_t i = 0; i < len && peer_write(dripping, frame + i, 1, soon()) == 0; i++)
        poll(NULL, 0, 100);
    expect_closed(dripping);
    assert_in_range(peer_now_ms() - begin, 1400, 15000);
    expect_closed(silent);
    expect_closed(half);
    expect_closed(request);
    assert_int_equal(shared->hooks + shared->requests, 0);
    expect_alive();
}

static void an_idle_control_connection_is_closed(void **state)
{
    (void)state;
    int fd = dial(rig.control);
    poll(NULL, 0, 2000); /* longer than a frame may take */
    send_request(fd, "hello");
    expect_reply(fd, FRAME_ERROR);
    int64_t begin = peer_now_ms();
    expect_closed(fd);
    assert_in_range(peer_now_ms() - begin, 2500, 15000);
    assert_int_equal(shared->lines, 0); /* nothing that a person has to know */
}

static void a_slow_reader_is_dropped(void **state)
{
    (void)state;
    int fd = dial(rig.control);
    send_request(fd, "big 4000000");
    expect_count(&shared->requests, 1);
    expect_alive(); /* nobody waits for it */
    poll(NULL, 0, 4000);
    uint8_t bytes[65536];
    size_t got = 0;
    ssize_t n;
    while ((n = read(fd, bytes, sizeof bytes)) > 0 || (n < 0 && errno == EAGAIN && poll(NULL, 0, 5) == 0))
        got += n > 0 ? (size_t)n : 0;
    assert_true(got < 4000000);
    close(fd);
    expect_alive();
}

/* Announces a large payload and sends none of it. */
static int announce_large(void)
{
    uint8_t start[FRAME_HEAD_BYTES + FRAME_MAX_META];
    size_t len = hook_start(start, 0, FRAME_MAX_PAYLOAD - 100);
    int fd = dial(rig.agent);
    assert_int_equal(peer_write(fd, start, len, soon()), 0);
    poll(NULL, 0, 20);
    return fd;
}

/* Large payloads that do not come on keep their room; small ones, and a person, have theirs. */
static void large_frames_wait_for_room(void **state)
{
    (void)state;
    static uint8_t payload[FRAME_MAX_PAYLOAD - 100];
    int fds[4];
    for (int i = 0; i < 4; i++)
        fds[i] = announce_large();
    assert_int_equal(peer_write(fds[3], payload, sizeof payload, peer_now_ms() + 300), -1);
    assert_int_equal(errno, ETIMEDOUT);
    close(fds[3]); /* goes while it waits */
    fds[3] = announce_large();
    expect_alive();
    ask("hello", FRAME_ERROR);
    assert_int_equal(shared->hooks, 1);
    assert_int_equal(peer_write(fds[0], payload, sizeof payload, soon()), 0);
    expect_answer(fds[0], true, "gemini BeforeTool 16777116 0");
    assert_int_equal(peer_write(fds[3], payload, sizeof payload, soon()), 0);
    expect_answer(fds[3], true, "gemini BeforeTool 16777116 0");
    close(fds[1]);
    close(fds[2]);
}

static void who_waits_for_room_is_not_called_slow(void **state)
{
    (void)state;
    uint8_t start[FRAME_HEAD_BYTES + FRAME_MAX_META];
    static uint8_t payload[1 << 20];
    int fds[6];
    for (int i = 0; i < 6; i++) /* three have room, and then the other three */
        fds[i] = announce_large();
    int fd = dial(rig.agent);
    int64_t begin = peer_now_ms();
    size_t len = hook_start(start, 0, sizeof payload);
    assert_int_equal(peer_write(fd, start, len, soon()), 0);
    assert_int_equal(peer_write(fd, payload, sizeof payload, soon()), 0);
    expect_answer(fd, true, "gemini BeforeTool 1048576 0");
    assert_true(peer_now_ms() - begin > rig_times.frame_ms + 500);
    for (int i = 0; i < 6; i++)
        expect_closed(fds[i]);
}

/* The processor time that a process has used, in clock ticks: fields 14 and 15 of its stat file. */
static long cpu_ticks(pid_t pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = '\0';
    char *at = strrchr(text, ')');
    assert_non_null(at);
    for (int field = 2; field < 14; field++) {
        at = strchr(at + 1, ' ');
        assert_non_null(at);
    }
    long user = strtol(at, &at, 10);
    return user + strtol(at, NULL, 10);
}

/* The descriptors that the signer has open. Counted after an answer of the loop: before that, it still opens its own. */
static int open_descriptors(void)
{
    char path[64];
    int count = 0;
    snprintf(path, sizeof path, "/proc/%ld/fd", (long)rig.pid);
    DIR *d = opendir(path);
    assert_non_null(d);
    for (struct dirent *entry; (entry = readdir(d)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(d);
    return count;
}

static void limit_descriptors(int control, int most)
{
    char request[32];
    snprintf(request, sizeof request, "fds %d", most);
    send_request(control, request);
    expect_reply(control, 0);
}

static void without_descriptors(bool with_spare)
{
    int control = dial(rig.control), waiting[20];
    limit_descriptors(control, 256);
    limit_descriptors(control, with_spare ? open_descriptors() : 3);
    long before = cpu_ticks(rig.pid);
    for (int i = 0; i < 20; i++) {
        waiting[i] = dial(rig.agent);
        (void)peer_write(waiting[i], "T", 1, soon());
    }
    poll(NULL, 0, 1000);
    assert_true(cpu_ticks(rig.pid) - before < sysconf(_SC_CLK_TCK) / 10);
    limit_descriptors(control, 256);
    for (int i = 0; i < 20; i++)
        close(waiting[i]);
    expect_alive();
    close(control);
}

static void without_descriptors_connections_are_refused(void **state)
{
    (void)state;
    without_descriptors(true); /* the spare one is left, with which all are refused at once */
    assert_non_null(strstr(shared->last_line, "over a limit"));
    without_descriptors(false); /* not even that: it waits a little before it tries again */
}

static void the_control_socket_is_for_one_user(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    assert_int_equal(chmod(rig.directory, 0755), 0);
    assert_int_equal(chmod(rig.agent, 0666), 0);
    assert_int_equal(chmod(rig.control, 0666), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        uint8_t byte;
        if (setgid(NOBODY) != 0 || setuid(NOBODY) != 0)
            _exit(2);
        int control = peer_connect(rig.control, soon()), agent = peer_connect(rig.agent, soon());
        uint8_t frame[FRAME_HEAD_BYTES + FRAME_MAX_META];
        size_t len = hook_start(frame, 0, 0);
        if (control < 0 || peer_read(control, &byte, 1, soon()) == 0 || errno != ECONNRESET)
            _exit(3);
        if (agent < 0 || peer_write(agent, frame, len, soon()) != 0 || peer_read(agent, &byte, 1, soon()) != 0)
            _exit(4);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_equal(shared->requests, 0);
    assert_int_equal(shared->hooks, 1);
    assert_int_equal(shared->last_uid, NOBODY);
    ask("hello", FRAME_ERROR);
}

/* Random bytes, cut and joined frames, sudden ends: the signer outlives all of them. */
static void noise_hurts_nobody_else(void **state)
{
    (void)state;
    const char *given = getenv("TEST_SEED");
    unsigned seed = given != NULL ? (unsigned)strtoul(given, NULL, 10) : (unsigned)time(NULL);
    print_message("seed %u\n", seed);
    int parked = send_hook("park");
    expect_count(&shared->hooks, 1);
    for (int i = 0; i < 1500; i++) {
        uint8_t bytes[256] = {0};
        size_t len = hook_start(bytes, 0, (size_t)(rand_r(&seed) % 64));
        int control = rand_r(&seed) % 2;
        if (control != 0)
            len = (size_t)snprintf((char *)bytes, sizeof bytes, "TKC1\3%c%c%c%c%c%c%c%c%c%c%chello", 0, 0, 0, 0, 0, 0,
                                   0, 0, 0, 0, 5);
        for (int k = rand_r(&seed) % 4; k > 0; k--)
            bytes[(size_t)rand_r(&seed) % len] ^= (uint8_t)(1 << rand_r(&seed) % 8);
        len += (size_t)rand_r(&seed) % 64;
        int fd = dial(control != 0 ? rig.control : rig.agent);
        size_t cut = (size_t)rand_r(&seed) % len;
        if (peer_write(fd, bytes, cut, soon()) == 0 && rand_r(&seed) % 4 != 0)
            (void)peer_write(fd, bytes + cut, len - cut, soon());
        if (rand_r(&seed) % 8 == 0)
            shutdown(fd, SHUT_RD);
        close(fd);
    }
    expect_alive();
    ask("answer", 0);
    expect_answer(parked, true, "approved");
}

/* Peers have little time. */
static int start_hasty(void **state)
{
    rig_times = (struct conns_times){.frame_ms = 1500, .write_ms = 1500, .idle_ms = 3000};
    return rig_start(state);
}

static int end_hasty(void **state)
{
    rig_times = (struct conns_times){.frame_ms = 60000, .write_ms = 60000, .idle_ms = 60000};
    return rig_end(state);
}

#define HASTY(name) cmocka_unit_test_setup_teardown(name, start_hasty, end_hasty)
#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_start, rig_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_user_has_so_many_connections),
        HASTY(a_slow_sender_is_dropped),
        HASTY(an_idle_control_connection_is_closed),
        HASTY(a_slow_reader_is_dropped),
        TEST(large_frames_wait_for_room),
        HASTY(who_waits_for_room_is_not_called_slow),
        TEST(without_descriptors_connections_are_refused),
        TEST(the_control_socket_is_for_one_user),
        TEST(noise_hurts_nobody_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
