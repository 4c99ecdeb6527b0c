/*
 * daemon.h - the dev-mode signer of the present user: looked for, started, stopped.
 *
 * Invariant: of one data directory there is one signer, whoever starts it and however often (starts wait for each other,
 * and the signer locks its directory). A signal goes to a process only when the kernel named it as the one that listens
 * on the control socket, it is ours, it is called tracekit-signer, it answered as a signer, and a descriptor of the
 * process itself carries the signal: a process id that is used again is never hit.
 *
 * Where a systemd user manager answers, the signer is a unit of it (daemon_unit.h); else it is a process without a
 * terminal that writes what it has to say into DATA/signer.log. Hostile: what listens on the control socket, and the
 * contents of the log; the environment and the command line are the user's.
 */
#ifndef CLI_DAEMON_H
#define CLI_DAEMON_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/paths.h"
#include "cli/term.h"
#include "evidence/err.h"

enum { DAEMON_NAME_BYTES = 64 };

enum daemon_manager { DAEMON_NOBODY, DAEMON_DETACHED, DAEMON_SYSTEMD };

struct daemon_setup {
    const char *data;   /* --data, or NULL for the default place (paths.h) */
    const char *signer; /* absolute path of the program tracekit-signer; see daemon_program */
    const char *search; /* where to find systemctl: directories as in PATH, or NULL for $PATH itself */
    bool forget;        /* daemon_down: the unit file goes, too */
};

struct daemon_state {
    bool running;                 /* a signer answers on the control socket */
    bool changed;                 /* daemon_up started it, daemon_down stopped it (or removed its unit) */
    enum daemon_manager manager;  /* who looks after it, or did */
    pid_t pid;                    /* 0 when it is not running, or in another pid namespace */
    uid_t uid;                    /* whose process it is */
    int64_t waiting;              /* hooks that wait for a person's answer: daemon_down denies their calls */
    char unit[DAEMON_NAME_BYTES]; /* of systemd, "" when it has none */
    char data[PATHS_MAX];         /* the data directory, absolute */
    char socket[PATHS_MAX];       /* the control socket */
    char log[PATHS_MAX];          /* DATA/signer.log; "" when systemd keeps the messages */
    int64_t log_from;             /* where in it this start's messages begin */
};

/* The absolute path of tracekit-signer beside the running program. Errors: PATH (it is not there, or no program). */
enum err daemon_program(char out[static PATHS_MAX], struct fault *fault) MUST_USE;

/* Looks, changes nothing. A signer that is not running is no error. Errors: PATH; PEER when another user's process, or
 * TIMEOUT, PROTOCOL, FRAME or CLOSED when something that is no signer, listens on the control socket. */
enum err daemon_look(const struct daemon_setup *setup, struct daemon_state *out, struct fault *fault) MUST_USE;

/* Starts the signer unless it runs (out->changed tells), and returns when it answers; waits for at most about 15
 * seconds. *out is filled in on failure too, as far as it is known: daemon_show_log then tells why. Errors: those of
 * daemon_look; IO, NOMEM; STATE (it ended, or systemd did not start it), TIMEOUT (it does not answer), each with a fault
 * that says what to do. */
enum err daemon_up(const struct daemon_setup *setup, struct daemon_state *out, struct fault *fault) MUST_USE;

/* Stops the signer when it runs (out->changed tells) and returns when its process is gone; waits for at most about 20
 * seconds. Calls that wait are denied; out->waiting says how many there were. A unit is disabled as well. Errors: those
 * of daemon_look; STATE (it is nothing that may be stopped from here), TIMEOUT (it does not end), IO. */
enum err daemon_down(const struct daemon_setup *setup, struct daemon_state *out, struct fault *fault) MUST_USE;

/* Prints the last lines that this start wrote into the log, made visible; nothing when there are none. */
void daemon_show_log(const struct term *t, const struct daemon_state *state);

#endif
