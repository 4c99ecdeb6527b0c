/*
 * daemon_systemd.h - the systemd manager of the present user.
 *
 * Invariant: it is used only when it answered that it runs; a unit file that we did not write is never replaced nor
 * removed; every call ends within a named time. Hostile: what systemctl prints, as far as a person's terminal goes.
 */
#ifndef CLI_DAEMON_SYSTEMD_H
#define CLI_DAEMON_SYSTEMD_H

#include <stdbool.h>
#include <sys/types.h>

#include "cli/daemon_env.h"
#include "cli/daemon_unit.h"
#include "cli/paths.h"
#include "evidence/err.h"

struct daemon_systemd {
    char systemctl[PATHS_MAX]; /* absolute */
    char *environment[DAEMON_ENV_MAX + 1];
    char unit[DAEMON_UNIT_NAME_BYTES];
    char file[PATHS_MAX]; /* where the unit lies, or would */
};

/* Fills in what is known without asking: the unit of a data directory (NULL: the default one) and its file. Errors:
 * PATH. */
enum err daemon_systemd_init(struct daemon_systemd *s, const char *data, struct fault *fault) MUST_USE;

/* Whether there is a user manager that works; fills in the rest. `search` as in PATH. Takes some seconds at most. */
bool daemon_systemd_works(struct daemon_systemd *s, const char *search);

/* Whether the unit's file is there and ours. */
bool daemon_systemd_has_unit(const struct daemon_systemd *s);

/* The unit's main process; 0 when it has none. */
pid_t daemon_systemd_pid(const struct daemon_systemd *s);

/* Writes the unit, enables and starts it; waits until it says that it is ready. Errors: PATH, IO, SYNC, NOMEM, STATE,
 * TIMEOUT, each with a fault that says what to do. */
enum err daemon_systemd_start(const struct daemon_systemd *s, const struct daemon_unit *unit,
                              struct fault *fault) MUST_USE;

/* Disables and stops it, and waits until it has ended. Errors as above. */
enum err daemon_systemd_stop(const struct daemon_systemd *s, struct fault *fault) MUST_USE;

/* Removes its file; one that is not there or not ours is left. `reload` tells a manager that works. Errors: IO. */
enum err daemon_systemd_forget(const struct daemon_systemd *s, bool reload, struct fault *fault) MUST_USE;

#endif
