/*
 * relay.h - one hook call: descriptor 0 to the signer, the signer's answer back (docs/wire.md).
 *
 * Invariant: an answer is returned only when it came whole, in a well-formed ANSWER frame, from a process of the
 * expected user, before the deadline. The payload is carried, never read into.
 *
 * Hostile: the payload, and whoever listens on the socket.
 */
#ifndef HOOK_RELAY_H
#define HOOK_RELAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wire/frame.h"

struct relay {
    const char *harness;
    const char *event;
    const char *socket;
    uid_t signer_uid;
    int64_t deadline_ms; /* CLOCK_MONOTONIC */
};

enum relay_result {
    RELAY_ANSWERED,
    RELAY_UNREADABLE,  /* descriptor 0 failed, or did not end in time */
    RELAY_NO_MEMORY,   /* for the payload */
    RELAY_NO_SIGNER,   /* nobody listens on the socket */
    RELAY_UNREACHABLE, /* the socket may not be opened from here */
    RELAY_WRONG_PEER,  /* another user listens there */
    RELAY_LATE,        /* no answer before the deadline */
    RELAY_CLOSED,      /* the connection ended without an answer */
    RELAY_BROKEN,      /* an answer that is none */
    RELAY_TOO_LARGE,   /* an allow for a payload that was over FRAME_MAX_PAYLOAD and so not sent */
};

struct relay_answer {
    bool allow;
    uid_t peer_uid; /* who listens; also set for RELAY_WRONG_PEER */
    size_t out_len, err_len;
    uint8_t bytes[2 * FRAME_MAX_OUT]; /* the text for standard output, then the one for standard error */
};

/* Does the call; blocks until the deadline at most. Of *answer only what the result allows may be used. Payload and
 * connection are not given back: a process does one call and ends. */
enum relay_result relay_call(const struct relay *relay, struct relay_answer *answer);

#endif
