/*
 * loop_rig.h - what the tests of the event loop share: a signer with a service that only counts (loop_stub.h), in a
 * process of its own, and a client. Needs _GNU_SOURCE. Include it once.
 */
#ifndef UNIT_LOOP_RIG_H
#define UNIT_LOOP_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "signer/loop.h"
#include "tests/unit/loop_stub.h"
#include "tests/unit/scratch.h"

enum { PATIENCE_MS = 20 * 1000 };

/* --- the signer's process ---------------------------------------------------------------------------------------- */

struct rig {
    char directory[SCRATCH_PATH_BYTES];
    char agent[128], control[128];
    pid_t pid;
    int stop; /* closing it stops the signer */
};

static struct rig rig;
/* Longer than any test waits; set it before rig_start where a peer's time is to end. */
static struct conns_times rig_times = {.frame_ms = 60000, .write_ms = 60000, .idle_ms = 60000};

static inline int rig_count_fds(void)
{
    int count = 0;
    DIR *d = opendir("/proc/self/fd");
    while (d != NULL && readdir(d) != NULL)
        count++;
    if (d != NULL)
        closedir(d);
    return count;
}

static inline void rig_log(void *context, const char *line)
{
    struct rig_shared *s = context;
    snprintf(s->last_line, sizeof s->last_line, "%s", line);
    atomic_fetch_add(&s->lines, 1);
}

/* The child: its exit status is the loop's error. */
static inline void rig_serve(int stop_fd, int ready_fd)
{
    struct listen agent = {.fd = -1}, control = {.fd = -1};
    struct loop_setup setup = {
        .service = &stub,
        .agent = &agent,
        .control = &control,
        .stop_fd = stop_fd,
        .times = &rig_times,
        .log = rig_log,
        .log_context = shared,
    };
    struct fault fault = {""};
    enum err e = listen_open(rig.agent, (gid_t)-1, &agent, &fault);
    if (e == ERR_OK)
        e = listen_open(rig.control, (gid_t)-1, &control, &fault);
    int before = rig_count_fds();
    if (write(ready_fd, "r", 1) != 1)
        exit(200);
    if (e == ERR_OK)
        e = loop_run(&setup, &fault);
    int listening = (agent.fd >= 0) + (control.fd >= 0);
    shared->fds_left = rig_count_fds() - before + 2 - listening;
    if (e != ERR_OK)
        snprintf(shared->last_line, sizeof shared->last_line, "%.190s", fault.text);
    listen_close(&agent);
    listen_close(&control);
    exit((int)e);
}

static inline int rig_start(void **state)
{
    (void)state;
    int stop[2], ready[2];
    char byte;
    stub = (struct service){0};
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || pipe2(stop, O_CLOEXEC) != 0 || pipe2(ready, O_CLOEXEC) != 0)
        return -1;
    shared->tick_ms = 500;
    scratch_make(rig.directory);
    snprintf(rig.agent, sizeof rig.agent, "%s/agent.sock", rig.directory);
    snprintf(rig.control, sizeof rig.control, "%s/control.sock", rig.directory);
    fflush(NULL);
    rig.pid = fork();
    if (rig.pid < 0)
        return -1;
    if (rig.pid == 0) {
        close(stop[1]);
        close(ready[0]);
        rig_serve(stop[0], ready[1]);
    }
    close(stop[0]);
    close(ready[1]);
    rig.stop = stop[1];
    bool is_ready = read(ready[0], &byte, 1) == 1;
    close(ready[0]);
    return is_ready ? 0 : -1;
}

/* Asks the signer to stop and waits for it. Its exit status, or 1000 + the signal. */
static inline int rig_stop(void)
{
    int status = 0;
    if (rig.stop >= 0)
        close(rig.stop);
    rig.stop = -1;
    for (int64_t end = peer_now_ms() + PATIENCE_MS; peer_now_ms() < end;) {
        if (waitpid(rig.pid, &status, WNOHANG) == rig.pid) {
            rig.pid = -1;
            return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
        }
        poll(NULL, 0, 2);
    }
    kill(rig.pid, SIGKILL);
    waitpid(rig.pid, &status, 0);
    rig.pid = -1;
    return 1000 + SIGKILL;
}

/* Stops the signer if the test has not done so, and checks what must hold after every test. */
static inline int rig_end(void **state)
{
    (void)state;
    int status = rig.pid > 0 ? rig_stop() : 0;
    int bad = status != 0 || shared->disorder != 0 || shared->fds_left != 0;
    if (bad)
        print_error("signer's exit status %d (%s), %d calls out of order, %d descriptors left\n", status,
                    shared->last_line, (int)shared->disorder, (int)shared->fds_left);
    scratch_remove(rig.directory);
    munmap(shared, sizeof *shared);
    return bad;
}

