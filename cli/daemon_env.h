/*
 * daemon_env.h - what of the environment a signer, and systemctl, get to see.
 *
 * Invariant: names of a short list and nothing else; so no secret of a shell, no loader variable and no service
 * manager's socket goes into a process that stays. Not hostile.
 */
#ifndef CLI_DAEMON_ENV_H
#define CLI_DAEMON_ENV_H

#include <stdbool.h>
#include <stddef.h>

/* At most so many variables; what is beyond is left out. */
enum { DAEMON_ENV_MAX = 64 };

/* Whether "NAME=value" is passed on. */
bool daemon_env_keeps(const char *variable);

/* Puts those of `environment` that are passed on, and a NULL, into `out`. Borrowed. */
void daemon_env_filter(char *const environment[], char *out[static DAEMON_ENV_MAX + 1]);

#endif
