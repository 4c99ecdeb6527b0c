/*
 * client.h - the command line's side of the control socket (docs/wire.md): one request, one reply.
 *
 * Hostile: the reply, as far as a person's terminal is concerned; the server's uid is checked before anything is sent.
 */
#ifndef WIRE_CLIENT_H
#define WIRE_CLIENT_H

#include <sys/types.h>

#include "evidence/arena.h"
#include "evidence/err.h"
#include "evidence/json.h"
#include "wire/peer.h"

struct client;

/* Connects to the control socket at `path`. `server_uid` is who must own the other end; (uid_t)-1 accepts the present
 * user and root. Errors: PATH, CONNECT, PEER, NOMEM, each with a fault that says what to do next. */
enum err client_open(const char *path, uid_t server_uid, struct client **out, struct fault *fault) MUST_USE;
void client_close(struct client *c);

/* Who listens there, as the kernel says (the process that called listen; its id is 0 in another pid namespace). */
struct peer client_server(const struct client *c);

/* Sends `request` and waits at most `timeout_ms` for the reply, which is parsed into `arena`. When the signer refuses,
 * the error is the one it named (STATE, NOT_FOUND, FORBIDDEN, ...; PROTOCOL for a name we do not know) and the fault
 * holds its message. Errors besides: TIMEOUT, CLOSED, FRAME, PROTOCOL (the reply is no JSON object), TOO_LARGE, NOMEM.
 * After a refusal, PROTOCOL and an unsent request (TOO_LARGE, NOMEM) the next call may follow; after TIMEOUT, CLOSED and
 * FRAME the two ends are out of step and every further call fails with CLOSED. On failure *reply is untouched. */
enum err client_call(struct client *c, const struct json *request, int timeout_ms, struct arena *arena,
                     const struct json **reply, struct fault *fault) MUST_USE;

#endif
