/*
 * up.h - `tracekit up` and `tracekit down`: the dev-mode signer, started and stopped.
 *
 * Invariant: both may be typed twice; held calls are denied by a stop only after a person has said so. Hostile: the log
 * and the signer's replies, as far as they reach the terminal.
 */
#ifndef CLI_UP_H
#define CLI_UP_H

#include "cli/cli.h"

int up_command(struct cli *cli, int argc, char **argv);
int up_down_command(struct cli *cli, int argc, char **argv);

#endif
