#include "cli/runs.h"

#include <inttypes.h>
#include <string.h>

#include "cli/link.h"

enum { LIMIT_DEFAULT = 50, LIMIT_MAX = 500, LABEL_COLUMNS = 11, RUN_COLUMNS = 40, STATE_COLUMNS = 12 };

/* A member's text in at most `columns`; "-" when there is none. */
static void put(const struct term *t, const struct json *run, const char *key, size_t columns)
{
    size_t len = 0;
    const char *text = json_text(json_get(run, key), &len);
    term_fit(t, text != NULL ? text : "-", text != NULL ? len : 1, columns);
}

static void put_line(const struct term *t, const struct json *run, const char *label, const char *key)
{
    fprintf(t->out, "  %-*s", LABEL_COLUMNS - 2, label);
    put(t, run, key, t->width - LABEL_COLUMNS - 1);
    fputc('\n', t->out);
}

static void show_run(const struct term *t, const struct json *run)
{
    int64_t records = 0, pending = 0;
    (void)json_int(json_get(run, "records"), &records);
    (void)json_int(json_get(run, "pending"), &pending);
    put(t, run, "run", RUN_COLUMNS);
    fputs("  ", t->out);
    put(t, run, "state", STATE_COLUMNS);
    fprintf(t->out, ", %" PRId64 " record%s", records, records == 1 ? "" : "s");
    if (pending > 0)
        fprintf(t->out, ", %" PRId64 " waiting for an answer", pending);
    fputc('\n', t->out);
    put_line(t, run, "session", "session");
    put_line(t, run, "harness", "harness");
    put_line(t, run, "started", "started_at");
    if (json_is(json_get(run, "ended_at"), JSON_STRING))
        put_line(t, run, "ended", "ended_at");
}

static int show_list(struct link *link, const struct json *reply)
{
    const struct cli *cli = link->cli;
    const struct json *list = json_get(reply, "runs");
    if (!json_is(list, JSON_ARRAY))
        return link_garbled(link, "no list of runs");
    if (json_count(list) == 0)
        fputs("No runs yet. A run begins with the first event that a hook reports.\n", cli->out.out);
    for (size_t i = 0; i < json_count(list); i++) {
        if (i > 0)
            fputc('\n', cli->out.out);
        show_run(&cli->out, json_at(list, i));
    }
    return CLI_DONE;
}

static int list_command(struct cli *cli, int argc, char **argv)
{
    static const struct cli_usage usage = {"[--limit N]", "Lists the runs that the signer knows, newest first.\n", 0};
    const char *limit_text = NULL;
    const struct options_spec own[] = {
        {"limit", 0, "N", "how many at most, 1 to 500 (50)", &limit_text, NULL},
        {NULL, 0, NULL, NULL, NULL, NULL},
    };
    struct link link;
    struct fault fault = {""};
    const struct json *reply = NULL;
    int64_t limit = LIMIT_DEFAULT;
    int code = CLI_DONE;
    if (!cli_parse(cli, &usage, own, argc, argv, &code))
        return code;
    if (limit_text != NULL && options_number("limit", limit_text, 1, LIMIT_MAX, &limit, &fault) != ERR_OK)
        return cli_misuse(cli, fault.text);
    code = link_open(cli, &link);
    if (code != CLI_DONE)
        return code;
    struct json *request = link_request(&link, "runs.list");
    json_set_int(link.arena, request, "limit", limit);
    code = link_call(&link, request, false, NULL, &reply);
    if (code == CLI_DONE)
        code = cli->json ? link_print_json(&link, reply) : show_list(&link, reply);
    link_close(&link);
    return code;
}

int runs_command(struct cli *cli, int argc, char **argv)
{
    static const struct cli_command table[] = {
        {"list", list_command, "the runs, newest first"},
        {NULL, NULL, NULL},
    };
    return cli_dispatch(cli, table, "Runs: what one session of an agent did, record by record.\n", argc, argv);
}
