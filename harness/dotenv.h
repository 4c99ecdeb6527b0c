/*
 * dotenv.h - what a .env file may give one variable, as the reader in Gemini CLI (dotenv) takes it.
 *
 * Invariant: each value that Gemini could read for the name is reported; in doubt one more is, never one less (a text
 * inside a value of several lines may look like a line of its own). Comments are none. Hostile: the text.
 */
#ifndef HARNESS_DOTENV_H
#define HARNESS_DOTENV_H

#include <stddef.h>

enum { DOTENV_VALUE_BYTES = 128 }; /* longer values are cut: none that long means anything to Gemini */

typedef void dotenv_found(void *context, const char *value);

/* Calls `found` with each value that `text` may give the variable `name`, trimmed and without quotes. */
void dotenv_values(const char *text, size_t len, const char *name, dotenv_found *found, void *context);

#endif
