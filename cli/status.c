#include "cli/status.h"

#include <stdio.h>
#include <string.h>

#include "cli/daemon.h"
#include "cli/link.h"
#include "cli/paths.h"
#include "cli/status_view.h"
#include "wire/client.h"

/* Fetches the reply. *why says what is wrong otherwise, and the exit code is CLI_UNREACHABLE, or CLI_FAILED when it is
 * a signer that refused. */
static int fetch(const struct cli *cli, struct arena *arena, const struct json **reply, struct fault *why)
{
    char path[PATHS_MAX];
    struct client *client = NULL;
    struct json *request = json_new_object(arena);
    enum err e = paths_control_socket(cli->data, cli->socket, path, why);
    if (e == ERR_OK)
        e = client_open(path, (uid_t)-1, &client, why);
    if (e == ERR_OK && request != NULL) {
        json_set_string(arena, request, "op", "status");
        e = client_call(client, request, LINK_TIMEOUT_MS, arena, reply, why);
    }
    client_close(client);
    if (e == ERR_OK && request == NULL)
        e = fault_set(why, ERR_NOMEM, "%s", err_text(ERR_NOMEM));
    return e == ERR_OK ? CLI_DONE : CLI_UNREACHABLE;
}

/* The signer's reply with what we know besides. */
static int print_json(const struct cli *cli, struct arena *arena, const struct status_view *v)
{
    struct json *o = json_new_object(arena);
    enum err e = ERR_NOMEM;
    if (o != NULL) {
        const struct json *settings = json_new_string(arena, v->settings);
        json_set(arena, o, "signer", v->reply != NULL ? v->reply : json_new_null());
        json_set_string(arena, o, "manager", status_view_manager(v->manager));
        json_set_string(arena, o, "gate", status_view_gate(v->gate));
        json_set(arena, o, "settings", settings != NULL ? settings : json_new_null());
        e = term_json(&cli->out, o);
    }
    return e == ERR_OK ? CLI_DONE : cli_fail(cli, e, err_text(e), NULL);
}

/* Who looks after the signer; nothing when that cannot be told. */
static void find_manager(const struct cli *cli, struct daemon_state *state)
{
    struct daemon_setup setup = {.data = cli->data};
    struct fault fault;
    if (cli->socket != NULL || daemon_look(&setup, state, &fault) != ERR_OK)
        state->manager = DAEMON_NOBODY;
}

int status_command(struct cli *cli, int argc, char **argv)
{
    static const struct cli_usage usage = {"",
                                           "Shows whether the signer runs, what it has recorded, whether Gemini CLI's "
                                           "settings hold the gate, and what all\n"
                                           "this does not protect. Exit code 0 only when the signer runs and the gate "
                                           "is in the settings; 1 when the gate\n"
                                           "is not.\n",
                                           0};
    struct daemon_state state = {.running = false};
    struct fault why = {""};
    char settings[PATHS_MAX];
    int code = CLI_DONE;
    if (!cli_parse(cli, &usage, NULL, argc, argv, &code))
        return code;
    struct arena *arena = arena_new(LINK_MEMORY_BYTES);
    struct status_view v = {.why = why.text, .unit = state.unit, .settings = settings};
    gate_file_path(settings);
    v.gate = settings[0] != '\0' ? gate_file_read(settings) : GATE_FILE_ABSENT;
    code = fetch(cli, arena, &v.reply, &why);
    if (v.reply != NULL)
        find_manager(cli, &state);
    v.manager = state.manager;
    int printed = CLI_DONE;
    if (cli->json)
        printed = print_json(cli, arena, &v);
    else
        status_view_print(&cli->out, &v);
    arena_free(arena);
    if (printed != CLI_DONE)
        return printed;
    return code == CLI_DONE && v.gate != GATE_FILE_WITH ? CLI_FAILED : code;
}
