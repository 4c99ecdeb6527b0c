/*
 * command.h - the command line of the verifier: `tracekit-verify`, and `tracekit verify`, which is the same.
 *
 * Invariant: the report goes to standard output and nothing else does; what is wrong with the command line goes to
 * standard error; the exit code is 0 only when the report was written as a whole and says that nothing failed. Hostile:
 * the command line as far as it is printed, and the files, which verify_bundle reads.
 */
#ifndef VERIFY_COMMAND_H
#define VERIFY_COMMAND_H

/* Reads argv[1] and what follows, verifies, prints, and returns the exit code (0 to 3; `--help` explains them).
 * `program` is how a person calls it ("tracekit-verify" or "tracekit verify"). Reads NO_COLOR from the environment, and
 * uses SIGALRM while it verifies. */
int verify_command(int argc, char **argv, const char *program);

#endif
