/*
 * voids.h - what makes the gate void for one Gemini process: findings from its arguments, its environment and its
 * settings.
 *
 * Invariant: a finding names a flag, a variable or a settings key, and says what it does to the hooks; it never holds a
 * value out of an environment or a file, and is printable ASCII. Knows Gemini CLI 0.61.0 (docs/gemini.md). Hostile:
 * arguments, names, values.
 */
#ifndef HARNESS_VOIDS_H
#define HARNESS_VOIDS_H

#include <stdbool.h>
#include <stddef.h>

enum { VOIDS_MAX = 32, VOIDS_WHAT_BYTES = 96 };

struct voids_finding {
    char what[VOIDS_WHAT_BYTES]; /* "-s", "GEMINI_SANDBOX", "hooksConfig.enabled" */
    const char *why;             /* what that does to the gate, one clause; static */
    const char *remedy;          /* what to do about it, one clause; static */
};

/* Zeroed, it is empty. Findings beyond VOIDS_MAX are counted and not kept. */
struct voids {
    size_t count, missed;
    struct voids_finding list[VOIDS_MAX];
};

/* Adds a finding; `what` is made ASCII and cut. */
void voids_add(struct voids *v, const char *what, const char *why, const char *remedy);

/* What Gemini's own arguments (without the program, and without node's and the script's) make void. Parsed as Gemini's
 * option parser does: --flag=value, bundled short flags, `--`. In doubt something is found; where Gemini would refuse the
 * arguments anyway, it may be found or not. */
void voids_arguments(struct voids *v, size_t count, const char *const *arguments);

/* What the arguments say about settings. In doubt false. */
struct voids_flags {
    bool skip_trust; /* --skip-trust: the hooks of the user's and the system's settings run in any folder */
    bool no_sandbox; /* --no-sandbox: tools.sandbox does not count */
};
void voids_flags(size_t count, const char *const *arguments, struct voids_flags *out);

/* One variable of the environment Gemini is (to be) started with. `value` is read and never kept.
 * Variables that only say where files lie (GEMINI_CLI_HOME, GEMINI_CLI_SYSTEM_SETTINGS_PATH) are no finding: what counts is
 * what stands there. Nor are those that the definition's env takes back (BASH_ENV). */
void voids_variable(struct voids *v, const char *name, const char *value);

#endif
