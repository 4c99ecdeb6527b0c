/*
 * arguments.h - a call's arguments, laid out for a person who must judge them.
 *
 * Invariant: everything is shown, and each line begins with marks of ours, so that no text inside the arguments can
 * look like another argument or like a line of ours. Hostile: the value.
 *
 *   command                        a key; a string's lines stand below it, each behind '|'
 *     | npm install
 *   additional_permissions         a key whose value has parts
 *     network = true
 *     fileSystem
 *       read
 *         [0]
 *           | /etc
 *   (key)                          a key that is not plain letters, digits, '_', '-' and '.', behind '|' itself
 *   | look = here
 *     = 1
 */
#ifndef CLI_ARGUMENTS_H
#define CLI_ARGUMENTS_H

#include <stddef.h>

#include "cli/term.h"
#include "evidence/json.h"

/* Prints the value. Returns how many lines that took. */
size_t arguments_print(const struct term *t, const struct json *args);

#endif
