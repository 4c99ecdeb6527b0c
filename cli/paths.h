/*
 * paths.h - where the signer of the present user keeps its things (docs/architecture.md, "Where things lie").
 *
 * Invariant: every path that comes out is absolute, and a socket's path fits into a socket address. What the command line
 * names wins; after that, with --data DIR everything lies below DATA = DIR:
 *
 *                      --data DIR              otherwise
 *   data               DIR                     $XDG_DATA_HOME/tracekit-c, or ~/.local/share/tracekit-c
 *   agent socket       DIR/run/agent.sock      $XDG_RUNTIME_DIR/tracekit-c/agent.sock, or DATA/run/agent.sock
 *   control socket     DIR/run/control.sock    the same, control.sock
 *
 * As the XDG base directory specification asks, values of its variables that are empty or not absolute are ignored.
 * tracekit-signer --dev goes by the same table. Hostile: nothing; the environment and the command line are the user's.
 */
#ifndef CLI_PATHS_H
#define CLI_PATHS_H

#include "evidence/err.h"

enum { PATHS_MAX = 1024 }; /* bytes, with the NUL */

/* `data` and `socket` are what --data and --socket gave, or NULL; a relative one is taken from the present directory.
 * Errors: PATH (too long, empty, or no HOME), with a fault that says what to do. On failure `out` is untouched. */
enum err paths_data(const char *data, char out[static PATHS_MAX], struct fault *fault) MUST_USE;
enum err paths_agent_socket(const char *data, const char *socket, char out[static PATHS_MAX],
                            struct fault *fault) MUST_USE;
enum err paths_control_socket(const char *data, const char *socket, char out[static PATHS_MAX],
                              struct fault *fault) MUST_USE;

/* `path` itself, or with the present directory before it when it is relative. Errors and failure as above. */
enum err paths_absolute(const char *path, char out[static PATHS_MAX], struct fault *fault) MUST_USE;

#endif
