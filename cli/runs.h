/*
 * runs.h - `tracekit runs`: the runs that the signer knows. Hostile: the signer's replies, as far as they reach the
 * terminal.
 */
#ifndef CLI_RUNS_H
#define CLI_RUNS_H

#include "cli/cli.h"

/* The command with its part list (cli.h, struct cli_command). */
int runs_command(struct cli *cli, int argc, char **argv);

#endif
