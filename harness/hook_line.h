/*
 * hook_line.h - the command line of our gate as it stands in a settings file, recognised.
 *
 * Invariant: a line that is called whole ends its shell with 0 only after tracekit-hook ended with 42: it consists of
 * the program in single quotes, plain words or words in single quotes, and the guard, and of nothing else. Hostile: the
 * line.
 */
#ifndef HARNESS_HOOK_LINE_H
#define HARNESS_HOOK_LINE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the line means to run our program for BeforeTool, whatever else is in it. */
bool hook_line_is_gate(const char *line);

/* Whether it is what `tracekit hook-definition` prints. *wait_s (untouched otherwise) is how long the hook waits. */
bool hook_line_is_whole(const char *line, long *wait_s);

/* A variable that the definition sets for the hook. */
struct hook_line_variable {
    const char *name, *value;
};

/* Those that every definition has to set; ends with an entry without a name. */
extern const struct hook_line_variable HOOK_LINE_ENVIRONMENT[];

#endif
