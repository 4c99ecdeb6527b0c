#include "cli/hook_definition.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/definition.h"
#include "cli/hook_command.h"
#include "cli/hook_program.h"
#include "cli/options.h"
#include "cli/paths.h"
#include "evidence/buf.h"
#include "harness/settings.h"

enum {
    MIN_WAIT_S = 1,
    MAX_WAIT_S = 590, /* the hook's own maximum, under Gemini's timeout of 600 */
    OUTPUT_BYTES = 64 << 10,
};

static const char HELP[] =
    "usage: tracekit hook-definition --agent gemini [--event EVENT | --command EVENT]\n"
    "                                [--hook PATH] [--socket PATH | --data DIR] [--signer-uid UID] [--wait SECONDS]\n"
    "\n"
    "Prints what belongs into Gemini CLI's settings.json (~/.gemini/settings.json, or for every user of this\n"
    "machine /etc/gemini-cli/settings.json), so that it asks the signer before each tool call and reports each\n"
    "result. `tracekit init` puts it there; by hand, merge it with what is there: a key may stand in the file\n"
    "once. The name of the hooks is another one each time, so that no project can name it in order to switch them\n"
    "off. \"advanced\" keeps a project's .env\n"
    "file from setting the one variable that ends the hook's shell too early and that the hook cannot unset.\n"
    "\n"
    "Options:\n";

static const char HELP_END[] =
    "\n"
    "Examples:\n"
    "  tracekit hook-definition --agent gemini                           everything, for this user's signer\n"
    "  tracekit hook-definition --agent gemini --event BeforeTool        the gate alone\n"
    "  tracekit hook-definition --agent gemini --wait 60                 hold a call for one minute at most\n"
    "  tracekit hook-definition --agent gemini --command BeforeTool      the command line, to try it in a shell\n"
    "\n"
    "Exit status: 0 printed; 1 something went wrong; 2 wrong use, or a path that cannot be used. Why is on\n"
    "standard error.\n";

struct request {
    const char *agent, *event, *command, *hook, *socket, *data, *signer_uid, *wait;
    bool help, json;
};

/* A request, checked and with its gaps filled. */
struct definition {
    const struct hook_event *only; /* NULL: all events */
    bool bare;                     /* just the command line of `only` */
    char hook[PATHS_MAX];
    char socket[PATHS_MAX];
    uid_t signer_uid;
    int wait_s; /* for events that gate; 0: the event's own */
};

enum { OPTION_COUNT = 10 };

static void describe(struct request *r, struct options_spec out[static OPTION_COUNT + 1])
{
    const struct options_spec table[OPTION_COUNT + 1] = {
        {"agent", 0, "gemini", "whose settings", &r->agent, NULL},
        {"event", 0, "EVENT", "only this one, as BeforeTool", &r->event, NULL},
        {"command", 0, "EVENT", "print only the command line of this event", &r->command, NULL},
        {"hook", 0, "PATH", "tracekit-hook; without this, the one beside this program", &r->hook, NULL},
        {"socket", 0, "PATH", "the signer's agent socket", &r->socket, NULL},
        {"data", 0, "DIR", "the signer's data directory; its socket is DIR/run/agent.sock", &r->data, NULL},
        {"signer-uid", 0, "UID", "who runs the signer; without this, you", &r->signer_uid, NULL},
        {"wait", 0, "SECONDS", "how long a call may be held, 1 to 590; without this, 540", &r->wait, NULL},
        {"json", 0, NULL, "print JSON, which is what it does anyway", NULL, &r->json},
        {"help", 0, NULL, "explain this command", NULL, &r->help},
        {NULL, 0, NULL, NULL, NULL, NULL},
    };
    memcpy(out, table, sizeof table);
}

static enum err fill_paths(const struct request *r, struct definition *d, struct fault *fault)
{
    enum err e = hook_program_find(r->hook, d->hook, fault);
    if (e == ERR_OK)
        e = paths_agent_socket(r->data, r->socket, d->socket, fault);
    if (e == ERR_OK)
        e = hook_command_check_path(d->socket, fault);
    return e;
}

static enum err fill_event(const struct request *r, struct definition *d, struct fault *fault)
{
    const char *name = r->command != NULL ? r->command : r->event;
    if (r->command != NULL && r->event != NULL)
        return fault_set(fault, ERR_USAGE, "--event and --command exclude each other");
    d->bare = r->command != NULL;
    d->only = name != NULL ? hook_command_event(name) : NULL;
    if (name != NULL && d->only == NULL)
        return fault_set(fault, ERR_USAGE,
                         "%.80s is no event of ours: SessionStart, BeforeAgent, BeforeTool, Notification, AfterTool, "
                         "SessionEnd",
                         name);
    return ERR_OK;
}

