/*
 * pause.h - `tracekit pause` and `tracekit resume`: the gate off for a while, and on again (docs/pause.md).
 */
#ifndef CLI_PAUSE_H
#define CLI_PAUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/cli.h"

int pause_command(struct cli *cli, int argc, char **argv);
int pause_resume_command(struct cli *cli, int argc, char **argv);

/* "90s", "15m" or "1h" as seconds, 1 to 3600; false when it is none. A number alone is none: its unit would be a guess. */
bool pause_seconds(const char *text, int64_t *out);

#endif
