/*
 * clients - many hooks at once, without the price of starting them.
 *
 *   clients SOCKET decide|fill SESSION CLIENTS COUNT
 *
 * CLIENTS processes that stay, each call of theirs on a connection of its own. With `decide` each has its own session and
 * makes COUNT BeforeTool calls one after the other, which is what is timed; when all are done each reports its COUNT
 * results (AfterTool). With `fill` all share one session, and each result follows its decision. Prints four numbers:
 * calls that were allowed, the microseconds from the first request to the last answer, those of the slowest call, and how
 * many clients gave up.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench.h"
#include "wire/frame.h"
#include "wire/peer.h"

enum { WAIT_MS = 30000, MAX_CLIENTS = 200, SESSION_BYTES = 64, PAYLOAD_BYTES = 1024 };

struct storm {
    const char *socket;
    bool fill;
    char session[SESSION_BYTES];
    size_t client, count;
    int gates[2][2]; /* pipes: when the other end is closed, all begin; and all go on */
    int report[2];   /* takes a byte from each that is there, and a result from each that has made its calls */
};

struct result {
    size_t allowed;
    double slowest_us;
};

/* What the real client sends for a shell command, this one new each time. */
static size_t write_payload(const struct storm *s, const char *event, size_t i, char out[static PAYLOAD_BYTES])
{
    bool ended = strcmp(event, "AfterTool") == 0;
    int n =
        snprintf(out, PAYLOAD_BYTES,
                 "{\"session_id\":\"%s\",\"transcript_path\":\"/home/user/.gemini/tmp/project/chats/session.jsonl\","
                 "\"cwd\":\"/home/user/project\",\"hook_event_name\":\"%s\","
                 "\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"tool_name\":\"run_shell_command\","
                 "\"tool_input\":{\"command\":\"make test-%zu-%zu\",\"description\":\"Runs a test.\"}%s}",
                 s->session, event, s->client, i,
                 ended ? ",\"tool_response\":{\"llmContent\":\"Output: ok\",\"returnDisplay\":\"ok\"}" : "");
    return (size_t)n;
}

static bool exchange(int fd, const uint8_t *frame, size_t len, int64_t deadline)
{
    uint8_t bytes[FRAME_HEAD_BYTES], text[2 * FRAME_MAX_OUT];
    struct frame_head head;
    return peer_write(fd, frame, len, deadline) == 0 && peer_read(fd, bytes, sizeof bytes, deadline) == 0 &&
           frame_head_read(bytes, &head) == 0 && peer_read(fd, text, (size_t)head.a + head.b, deadline) == 0 &&
           (head.flags & FRAME_ALLOW) != 0;
}

static bool call(const struct storm *s, const char *event, size_t i)
{
    uint8_t frame[FRAME_HEAD_BYTES + FRAME_MAX_META + PAYLOAD_BYTES], *at = frame + FRAME_HEAD_BYTES;
    struct frame_meta meta = {.wait_ms = WAIT_MS, .harness = "gemini"};
    snprintf(meta.event, sizeof meta.event, "%s", event);
    int64_t deadline = peer_now_ms() + WAIT_MS;
    size_t meta_len = frame_meta_write(&meta, at);
    size_t payload_len = write_payload(s, event, i, (char *)at + meta_len);
    frame_head_write(&(struct frame_head){.kind = FRAME_HOOK, .a = (uint32_t)meta_len, .b = (uint32_t)payload_len},
                     frame);
    int fd = peer_connect(s->socket, deadline);
    if (fd < 0)
        return false;
    bool allowed = exchange(fd, frame, FRAME_HEAD_BYTES + meta_len + payload_len, deadline);
    close(fd);
    return allowed;
}

/* One call and, with `fill`, its result. False when it was not allowed. */
static bool one_call(const struct storm *s, struct result *r)
{
    double began = bench_now_us();
    if (!call(s, "BeforeTool", r->allowed))
        return false;
    double took = bench_now_us() - began;
    if (s->fill && !call(s, "AfterTool", r->allowed))
        return false;
    r->slowest_us = took > r->slowest_us ? took : r->slowest_us;
    r->allowed++;
    return true;
}

static _Noreturn void be_client(const struct storm *s)
{
    char byte = 0;
    struct result r = {.allowed = 0};
    close(s->gates[0][1]);
    close(s->gates[1][1]);
    if (write(s->report[1], &byte, 1) != 1 || read(s->gates[0][0], &byte, 1) != 0)
        _exit(1);
    while (r.allowed < s->count && one_call(s, &r))
        ;
    if (write(s->report[1], &r, sizeof r) != (ssize_t)sizeof r || read(s->gates[1][0], &byte, 1) != 0)
        _exit(1);
    for (size_t i = 0; !s->fill && i < r.allowed; i++)
        if (!call(s, "AfterTool", i))
            _exit(1);
    _exit(0);
}

static void start_clients(struct storm *s, size_t clients, const char *session)
{
    for (s->client = 0; s->client < clients; s->client++) {
        if (s->fill)
            snprintf(s->session, sizeof s->session, "%.40s", session);
        else
            snprintf(s->session, sizeof s->session, "%.40s-%zu", session, s->client);
        pid_t pid = fork();
        if (pid < 0)
            bench_fail("fork");
        if (pid == 0)
            be_client(s);
    }
}

static void read_report(const struct storm *s, void *out, size_t len)
{
    if (read(s->report[0], out, len) != (ssize_t)len)
        bench_die("a client is gone");
}

/* Lets them begin when all are there, and prints when all are done. How many gave up. */
static size_t watch_clients(const struct storm *s, size_t clients)
{
    struct result all = {.allowed = 0};
    size_t gave_up = 0;
    for (size_t i = 0; i < clients; i++)
        read_report(s, &(char){0}, 1);
    double began = bench_now_us();
    close(s->gates[0][1]);
    for (size_t i = 0; i < clients; i++) {
        struct result r;
        read_report(s, &r, sizeof r);
        all.allowed += r.allowed;
        all.slowest_us = r.slowest_us > all.slowest_us ? r.slowest_us : all.slowest_us;
        gave_up += r.allowed < s->count;
    }
    printf("%zu %.0f %.0f ", all.allowed, bench_now_us() - began, all.slowest_us);
    close(s->gates[1][1]);
    return gave_up;
}

int main(int argc, char **argv)
{
    struct storm s = {.fill = argc == 6 && strcmp(argv[2], "fill") == 0};
    int status = 0;
    if (argc != 6 || (!s.fill && strcmp(argv[2], "decide") != 0))
        bench_die("usage: clients SOCKET decide|fill SESSION CLIENTS COUNT");
    size_t clients = bench_count(argv[4]);
    if (clients > MAX_CLIENTS)
        bench_die("too many clients");
    s.socket = argv[1];
    s.count = bench_count(argv[5]);
    if (pipe(s.gates[0]) != 0 || pipe(s.gates[1]) != 0 || pipe(s.report) != 0)
        bench_fail("pipe");
    start_clients(&s, clients, argv[3]);
    close(s.report[1]);
    size_t gave_up = watch_clients(&s, clients);
    while (wait(&status) > 0)
        gave_up += status != 0;
    printf("%zu\n", gave_up);
    return 0;
}
