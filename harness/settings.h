/*
 * settings.h - the text of one of Gemini CLI's settings files, changed in few places and otherwise left byte for byte.
 *
 * Invariant: what settings_open accepted, Gemini CLI 0.61.0 reads too, and no key on the way to what we change stands
 * there twice. A change adds, replaces or removes our own parts and nothing else: comments, other keys, indentation,
 * line ends and the end of the file stay as they are. What is added takes over the file's line ends and indentation.
 * What is removed takes with it what the addition made around it (an event's array, "hooks" itself), and nothing that
 * was there before: a container that was empty before gets its closing bracket directly behind our part, and so is told
 * from one that we made.
 *
 * A change that fails leaves the text unspecified: throw it away. Hostile: the text, but for the definitions and words that are
 * added.
 */
#ifndef HARNESS_SETTINGS_H
#define HARNESS_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "evidence/arena.h"
#include "evidence/err.h"
#include "evidence/json.h"

enum {
    SETTINGS_MAX_BYTES = 1 << 20,
    SETTINGS_MAX_OURS = 64, /* entries of ours that one change removes; more are refused */
};

struct settings;

/* Whether an entry of a "hooks" list inside a hook definition is one of ours. */
typedef bool settings_ours(const struct json *hook);

/* Takes a copy of a file's text. Errors, each with a fault that names line, column and remedy: SYNTAX UTF8 DEPTH (Gemini
 * would not start with it), CONFIG (no object; a lone
 * carriage return), TOO_LARGE, NOMEM. */
enum err settings_open(const void *text, size_t len, struct settings **out, struct fault *fault) MUST_USE;
/* A file that is not there yet. Errors: NOMEM. */
enum err settings_new(struct settings **out) MUST_USE;
void settings_free(struct settings *s);

/* The text as it is now. Borrowed until the next change. */
const char *settings_text(const struct settings *s, size_t *len);

/* Whether nothing is left but the empty object that settings_new begins with and our changes filled. */
bool settings_is_bare(const struct settings *s);

/* The first of our hooks, NULL in *out when there is none; it lives in the arena. Errors: DUPLICATE_KEY NOMEM TOO_LARGE,
 * CONFIG ("hooks" or an event of another shape), each with a fault. */
enum err settings_find_hook(struct settings *s, settings_ours *ours, struct arena *arena, const struct json **out,
                            struct fault *fault) MUST_USE;

/* Whether hooks that are put here would run: nothing in the file switches off all hooks or those of these names, and
 * no matcher in it makes an event void. `names` ends with NULL. Errors: CONFIG with a fault. */
enum err settings_check(struct settings *s, const char *const *names, struct fault *fault) MUST_USE;

/* Makes `hook`, one JSON object in two-space indentation with LF, our only entry for `event`: one that is equal stays,
 * the first that is not is replaced where it stands, others go. */
enum err settings_put_hook(struct settings *s, const char *event, const char *hook, settings_ours *ours,
                           struct fault *fault) MUST_USE;
/* Removes our entries for every event. */
enum err settings_drop_hooks(struct settings *s, settings_ours *ours, struct fault *fault) MUST_USE;

/* Adds a word to the list advanced.excludedEnvVars unless it is there; removes it. The word needs no escape. */
enum err settings_put_excluded(struct settings *s, const char *word, struct fault *fault) MUST_USE;
enum err settings_drop_excluded(struct settings *s, const char *word, struct fault *fault) MUST_USE;

/* Whether security.toolSandboxing is the literal true; makes it so. */
enum err settings_tool_sandbox(struct settings *s, bool *out, struct fault *fault) MUST_USE;
enum err settings_put_tool_sandbox(struct settings *s, struct fault *fault) MUST_USE;

/* The errors of these changes: DUPLICATE_KEY CONFIG NOMEM TOO_LARGE, each with a fault. */

/* Compares the values of the text as it was opened and as it is now, our hooks, the word and security.toolSandboxing left out.
 * To be called before the text is written. Errors: STATE when they differ (a bug of ours), NOMEM, TOO_LARGE. */
enum err settings_verify(const struct settings *s, settings_ours *ours, const char *word, struct fault *fault) MUST_USE;

#endif
