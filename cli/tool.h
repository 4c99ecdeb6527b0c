/*
 * tool.h - another program of the system, run to its end.
 *
 * Invariant: no shell is between; the program has no input, inherits nothing but the environment that it is given, and
 * cannot keep us longer than the deadline, nor fill our memory. Hostile: its output.
 */
#ifndef CLI_TOOL_H
#define CLI_TOOL_H

#include <stdbool.h>

#include "cli/paths.h"
#include "evidence/buf.h"
#include "evidence/err.h"

/* Finds a program in the absolute directories of `search` (as in PATH). */
bool tool_find(const char *name, const char *search, char out[static PATHS_MAX]);

/* Runs argv[0] (an absolute path), appends what it prints on both outputs to `out` as far as it fits (NULL: nowhere),
 * and waits for its end at most `timeout_ms`; then it is killed. *status is its exit status, 128 and more for a signal's.
 * Errors: IO, TIMEOUT, NOMEM. */
enum err tool_run(char *const argv[], char *const environment[], int timeout_ms, struct buf *out, int *status) MUST_USE;

#endif
