/*
 * settings_rig.h - an installation into a settings text and its removal, as `tracekit init` and `uninstall` do them.
 */
#ifndef UNIT_SETTINGS_RIG_H
#define UNIT_SETTINGS_RIG_H

#include <string.h>

#include "cli/definition.h"

#define SETTINGS_RIG_ID "3f9a2c"

/* Puts a hook for each event and the excluded variable. `wait_s` makes definitions differ. */
static inline enum err settings_rig_put(struct settings *s, const char *id, int wait_s, struct fault *fault)
{
    enum err e = ERR_OK;
    for (const struct hook_event *event = HOOK_COMMAND_EVENTS; e == ERR_OK && event->name != NULL; event++) {
        const struct hook_command c = {event, "/opt/it's/tracekit-hook", "/run/a.sock", 1000, wait_s};
        e = definition_put(s, &c, id, fault);
    }
    return e == ERR_OK ? settings_put_excluded(s, DEFINITION_EXCLUDED, fault) : e;
}

static inline enum err settings_rig_drop(struct settings *s, struct fault *fault)
{
    enum err e = settings_drop_hooks(s, definition_is_ours, fault);
    return e == ERR_OK ? settings_drop_excluded(s, DEFINITION_EXCLUDED, fault) : e;
}

static inline enum err settings_rig_verify(const struct settings *s, struct fault *fault)
{
    return settings_verify(s, definition_is_ours, DEFINITION_EXCLUDED, fault);
}

static inline bool settings_rig_is(const struct settings *s, const char *text, size_t len)
{
    size_t n = 0;
    const char *have = settings_text(s, &n);
    return n == len && memcmp(have, text, len) == 0;
}

#endif
