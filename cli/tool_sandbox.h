/*
 * tool_sandbox.h - does the tool sandbox work on this machine?
 *
 * Gemini's tool sandbox runs each command under bubblewrap. A bubblewrap that is installed may still not work: some
 * systems forbid unprivileged user namespaces.
 */
#ifndef CLI_TOOL_SANDBOX_H
#define CLI_TOOL_SANDBOX_H

#include <stdbool.h>

/* Runs `bwrap --ro-bind / / true`, bwrap from the absolute directories of `path` (as in $PATH; NULL for none), and waits
 * a few seconds for it. */
bool tool_sandbox_works(const char *path);

#endif
