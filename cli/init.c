#include "cli/init.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/ask.h"
#include "cli/definition.h"
#include "cli/hook_program.h"
#include "cli/init_common.h"
#include "cli/setup_signer.h"
#include "cli/tool_sandbox.h"

enum { OWN_COUNT = 7, NAMES_MAX = 16 };

struct init {
    struct cli *cli;
    const char *agent;
    bool dev, project, yes, v2, sandbox, no_sandbox;
    char hook[PATHS_MAX], socket[PATHS_MAX], id[DEFINITION_ID_BYTES];
    struct init_settings target;
    bool has_sandbox;  /* the tool sandbox is on already */
    bool sets_sandbox; /* and will be on */
    bool writes;       /* the text changes */
};

static const char TEXT[] =
    "Makes Gemini CLI ask the signer before each tool call: puts our hooks into ~/.gemini/settings.json (or, with\n"
    "--project, into .gemini/settings.json here), and starts the signer, which makes its keys at its first start.\n"
    "Nothing else in the file changes, and a copy of it is kept beside it. A second run brings our hooks up to\n"
    "date, or changes nothing. `tracekit uninstall` takes them out again.\n"
    "\n"
    "The tool sandbox is a setting of Gemini's (security.toolSandboxing): it runs each command under bubblewrap,\n"
    "which makes a command's wish for network or paths visible and holds the command to it. It is switched on only\n"
    "when you say so.\n";

/* Whether the options fit together; else an exit code. */
static int check_options(const struct init *in)
{
    struct cli *cli = in->cli;
    if (in->agent == NULL || strcmp(in->agent, "gemini") != 0)
        return cli_misuse(cli, "--agent must be gemini: no other agent is known yet");
    if (!in->dev)
        return cli_misuse(cli, "--dev is missing: a signer that runs as another user (system mode) is not there yet");
    if (in->sandbox && in->no_sandbox)
        return cli_misuse(cli, "--tool-sandbox and --no-tool-sandbox exclude each other");
    return init_common_options(cli);
}

static enum err find_paths(struct init *in, struct fault *fault)
{
    enum err e = hook_program_find(NULL, in->hook, fault);
    if (e == ERR_OK)
        e = paths_agent_socket(in->cli->data, NULL, in->socket, fault);
    return e == ERR_OK ? hook_command_check_path(in->socket, fault) : e;
}

/* The random part of the names: the one that is there, or a new one. */
static enum err find_id(struct init *in, struct fault *fault)
{
    struct arena *arena = arena_new(SETTINGS_MAX_BYTES * 64);
    const struct json *hook = NULL;
    enum err e = settings_find_hook(in->target.settings, definition_is_ours, arena, &hook, fault);
    if (e == ERR_OK && !definition_id(hook, in->id))
        e = definition_new_id(in->id, fault);
    arena_free(arena);
    return e;
}

static enum err check_names(struct init *in, struct fault *fault)
{
    char names[NAMES_MAX][DEFINITION_NAME_BYTES];
    const char *list[NAMES_MAX + 1];
    size_t n = 0;
    for (const struct hook_event *event = HOOK_COMMAND_EVENTS; event->name != NULL && n < NAMES_MAX; event++, n++) {
        definition_name(event, in->id, names[n]);
        list[n] = names[n];
    }
    list[n] = NULL;
    return settings_check(in->target.settings, list, fault);
}

/* Puts everything into the text but the sandbox, which the person is asked about first. */
static enum err edit(struct init *in, struct fault *fault)
{
    struct settings *s = in->target.settings;
    enum err e = find_id(in, fault);
    if (e == ERR_OK)
        e = check_names(in, fault);
    for (const struct hook_event *event = HOOK_COMMAND_EVENTS; e == ERR_OK && event->name != NULL; event++) {
        const struct hook_command c = {event, in->hook, in->socket, geteuid(), event->wait_s};
        e = definition_put(s, &c, in->id, fault);
    }
    if (e == ERR_OK)
        e = settings_put_excluded(s, DEFINITION_EXCLUDED, fault);
    if (e == ERR_OK)
        e = settings_tool_sandbox(s, &in->has_sandbox, fault);
    if (e == ERR_OK)
        in->writes = init_settings_differ(&in->target);
    return e;
}

/* Whether the sandbox is to be switched on; asks when nobody said so. */
static int decide_sandbox(struct init *in, const struct ask *ask)
{
    static const char QUESTION[] = "Switch Gemini's tool sandbox on (security.toolSandboxing)? [y/N]";
    if (in->has_sandbox || in->no_sandbox || (in->yes && !in->sandbox))
        return CLI_DONE;
    bool works = tool_sandbox_works(getenv("PATH"));
    if (in->sandbox && !works)
        return cli_fail(in->cli, ERR_STATE,
                        "`bwrap --ro-bind / / true` fails here, so no command would run in the tool sandbox",
                        "Install bubblewrap, or let it make user namespaces; or leave --tool-sandbox out");
    in->sets_sandbox = in->sandbox;
    if (in->sandbox || ask == NULL)
        return CLI_DONE;
    if (!works) {
        fputs("Gemini's tool sandbox needs bubblewrap, and `bwrap --ro-bind / / true` fails here: it stays off.\n",
              ask->out);
        return CLI_DONE;
    }
    fputs("Gemini can run each command under bubblewrap. With that, a command has no network and writes only in its\n"
          "folder unless its call asks for more, and a call that asks for more is held for you.\n",
          ask->out);
    in->sets_sandbox = ask_yes(ask, QUESTION);
    return CLI_DONE;
}

