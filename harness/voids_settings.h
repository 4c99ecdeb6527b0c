/*
 * voids_settings.h - what in the settings that Gemini CLI would use makes the gate void.
 *
 * Invariant: no finding means that for each tool call the hooks of BeforeTool hold one whole definition of ours that is
 * switched on, and that no other entry stands in its place. In doubt something is found. Hostile: the settings.
 */
#ifndef HARNESS_VOIDS_SETTINGS_H
#define HARNESS_VOIDS_SETTINGS_H

#include "evidence/err.h"
#include "harness/effective.h"
#include "harness/voids.h"

/* `merged` comes from effective_merge. `sandbox_counts`: neither an argument nor the environment overrides tools.sandbox.
 * *line: the command line of the gate that holds, for hook_line_read; NULL when none does. Borrowed from `merged`. Errors:
 * NOMEM. */
enum err voids_settings(struct voids *v, struct arena *arena, const struct settings_node *merged, bool sandbox_counts,
                        const char **line) MUST_USE;

#endif
