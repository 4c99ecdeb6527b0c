/*
 * harness.h - what an agent's program says to its hooks, and what it understands as an answer.
 *
 * Invariant: this is the only seam to an agent's program: it turns a payload into a message and a verdict into bytes,
 * and keeps no state. Nothing else in the signer knows a harness's names. A second harness is one more file beside
 * gemini.c and one more line in harness.c. Hostile: every byte of the payload.
 */
#ifndef SIGNER_HARNESS_H
#define SIGNER_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "evidence/arena.h"
#include "evidence/buf.h"
#include "evidence/err.h"
#include "evidence/json.h"

enum { HARNESS_MAX_SESSION_BYTES = 256, HARNESS_MAX_CWD_BYTES = 4096, HARNESS_MAX_REASON = 500 };

enum harness_event {
    HARNESS_BEFORE_TOOL,
    HARNESS_AFTER_TOOL,
    HARNESS_SESSION_START,
    HARNESS_SESSION_END,
    HARNESS_PROMPT, /* a person said something to the agent */
    HARNESS_NOTICE, /* the program asks its user something of its own */
    HARNESS_OTHER,  /* known, and nothing to record but that the session lives */
};

struct harness_message {
    enum harness_event event;
    const char *session; /* printable ASCII, at most HARNESS_MAX_SESSION_BYTES; NULL when there is none */
    const char *cwd;     /* UTF-8 without NUL; "" when there is none */
    const char *tool;    /* "" when there is none */
    /* The call's arguments as they were sent; NULL when they cannot be taken as strict JSON, and then args_error says
     * why (ASCII, no agent text). After the fact (AFTER_TOOL) args are what ran, read forgivingly. */
    const struct json *args;
    const char *args_error;
    /* The arguments as far as they can be read, NULL when there are none. Only to know the call again by. */
    const struct json *args_loose;
    const struct json *result; /* AFTER_TOOL: what the tool gave, NULL when absent */
    bool result_ok;
    /* AFTER_TOOL: the call has not ended: the program asks its user to widen what the call may do, and will run it again
     * without asking us. */
    bool result_reopens;
    const struct json *prompt; /* PROMPT: what was said, a text */
    bool notice_widens;        /* NOTICE: the question is whether a call's sandbox may be widened */
    /* Which server and tool a call is for, when the tool's name alone does not say; NULL else. Agent text. */
    const struct json *server, *server_tool;
    const struct json *replaces; /* the tool that was called first, and whose result asked for this one; NULL else */
};

struct harness {
    const char *name;  /* as on the hook's command line: "gemini" */
    const char *agent; /* as in records: "gemini-cli" */
    /* Whether `event` is one of this harness's events, and which. */
    bool (*event)(const char *event, enum harness_event *out);
    /* Reads a payload of `event`. *out is filled in as far as the payload could be read, also on failure, and lives in
     * the arena. Errors: PAYLOAD (with a fault: not JSON, another event, no session), TOO_LARGE, NOMEM. */
    enum err (*read)(struct arena *arena, const char *event, const void *payload, size_t len,
                     struct harness_message *out, struct fault *fault);
    /* The bytes for standard output (`out`) and standard error (`err`) that let a call run, stop it for a reason (made
     * ASCII and cut at HARNESS_MAX_REASON here), or acknowledge an event that is not asked about. */
    void (*allow)(struct buf *out);
    void (*deny)(const char *reason, struct buf *out, struct buf *err);
    void (*noted)(struct buf *out);
};

/* By its name on the command line; NULL when unknown. */
const struct harness *harness_find(const char *name);

extern const struct harness gemini_harness;

/* Printable ASCII of any text: control characters and bytes above 0x7e become '?', cut at `max` bytes. NUL-terminated.
 * `out` has max + 1 bytes. */
void harness_ascii(const char *text, size_t max, char *out);

#endif
