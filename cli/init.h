/*
 * init.h - `tracekit init`: the agent's settings get our hooks, and the signer runs.
 *
 * Invariant: nothing is written before a person at the terminal, or --yes, said so; a settings file that Gemini would
 * not take, or in which our hooks would not run, is left alone; a second run changes nothing. Hostile: the settings file.
 */
#ifndef CLI_INIT_H
#define CLI_INIT_H

#include "cli/cli.h"

int init_command(struct cli *cli, int argc, char **argv);

#endif
