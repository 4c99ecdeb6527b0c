#include "cli/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/program.h"
#include "wire/peer.h"

enum { READ_BYTES = 1024, PAUSE_MS = 5 };

bool tool_find(const char *name, const char *search, char out[static PATHS_MAX])
{
    char path[PATHS_MAX];
    for (const char *at = search; at != NULL; at = at[0] != '\0' ? at + 1 : NULL) {
        size_t len = strcspn(at, ":");
        int n = snprintf(path, sizeof path, "%.*s/%s", (int)(len < PATHS_MAX ? len : PATHS_MAX), at, name);
        if (at[0] == '/' && n > 0 && n < PATHS_MAX && program_is_there(path)) {
            memcpy(out, path, (size_t)n + 1);
            return true;
        }
        at += len;
    }
    return false;
}

/* Starts it with its outputs in `output` and nothing to read; SIGPIPE, which we ignore, is as usual again. */
static int spawn(char *const argv[], char *const environment[], int output, pid_t *pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t usual, none;
    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    if (posix_spawn_file_actions_init(&files) != 0)
        return -1;
    if (posix_spawnattr_init(&attributes) != 0) {
        posix_spawn_file_actions_destroy(&files);
        return -1;
    }
    int r = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (r == 0)
        r = posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    if (r == 0)
        r = posix_spawn_file_actions_adddup2(&files, output, STDERR_FILENO);
    if (r == 0)
        r = posix_spawnattr_setsigdefault(&attributes, &usual);
    if (r == 0)
        r = posix_spawnattr_setsigmask(&attributes, &none);
    if (r == 0)
        r = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    if (r == 0)
        r = posix_spawn(pid, argv[0], &files, &attributes, argv, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return r == 0 ? 0 : -1;
}

/* Reads until nobody holds the other end; false at the deadline. What does not fit is dropped. */
static bool drain(int fd, int64_t deadline_ms, struct buf *out)
{
    char bytes[READ_BYTES];
    for (;;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int64_t left = deadline_ms - peer_now_ms();
        int n = left > 0 ? poll(&p, 1, (int)left) : 0;
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        ssize_t got = read(fd, bytes, sizeof bytes);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return true;
        if (out != NULL && out->len < out->max) {
            size_t room = out->max - out->len;
            buf_put(out, bytes, (size_t)got < room ? (size_t)got : room);
        }
    }
}

/* Waits for the child, whom we kill at the deadline. */
static bool reap(pid_t pid, int64_t deadline_ms, int *status)
{
    const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000L};
    bool in_time = true;
    int word = 0;
    for (;;) {
        pid_t r = waitpid(pid, &word, in_time ? WNOHANG : 0);
        if (r == pid)
            break;
        if (r < 0 && errno != EINTR)
            return false;
        if (r == 0 && peer_now_ms() >= deadline_ms) {
            kill(pid, SIGKILL);
            in_time = false;
        } else if (r == 0) {
            nanosleep(&pause, NULL);
        }
    }
    *status = WIFEXITED(word) ? WEXITSTATUS(word) : 128 + WTERMSIG(word);
    return in_time;
}

enum err tool_run(char *const argv[], char *const environment[], int timeout_ms, struct buf *out, int *status)
{
    int64_t deadline_ms = peer_now_ms() + timeout_ms;
    int ends[2] = {-1, -1}, code = 0;
    pid_t pid = -1;
    if (pipe(ends) != 0)
        return ERR_IO;
    enum err e = ERR_IO;
    if (fcntl(ends[0], F_SETFD, FD_CLOEXEC) == 0 && fcntl(ends[1], F_SETFD, FD_CLOEXEC) == 0 &&
        spawn(argv, environment, ends[1], &pid) == 0)
        e = ERR_OK;
    close(ends[1]);
    if (e == ERR_OK) {
        if (!drain(ends[0], deadline_ms, out))
            deadline_ms = peer_now_ms();
        if (!reap(pid, deadline_ms, &code))
            e = ERR_TIMEOUT;
    }
    close(ends[0]);
    if (e == ERR_OK && out != NULL)
        e = buf_err(out);
    if (e == ERR_OK)
        *status = code;
    return e;
}
