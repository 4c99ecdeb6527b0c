/*
 * hook_program.h - where the program tracekit-hook lies.
 *
 * Invariant: the path that comes out is absolute, names a program that may be run, and gets through settings.json, Gemini
 * and the shell unchanged (hook_command.h). Hostile: the path, as far as an error message prints it.
 */
#ifndef CLI_HOOK_PROGRAM_H
#define CLI_HOOK_PROGRAM_H

#include "cli/paths.h"
#include "evidence/err.h"

/* `given` is what --hook gave, or NULL for the one beside the running program. Errors: PATH with a fault. */
enum err hook_program_find(const char *given, char out[static PATHS_MAX], struct fault *fault) MUST_USE;

#endif
