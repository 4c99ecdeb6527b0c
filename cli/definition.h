/*
 * definition.h - one hook of ours as it stands in settings.json.
 *
 * Invariant: what definition_write writes, definition_is_ours knows again, whatever the paths in it; what it does not
 * write (another program, another name), it does not. The name, "tracekit 3f9a2c: ...", speaks to the person who sees it
 * while a call is held, and its middle is random for each installation, so that nobody can switch the hook off by a name
 * that he guessed. Hostile: the hooks that are asked about.
 */
#ifndef CLI_DEFINITION_H
#define CLI_DEFINITION_H

#include <stdbool.h>

#include "cli/hook_command.h"
#include "evidence/buf.h"
#include "evidence/err.h"
#include "evidence/json.h"
#include "harness/settings.h"

enum {
    DEFINITION_ID_BYTES = 7, /* six hexadecimal digits and a NUL */
    DEFINITION_NAME_BYTES = 80,
};

/* The variable that no env of a hook can close, and that advanced.excludedEnvVars keeps out of a project's .env. */
#define DEFINITION_EXCLUDED "LD_TRACE_LOADED_OBJECTS"

/* Errors: RANDOM with a fault. */
enum err definition_new_id(char id[static DEFINITION_ID_BYTES], struct fault *fault) MUST_USE;

/* The hook's name. */
void definition_name(const struct hook_event *event, const char *id, char out[static DEFINITION_NAME_BYTES]);

/* Appends the hook as a JSON object, two spaces a step, without a newline at its end. Errors: those of buf_err and
 * jcs_write. */
enum err definition_write(struct buf *out, const struct hook_command *c, const char *id) MUST_USE;

/* Makes it our only hook for its event. Errors: those of settings_put_hook. */
enum err definition_put(struct settings *s, const struct hook_command *c, const char *id, struct fault *fault) MUST_USE;

/* Whether it is one of ours (settings_ours), of whatever installation or version. */
bool definition_is_ours(const struct json *hook);

/* The random part of the name of one of ours; false when it has none. */
bool definition_id(const struct json *hook, char id[static DEFINITION_ID_BYTES]);

#endif
