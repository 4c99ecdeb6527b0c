/*
 * gemini_run - runs one hook command as Gemini CLI does, and prints what Gemini would make of it.
 *
 *   gemini_run --command CMD [--env K=V]... [--timeout MS] [--cwd DIR] [--stdout FILE] [--stderr FILE] <payload
 *
 * `bash -c CMD` (bash from PATH) with a Unix socket pair for each standard stream; the payload is written and its stream
 * closed; after the timeout (60000) SIGTERM goes to that bash alone, and both output streams must still come to an end.
 * One line follows: ALLOW, DENY, ASK or STOP, how the command ended, and how many bytes it wrote; a second one holds the
 * text that decided.
 * Measured on Gemini CLI 0.61.0.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "evidence/arena.h"
#include "evidence/buf.h"
#include "evidence/json.h"
#include "evidence/visible.h"
#include "wire/peer.h"

enum {
    MAX_ENV = 32,
    MAX_BYTES = 64 << 20,
    MEMORY_BYTES = 512 << 20,
    DEFAULT_TIMEOUT_MS = 60000,
    LONGEST_MS = 3600 * 1000,
    GIVE_UP_MS = 60000, /* after the timeout, on streams that nobody closes */
};

struct job {
    const char *command, *cwd, *stdout_file, *stderr_file;
    char *env[MAX_ENV];
    size_t env_count;
    int timeout_ms;
    struct buf payload;
};

struct outcome {
    struct buf out, err;
    int exit_code; /* -1 when a signal ended it */
    int signal;
    bool timed_out, spawn_failed, gave_up;
    int64_t ms;
};

static void die(const char *what)
{
    fprintf(stderr, "gemini_run: %s: %s\n", what, strerror(errno));
    exit(70);
}

/* --- the command's process -------------------------------------------------------------------------------------- */

static void become_bash(const struct job *job, int streams[3], int report)
{
    if (job->cwd != NULL && chdir(job->cwd) != 0)
        _exit(71);
    for (int i = 0; i < 3; i++)
        if (dup2(streams[i], i) < 0)
            _exit(71);
    signal(SIGPIPE, SIG_DFL);
    char here[4096];
    if (getcwd(here, sizeof here) != NULL) {
        setenv("GEMINI_PROJECT_DIR", here, 1);
        setenv("GEMINI_CWD", here, 1);
        setenv("CLAUDE_PROJECT_DIR", here, 1);
    }
    for (size_t i = 0; i < job->env_count; i++)
        putenv(job->env[i]);
    execlp("bash", "bash", "-c", job->command, (char *)NULL);
    int saved = errno;
    (void)!write(report, &saved, sizeof saved);
    _exit(127);
}

/* Starts it. Returns its pid, or -1 with errno when there is no process to speak of; our ends go into `ends`. */
static pid_t start(const struct job *job, int ends[3])
{
    int pairs[3][2], report[2], error = 0;
    for (int i = 0; i < 3; i++)
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pairs[i]) != 0)
            die("socketpair");
    if (pipe2(report, O_CLOEXEC) != 0)
        die("pipe");
    pid_t pid = fork();
    if (pid < 0)
        die("fork");
    if (pid == 0)
        become_bash(job, (int[]){pairs[0][1], pairs[1][1], pairs[2][1]}, report[1]);
    close(report[1]);
    for (int i = 0; i < 3; i++) {
        close(pairs[i][1]);
        ends[i] = pairs[i][0];
        fcntl(ends[i], F_SETFL, O_NONBLOCK);
    }
    if (read(report[0], &error, sizeof error) == sizeof error) {
        waitpid(pid, NULL, 0);
        pid = -1;
    }
    close(report[0]);
    errno = error;
    return pid;
}

static void finish(int *fd)
{
    close(*fd);
    *fd = -1;
}

static void feed(int *fd, struct buf *payload)
{
    ssize_t n = send(*fd, payload->data, payload->len, MSG_NOSIGNAL);
    if (n > 0)
        buf_consume(payload, (size_t)n);
    if ((n < 0 && errno != EAGAIN && errno != EINTR) || payload->len == 0)
        finish(fd); /* EPIPE means nothing to Gemini */
}

