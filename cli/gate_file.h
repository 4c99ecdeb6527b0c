/*
 * gate_file.h - whether an agent's settings file holds our gate.
 *
 * Invariant: says of the file only what is in it: whether a command hook of BeforeTool is the gate as it was printed,
 * with its guard and its environment (harness/hook_line.h). Whether the agent runs it depends on more (docs/gemini.md).
 * Hostile: the file.
 */
#ifndef CLI_GATE_FILE_H
#define CLI_GATE_FILE_H

#include <stddef.h>

#include "cli/paths.h"

enum gate_file {
    GATE_FILE_ABSENT,     /* no such file */
    GATE_FILE_WITHOUT,    /* a file without the gate */
    GATE_FILE_ALTERED,    /* our program is there, and its command line or env is not as it was printed */
    GATE_FILE_WITH,       /* the gate is there */
    GATE_FILE_UNREADABLE, /* no regular file, too large, or no JSON */
};

enum { GATE_FILE_MAX_BYTES = 4 << 20 };

/* The user's settings file, where `tracekit init` writes it; "" when there is no home. */
void gate_file_path(char out[static PATHS_MAX]);

enum gate_file gate_file_read(const char *path);

/* The same of a text, in which comments are blanked. */
enum gate_file gate_file_judge(char *text, size_t len);

#endif
