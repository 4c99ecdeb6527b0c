#include "cli/gemini.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/gemini_check.h"
#include "cli/link.h"
#include "evidence/json.h"

enum { MAX_OWN_WORDS = 8, JSON_BYTES = 1 << 20 };

static const char TEXT[] =
    "Starts Gemini CLI with the words behind our own options, unchanged, after having checked that the gate will\n"
    "hold: the arguments, the environment, the .env file and the settings that Gemini would use here, whether it\n"
    "trusts this folder, and that the signer answers. If anything makes the gate void or cannot be checked, it is\n"
    "named, and Gemini is not started.\n"
    "\n"
    "The signer that is asked is the one that the settings name. With --data or --socket, the signer whose control\n"
    "socket that is must answer as well.\n"
    "\n"
    "The first word that is no option of ours, or --, ends our options. `tracekit gemini -- --help` is Gemini's help.\n"
    "What changes while Gemini runs is not seen, nor a `gemini` that is started by itself.\n";

/* How many words in front are our own options. */
static int own_words(int argc, char **argv)
{
    static const struct options_spec names[] = {
        {"check", 0, NULL, "", NULL, NULL}, {"json", 0, NULL, "", NULL, NULL},     {"help", 0, NULL, "", NULL, NULL},
        {"data", 0, "DIR", "", NULL, NULL}, {"socket", 0, "PATH", "", NULL, NULL}, {NULL, 0, NULL, NULL, NULL, NULL},
    };
    int at = 1;
    while (at < argc) {
        int words = options_words(names, argv + at);
        if (words == 0)
            break;
        at += words;
    }
    return at < argc ? at : argc;
}

/* --- what was found -------------------------------------------------------------------------------------------- */

static void put_finding(const struct cli *cli, const struct voids_finding *f)
{
    char text[sizeof f->what + 400];
    snprintf(text, sizeof text, "%s: %s; %s", f->what, f->why, f->remedy);
    cli_fail(cli, ERR_STATE, text, NULL);
}

static void put_file(const struct cli *cli, const char *what, const struct settings_file *file)
{
    if (file->text == NULL)
        return;
    fprintf(cli->err.out, "  %s: ", what);
    term_text(&cli->err, file->path, strlen(file->path), SIZE_MAX);
    fputc('\n', cli->err.out);
}

static void print_findings(const struct cli *cli, const struct gemini_check *c)
{
    for (size_t i = 0; i < c->voids.count; i++)
        put_finding(cli, &c->voids.list[i]);
    for (size_t i = 0; i < c->fault_count; i++)
        cli_fail(cli, ERR_STATE, c->faults[i].text, NULL);
    if (c->voids.missed > 0)
        cli_fail(cli, ERR_STATE, "there is more than can be shown", NULL);
    fputs("Files that Gemini would read here:\n", cli->err.out);
    for (size_t s = SETTINGS_SYSTEM_DEFAULTS; s < SETTINGS_SCOPES; s++)
        put_file(cli, effective_scope_name((enum settings_scope)s), &c->files.settings[s]);
    put_file(cli, ".env", &c->files.env);
}

static struct json *findings_json(struct arena *arena, const struct gemini_check *c)
{
    struct json *list = json_new_array(arena);
    for (size_t i = 0; i < c->voids.count; i++) {
        struct json *one = json_new_object(arena);
        json_set_string(arena, one, "what", c->voids.list[i].what);
        json_set_string(arena, one, "why", c->voids.list[i].why);
        json_set_string(arena, one, "remedy", c->voids.list[i].remedy);
        json_add(arena, list, one);
    }
    return list;
}

/* A fault may hold a path that is not UTF-8. */
static struct json *faults_json(struct arena *arena, const struct gemini_check *c)
{
    struct json *list = json_new_array(arena);
    for (size_t i = 0; i < c->fault_count; i++) {
        struct buf text;
        buf_init(&text, 4 * FAULT_TEXT_BYTES);
        settings_node_repair(&text, c->faults[i].text, strlen(c->faults[i].text));
        json_add(arena, list, text.len > 0 ? json_new_text(arena, (const char *)text.data, text.len) : NULL);
        buf_wipe(&text);
    }
    return list;
}