static void drain(int *fd, struct buf *into)
{
    uint8_t *room = buf_reserve(into, 65536);
    if (room == NULL)
        die("too much output");
    ssize_t n = read(*fd, room, 65536);
    if (n > 0)
        buf_commit(into, (size_t)n);
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        finish(fd);
}

/* Carries the streams until both outputs are closed and the process has ended. */
static void carry(struct job *job, pid_t pid, int ends[3], struct outcome *o)
{
    int64_t began = peer_now_ms();
    bool ended = false;
    int status = 0;
    if (job->payload.len == 0)
        finish(&ends[0]);
    while (!ended || ends[1] >= 0 || ends[2] >= 0) {
        struct pollfd p[3] = {{ends[0], POLLOUT, 0}, {ends[1], POLLIN, 0}, {ends[2], POLLIN, 0}};
        poll(p, 3, ends[1] < 0 && ends[2] < 0 ? 1 : 10);
        if (p[0].revents != 0)
            feed(&ends[0], &job->payload);
        if (p[1].revents != 0)
            drain(&ends[1], &o->out);
        if (p[2].revents != 0)
            drain(&ends[2], &o->err);
        ended = ended || waitpid(pid, &status, WNOHANG) == pid;
        int64_t ms = peer_now_ms() - began;
        if (!o->timed_out && ms >= job->timeout_ms) {
            o->timed_out = true;
            if (!ended)
                kill(pid, SIGTERM);
        }
        if (ms >= (int64_t)job->timeout_ms + GIVE_UP_MS) {
            o->gave_up = true;
            if (!ended)
                kill(pid, SIGKILL);
            break;
        }
    }
    o->ms = peer_now_ms() - began;
    o->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    o->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/* --- the rules for the result ------------------------------------------------------------------------------------ */

/* White space as String.prototype.trim knows it, the BOM with it. */
static bool is_space(uint32_t c)
{
    return (c >= 0x09 && c <= 0x0d) || c == 0x20 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) ||
           c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000 || c == 0xfeff;
}

/* What Node makes of the bytes (U+FFFD for what is not UTF-8), trimmed. */
static void decode_trimmed(const struct buf *bytes, struct buf *text)
{
    size_t end = 0;
    for (size_t i = 0; i < bytes->len;) {
        uint32_t code = 0xfffd;
        size_t n = visible_decode(bytes->data + i, bytes->len - i, &code);
        if (n == 0)
            buf_puts(text, "\xef\xbf\xbd");
        else if (text->len > 0 || !is_space(code))
            buf_put(text, bytes->data + i, n);
        if (n == 0 || !is_space(code))
            end = text->len;
        i += n == 0 ? 1 : n;
    }
    text->len = end;
    if (buf_err(text) != ERR_OK)
        die("text");
}

/* JSON.parse; NULL when it throws. */
static const struct json *parse(struct arena *arena, const void *text, size_t len)
{
    const struct json *v = NULL;
    struct json_fault fault, loose;
    enum err e = json_parse_loose(arena, text, len, &v, &fault, &loose);
    if (e == ERR_DEPTH || e == ERR_NOMEM) {
        fprintf(stderr, "gemini_run: JSON too deep or large for this program\n");
        exit(70);
    }
    return e == ERR_OK ? v : NULL;
}

/* The verdict of an output object (an array has none of these members). */
static const char *judge_json(const struct json *v)
{
    const struct json *decision = json_get(v, "decision");
    if (json_is(json_get(v, "continue"), JSON_FALSE))
        return "STOP";
    if (json_equal_cstr(decision, "deny") || json_equal_cstr(decision, "block"))
        return "DENY";
    return json_equal_cstr(decision, "ask") ? "ASK" : "ALLOW";
}

