/*
 * loop.h - the signer's event loop: one thread, one epoll set, batch after batch until it is told to stop.
 *
 * Invariant: everything that is ready together shares one transaction and one sync (signer/batch.h). A peer can end its
 * own connection and nothing else; a failure of the service ends the loop, and with it every connection, so that each
 * hook denies by itself. Hostile: whoever connects.
 */
#ifndef SIGNER_LOOP_H
#define SIGNER_LOOP_H

#include "evidence/err.h"
#include "signer/conns.h"
#include "signer/listen.h"
#include "signer/service.h"

enum {
    LOOP_FLUSH_MS = 2000,    /* how long a stop waits for answers to be taken */
    LOOP_LOG_MS = 10 * 1000, /* between two lines about dropped connections */
    LOOP_SWEEP_MS = 250,     /* between two looks at who is over his time */
    LOOP_RETRY_MS = 100,     /* before a socket is asked again when there were no descriptors */
};

/* Takes one line for people, without a newline. Plain ASCII, nothing in it comes from a peer. */
typedef void loop_log(void *context, const char *line);

struct loop_setup {
    struct service *service;         /* open; borrowed */
    struct listen *agent, *control;  /* open; closed by the loop when it stops */
    int stop_fd;                     /* the loop stops when this becomes readable */
    const struct conns_times *times; /* NULL: CONNS_TIMES */
    loop_log *log;                   /* NULL: nobody reads it */
    void *log_context;
};

/* Serves until stop_fd is readable; then accepts nothing more, serves what has come, lets the service answer every parked
 * hook, waits up to LOOP_FLUSH_MS until those answers are out, and returns OK. Errors: those of the service, IO,
 * NOMEM; then the listening sockets are still open. No connection is open when this returns. */
enum err loop_run(const struct loop_setup *setup, struct fault *fault) MUST_USE;

#endif
