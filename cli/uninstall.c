#include "cli/uninstall.h"

#include <string.h>

#include "cli/ask.h"
#include "cli/definition.h"
#include "cli/init_common.h"
#include "cli/purge.h"
#include "cli/setup_signer.h"

struct uninstall {
    struct cli *cli;
    const char *agent;
    bool project, purge, yes;
    struct init_settings target; /* ->settings NULL: there is no file */
    bool has_sandbox, writes;
};

static const char TEXT[] =
    "Takes our hooks out of Gemini CLI's settings (with --project, out of the present folder's), and stops the\n"
    "signer; whatever else the file holds stays as it is. Settings elsewhere that still name the signer deny every\n"
    "call from then on. The evidence stays, unless --purge is given: that removes the data directory with all runs,\n"
    "records and keys, for good. Export first what you need.\n";

/* Takes our parts out of the text. The variable goes only together with hooks: by itself it may be anybody's. */
static enum err edit(struct uninstall *u, struct fault *fault)
{
    struct settings *s = u->target.settings;
    struct arena *arena = arena_new(SETTINGS_MAX_BYTES * 64);
    const struct json *hook = NULL;
    enum err e = settings_find_hook(s, definition_is_ours, arena, &hook, fault);
    if (e == ERR_OK && hook != NULL)
        e = settings_drop_hooks(s, definition_is_ours, fault);
    if (e == ERR_OK && hook != NULL)
        e = settings_drop_excluded(s, DEFINITION_EXCLUDED, fault);
    if (e == ERR_OK && hook != NULL)
        e = settings_tool_sandbox(s, &u->has_sandbox, fault);
    if (e == ERR_OK)
        u->writes = init_settings_differ(&u->target);
    arena_free(arena);
    return e;
}

static int plan(struct uninstall *u)
{
    struct fault fault = {""};
    int code = init_settings_open(u->cli, u->project, false, &u->target);
    if (code != CLI_DONE || u->target.settings == NULL)
        return code;
    enum err e = edit(u, &fault);
    if (e == ERR_OK)
        return CLI_DONE;
    code = init_settings_fail(u->cli, &u->target, e, &fault);
    init_settings_close(&u->target);
    return code;
}

static void show_plan(const struct uninstall *u, FILE *out)
{
    const struct term t = {.out = out, .width = u->cli->out.width};
    const char *path = u->target.file.path;
    if (u->writes) {
        fputs("This takes our hooks out of ", out);
        term_text(&t, path, strlen(path), SIZE_MAX);
        fputs(", and stops the signer.\n", out);
    } else {
        fputs("This stops the signer; no hooks of ours are in ", out);
        term_text(&t, path, strlen(path), SIZE_MAX);
        fputs(".\n", out);
    }
}

/* Asks for the word when evidence is to be destroyed, else for a yes. */
static int consent(struct uninstall *u, const struct purge *purge)
{
    struct ask ask = {NULL, NULL};
    bool has_terminal = !u->yes && ask_open(&ask), agreed = u->yes;
    if (!u->yes && !has_terminal)
        return cli_fail(u->cli, ERR_USAGE, "there is no terminal to ask at, and nothing was changed",
                        "Give --yes to go on without a question");
    FILE *out = has_terminal ? ask.out : u->cli->out.out;
    show_plan(u, out);
    if (purge != NULL)
        purge_show(u->cli, purge, out);
    if (has_terminal) {
        agreed = purge != NULL ? ask_word(&ask, "Type destroy to go on:", "destroy") : ask_yes(&ask, "Go on? [y/N]");
        ask_close(&ask);
    }
    return agreed ? CLI_DONE : cli_fail(u->cli, ERR_STATE, "nothing was changed", NULL);
}

static int change(struct uninstall *u)
{
    int code = CLI_DONE;
    if (u->writes)
        code = init_settings_write(u->cli, &u->target);
    if (code == CLI_DONE && u->has_sandbox)
        init_settings_say(u->cli, &u->target, "The tool sandbox stays on: security.toolSandboxing in ", "");
    return code;
}

static int run(struct uninstall *u)
{
    struct purge purge;
    int code = u->purge ? purge_look(u->cli, &purge) : CLI_DONE;
    if (code == CLI_DONE)
        code = plan(u);
    if (code != CLI_DONE)
        return code;
    code = consent(u, u->purge ? &purge : NULL);
    if (code == CLI_DONE)
        code = change(u);
    if (u->target.settings != NULL)
        init_settings_close(&u->target);
    else
        settings_file_close(&u->target.file);
    if (code == CLI_DONE)
        code = setup_signer_stop(u->cli);
    if (code == CLI_DONE && u->purge)
        code = purge_run(u->cli, &purge);
    return code;
}

int uninstall_command(struct cli *cli, int argc, char **argv)
{
    static const struct cli_usage usage = {"--agent gemini [--project] [--purge] [--yes]", TEXT, 0};
    struct uninstall u = {.cli = cli};
    const struct options_spec own[] = {
        {"agent", 0, "gemini", "whose settings", &u.agent, NULL},
        {"project", 0, NULL, "only the present folder's .gemini/settings.json", NULL, &u.project},
        {"purge", 0, NULL, "destroy the evidence, too: runs, records and keys", NULL, &u.purge},
        {"yes", 'y', NULL, "ask nothing", NULL, &u.yes},
        {NULL, 0, NULL, NULL, NULL, NULL},
    };
    int code = CLI_DONE;
    if (!cli_parse(cli, &usage, own, argc, argv, &code))
        return code;
    if (u.agent == NULL || strcmp(u.agent, "gemini") != 0)
        return cli_misuse(cli, "--agent must be gemini: no other agent is known yet");
    code = init_common_options(cli);
    return code == CLI_DONE ? run(&u) : code;
}
