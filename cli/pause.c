#include "cli/pause.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ask.h"
#include "cli/link.h"
#include "cli/options.h"

enum { MAX_S = 3600, REASON_BYTES = 1024, MAX_DIGITS = 4 };

bool pause_seconds(const char *text, int64_t *out)
{
    static const struct {
        char unit;
        int64_t seconds;
    } UNITS[] = {{'s', 1}, {'m', 60}, {'h', 3600}};
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > MAX_DIGITS || text[digits] == '\0' || text[digits + 1] != '\0')
        return false;
    for (size_t i = 0; i < sizeof UNITS / sizeof UNITS[0]; i++) {
        int64_t seconds = strtol(text, NULL, 10) * UNITS[i].seconds;
        if (text[digits] == UNITS[i].unit && seconds >= 1 && seconds <= MAX_S) {
            *out = seconds;
            return true;
        }
    }
    return false;
}

/* Whether the person at the terminal wants that; CLI_DONE is yes. */
static int confirm(const struct cli *cli, const char *duration)
{
    struct ask terminal;
    char question[200];
    if (!ask_open(&terminal))
        return cli_misuse(cli, "there is no terminal to ask on; give --yes if that is what you want");
    snprintf(
        question, sizeof question,
        "For %s, calls that ask for network or paths, or that the policy denies, will run without asking anybody.\n"
        "Pause the gate? [y/N]",
        duration);
    bool yes = ask_yes(&terminal, question);
    ask_close(&terminal);
    return yes ? CLI_DONE : cli_fail(cli, ERR_STATE, "nothing is changed: the gate works", NULL);
}

static int begin(struct cli *cli, int64_t seconds, const char *reason)
{
    const struct json *reply = NULL;
    struct link link;
    size_t len = 0;
    int code = link_open(cli, &link);
    if (code != CLI_DONE)
        return code;
    struct json *request = link_request(&link, "pause.begin");
    json_set_int(link.arena, request, "seconds", seconds);
    json_set_string(link.arena, request, "reason", reason);
    code = link_call(&link, request, true, NULL, &reply);
    if (code == CLI_DONE && cli->json) {
        code = link_print_json(&link, reply);
    } else if (code == CLI_DONE) {
        const char *until = json_text(json_get(json_get(reply, "paused"), "until"), &len);
        fputs("The gate is paused until ", cli->out.out);
        term_text(&cli->out, until != NULL ? until : "-", until != NULL ? len : 1, SIZE_MAX);
        fputs(". Beginning and end are on the record, and each call that runs because of it.\n"
              "Calls that wait already go on waiting. To end it: tracekit resume\n",
              cli->out.out);
    }
    link_close(&link);
    return code;
}

int pause_command(struct cli *cli, int argc, char **argv)
{
    static const struct cli_usage usage = {
        "--for TIME --reason TEXT",
        "Switches the gate off for a while: calls that the policy holds or denies run, and are recorded as flagged.\n"
        "Beginning and end are signed records. Calls that cannot be read are denied all the same.\n",
        0};
    const char *duration = NULL, *reason = NULL;
    bool yes = false;
    const struct options_spec own[] = {
        {"for", 0, "TIME", "how long: 90s, 15m, 1h; an hour at most", &duration, NULL},
        {"reason", 0, "TEXT", "why; it is recorded", &reason, NULL},
        {"yes", 'y', NULL, "ask nothing", NULL, &yes},
        {NULL, 0, NULL, NULL, NULL, NULL},
    };
    int64_t seconds = 0;
    int code = CLI_DONE;
    if (!cli_parse(cli, &usage, own, argc, argv, &code))
        return code;
    if (duration == NULL || !pause_seconds(duration, &seconds))
        return cli_misuse(cli, "give --for with a time from 1s to 1h, such as 15m");
    if (reason == NULL || !cli_sendable(reason, REASON_BYTES))
        return cli_misuse(cli, "give --reason with UTF-8 text of 1 to 1024 bytes");
    if (!yes)
        code = confirm(cli, duration);
    return code == CLI_DONE ? begin(cli, seconds, reason) : code;
}

int pause_resume_command(struct cli *cli, int argc, char **argv)
{
    static const struct cli_usage usage = {"", "Ends a pause: the gate works again at once.\n", 0};
    const struct json *reply = NULL;
    struct link link;
    int code = CLI_DONE;
    if (!cli_parse(cli, &usage, NULL, argc, argv, &code))
        return code;
    code = link_open(cli, &link);
    if (code != CLI_DONE)
        return code;
    code = link_call(&link, link_request(&link, "pause.end"), true, NULL, &reply);
    if (code == CLI_DONE && cli->json) {
        code = link_print_json(&link, reply);
    } else if (code == CLI_DONE) {
        int64_t lifted = 0;
        (void)json_int(json_get(json_get(reply, "was"), "lifted"), &lifted);
        fprintf(cli->out.out,
                "The gate works again. %" PRId64 " call%s ran in the pause that the policy would have stopped.\n",
                lifted, lifted == 1 ? "" : "s");
    }
    link_close(&link);
    return code;
}
