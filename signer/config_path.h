/*
 * config_path.h - the paths of a configuration.
 *
 * Invariant: what comes out is absolute, ends in no slash (but for "/"), and is whole or an error.
 */
#ifndef SIGNER_CONFIG_PATH_H
#define SIGNER_CONFIG_PATH_H

#include "evidence/err.h"
#include "signer/config.h"

/* "a/b", or `a` when `b` is empty, without the slashes at its end. `a` is absolute. Errors: PATH (too long). */
enum err config_path_join(const char *a, const char *b, char out[static CONFIG_PATH_BYTES],
                          struct fault *fault) MUST_USE;

/* Whether a socket may have this path. Errors: PATH (longer than a socket address holds). */
enum err config_path_socket(const char *path, struct fault *fault) MUST_USE;

#endif