static void show_plan(const struct init *in, FILE *out)
{
    const struct term t = {.out = out, .width = in->cli->out.width};
    fputs("This changes ", out);
    term_text(&t, in->target.file.path, strlen(in->target.file.path), SIZE_MAX);
    fputs(in->target.file.exists ? " (a copy of it is kept beside it):\n" : ", which is not there yet:\n", out);
    if (in->writes) {
        fputs("  hooks for", out);
        for (const struct hook_event *event = HOOK_COMMAND_EVENTS; event->name != NULL; event++)
            fprintf(out, "%s %s", event == HOOK_COMMAND_EVENTS ? "" : ",", event->name);
        fprintf(out, ", named \"tracekit %s: ...\"\n", in->id);
        fputs("  advanced.excludedEnvVars holds " DEFINITION_EXCLUDED "\n", out);
    }
    if (in->sets_sandbox)
        fputs("  security.toolSandboxing is true: each command runs under bubblewrap\n", out);
}

static int refuse_silence(const struct init *in)
{
    return cli_fail(in->cli, ERR_USAGE, "there is no terminal to ask at, and nothing was changed",
                    "Give --yes to go on without a question");
}

/* Asks what there is to ask. *go: the text is to be written. */
static int consent(struct init *in, bool *go)
{
    struct ask ask = {NULL, NULL};
    bool has_terminal = !in->yes && ask_open(&ask);
    int code = decide_sandbox(in, has_terminal ? &ask : NULL);
    bool changes = in->writes || in->sets_sandbox;
    if (code == CLI_DONE && changes && !in->yes && !has_terminal)
        code = refuse_silence(in);
    if (code == CLI_DONE && changes)
        show_plan(in, has_terminal ? ask.out : in->cli->out.out);
    *go = code == CLI_DONE && changes;
    if (*go && has_terminal && !ask_yes(&ask, "Go on? [y/N]"))
        code = cli_fail(in->cli, ERR_STATE, "nothing was changed", NULL);
    if (has_terminal)
        ask_close(&ask);
    return code;
}

static int write_text(struct init *in)
{
    struct fault fault = {""};
    enum err e = in->sets_sandbox ? settings_put_tool_sandbox(in->target.settings, &fault) : ERR_OK;
    if (e != ERR_OK)
        return init_settings_fail(in->cli, &in->target, e, &fault);
    return init_settings_write(in->cli, &in->target);
}

static void say_next(const struct init *in)
{
    const struct cli *cli = in->cli;
    fprintf(cli->out.out,
            "\nNext: start gemini anew, in a folder that it trusts (in others it %s).\nThen see what runs, and what is "
            "held for you:\n  ",
            in->project ? "does not read a project's settings" : "runs no hooks");
    cli_print_command(cli, &cli->out, "status", NULL);
    fputs("  ", cli->out.out);
    cli_print_command(cli, &cli->out, "approvals list", NULL);
}

static int run(struct init *in)
{
    struct fault fault = {""};
    bool go = false;
    enum err e = find_paths(in, &fault);
    if (e != ERR_OK)
        return cli_fail(in->cli, e, fault.text, NULL);
    int code = init_settings_open(in->cli, in->project, true, &in->target);
    if (code != CLI_DONE)
        return code;
    e = edit(in, &fault);
    if (e != ERR_OK)
        code = init_settings_fail(in->cli, &in->target, e, &fault);
    if (code == CLI_DONE)
        code = consent(in, &go);
    if (code == CLI_DONE && go)
        code = write_text(in);
    else if (code == CLI_DONE)
        init_settings_say(in->cli, &in->target, "The hooks are in place already; nothing to change in ", "");
    init_settings_close(&in->target);
    if (code == CLI_DONE)
        code = setup_signer_start(in->cli);
    if (code == CLI_DONE)
        say_next(in);
    return code;
}

int init_command(struct cli *cli, int argc, char **argv)
{
    static const struct cli_usage usage = {
        "--dev --agent gemini [--project] [--yes] [--tool-sandbox | --no-tool-sandbox]", TEXT, 0};
    struct init in = {.cli = cli};
    const struct options_spec own[] = {
        {"dev", 0, NULL, "with a signer that runs as you (needed: there is nothing else yet)", NULL, &in.dev},
        {"agent", 0, "gemini", "whose settings", &in.agent, NULL},
        {"project", 0, NULL, "only for the present folder: its .gemini/settings.json", NULL, &in.project},
        {"yes", 'y', NULL, "ask nothing", NULL, &in.yes},
        {"tool-sandbox", 0, NULL, "switch Gemini's tool sandbox on", NULL, &in.sandbox},
        {"no-tool-sandbox", 0, NULL, "do not offer it", NULL, &in.no_sandbox},
        {"v2", 0, NULL, "accepted, and of no effect: the record format is always v2", NULL, &in.v2},
        {NULL, 0, NULL, NULL, NULL, NULL},
    };
    int code = CLI_DONE;
    if (!cli_parse(cli, &usage, own, argc, argv, &code))
        return code;
    code = check_options(&in);
    return code == CLI_DONE ? run(&in) : code;
}