static int print_json(const struct cli *cli, const struct gemini_check *c)
{
    struct arena *arena = arena_new(JSON_BYTES);
    struct json *all = json_new_object(arena);
    enum err e = ERR_NOMEM;
    if (all != NULL) {
        json_set_bool(arena, all, "holds", gemini_check_holds(c));
        json_set(arena, all, "findings", findings_json(arena, c));
        json_set(arena, all, "faults", faults_json(arena, c));
        e = term_json(&cli->out, all);
    }
    arena_free(arena);
    return e == ERR_OK ? CLI_DONE : cli_fail(cli, e, err_text(e), NULL);
}

/* --- the command ----------------------------------------------------------------------------------------------- */

/* Returns only when it failed. */
static int start(const struct cli *cli, const char *program, int count, char **arguments)
{
    char text[PATHS_MAX + 64], name[] = "gemini";
    char **words = calloc((size_t)count + 2, sizeof *words);
    if (words == NULL)
        return cli_fail(cli, ERR_NOMEM, err_text(ERR_NOMEM), NULL);
    words[0] = name;
    memcpy(words + 1, arguments, (size_t)count * sizeof *words);
    fflush(cli->out.out);
    /* What is ignored here would stay ignored there. */
    signal(SIGPIPE, SIG_DFL);
    execv(program, words);
    snprintf(text, sizeof text, "%s cannot be started (%s)", program, strerror(errno));
    free(words);
    signal(SIGPIPE, SIG_IGN);
    return cli_fail(cli, ERR_IO, text, "Is it installed well? Try it by itself");
}

static int say_hello(const struct cli *cli)
{
    struct link link;
    const struct json *reply = NULL;
    int code = link_open(cli, &link);
    if (code != CLI_DONE)
        return code;
    code = link_call(&link, link_request(&link, "hello"), false, NULL, &reply);
    link_close(&link);
    return code;
}

static int refusal(const struct gemini_check *c)
{
    return c->no_signer && c->voids.count == 0 && c->fault_count == 1 ? CLI_UNREACHABLE : CLI_FAILED;
}

static int run(const struct cli *cli, bool check_only, int count, char **arguments)
{
    struct gemini_check *c = calloc(1, sizeof *c);
    int code = CLI_DONE;
    if (c == NULL)
        return cli_fail(cli, ERR_NOMEM, err_text(ERR_NOMEM), NULL);
    gemini_check(c, (size_t)count, (const char *const *)arguments);
    bool holds = gemini_check_holds(c);
    if (cli->json)
        code = print_json(cli, c);
    else if (!holds)
        print_findings(cli, c);
    else if (check_only)
        fputs("The gate will hold for a Gemini CLI that is started here with these arguments.\n", cli->out.out);
    if (code == CLI_DONE && !holds)
        code = refusal(c);
    char program[PATHS_MAX];
    memcpy(program, c->program, sizeof program);
    gemini_check_close(c);
    free(c);
    return code != CLI_DONE || check_only ? code : start(cli, program, count, arguments);
}

int gemini_command(struct cli *cli, int argc, char **argv)
{
    static const struct cli_usage usage = {"[--check [--json]] [--] [ARGUMENT ...]", TEXT, 0};
    bool check_only = false;
    const struct options_spec own[] = {
        {"check", 0, NULL, "only check; do not start Gemini", NULL, &check_only},
        {NULL, 0, NULL, NULL, NULL, NULL},
    };
    char *words[MAX_OWN_WORDS + 1] = {NULL};
    int count = own_words(argc, argv), code = CLI_DONE;
    if (count > MAX_OWN_WORDS)
        return cli_misuse(cli, "an option is given twice");
    memcpy(words, argv, (size_t)count * sizeof *words);
    if (!cli_parse(cli, &usage, own, count, words, &code))
        return code;
    if (cli->json && !check_only)
        return cli_misuse(cli, "--json goes with --check");
    code = cli->data != NULL || cli->socket != NULL ? say_hello(cli) : CLI_DONE;
    if (code != CLI_DONE)
        return code;
    count += count < argc && strcmp(argv[count], "--") == 0 ? 1 : 0;
    return run(cli, check_only, argc - count, argv + count);
}
