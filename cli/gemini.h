/*
 * gemini.h - `tracekit gemini`: starts Gemini CLI when the gate will hold, and says why not otherwise.
 *
 * Invariant: Gemini gets the words behind ours unchanged and the environment as it is, and it is not started when any
 * check found something or could not be made. Hostile: arguments, environment, files (docs/gemini.md).
 */
#ifndef CLI_GEMINI_H
#define CLI_GEMINI_H

#include "cli/cli.h"

/* Returns an exit code; does not return when Gemini was started, which takes the place of this process. */
int gemini_command(struct cli *cli, int argc, char **argv);

#endif