static const char *judge(const struct outcome *o, struct arena *arena, struct buf *text)
{
    if (o->spawn_failed || o->timed_out)
        return "ALLOW";
    decode_trimmed(&o->out, text);
    if (text->len == 0)
        decode_trimmed(&o->err, text);
    if (text->len == 0)
        return "ALLOW";
    size_t len = 0;
    const struct json *v = parse(arena, text->data, text->len);
    if (json_is(v, JSON_STRING)) {
        const char *inner = json_text(v, &len);
        v = parse(arena, inner, len);
    }
    if (v != NULL)
        return judge_json(v);
    /* Plain text: a signal counts as 0, and 1 is but a warning. */
    return o->exit_code > 1 ? "DENY" : "ALLOW";
}

/* --- the command line -------------------------------------------------------------------------------------------- */

static void read_payload(struct buf *payload)
{
    for (;;) {
        uint8_t *room = buf_reserve(payload, 65536);
        if (room == NULL)
            die("payload too large");
        ssize_t n = read(STDIN_FILENO, room, 65536);
        if (n < 0)
            die("standard input");
        if (n == 0)
            return;
        buf_commit(payload, (size_t)n);
    }
}

static void save(const char *path, const struct buf *bytes)
{
    if (path == NULL)
        return;
    FILE *f = fopen(path, "wb");
    if (f == NULL || (bytes->len > 0 && fwrite(bytes->data, bytes->len, 1, f) != 1) || fclose(f) != 0)
        die(path);
}

static int read_ms(const char *text)
{
    char *end = NULL;
    errno = 0;
    long v = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || v < 0 || v > LONGEST_MS) {
        fprintf(stderr, "%s: not a time in milliseconds\n", text);
        exit(64);
    }
    return (int)v;
}

static void read_options(int argc, char **argv, struct job *job)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        char *value = argv[i + 1];
        if (strcmp(argv[i], "--command") == 0)
            job->command = value;
        else if (strcmp(argv[i], "--env") == 0 && job->env_count < MAX_ENV && strchr(value, '=') != NULL)
            job->env[job->env_count++] = value;
        else if (strcmp(argv[i], "--timeout") == 0)
            job->timeout_ms = read_ms(value);
        else if (strcmp(argv[i], "--cwd") == 0)
            job->cwd = value;
        else if (strcmp(argv[i], "--stdout") == 0)
            job->stdout_file = value;
        else if (strcmp(argv[i], "--stderr") == 0)
            job->stderr_file = value;
        else
            job->command = NULL, i = argc;
    }
    if (argc % 2 == 0 || job->command == NULL) {
        fprintf(stderr, "usage: gemini_run --command CMD [--env K=V]... [--timeout MS] [--cwd DIR] [--stdout FILE] "
                        "[--stderr FILE] <payload\n");
        exit(64);
    }
}

int main(int argc, char **argv)
{
    struct job job = {.timeout_ms = DEFAULT_TIMEOUT_MS};
    struct outcome o = {.exit_code = -1};
    struct buf text, shown;
    int ends[3];
    struct arena *arena = arena_new(MEMORY_BYTES);
    buf_init(&job.payload, MAX_BYTES);
    buf_init(&o.out, MAX_BYTES);
    buf_init(&o.err, MAX_BYTES);
    buf_init(&text, 4 * (size_t)MAX_BYTES);
    buf_init(&shown, 1 << 20);

    read_options(argc, argv, &job);
    read_payload(&job.payload);
    pid_t pid = start(&job, ends);
    o.spawn_failed = pid < 0;
    if (pid > 0)
        carry(&job, pid, ends, &o);
    save(job.stdout_file, &o.out);
    save(job.stderr_file, &o.err);

    const char *verdict = judge(&o, arena, &text);
    visible_write(&shown, (const char *)text.data, text.len, 2000);
    printf("%s exit=%d signal=%d timed_out=%d spawn_failed=%d gave_up=%d ms=%lld out=%zu err=%zu\n", verdict,
           o.exit_code, o.signal, o.timed_out, o.spawn_failed, o.gave_up, (long long)o.ms, o.out.len, o.err.len);
    printf("text: %.*s\n", (int)shown.len, shown.data == NULL ? "" : (const char *)shown.data);
    return 0;
}
