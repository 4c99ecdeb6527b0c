/* tracekit - what a person types: see what waits, answer it, take the evidence out, check it. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/approvals.h"
#include "cli/cli.h"
#include "cli/export.h"
#include "cli/gemini.h"
#include "cli/hook_definition.h"
#include "cli/init.h"
#include "cli/pause.h"
#include "cli/runs.h"
#include "cli/status.h"
#include "cli/trust.h"
#include "cli/uninstall.h"
#include "cli/up.h"
#include "verify/command.h"

static int verify(struct cli *cli, int argc, char **argv)
{
    return verify_command(argc, argv, cli->name);
}

static int hook_definition(struct cli *cli, int argc, char **argv)
{
    (void)cli;
    return hook_definition_command(argc, argv);
}

static int help(struct cli *cli, int argc, char **argv);

static const struct cli_command COMMANDS[] = {
    {"init", init_command, "make an agent ask before each tool call, and start the signer"},
    {"uninstall", uninstall_command, "take that back"},
    {"up", up_command, "start the signer"},
    {"down", up_down_command, "stop the signer"},
    {"status", status_command, "whether all is in place, and what it does not protect"},
    {"pause", pause_command, "switch the gate off for a while, on the record"},
    {"resume", pause_resume_command, "end that"},
    {"approvals", approvals_command, "calls that wait for a person: list, show, approve, reject"},
    {"runs", runs_command, "the runs that are recorded: list"},
    {"export", export_command, "write a run's evidence into a file that anybody can check"},
    {"trust", trust_command, "write the log's public key as a trust file"},
    {"verify", verify, "check a file of evidence, offline"},
    {"gemini", gemini_command, "start Gemini CLI, when the gate will hold"},
    {"hook-definition", hook_definition, "print the settings that make an agent ask before each tool call"},
    {"help", help, "explain tracekit, or one command"},
    {NULL, NULL, NULL},
};

static const char INTRO[] =
    "Lets you see and answer the tool calls that the signer holds for you, and take out its signed record.\n"
    "\n"
    "Exit codes: 0 done; 1 it was refused or failed; 2 wrong use; 3 the signer cannot be reached.\n"
    "`tracekit verify` has its own: see `tracekit verify --help`. `tracekit --version` names the version.\n";

/* `help COMMAND ...` is `COMMAND ... --help`. */
static int help(struct cli *cli, int argc, char **argv)
{
    static char ask[] = "--help";
    char *words[8] = {argv[0]};
    int count = 1;
    snprintf(cli->name, sizeof cli->name, "tracekit");
    for (int i = 1; i < argc && count < 5; i++)
        if (strcmp(argv[i], "help") != 0 && strcmp(argv[i], ask) != 0)
            words[count++] = argv[i];
    words[count++] = ask;
    return cli_dispatch(cli, COMMANDS, INTRO, count, words);
}

/* Whether what was printed has arrived. A reader who has seen enough (head) is no news. */
static int finish(const struct cli *cli, int code)
{
    if (fflush(cli->out.out) == 0 && !ferror(cli->out.out))
        return code;
    if (errno != EPIPE)
        cli_fail(cli, ERR_IO, "cannot write to standard output", "Is there room on the disk?");
    return code == CLI_DONE ? CLI_FAILED : code;
}

int main(int argc, char **argv)
{
    const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
    bool want_color = (no_color == NULL || no_color[0] == '\0') && terminal != NULL && strcmp(terminal, "dumb") != 0;
    struct cli cli = {.name = "tracekit"};
    /* Writing to a pipe that nobody reads is an error like others, and must not cut a clean-up short. */
    signal(SIGPIPE, SIG_IGN);
    term_init(&cli.out, stdout, want_color);
    term_init(&cli.err, stderr, want_color);
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        printf("tracekit %s\n", TRACEKIT_VERSION);
        return finish(&cli, CLI_DONE);
    }
    return finish(&cli, cli_dispatch(&cli, COMMANDS, INTRO, argc, argv));
}
