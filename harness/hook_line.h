/*
 * hook_line.h - the command line of our gate as it stands in a settings file, recognised.
 *
 * Invariant: a line that can be read ends its shell with 0 only after tracekit-hook ended with 42: it consists of our
 * program, words that are nothing but words to the shell, and the guard. Hostile: the line.
 */
#ifndef HARNESS_HOOK_LINE_H
#define HARNESS_HOOK_LINE_H

#include <stdbool.h>
#include <stdint.h>

enum { HOOK_LINE_PATH_BYTES = 1024 };

struct hook_line {
    char program[HOOK_LINE_PATH_BYTES]; /* absolute paths */
    char socket[HOOK_LINE_PATH_BYTES];
    uint32_t signer_uid;
    uint32_t wait_s;
};

/* A variable that the definition sets for the hook. */
struct hook_line_variable {
    const char *name, *value;
};

/* Those that every definition has to set; ends with an entry without a name. */
extern const struct hook_line_variable HOOK_LINE_ENVIRONMENT[];

/* Whether the line means to run our program for BeforeTool, whatever else is in it. */
bool hook_line_is_gate(const char *line);

/* Whether it is what `tracekit hook-definition` prints; *out is untouched otherwise. */
bool hook_line_read(const char *line, struct hook_line *out);

#endif
