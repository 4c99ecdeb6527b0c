/*
 * jsonc.h - JSON with comments, as Gemini CLI reads its settings files.
 *
 * Invariant: the text keeps its length, its line breaks and the place of everything that is no comment, so that what a
 * parser says of the stripped text holds of the file too. Hostile: the text.
 */
#ifndef HARNESS_JSONC_H
#define HARNESS_JSONC_H

#include <stddef.h>

/* Puts a space over each byte of a line or block comment but for white space, in place. Comment signs inside of strings are text.
 * A line comment ends before a newline, or before the carriage return that stands before one; a lone carriage return
 * does not end it. A comment that nothing ends goes to the end of the text, as Gemini has it. */
void jsonc_strip(char *text, size_t len);

#endif
