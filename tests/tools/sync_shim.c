/*
 * sync_shim - a disk that misbehaves when asked to confirm a write, for LD_PRELOAD under the signer.
 *
 *   SYNC_FAIL_FROM=N   from the N-th confirmation on (counted from 1), fsync and fdatasync fail with EIO
 *   SYNC_DELAY_MS=N    each confirmation takes so long
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>

int fsync(int fd);
int fdatasync(int fd);

static int confirm(const char *name, int fd)
{
    static long seen;
    const char *fail_from = getenv("SYNC_FAIL_FROM"), *delay = getenv("SYNC_DELAY_MS");
    int (*real)(int) = NULL;
    *(void **)(&real) = dlsym(RTLD_NEXT, name);
    seen++;
    if (delay != NULL) {
        long ms = strtol(delay, NULL, 10);
        struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
        nanosleep(&t, NULL);
    }
    if (fail_from != NULL && seen >= strtol(fail_from, NULL, 10)) {
        errno = EIO;
        return -1;
    }
    return real(fd);
}

int fsync(int fd)
{
    return confirm("fsync", fd);
}

int fdatasync(int fd)
{
    return confirm("fdatasync", fd);
}
