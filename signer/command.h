/*
 * command.h - the command line of tracekit-signer.
 *
 * Invariant: every word was understood, and the words fit together, or there is an error that names the word. The texts
 * are borrowed from argv.
 */
#ifndef SIGNER_COMMAND_H
#define SIGNER_COMMAND_H

#include <stdbool.h>

#include "evidence/err.h"

struct command {
    bool help, version, dev;
    const char *data;   /* with dev only; NULL: the default place */
    const char *config; /* NULL with dev */
};

/* Errors: USAGE. */
enum err command_parse(int argc, char *const *argv, struct command *out, struct fault *fault) MUST_USE;

/* What --help prints. */
const char *command_help(void);

#endif
