#include "cli/cli.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "evidence/visible.h"

enum { MESSAGE_CHARS = 2000, COMMON_COUNT = 4 };

static void common_options(struct cli *cli, struct options_spec out[static COMMON_COUNT + 1])
{
    const struct options_spec table[COMMON_COUNT + 1] = {
        {"data", 0, "DIR", "the signer's data directory", &cli->data, NULL},
        {"socket", 0, "PATH", "the signer's control socket", &cli->socket, NULL},
        {"json", 0, NULL, "print JSON, for programs", NULL, &cli->json},
        {"help", 0, NULL, "explain this command", NULL, &cli->help},
        {NULL, 0, NULL, NULL, NULL, NULL},
    };
    memcpy(out, table, sizeof table);
}

static int exit_code(enum err e)
{
    if (e == ERR_USAGE)
        return CLI_USAGE;
    if (e == ERR_CONNECT || e == ERR_PEER || e == ERR_TIMEOUT || e == ERR_CLOSED)
        return CLI_UNREACHABLE;
    return CLI_FAILED;
}

static void put_sentence(const struct cli *cli, const char *text)
{
    size_t len = strlen(text);
    fputc(' ', cli->err.out);
    term_text(&cli->err, text, len, MESSAGE_CHARS);
    if (len == 0 || strchr(".!?", text[len - 1]) == NULL)
        fputc('.', cli->err.out);
}

int cli_fail(const struct cli *cli, enum err e, const char *what, const char *next)
{
    /* What the person has seen so far comes first, whatever is buffered. */
    fflush(cli->out.out);
    term_styled(&cli->err, TERM_RED, "tracekit:");
    put_sentence(cli, what);
    if (next != NULL)
        put_sentence(cli, next);
    fputc('\n', cli->err.out);
    return exit_code(e);
}

int cli_misuse(const struct cli *cli, const char *what)
{
    char next[sizeof cli->name + 16];
    snprintf(next, sizeof next, "See `%s --help`", cli->name);
    return cli_fail(cli, ERR_USAGE, what, next);
}

static void enter(struct cli *cli, const char *name)
{
    size_t len = strlen(cli->name);
    snprintf(cli->name + len, sizeof cli->name - len, " %s", name);
}

static const struct cli_command *look_up(const struct cli_command *table, const char *name)
{
    for (const struct cli_command *c = table; c->name != NULL; c++)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
}

static void print_table(const struct cli *cli, const struct cli_command *table, const char *intro, FILE *out)
{
    struct cli scratch = *cli;
    struct options_spec common[COMMON_COUNT + 1];
    common_options(&scratch, common);
    fprintf(out, "usage: %s COMMAND ...\n\n%s\nCommands:\n", cli->name, intro);
    for (const struct cli_command *c = table; c->name != NULL; c++)
        fprintf(out, "  %-16s %s\n", c->name, c->line);
    fprintf(out, "\nOptions of each command that asks the signer (`%s COMMAND --help` tells the others):\n", cli->name);
    options_help(out, common);
}

/* Without a command: the help that was asked for, or what is missing. */
static int no_command(struct cli *cli, const struct cli_command *table, const char *intro, int argc, char **argv)
{
    struct options_spec common[COMMON_COUNT + 1];
    struct fault fault;
    common_options(cli, common);
    if (options_parse(common, NULL, &argc, argv, &fault) != ERR_OK)
        return cli_misuse(cli, fault.text);
    print_table(cli, table, intro, cli->help ? cli->out.out : cli->err.out);
    return cli->help ? CLI_DONE : CLI_USAGE;
}

int cli_dispatch(struct cli *cli, const struct cli_command *table, const char *intro, int argc, char **argv)
{
    struct options_spec common[COMMON_COUNT + 1];
    char what[160];
    common_options(cli, common);
    int at = 1;
    while (at < argc && argv[at][0] == '-') {
        int words = options_words(common, argv + at);
        if (words == 0)
            return no_command(cli, table, intro, argc, argv);
        at += words;
    }
    if (at == argc)
        return no_command(cli, table, intro, argc, argv);
    const struct cli_command *c = look_up(table, argv[at]);
    if (c == NULL) {
        snprintf(what, sizeof what, "there is no command %.100s", argv[at]);
        return cli_misuse(cli, what);
    }
    /* The name goes to the front of the options that stood before it. */
    char *name = argv[at];
    memmove(argv + 2, argv + 1, (size_t)(at - 1) * sizeof *argv);
    argv[1] = name;
    enter(cli, c->name);
    return c->run(cli, argc - 1, argv + 1);
}

static void print_usage(const struct cli *cli, const struct cli_usage *usage, const struct options_spec *own,
                        const struct options_spec *common)
{
    FILE *out = cli->out.out;
    fprintf(out, "usage: %s%s%s\n\n%s\nOptions:\n", cli->name, usage->synopsis[0] != '\0' ? " " : "", usage->synopsis,
            usage->text);
    if (own != NULL)
        options_help(out, own);
    options_help(out, common);
    fputs("\nExit codes: 0 done; 1 it was refused or failed; 2 wrong use; 3 the signer cannot be reached.\n", out);
}

bool cli_parse(struct cli *cli, const struct cli_usage *usage, const struct options_spec *own, int argc, char **argv,
               int *code)
{
    struct options_spec common[COMMON_COUNT + 1];
    struct fault fault;
    common_options(cli, common);
    if (options_parse(own, common, &argc, argv, &fault) != ERR_OK) {
        *code = cli_misuse(cli, fault.text);
        return false;
    }
    if (cli->help) {
        print_usage(cli, usage, own, common);
        *code = CLI_DONE;
        return false;
    }
    if (argc - 1 != usage->words) {
        char what[200];
        if (argc - 1 > usage->words)
            snprintf(what, sizeof what, "%.100s is one word too many", argv[1 + usage->words]);
        else
            snprintf(what, sizeof what, "something is missing: %s %s", cli->name, usage->synopsis);
        *code = cli_misuse(cli, what);
        return false;
    }
    return true;
}

bool cli_sendable(const char *word, size_t max_bytes)
{
    size_t len = strlen(word);
    if (len == 0 || len > max_bytes)
        return false;
    for (size_t at = 0; at < len;) {
        uint32_t code = 0;
        size_t n = visible_decode((const uint8_t *)word + at, len - at, &code);
        if (n == 0)
            return false;
        at += n;
    }
    return true;
}

/* Quotes a word for a shell. What is not plain would be shown as an escape and so be another word: $'...' is not for
 * every shell, so such a word is left to the person. */
static void put_quoted(const struct term *t, const char *word)
{
    static const char bare[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./:@%+=,";
    if (word[0] != '\0' && strspn(word, bare) == strlen(word)) {
        fputs(word, t->out);
        return;
    }
    fputc('\'', t->out);
    for (const char *at = word; *at != '\0';) {
        size_t len = strcspn(at, "'");
        term_text(t, at, len, SIZE_MAX);
        at += len;
        if (*at == '\'') {
            fputs("'\\''", t->out);
            at++;
        }
    }
    fputc('\'', t->out);
}

void cli_print_command(const struct cli *cli, const struct term *t, const char *words, const char *argument)
{
    fputs("tracekit", t->out);
    if (cli->data != NULL) {
        fputs(" --data ", t->out);
        put_quoted(t, cli->data);
    }
    if (cli->socket != NULL) {
        fputs(" --socket ", t->out);
        put_quoted(t, cli->socket);
    }
    fprintf(t->out, " %s", words);
    if (argument != NULL) {
        fputc(' ', t->out);
        put_quoted(t, argument);
    }
    fputc('\n', t->out);
}
