/*
 * trust.h - `tracekit trust`: the log's public key as a trust file for the verifier (evidence/trust.h).
 *
 * Invariant: whoever gets the file is told that trust taken from the machine under audit proves only that its records
 * fit each other, and gets the fingerprint to compare by another way. Hostile: the signer's reply.
 */
#ifndef CLI_TRUST_H
#define CLI_TRUST_H

#include "cli/cli.h"

int trust_command(struct cli *cli, int argc, char **argv);

#endif
