/*
 * cost - what one run of a program costs.
 *
 *   cost PROGRAM ARGUMENT...
 *
 * Its standard output goes to /dev/null. Prints three numbers: processor time in microseconds, peak resident memory in
 * KiB, exit status.
 */
#define _DEFAULT_SOURCE /* wait4 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench.h"

static double microseconds(struct timeval t)
{
    return (double)t.tv_sec * 1e6 + (double)t.tv_usec;
}

int main(int argc, char **argv)
{
    struct rusage used;
    int status = 0;
    if (argc < 2)
        bench_die("usage: cost PROGRAM ARGUMENT...");
    pid_t pid = fork();
    if (pid < 0)
        bench_fail("fork");
    if (pid == 0) {
        int out = open("/dev/null", O_WRONLY);
        if (out >= 0 && dup2(out, STDOUT_FILENO) >= 0)
            execvp(argv[1], &argv[1]);
        _exit(127);
    }
    if (wait4(pid, &status, 0, &used) != pid)
        bench_fail("wait4");
    printf("%.0f %ld %d\n", microseconds(used.ru_utime) + microseconds(used.ru_stime), used.ru_maxrss,
           WIFEXITED(status) ? WEXITSTATUS(status) : 255);
    return 0;
}
