/*
 * setup_signer.h - the signer of the present user, as far as `tracekit init` and `tracekit uninstall` start and stop it.
 */
#ifndef CLI_SETUP_SIGNER_H
#define CLI_SETUP_SIGNER_H

#include "cli/cli.h"

/* Starts it unless it runs, and says so. Returns an exit code; what went wrong is printed. */
int setup_signer_start(struct cli *cli);

/* Stops it when it runs, and says so. Returns an exit code; what went wrong is printed. */
int setup_signer_stop(struct cli *cli);

#endif
