/*
 * hook_definition.h - `tracekit hook-definition`: what belongs into an agent's settings so that it asks before each call.
 *
 * Invariant: the command lines that come out stop the call whatever becomes of the hook (docs/wire.md, "A hook call"):
 * only exit code 42 lets it run, every path is absolute and quoted for the shell, and nothing in them is text that Gemini
 * would replace. Hostile: nothing; but a path that cannot be carried through settings and shell unchanged is refused.
 */
#ifndef CLI_HOOK_DEFINITION_H
#define CLI_HOOK_DEFINITION_H

/* Runs the command; argv[0] is its name. Prints to standard output and standard error and returns the exit code. */
int hook_definition_command(int argc, char **argv);

#endif
