/*
 * init_common.h - the settings file that `tracekit init` and `tracekit uninstall` change: opened, edited, written.
 *
 * Invariant: what is written has been compared with what was read: it differs in our own parts and in nothing else
 * (settings_verify). Hostile: the file.
 */
#ifndef CLI_INIT_COMMON_H
#define CLI_INIT_COMMON_H

#include <stdbool.h>

#include "cli/cli.h"
#include "cli/settings_file.h"
#include "harness/settings.h"

struct init_settings {
    struct settings_file file;
    struct settings *settings;
};

/* Refuses the common options that have no meaning here. Returns an exit code. */
int init_common_options(const struct cli *cli);

/* Opens the user's or the project's file. `make`: when it is not there, starts a new one; otherwise ->settings stays
 * NULL. Returns an exit code; on failure there is nothing to close. */
int init_settings_open(struct cli *cli, bool project, bool make, struct init_settings *out) MUST_USE;
void init_settings_close(struct init_settings *t);

/* Whether the text is another one than that of the file. */
bool init_settings_differ(const struct init_settings *t);

/* Checks the text and writes it, or removes the file when nothing but what we made is left; says what was done.
 * Returns an exit code. */
int init_settings_write(struct cli *cli, struct init_settings *t) MUST_USE;

/* Prints what is wrong with the file; returns the exit code. */
int init_settings_fail(const struct cli *cli, const struct init_settings *t, enum err e, const struct fault *fault);

/* Prints `before`, the file's path, `after` and a full stop. */
void init_settings_say(const struct cli *cli, const struct init_settings *t, const char *before, const char *after);

#endif
