/*
 * config.h - how this signer is set up: from --dev and --data, or from a configuration file.
 *
 * Invariant: a configuration is complete and checked, or there is none: every path is absolute, both sockets fit into
 * a socket address, and no key of the file was left unread (unknown keys are errors, with file and line).
 * The file must belong to root or to us, and nobody else may be able to write it. Hostile: its contents.
 */
#ifndef SIGNER_CONFIG_H
#define SIGNER_CONFIG_H

#include <stdbool.h>
#include <sys/types.h>

#include "evidence/err.h"

enum { CONFIG_PATH_BYTES = 1024, CONFIG_NAME_BYTES = 129 };

struct config {
    bool dev;                               /* the signer runs as the agent's user */
    char data_dir[CONFIG_PATH_BYTES];       /* absolute */
    char agent_socket[CONFIG_PATH_BYTES];   /* absolute, fits into sockaddr_un */
    char control_socket[CONFIG_PATH_BYTES]; /* likewise */
    char tenant[CONFIG_NAME_BYTES];         /* the format's id pattern; "local" by default */
    gid_t agent_group;                      /* who else may enter the agent socket; (gid_t)-1: nobody */
};

/* Dev mode with `data_dir`, or with the default place when it is NULL: `xdg_data_home`, `xdg_runtime_dir` and `home` are
 * the values of those environment variables (NULL when unset; values that are not absolute paths are ignored, as the
 * XDG specification asks). An explicit data directory may be relative (to the present one), and the sockets then lie in
 * DATA/run. Errors: CONFIG, PATH. */
struct config_env {
    const char *xdg_data_home, *xdg_runtime_dir, *home;
};
enum err config_dev(const char *data_dir, const struct config_env *env, struct config *out,
                    struct fault *fault) MUST_USE;

/* Reads a YAML or JSON file. Keys: data, tenant, policy ("builtin:base"), sockets: {agent, control, agent_group}. What is
 * left out is /var/lib/tracekit-c, local, builtin:base, /run/tracekit-c/{agent,control}.sock, and no group.
 * Errors: CONFIG (with file, line and what to do), PATH, IO, NOMEM. */
enum err config_load(const char *path, struct config *out, struct fault *fault) MUST_USE;

#endif
