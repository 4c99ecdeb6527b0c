/*
 * daemon_unit.h - the text of the systemd user unit that runs the signer.
 *
 * Invariant: each path stands in the unit so that systemd reads exactly that path again: quoted, with its specifiers
 * and variables taken out of force; a path that no unit file can hold is refused. The text begins with
 * DAEMON_UNIT_MARK, by which we know our own file again. Nothing in it gives the signer namespaces of its own: it
 * compares its namespaces with those of who calls (docs/approvals.md). Not hostile.
 */
#ifndef CLI_DAEMON_UNIT_H
#define CLI_DAEMON_UNIT_H

#include "evidence/buf.h"
#include "evidence/err.h"

#define DAEMON_UNIT_MARK "# Written by `tracekit up`; `tracekit up` writes it again.\n"

enum { DAEMON_UNIT_MAX_BYTES = 16 << 10, DAEMON_UNIT_NAME_BYTES = 64 };

struct daemon_unit {
    const char *signer; /* absolute path of the program */
    const char *data;   /* --data, absolute; or NULL */
    const char
        *home; /* the environment's HOME, XDG_DATA_HOME and XDG_RUNTIME_DIR; NULL where there is none. systemd's */
    const char *xdg_data_home; /* own may differ from those of the shell */
    const char *xdg_runtime_dir;
};

/* "tracekit-signer.service", or for a data directory of its own "tracekit-signer-1a2b3c4d.service". */
void daemon_unit_name(const char *data, char out[static DAEMON_UNIT_NAME_BYTES]);

/* Appends the unit. Errors: PATH, with a fault; NOMEM, TOO_LARGE. */
enum err daemon_unit_write(struct buf *out, const struct daemon_unit *unit, struct fault *fault) MUST_USE;

#endif
