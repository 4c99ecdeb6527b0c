/*
 * export.h - `tracekit export`: a run's evidence as one file that anybody can check.
 *
 * Invariant: the file appears whole or not at all (output_file.h); what the signer sends goes into it page by page, so
 * memory does not grow with the run. Hostile: the signer's replies, as far as they name files or reach the terminal;
 * whether the evidence is true is for the verifier to say.
 */
#ifndef CLI_EXPORT_H
#define CLI_EXPORT_H

#include "cli/cli.h"

int export_command(struct cli *cli, int argc, char **argv);

#endif
