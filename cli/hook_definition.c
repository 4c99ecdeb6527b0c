#include "cli/hook_definition.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/hook_command.h"
#include "cli/options.h"
#include "cli/paths.h"
#include "evidence/arena.h"
#include "evidence/buf.h"
#include "evidence/jcs.h"
#include "evidence/json.h"

enum {
    MIN_WAIT_S = 1,
    MAX_WAIT_S = 590, /* the hook's own maximum, under Gemini's timeout of 600 */
    OUTPUT_BYTES = 64 << 10,
    MEMORY_BYTES = 256 << 10,
};

static const char HELP[] =
    "usage: tracekit hook-definition --agent gemini [--event EVENT | --command EVENT]\n"
    "                                [--hook PATH] [--socket PATH | --data DIR] [--signer-uid UID] [--wait SECONDS]\n"
    "\n"
    "Prints what belongs into Gemini CLI's settings.json (~/.gemini/settings.json, or for every user of this\n"
    "machine /etc/gemini-cli/settings.json), so that it asks the signer before each tool call and reports each\n"
    "result. Merge it with what is there: a key may stand in the file once. \"advanced\" keeps a project's .env\n"
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
        {"event", 0, "EVENT", "only this one: SessionStart, BeforeTool, AfterTool or SessionEnd", &r->event, NULL},
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

/* Puts the path of tracekit-hook beside the running program into `out`. */
static enum err default_hook(char out[static PATHS_MAX], struct fault *fault)
{
    static const char NAME[] = "tracekit-hook";
    char path[PATHS_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path);
    size_t len = n > 0 ? (size_t)n : 0;
    while (len > 0 && path[len - 1] != '/')
        len--;
    if (len == 0 || (size_t)n >= sizeof path || len + sizeof NAME > sizeof path)
        return fault_set(fault, ERR_PATH, "cannot tell where this program lies; give --hook PATH");
    memcpy(path + len, NAME, sizeof NAME);
    memcpy(out, path, len + sizeof NAME);
    return ERR_OK;
}

static enum err check_program(const char *path, struct fault *fault)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return fault_set(fault, ERR_PATH, "there is no %.160s; install tracekit-hook there, or give --hook PATH", path);
    if (!S_ISREG(st.st_mode) || access(path, X_OK) != 0)
        return fault_set(fault, ERR_PATH, "%.160s is not a program that may be run; give --hook PATH", path);
    return ERR_OK;
}

static enum err fill_paths(const struct request *r, struct definition *d, struct fault *fault)
{
    enum err e = r->hook != NULL ? paths_absolute(r->hook, d->hook, fault) : default_hook(d->hook, fault);
    if (e == ERR_OK)
        e = hook_command_check_path(d->hook, fault);
    if (e == ERR_OK)
        e = check_program(d->hook, fault);
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
        return fault_set(fault, ERR_USAGE, "%.80s is no event of ours: SessionStart, BeforeTool, AfterTool, SessionEnd",
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

static void write_command(struct buf *out, const struct definition *d, const struct hook_event *event)
{
    const struct hook_command c = {.event = event,
                                   .hook = d->hook,
                                   .socket = d->socket,
                                   .signer_uid = d->signer_uid,
                                   .wait_s = event->gates && d->wait_s != 0 ? d->wait_s : event->wait_s};
    hook_command_write(out, &c);
}

static enum err write_string(struct buf *out, struct arena *arena, const char *text, size_t len)
{
    return jcs_write(out, json_new_text(arena, text, len));
}

static enum err write_event(struct buf *out, struct arena *arena, const struct definition *d,
                            const struct hook_event *event)
{
    struct buf command;
    buf_init(&command, OUTPUT_BYTES);
    write_command(&command, d, event);
    enum err e = buf_err(&command);
    /* No matcher: every tool. */
    buf_printf(out, "    \"%s\": [\n      {\n        \"hooks\": [\n          {\n", event->name);
    buf_printf(out, "            \"type\": \"command\",\n            \"name\": \"%s\",\n", event->label);
    buf_puts(out, "            \"command\": ");
    if (e == ERR_OK)
        e = write_string(out, arena, (const char *)command.data, command.len);
    buf_printf(out, ",\n            \"timeout\": %d,\n            \"env\": {", event->timeout_ms);
    for (const struct hook_variable *v = HOOK_COMMAND_ENVIRONMENT; v->name != NULL; v++)
        buf_printf(out, "%s\"%s\": \"%s\"", v == HOOK_COMMAND_ENVIRONMENT ? "" : ", ", v->name, v->value);
    buf_puts(out, "}\n          }\n        ]\n      }\n    ]");
    buf_wipe(&command);
    return e != ERR_OK ? e : buf_err(out);
}

static enum err write_settings(struct buf *out, struct arena *arena, const struct definition *d)
{
    bool first = true;
    enum err e = ERR_OK;
    buf_puts(out, "{\n  \"hooks\": {\n");
    for (const struct hook_event *event = HOOK_COMMAND_EVENTS; event->name != NULL && e == ERR_OK; event++) {
        if (d->only != NULL && event != d->only)
            continue;
        if (!first)
            buf_puts(out, ",\n");
        e = write_event(out, arena, d, event);
        first = false;
    }
    buf_puts(out, "\n  }");
    /* What no env of a hook can close: the loader asks only whether this variable is there. */
    if (d->only == NULL)
        buf_puts(out, ",\n  \"advanced\": {\"excludedEnvVars\": [\"LD_TRACE_LOADED_OBJECTS\"]}");
    buf_puts(out, "\n}");
    return e != ERR_OK ? e : buf_err(out);
}

static int print(const struct cli *cli, const struct definition *d)
{
    struct arena *arena = arena_new(MEMORY_BYTES);
    struct buf out;
    int code = CLI_DONE;
    buf_init(&out, OUTPUT_BYTES);
    if (d->bare)
        write_command(&out, d, d->only);
    enum err e = d->bare ? buf_err(&out) : write_settings(&out, arena, d);
    if (e == ERR_OK) {
        fwrite(out.data, 1, out.len, cli->out.out);
        fputc('\n', cli->out.out);
        if (fflush(cli->out.out) != 0 || ferror(cli->out.out))
            e = ERR_IO;
    }
    if (e != ERR_OK)
        code = cli_fail(cli, e, e == ERR_IO ? "standard output cannot be written" : err_text(e), NULL);
    buf_wipe(&out);
    arena_free(arena);
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
