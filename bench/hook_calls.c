/*
 * hook_calls - two commands, started in turns as Gemini starts a hook; how long does each take?
 *
 *   hook_calls COUNT PAYLOAD SYNC-FILE|- OURS... -- FLOOR...
 *
 * A Unix socket pair for each standard stream, the payload written and its stream closed, both outputs read to their
 * end, and the process waited for. After FLOOR, and counted with it, 1 KiB is appended to SYNC-FILE and synced; with -
 * nothing is. Prints five numbers: the median times of OURS, of FLOOR, of FLOOR without the append, and of the append,
 * in microseconds; and how many of OURS did not let the call go on.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench.h"
#include "cli/hook_command.h"

enum { WARM_UP = 10, APPEND_BYTES = 1024, OUTPUT_BYTES = 4096 };

/* What ends a hook that allows: the guard's status, and the hook's own. */
enum { GUARD_ALLOWS = 0, HOOK_ALLOWS = 42 };

struct bench_call {
    char **command;
    const struct buf *payload;
};

static void become(char **command, int streams[3])
{
    for (int i = 0; i < 3; i++)
        if (dup2(streams[i], i) < 0)
            _exit(126);
    execvp(command[0], command);
    _exit(127);
}

static pid_t start(char **command, int ends[3])
{
    int pairs[3][2];
    for (int i = 0; i < 3; i++)
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pairs[i]) != 0)
            bench_fail("socketpair");
    pid_t pid = fork();
    if (pid < 0)
        bench_fail("fork");
    if (pid == 0)
        become(command, (int[]){pairs[0][1], pairs[1][1], pairs[2][1]});
    for (int i = 0; i < 3; i++) {
        close(pairs[i][1]);
        ends[i] = pairs[i][0];
    }
    return pid;
}

/* Reads to the end; what comes is short enough for the socket's own room. */
static size_t drain(int fd, char out[static OUTPUT_BYTES])
{
    size_t len = 0;
    ssize_t n = 0;
    while (len < OUTPUT_BYTES && ((n = read(fd, out + len, OUTPUT_BYTES - len)) > 0 || (n < 0 && errno == EINTR)))
        len += n > 0 ? (size_t)n : 0;
    close(fd);
    return len;
}

/* Runs it once; microseconds. *allowed: it says so by its status. */
static double run(const struct bench_call *call, bool *allowed)
{
    int ends[3], status = 0;
    char out[OUTPUT_BYTES];
    double began = bench_now_us();
    pid_t pid = start(call->command, ends);
    (void)!send(ends[0], call->payload->data, call->payload->len, MSG_NOSIGNAL);
    close(ends[0]);
    drain(ends[1], out);
    drain(ends[2], out);
    if (waitpid(pid, &status, 0) != pid)
        bench_fail("waitpid");
    double took = bench_now_us() - began;
    *allowed = WIFEXITED(status) && (WEXITSTATUS(status) == GUARD_ALLOWS || WEXITSTATUS(status) == HOOK_ALLOWS);
    return took;
}

static double append(int fd)
{
    static const char bytes[APPEND_BYTES];
    if (fd < 0)
        return 0;
    double began = bench_now_us();
    if (write(fd, bytes, sizeof bytes) != (ssize_t)sizeof bytes || fdatasync(fd) != 0)
        bench_fail("cannot append and sync");
    return bench_now_us() - began;
}

static void measure(const struct bench_call *ours, const struct bench_call *floor, int fd, size_t count)
{
    double *times[4];
    size_t failed = 0;
    for (int i = 0; i < 4; i++)
        times[i] = bench_alloc(count, sizeof **times);
    for (size_t i = 0; i < WARM_UP + count; i++) {
        bool allowed = false, started = false;
        double call = run(ours, &allowed), process = run(floor, &started), sync = append(fd);
        if (!started)
            bench_die("the floor's command failed");
        failed += !allowed;
        if (i < WARM_UP)
            continue;
        times[0][i - WARM_UP] = call;
        times[1][i - WARM_UP] = process + sync;
        times[2][i - WARM_UP] = process;
        times[3][i - WARM_UP] = sync;
    }
    for (int i = 0; i < 4; i++) {
        printf("%.1f ", bench_median(times[i], count));
        free(times[i]);
    }
    printf("%zu\n", failed);
}

int main(int argc, char **argv)
{
    struct buf payload;
    struct bench_call ours = {.payload = &payload}, floor = ours;
    int fd = -1;
    for (int i = 5; i + 1 < argc && floor.command == NULL; i++) {
        if (strcmp(argv[i], "--") != 0)
            continue;
        argv[i] = NULL;
        ours.command = &argv[4];
        floor.command = &argv[i + 1];
    }
    if (floor.command == NULL)
        bench_die("usage: hook_calls COUNT PAYLOAD SYNC-FILE|- OURS... -- FLOOR...");
    if (strcmp(argv[3], "-") != 0 && (fd = open(argv[3], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) < 0)
        bench_fail(argv[3]);
    /* As in the settings. */
    for (const struct hook_variable *v = HOOK_COMMAND_ENVIRONMENT; v->name != NULL; v++)
        setenv(v->name, v->value, 1);
    bench_read(argv[2], &payload);
    measure(&ours, &floor, fd, bench_count(argv[1]));
    buf_wipe(&payload);
    return 0;
}
