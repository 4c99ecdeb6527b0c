/*
 * options.h - the options of every command: read from the command line by one table, explained from the same table.
 *
 * Invariant: each word of the command line is an option of the table, the value of one, or a positional argument that
 * is handed back in its order; an option is taken at most once; whatever is none of these is refused and named.
 * Options and positional arguments may stand in any order; after "--" everything is positional. Hostile: the command
 * line, as far as what an error message prints is concerned.
 *
 *   --name  --name VALUE  --name=VALUE  -n VALUE  -nVALUE  -n
 *
 * A value that follows as a word of its own may not begin with "--": then it was more likely forgotten. It can still be
 * given as --name=VALUE.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "evidence/err.h"

/* One option. A table ends with an entry without a name. Exactly one of `text` and `flag` is set. */
struct options_spec {
    const char *name;  /* without its dashes */
    char letter;       /* of the short form, or 0 */
    const char *value; /* what the help calls its value, or NULL when it takes none */
    const char *help;  /* one line, without a full stop */
    const char **text; /* where the value goes; must hold NULL before */
    bool *flag;        /* what it switches on; must be false before */
};

/* Reads argv[1] and what follows against two tables (`common` may be NULL). The values are borrowed from argv. On
 * success argv[1] .. argv[*argc - 1] are the positional arguments and argv[*argc] is NULL. Errors: USAGE with a fault
 * that names the option (then argv's order and the options' places are unspecified). */
enum err options_parse(const struct options_spec *own, const struct options_spec *common, int *argc, char **argv,
                       struct fault *fault) MUST_USE;

/* How many words of the command line the option at argv[0] takes (1 or 2), or 0 when the table has no such option. What
 * is wrong with it otherwise is for options_parse to say. */
int options_words(const struct options_spec *table, char *const *argv);

/* Prints the table, one option a line. */
void options_help(FILE *out, const struct options_spec *table);

/* Reads a decimal number without sign, within [min, max]. Errors: USAGE with a fault that names `option`. */
enum err options_number(const char *option, const char *text, int64_t min, int64_t max, int64_t *out,
                        struct fault *fault) MUST_USE;

#endif
