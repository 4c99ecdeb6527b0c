/*
 * hook_command.h - the command line that runs tracekit-hook for one event of Gemini CLI, and what stands around it in
 * settings.json.
 *
 * Invariant: for BeforeTool the line ends the shell with 0 only after the hook ended with 42; whatever else happens to
 * the hook, there is text on standard error and exit code 2, which Gemini takes for a refusal.
 */
#ifndef CLI_HOOK_COMMAND_H
#define CLI_HOOK_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "evidence/buf.h"
#include "evidence/err.h"

/* An event that Tracekit listens to. */
struct hook_event {
    const char *name;
    const char *label; /* Gemini shows it, as a part of the name, while the hook runs: it speaks to the person */
    int timeout_ms;    /* Gemini's own; a call whose hook is late RUNS, so it lies well behind wait_s */
    int wait_s;        /* the hook's deadline */
    bool gates;
};

/* In the order in which they happen; ends with an entry without a name. */
extern const struct hook_event HOOK_COMMAND_EVENTS[];

/* One variable of the hook's environment. */
struct hook_variable {
    const char *name, *value;
};

/* What every definition sets in the hook's environment; ends with an entry without a name. */
extern const struct hook_variable HOOK_COMMAND_ENVIRONMENT[];

/* NULL when there is no such event. */
const struct hook_event *hook_command_event(const char *name);

struct hook_command {
    const struct hook_event *event;
    const char *hook;   /* absolute path, checked with hook_command_check_path */
    const char *socket; /* likewise */
    uid_t signer_uid;
    int wait_s;
};

/* Whether a path gets through settings.json, Gemini's replacements and the shell as it is. Errors: PATH. */
enum err hook_command_check_path(const char *path, struct fault *fault) MUST_USE;

/* Appends the line, without a newline; see buf_err. */
void hook_command_write(struct buf *out, const struct hook_command *c);

#endif