/* --- the client -------------------------------------------------------------------------------------------------- */

static inline int64_t soon(void)
{
    return peer_now_ms() + PATIENCE_MS;
}

static inline int dial(const char *path)
{
    int fd = peer_connect(path, soon());
    assert_true(fd >= 0);
    return fd;
}

/* A HOOK frame's head and meta. */
static inline size_t hook_start(uint8_t out[static FRAME_HEAD_BYTES + FRAME_MAX_META], uint8_t flags,
                                size_t payload_len)
{
    struct frame_meta meta = {.wait_ms = 60000, .harness = "gemini", .event = "BeforeTool"};
    size_t len = frame_meta_write(&meta, out + FRAME_HEAD_BYTES);
    struct frame_head head = {.kind = FRAME_HOOK, .flags = flags, .a = (uint32_t)len, .b = (uint32_t)payload_len};
    frame_head_write(&head, out);
    return FRAME_HEAD_BYTES + len;
}

static inline int send_hook_bytes(const void *payload, size_t len)
{
    uint8_t start[FRAME_HEAD_BYTES + FRAME_MAX_META];
    size_t start_len = hook_start(start, 0, len);
    int fd = dial(rig.agent);
    assert_int_equal(peer_write(fd, start, start_len, soon()), 0);
    assert_int_equal(peer_write(fd, payload, len, soon()), 0);
    return fd;
}

static inline int send_hook(const char *payload)
{
    return send_hook_bytes(payload, strlen(payload));
}

/* Reads an answer and the end of the connection. */
static inline void expect_answer(int fd, bool allow, const char *out)
{
    uint8_t raw[FRAME_HEAD_BYTES];
    char text[2 * FRAME_MAX_OUT + 1];
    struct frame_head head;
    assert_int_equal(peer_read(fd, raw, sizeof raw, soon()), 0);
    assert_int_equal(frame_head_read(raw, &head), 0);
    assert_int_equal(head.kind, FRAME_ANSWER);
    assert_int_equal(head.flags, allow ? FRAME_ALLOW : 0);
    assert_int_equal(peer_read(fd, text, head.a + head.b, soon()), 0);
    text[head.a] = '\0';
    assert_string_equal(text, out);
    assert_int_equal(peer_read(fd, raw, 1, soon()), -1);
    assert_int_equal(errno, ECONNRESET);
    close(fd);
}

/* The other end closes without a byte. */
static inline void expect_closed(int fd)
{
    uint8_t byte;
    assert_int_equal(peer_read(fd, &byte, 1, soon()), -1);
    assert_int_equal(errno, ECONNRESET);
    close(fd);
}

/* Nothing comes within that time. */
static inline void expect_silence(int fd, int ms)
{
    uint8_t byte;
    assert_int_equal(peer_read(fd, &byte, 1, peer_now_ms() + ms), -1);
    assert_int_equal(errno, ETIMEDOUT);
}

static inline void send_request(int fd, const char *text)
{
    uint8_t raw[FRAME_HEAD_BYTES];
    struct frame_head head = {.kind = FRAME_REQUEST, .b = (uint32_t)strlen(text)};
    frame_head_write(&head, raw);
    assert_int_equal(peer_write(fd, raw, sizeof raw, soon()), 0);
    assert_int_equal(peer_write(fd, text, strlen(text), soon()), 0);
}

static inline size_t expect_reply(int fd, uint8_t flags)
{
    uint8_t raw[FRAME_HEAD_BYTES];
    struct frame_head head;
    assert_int_equal(peer_read(fd, raw, sizeof raw, soon()), 0);
    assert_int_equal(frame_head_read(raw, &head), 0);
    assert_int_equal(head.kind, FRAME_REPLY);
    assert_int_equal(head.flags, flags);
    uint8_t *text = malloc(head.b + 1);
    assert_non_null(text);
    assert_int_equal(peer_read(fd, text, head.b, soon()), 0);
    free(text);
    return head.b;
}

/* One request on a connection of its own. */
static inline void ask(const char *text, uint8_t flags)
{
    int fd = dial(rig.control);
    send_request(fd, text);
    expect_reply(fd, flags);
    close(fd);
}

/* Waits until a counter has a value. */
static inline void expect_count(const atomic_int *counter, int want)
{
    for (int64_t end = soon(); *counter != want && peer_now_ms() < end;)
        poll(NULL, 0, 2);
    assert_int_equal(*counter, want);
}

/* The signer serves as if nothing had happened. */
static inline void expect_alive(void)
{
    expect_answer(send_hook("allow"), true, "gemini BeforeTool 5 543");
}

#endif
