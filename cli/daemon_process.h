/*
 * daemon_process.h - the signer as a process without a terminal.
 *
 * Invariant: it is in a session of its own and not its leader, in "/", with umask 077; it holds /dev/null as standard
 * input and output, the log as standard error, and no other descriptor: whoever waits for the end of our output does not
 * wait for it. Not hostile.
 */
#ifndef CLI_DAEMON_PROCESS_H
#define CLI_DAEMON_PROCESS_H

#include <sys/types.h>

#include "evidence/err.h"

struct daemon_process {
    char *const *argv; /* argv[0] is an absolute path */
    char *const *environment;
    int log; /* stays the caller's */
};

/* Returns when the program runs. Errors: IO, with a fault. */
enum err daemon_process_start(const struct daemon_process *start, pid_t *pid, struct fault *fault) MUST_USE;

#endif
