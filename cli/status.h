/*
 * status.h - `tracekit status`: on one page, whether the signer runs, what it has, and what all this does not protect.
 *
 * Invariant: every text of the signer is made visible; the exit code says the same as the page: CLI_DONE when the signer
 * runs and the gate is in the agent's settings, CLI_FAILED when the gate is not, CLI_UNREACHABLE without a signer.
 * Hostile: the signer's reply and the settings file.
 */
#ifndef CLI_STATUS_H
#define CLI_STATUS_H

#include "cli/cli.h"

int status_command(struct cli *cli, int argc, char **argv);

#endif
