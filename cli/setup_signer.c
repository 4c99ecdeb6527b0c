#include "cli/setup_signer.h"

#include <stdio.h>

#include "cli/daemon.h"

int setup_signer_start(struct cli *cli)
{
    char program[PATHS_MAX];
    struct daemon_setup setup = {.data = cli->data, .signer = program};
    struct daemon_state state = {.running = false};
    struct fault fault = {""};
    enum err e = daemon_program(program, &fault);
    if (e == ERR_OK)
        e = daemon_up(&setup, &state, &fault);
    if (e != ERR_OK) {
        int code = cli_fail(cli, e, fault.text, "Until the signer runs, every call of the agent is denied");
        daemon_show_log(&cli->err, &state);
        return code;
    }
    fputs(state.changed ? "The signer runs now.\n" : "The signer runs already.\n", cli->out.out);
    return CLI_DONE;
}

int setup_signer_stop(struct cli *cli)
{
    char program[PATHS_MAX];
    struct daemon_setup setup = {.data = cli->data, .signer = program, .forget = true};
    struct daemon_state state = {.running = false};
    struct fault fault = {""};
    enum err e = daemon_program(program, &fault);
    if (e == ERR_OK)
        e = daemon_down(&setup, &state, &fault);
    if (e != ERR_OK)
        return cli_fail(cli, e, fault.text, "Stop the signer by hand");
    fputs(state.changed ? "The signer is stopped.\n" : "The signer did not run.\n", cli->out.out);
    return CLI_DONE;
}
