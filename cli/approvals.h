/*
 * approvals.h - `tracekit approvals`: what waits for a person's answer, and answering it.
 *
 * Invariant: an answer names the binding digest of the approval that the signer has just shown, so that what is
 * answered is what was read. Hostile: the signer's replies, as far as they reach the terminal.
 */
#ifndef CLI_APPROVALS_H
#define CLI_APPROVALS_H

#include "cli/cli.h"

/* The command with its parts list, show, approve and reject (cli.h, struct cli_command). */
int approvals_command(struct cli *cli, int argc, char **argv);

#endif
