#include "cli/temporary.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

static const int deadly[] = {SIGINT, SIGTERM, SIGHUP};
enum { DEADLY_COUNT = sizeof deadly / sizeof deadly[0] };

/* The file. Changed only while the signals are blocked. */
static const char *doomed;
static struct sigaction before[DEADLY_COUNT];

static void end(int number)
{
    unlink(doomed);
    /* SA_RESETHAND has brought the default back: this ends the program when the handler returns. */
    raise(number);
}

static void block(sigset_t *old)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < DEADLY_COUNT; i++)
        sigaddset(&set, deadly[i]);
    sigprocmask(SIG_BLOCK, &set, old);
}

int temporary_make(char *path)
{
    struct sigaction action = {0};
    sigset_t old;
    assert(doomed == NULL);
    action.sa_handler = end;
    action.sa_flags = SA_RESETHAND;
    sigemptyset(&action.sa_mask);
    block(&old);
    int fd = mkstemp(path);
    int saved = errno;
    if (fd >= 0) {
        doomed = path;
        for (size_t i = 0; i < DEADLY_COUNT; i++) {
            sigaction(deadly[i], NULL, &before[i]);
            if (before[i].sa_handler != SIG_IGN)
                sigaction(deadly[i], &action, NULL);
        }
    }
    sigprocmask(SIG_SETMASK, &old, NULL);
    errno = saved;
    return fd;
}

void temporary_forget(void)
{
    sigset_t old;
    if (doomed == NULL)
        return;
    block(&old);
    for (size_t i = 0; i < DEADLY_COUNT; i++)
        sigaction(deadly[i], &before[i], NULL);
    doomed = NULL;
    sigprocmask(SIG_SETMASK, &old, NULL);
}
