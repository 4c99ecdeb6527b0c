/*
 * uninstall.h - `tracekit uninstall`: takes our hooks out of the agent's settings again, stops the signer, and with --purge
 * destroys the evidence.
 *
 * Invariant: the settings lose our own parts and nothing else; evidence goes only after a person typed the word, or
 * --yes. Hostile: the settings file, and what the signer says.
 */
#ifndef CLI_UNINSTALL_H
#define CLI_UNINSTALL_H

#include "cli/cli.h"

int uninstall_command(struct cli *cli, int argc, char **argv);

#endif
