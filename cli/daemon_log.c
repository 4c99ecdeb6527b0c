#include "cli/daemon_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/paths.h"
#include "wire/peer.h"

#define OLD_NAME DAEMON_LOG_NAME ".1"

enum { PAUSE_MS = 50 };

static enum err failed(const char *what, const char *path, struct fault *fault)
{
    return fault_set(fault, ERR_IO, "%s %s: %s", what, path, strerror(errno));
}

/* mkdir -p: what is there already is looked at later. */
static enum err make(const char *path, struct fault *fault)
{
    char part[PATHS_MAX];
    size_t len = strlen(path);
    if (len >= sizeof part)
        return fault_set(fault, ERR_PATH, "the data directory's path is too long; choose a shorter one");
    memcpy(part, path, len + 1);
    for (size_t i = 1; i <= len; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        part[i] = '\0';
        if (mkdir(part, 0700) != 0 && errno != EEXIST && errno != EISDIR)
            return failed("cannot make the directory", part, fault);
        part[i] = path[i];
    }
    return ERR_OK;
}

static enum err check(int fd, const char *path, struct fault *fault)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return failed("cannot examine", path, fault);
    if (st.st_uid != geteuid())
        return fault_set(fault, ERR_PATH, "the data directory %s belongs to user %ju; give --data another one", path,
                         (uintmax_t)st.st_uid);
    if ((st.st_mode & 077) != 0)
        return fault_set(fault, ERR_PATH, "the data directory is open to others; run: chmod 700 %s", path);
    return ERR_OK;
}

static enum err lock(int fd, int timeout_ms, struct fault *fault)
{
    const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000L};
    int64_t deadline_ms = peer_now_ms() + timeout_ms;
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return fault_set(fault, ERR_IO, "cannot lock the data directory: %s", strerror(errno));
        if (peer_now_ms() >= deadline_ms)
            return fault_set(fault, ERR_TIMEOUT,
                             "another `tracekit up` is at work on this data directory and does not end");
        nanosleep(&pause, NULL);
    }
    return ERR_OK;
}

enum err daemon_log_enter(const char *path, int timeout_ms, int *directory, struct fault *fault)
{
    enum err e = make(path, fault);
    if (e != ERR_OK)
        return e;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && (errno == ELOOP || errno == ENOTDIR))
        return fault_set(fault, ERR_PATH,
                         "the data directory %s is no directory, or a symbolic link; give --data another one", path);
    if (fd < 0)
        return failed("cannot open the data directory", path, fault);
    e = check(fd, path, fault);
    if (e == ERR_OK)
        e = lock(fd, timeout_ms, fault);
    if (e == ERR_OK)
        *directory = fd;
    else
        close(fd);
    return e;
}

static enum err open_log(int directory, int *out, struct stat *st, struct fault *fault)
{
    int fd = openat(directory, DAEMON_LOG_NAME,
                    O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
    if (fd < 0)
        return failed("cannot open", DAEMON_LOG_NAME, fault);
    if (fstat(fd, st) != 0 || !S_ISREG(st->st_mode) || st->st_uid != geteuid() || fchmod(fd, 0600) != 0) {
        close(fd);
        return fault_set(fault, ERR_PATH, "%s in the data directory is no regular file of ours; move it away",
                         DAEMON_LOG_NAME);
    }
    *out = fd;
    return ERR_OK;
}

enum err daemon_log_open(int directory, int *log, int64_t *from, struct fault *fault)
{
    struct stat st;
    int fd = -1;
    enum err e = open_log(directory, &fd, &st, fault);
    if (e == ERR_OK && st.st_size > DAEMON_LOG_MAX_BYTES) {
        close(fd);
        if (renameat(directory, DAEMON_LOG_NAME, directory, OLD_NAME) != 0)
            return failed("cannot put aside", DAEMON_LOG_NAME, fault);
        e = open_log(directory, &fd, &st, fault);
    }
    if (e != ERR_OK)
        return e;
    *log = fd;
    *from = st.st_size;
    return ERR_OK;
}

/* Where the last lines of a text begin. */
static size_t last_lines(const char *text, size_t len, unsigned lines)
{
    size_t at = len;
    while (at > 0) {
        if (text[at - 1] == '\n' && at != len && lines-- <= 1)
            break;
        at--;
    }
    return at;
}

void daemon_log_tail(const char *path, int64_t from, struct buf *out)
{
    char text[4096];
    struct stat st;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > from) {
        off_t start = st.st_size - from > (off_t)sizeof text ? st.st_size - (off_t)sizeof text : (off_t)from;
        ssize_t n = pread(fd, text, sizeof text, start);
        size_t len = n > 0 ? (size_t)n : 0;
        size_t at = last_lines(text, len, DAEMON_LOG_LINES);
        buf_put(out, text + at, len - at);
    }
    close(fd);
}
