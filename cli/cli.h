/*
 * cli.h - what every command has at hand: the table that it stands in, the common options, and one way to fail.
 *
 * Invariant: an error is one line on standard error, "tracekit: what is wrong. What to do next.", with everything in it
 * made visible; the exit code says whose turn it is. Hostile: the command line and what the signer says, as far as they
 * reach a terminal.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/options.h"
#include "cli/term.h"
#include "evidence/err.h"

enum cli_exit {
    CLI_DONE = 0,
    CLI_FAILED = 1,      /* it was refused, or went wrong */
    CLI_USAGE = 2,       /* wrong use of the command line */
    CLI_UNREACHABLE = 3, /* the signer cannot be reached */
};

struct cli {
    struct term out, err; /* standard output and standard error */
    bool help, json;      /* --help, --json */
    const char *data;     /* --data, or NULL */
    const char *socket;   /* --socket, or NULL */
    char name[40];        /* the command so far, for hints: "tracekit approvals list" */
};

/* One command. A table ends with an entry without a name. `run` gets the command's name in argv[0] and what belongs to
 * it behind, and returns the exit code. */
struct cli_command {
    const char *name;
    int (*run)(struct cli *cli, int argc, char **argv);
    const char *line; /* what it does, in one line without a full stop */
};

/* Finds the first word behind argv[0] that is no option, and runs the command of that name with the options that stood
 * before it in front of the others. Without such a word, or with --help alone, prints `intro`, the table and the common
 * options (exit code CLI_USAGE, or CLI_DONE). */
int cli_dispatch(struct cli *cli, const struct cli_command *table, const char *intro, int argc, char **argv);

/* What a command tells about itself. */
struct cli_usage {
    const char *synopsis; /* what stands behind the command's name: "ID [--reason TEXT]" */
    const char *text;     /* lines, each with its newline */
    int words;            /* how many positional arguments it takes */
};

/* Reads a command's options (`own` may be NULL). True: go on. False: there is nothing more to do, return *code; the
 * help or the error is printed. */
bool cli_parse(struct cli *cli, const struct cli_usage *usage, const struct options_spec *own, int argc, char **argv,
               int *code);

/* Prints "tracekit: WHAT. NEXT" and returns the exit code that belongs to `e`. Both may hold hostile text; `next` may
 * be NULL. */
int cli_fail(const struct cli *cli, enum err e, const char *what, const char *next);
/* The same for wrong use; what to do next is to read the command's help. */
int cli_misuse(const struct cli *cli, const char *what);

/* Whether a word of the command line can be sent to the signer: valid UTF-8, at most `max_bytes`, not empty. */
bool cli_sendable(const char *word, size_t max_bytes);

/* Prints "tracekit [--data DIR] [--socket PATH] WORDS ARGUMENT", ready to be pasted into a shell. `words` are ours;
 * `argument` (NULL for none) is quoted as the shell needs it. */
void cli_print_command(const struct cli *cli, const struct term *t, const char *words, const char *argument);

#endif
