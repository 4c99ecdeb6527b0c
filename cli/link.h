/*
 * link.h - a command's conversation with the signer over the control socket (docs/wire.md).
 *
 * Invariant: at any time one reply is held at most, so memory does not grow with the conversation; each failure has
 * been printed when a function here returns an exit code other than CLI_DONE. Hostile: the replies.
 */
#ifndef CLI_LINK_H
#define CLI_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/cli.h"
#include "evidence/arena.h"
#include "evidence/json.h"
#include "wire/client.h"

enum {
    LINK_MEMORY_BYTES = 64 << 20, /* for one request and its parsed reply (at most FRAME_MAX_REPLY bytes of text) */
    LINK_TIMEOUT_MS = 30000,      /* for one request */
};

struct link {
    const struct cli *cli;
    struct client *client;
    struct arena *arena; /* holds the newest request and reply */
};

/* Connects to the control socket that the options name. Returns an exit code; on failure there is nothing to close. */
int link_open(const struct cli *cli, struct link *out) MUST_USE;
void link_close(struct link *link);

/* A new request {"op": op} in an empty arena: what the last reply held is gone. Add keys with json_set_*. */
struct json *link_request(struct link *link, const char *op);

/* Sends the request and waits for the reply, which lives until the next link_request. When the signer refuses, its
 * words are printed, with `next` behind them (may be NULL). `changes` says that the request changes something, so
 * that a lost reply leaves it open whether it did. Returns an exit code. */
int link_call(struct link *link, const struct json *request, bool changes, const char *next,
              const struct json **reply) MUST_USE;

/* Hands the newest reply's memory to the caller, who frees it. */
struct arena *link_keep(struct link *link);

/* Prints a reply as it is (term_json). Returns an exit code. */
int link_print_json(const struct link *link, const struct json *reply) MUST_USE;

/* Says that a reply lacks `what` or that it is not what it should be; returns the exit code. */
int link_garbled(const struct link *link, const char *what);

#endif
