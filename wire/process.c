#define _GNU_SOURCE /* syscall */
#include "wire/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "wire/peer.h"

enum { NAME_BYTES = 16, FILE_BYTES = 4096 };

int process_open(pid_t pid)
{
    if (pid <= 0) {
        errno = ESRCH;
        return -1;
    }
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

int process_signal(int process, int number)
{
    return (int)syscall(SYS_pidfd_send_signal, process, number, NULL, 0);
}

bool process_has_ended(int process, int timeout_ms)
{
    int64_t deadline_ms = peer_now_ms() + timeout_ms;
    struct pollfd p = {.fd = process, .events = POLLIN};
    for (;;) {
        int64_t left = deadline_ms - peer_now_ms();
        int n = poll(&p, 1, left > 0 ? (int)left : 0);
        if (n > 0)
            return (p.revents & POLLIN) != 0;
        if (n == 0 || errno != EINTR)
            return false;
    }
}

/* The file it runs, without its folder; false when the kernel does not say. */
static bool is_file(pid_t pid, const char *name, bool *known)
{
    static const char GONE[] = " (deleted)";
    char path[64], target[FILE_BYTES];
    snprintf(path, sizeof path, "/proc/%ld/exe", (long)pid);
    ssize_t n = readlink(path, target, sizeof target - 1);
    *known = n > 0;
    if (n <= 0)
        return false;
    target[n] = '\0';
    const char *base = strrchr(target, '/');
    size_t len = base != NULL ? strlen(++base) : 0;
    if (len > sizeof GONE - 1 && strcmp(base + len - (sizeof GONE - 1), GONE) == 0)
        len -= sizeof GONE - 1;
    return base != NULL && len == strlen(name) && memcmp(base, name, len) == 0;
}

static bool is_comm(pid_t pid, const char *name)
{
    char path[64], comm[NAME_BYTES + 1];
    snprintf(path, sizeof path, "/proc/%ld/comm", (long)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, comm, sizeof comm - 1);
    close(fd);
    if (n > 0 && comm[n - 1] == '\n')
        n--;
    return n > 0 && (size_t)n == strlen(name) && memcmp(comm, name, (size_t)n) == 0;
}

bool process_is_called(pid_t pid, const char *name)
{
    bool known = false;
    bool is = is_file(pid, name, &known);
    return known ? is : is_comm(pid, name);
}
