#include "cli/up.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/ask.h"
#include "cli/daemon.h"
#include "evidence/arena.h"
#include "evidence/json.h"

enum { ARENA_BYTES = 1 << 20 };

static const char *manager_name(enum daemon_manager manager)
{
    switch (manager) {
    case DAEMON_NOBODY:
        return "none";
    case DAEMON_DETACHED:
        return "detached";
    case DAEMON_SYSTEMD:
        return "systemd";
    }
    return "none";
}

static int print_json(const struct cli *cli, const struct daemon_state *state)
{
    struct arena *arena = arena_new(ARENA_BYTES);
    struct json *o = json_new_object(arena);
    enum err e = ERR_NOMEM;
    if (o != NULL) {
        const struct json *data = json_new_string(arena, state->data);
        json_set_bool(arena, o, "running", state->running);
        json_set_bool(arena, o, "changed", state->changed);
        json_set_string(arena, o, "manager", manager_name(state->manager));
        json_set_int(arena, o, "pid", (int64_t)state->pid);
        json_set(arena, o, "data_dir", data != NULL ? data : json_new_null());
        json_set_int(arena, o, "hooks_waiting", state->waiting);
        e = term_json(&cli->out, o);
    }
    arena_free(arena);
    return e == ERR_OK ? CLI_DONE : cli_fail(cli, e, err_text(e), NULL);
}

static void say_where(const struct cli *cli, const struct daemon_state *state)
{
    term_fact(&cli->out, "data", state->data, strlen(state->data));
    if (state->manager == DAEMON_SYSTEMD)
        term_fact(&cli->out, "unit", state->unit, strlen(state->unit));
    else
        term_fact(&cli->out, "log", state->log, strlen(state->log));
}

static void say_up(const struct cli *cli, const struct daemon_state *state)
{
    FILE *out = cli->out.out;
    fputs(state->changed ? "The signer is started: " : "The signer runs already: ", out);
    fprintf(out, "process %ld%s.\n", (long)state->pid,
            state->manager == DAEMON_SYSTEMD ? ", looked after by systemd" : "");
    say_where(cli, state);
    if (state->manager != DAEMON_SYSTEMD && state->changed)
        fputs(
            "No systemd user manager answers here, so nothing starts it again after it ended: then type tracekit up.\n",
            out);
}

/* The signer has one place for each data directory; there is none to name by a socket. */
static bool takes_no_socket(const struct cli *cli, int *code)
{
    if (cli->socket == NULL)
        return true;
    *code = cli_misuse(cli, "give --data DIR; the sockets lie where the signer of that directory makes them");
    return false;
}

int up_command(struct cli *cli, int argc, char **argv)
{
    static const struct cli_usage usage = {
        "",
        "Starts the signer in dev mode, as yourself, unless it runs already, and waits until it answers. Where a "
        "systemd\n"
        "user manager answers it becomes a unit of it, which also starts with your next login; elsewhere it runs\n"
        "without a terminal and writes its messages into DATA/signer.log.\n",
        0};
    char program[PATHS_MAX];
    struct daemon_setup setup = {.signer = program};
    struct daemon_state state = {.running = false};
    struct fault fault = {""};
    int code = CLI_DONE;
    if (!cli_parse(cli, &usage, NULL, argc, argv, &code) || !takes_no_socket(cli, &code))
        return code;
    setup.data = cli->data;
    enum err e = daemon_program(program, &fault);
    if (e == ERR_OK)
        e = daemon_up(&setup, &state, &fault);
    if (e != ERR_OK) {
        fflush(cli->out.out);
        daemon_show_log(&cli->err, &state);
        return cli_fail(cli, e, fault.text[0] != '\0' ? fault.text : err_text(e), NULL);
    }
    if (cli->json)
        return print_json(cli, &state);
    say_up(cli, &state);
    return CLI_DONE;
}

/* --- down --------------------------------------------------------------------------------------------------------- */

static int confirm(const struct cli *cli, int64_t waiting)
{
    struct ask terminal;
    char what[120];
    snprintf(what, sizeof what, "%" PRId64 " call%s for an answer, and stopping the signer denies %s", waiting,
             waiting == 1 ? " waits" : "s wait", waiting == 1 ? "it" : "them");
    if (!ask_open(&terminal))
        return cli_fail(cli, ERR_STATE, what, "Look with `tracekit approvals list`, or give --yes");
    fprintf(terminal.out, "%s.\n", what);
    bool yes = ask_yes(&terminal, "Stop it all the same? [y/N]");
    ask_close(&terminal);
    return yes ? CLI_DONE : cli_fail(cli, ERR_STATE, "nothing was stopped", NULL);
}

static void say_down(const struct cli *cli, const struct daemon_state *state)
{
    FILE *out = cli->out.out;
    if (!state->changed) {
        fputs("No signer runs.\n", out);
        return;
    }
    fprintf(out, "The signer is stopped (process %ld).\n", (long)state->pid);
    if (state->waiting > 0)
        fprintf(out, "Calls that waited for an answer and are denied now: %" PRId64 ".\n", state->waiting);
    fputs("Until it runs again, an agent with the hook installed is denied every tool call.\n", out);
}

int up_down_command(struct cli *cli, int argc, char **argv)
{
    static const struct cli_usage usage = {"[--yes]",
                                           "Stops the signer and waits until it has ended. Calls that wait for an "
                                           "answer are denied, which is asked about\n"
                                           "first. A systemd unit is disabled as well, until the next `tracekit up`.\n",
                                           0};
    struct daemon_setup setup = {.signer = NULL};
    struct daemon_state state = {.running = false};
    struct fault fault = {""};
    bool yes = false;
    int code = CLI_DONE;
    const struct options_spec own[] = {
        {"yes", 0, NULL, "stop it even while calls wait", NULL, &yes},
        {NULL, 0, NULL, NULL, NULL, NULL},
    };
    if (!cli_parse(cli, &usage, own, argc, argv, &code) || !takes_no_socket(cli, &code))
        return code;
    setup.data = cli->data;
    enum err e = daemon_look(&setup, &state, &fault);
    if (e == ERR_OK && state.waiting > 0 && !yes) {
        code = confirm(cli, state.waiting);
        if (code != CLI_DONE)
            return code;
    }
    if (e == ERR_OK)
        e = daemon_down(&setup, &state, &fault);
    if (e != ERR_OK)
        return cli_fail(cli, e, fault.text[0] != '\0' ? fault.text : err_text(e), NULL);
    if (cli->json)
        return print_json(cli, &state);
    say_down(cli, &state);
    return CLI_DONE;
}