static enum err fill(const struct request *r, struct definition *d, struct fault *fault)
{
    int64_t uid = geteuid(), wait = 0;
    if (r->agent == NULL || strcmp(r->agent, "gemini") != 0)
        return fault_set(fault, ERR_USAGE, "--agent must be gemini");
    if (r->socket != NULL && r->data != NULL)
        return fault_set(fault, ERR_USAGE, "--socket and --data exclude each other");
    enum err e = fill_event(r, d, fault);
    /* (uid_t)-1 is nobody's. */
    if (e == ERR_OK && r->signer_uid != NULL)
        e = options_number("signer-uid", r->signer_uid, 0, (int64_t)UINT32_MAX - 1, &uid, fault);
    if (e == ERR_OK && r->wait != NULL)
        e = options_number("wait", r->wait, MIN_WAIT_S, MAX_WAIT_S, &wait, fault);
    if (e == ERR_OK)
        e = fill_paths(r, d, fault);
    d->signer_uid = (uid_t)uid;
    d->wait_s = (int)wait;
    return e;
}

static struct hook_command command(const struct definition *d, const struct hook_event *event)
{
    return (struct hook_command){.event = event,
                                 .hook = d->hook,
                                 .socket = d->socket,
                                 .signer_uid = d->signer_uid,
                                 .wait_s = event->gates && d->wait_s != 0 ? d->wait_s : event->wait_s};
}

/* What `tracekit init` would write into a file that is not there yet. */
static enum err write_settings(struct buf *out, const struct definition *d, struct fault *fault)
{
    struct settings *s = NULL;
    char id[DEFINITION_ID_BYTES];
    enum err e = definition_new_id(id, fault);
    if (e == ERR_OK)
        e = settings_new(&s);
    for (const struct hook_event *event = HOOK_COMMAND_EVENTS; e == ERR_OK && event->name != NULL; event++) {
        const struct hook_command c = command(d, event);
        if (d->only == NULL || event == d->only)
            e = definition_put(s, &c, id, fault);
    }
    /* What no env of a hook can close: the loader asks only whether this variable is there. */
    if (e == ERR_OK && d->only == NULL)
        e = settings_put_excluded(s, DEFINITION_EXCLUDED, fault);
    if (e == ERR_OK) {
        size_t len = 0;
        const char *text = settings_text(s, &len);
        buf_put(out, text, len);
        e = buf_err(out);
    }
    settings_free(s);
    return e;
}

static enum err write_command(struct buf *out, const struct definition *d)
{
    const struct hook_command c = command(d, d->only);
    hook_command_write(out, &c);
    buf_putc(out, '\n');
    return buf_err(out);
}

static int print(const struct cli *cli, const struct definition *d)
{
    struct buf out;
    struct fault fault = {""};
    int code = CLI_DONE;
    buf_init(&out, OUTPUT_BYTES);
    enum err e = d->bare ? write_command(&out, d) : write_settings(&out, d, &fault);
    if (e == ERR_OK) {
        fwrite(out.data, 1, out.len, cli->out.out);
        if (fflush(cli->out.out) != 0 || ferror(cli->out.out))
            e = fault_set(&fault, ERR_IO, "standard output cannot be written");
    }
    if (e != ERR_OK)
        code = cli_fail(cli, e, fault.text[0] != '\0' ? fault.text : err_text(e), NULL);
    buf_wipe(&out);
    return code;
}

int hook_definition_command(int argc, char **argv)
{
    struct cli cli = {.name = "tracekit hook-definition"};
    struct request request = {0};
    struct definition definition = {0};
    struct options_spec options[OPTION_COUNT + 1];
    struct fault fault = {""};
    term_init(&cli.out, stdout, false);
    term_init(&cli.err, stderr, false);
    describe(&request, options);
    if (options_parse(options, NULL, &argc, argv, &fault) != ERR_OK)
        return cli_misuse(&cli, fault.text);
    if (request.help) {
        fputs(HELP, stdout);
        options_help(stdout, options);
        fputs(HELP_END, stdout);
        return CLI_DONE;
    }
    if (argc > 1)
        return cli_misuse(&cli, "there is a word too many");
    enum err e = fill(&request, &definition, &fault);
    if (e == ERR_USAGE)
        return cli_misuse(&cli, fault.text);
    if (e != ERR_OK) {
        cli_fail(&cli, e, fault.text, NULL);
        return CLI_USAGE;
    }
    return print(&cli, &definition);
}
