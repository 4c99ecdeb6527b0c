/*
 * ask.h - a question to the person at the terminal.
 *
 * Invariant: an answer comes from the terminal and from nowhere else, never from a pipe or a file; what is not a plain
 * answer counts as no.
 */
#ifndef CLI_ASK_H
#define CLI_ASK_H

#include <stdbool.h>
#include <stdio.h>

struct ask {
    FILE *in, *out; /* of the terminal */
};

/* Opens the terminal. False: there is none. */
bool ask_open(struct ask *a);
void ask_close(struct ask *a);

/* Prints the question and reads a line: true for "y" or "yes". */
bool ask_yes(const struct ask *a, const char *question);
/* True when the line is this very word. */
bool ask_word(const struct ask *a, const char *question, const char *word);

#endif
