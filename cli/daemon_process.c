#include "cli/daemon_process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FIRST_OTHER = STDERR_FILENO + 1, OTHERS_WITHOUT_PROC = 1024 };

/* What the new process tells: who it is, and what went wrong when something did. Nothing more comes once it runs. */
struct word {
    pid_t pid;
    int error;
};

static void tell(int pipe_end, pid_t pid, int error)
{
    struct word word = {.pid = pid, .error = error};
    ssize_t n = write(pipe_end, &word, sizeof word);
    (void)n; /* nobody else to tell */
}

/* Those that are open now, but for `kept`. */
static void close_others(int kept)
{
    DIR *list = opendir("/proc/self/fd");
    if (list == NULL) {
        for (int fd = FIRST_OTHER; fd < OTHERS_WITHOUT_PROC; fd++)
            if (fd != kept)
                close(fd);
        return;
    }
    for (struct dirent *entry = readdir(list); entry != NULL; entry = readdir(list)) {
        char *end = NULL;
        long fd = strtol(entry->d_name, &end, 10);
        if (end != entry->d_name && *end == '\0' && fd >= FIRST_OTHER && fd != kept && fd != dirfd(list))
            close((int)fd);
    }
    closedir(list);
}

static int set_descriptors(int log)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0)
        return -1;
    /* One that was already in its place, because there was none, would go with the start of the program. */
    for (int fd = 0; fd < FIRST_OTHER; fd++)
        if (fcntl(fd, F_SETFD, 0) != 0)
            return -1;
    return 0;
}

/* Signals as a program expects them; ours ignores SIGPIPE, and who started us may have set others. */
static int set_signals(void)
{
    static const int USUAL[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGCHLD, SIGTSTP};
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigset_t none;
    sigemptyset(&none);
    for (size_t i = 0; i < sizeof USUAL / sizeof USUAL[0]; i++)
        if (sigaction(USUAL[i], &action, NULL) != 0)
            return -1;
    return sigprocmask(SIG_SETMASK, &none, NULL);
}

/* The grandchild: becomes the program, or says why not. */
static void become(const struct daemon_process *start, int pipe_end)
{
    tell(pipe_end, getpid(), 0);
    umask(077);
    if (set_descriptors(start->log) == 0 && set_signals() == 0 && chdir("/") == 0) {
        close_others(pipe_end);
        execve(start->argv[0], start->argv, start->environment);
    }
    tell(pipe_end, getpid(), errno);
    _exit(127);
}

/* The child: leads a session, which the grandchild does not. */
static void part(const struct daemon_process *start, int pipe_end)
{
    pid_t pid = setsid() < 0 ? -1 : fork();
    if (pid == 0)
        become(start, pipe_end);
    if (pid < 0)
        tell(pipe_end, 0, errno);
    _exit(0);
}

/* All that is told, until the program runs or its start has failed. */
static struct word listen_to(int pipe_end)
{
    struct word word = {.pid = 0, .error = ECHILD}, next;
    for (;;) {
        ssize_t n = read(pipe_end, &next, sizeof next);
        if (n == (ssize_t)sizeof next)
            word = next;
        else if (n >= 0 || errno != EINTR)
            return word;
    }
}

static void reap(pid_t child)
{
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        continue;
}

/* Descriptors above those that the new process puts in place. */
static int raise_up(int fd)
{
    int high = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, FIRST_OTHER) : -1;
    if (fd >= 0)
        close(fd);
    return high;
}

enum err daemon_process_start(const struct daemon_process *start, pid_t *pid, struct fault *fault)
{
    struct daemon_process mine = *start;
    struct word word = {.pid = 0, .error = 0};
    int ends[2] = {-1, -1};
    pid_t child = -1;
    if (pipe(ends) != 0)
        return fault_set(fault, ERR_IO, "cannot start a process: %s", strerror(errno));
    ends[0] = raise_up(ends[0]);
    ends[1] = raise_up(ends[1]);
    mine.log = fcntl(start->log, F_DUPFD_CLOEXEC, FIRST_OTHER);
    if (ends[0] >= 0 && ends[1] >= 0 && mine.log >= 0)
        child = fork();
    if (child == 0)
        part(&mine, ends[1]);
    word.error = errno;
    if (ends[1] >= 0)
        close(ends[1]);
    if (child > 0) {
        word = listen_to(ends[0]);
        reap(child);
    }
    if (ends[0] >= 0)
        close(ends[0]);
    if (mine.log >= 0)
        close(mine.log);
    if (child < 0 || word.error != 0)
        return fault_set(fault, ERR_IO, "cannot run %s: %s", start->argv[0], strerror(word.error));
    *pid = word.pid;
    return ERR_OK;
}
