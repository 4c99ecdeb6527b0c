/*
 * status_view.h - the page of `tracekit status`.
 *
 * Invariant: as status.h says. Hostile: the reply and the path.
 */
#ifndef CLI_STATUS_VIEW_H
#define CLI_STATUS_VIEW_H

#include "cli/daemon.h"
#include "cli/gate_file.h"
#include "cli/term.h"
#include "evidence/json.h"

struct status_view {
    const struct json *reply; /* to `status` (docs/wire.md); NULL: no signer answers */
    const char *why;          /* why not; "" for none */
    enum daemon_manager manager;
    const char *unit;
    enum gate_file gate;
    const char *settings; /* the file's path */
};

void status_view_print(const struct term *t, const struct status_view *v);

/* "yes", "no", "unreadable" */
const char *status_view_gate(enum gate_file gate);

/* "systemd", "detached", or "unknown" */
const char *status_view_manager(enum daemon_manager manager);

#endif
