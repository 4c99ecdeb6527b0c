#include "cli/approvals.h"

#include <string.h>

#include "cli/approval_view.h"
#include "cli/link.h"

enum { ID_WORD_BYTES = 128, REASON_BYTES = 1024 };

static const char SEE_LIST[] = "See what waits: `tracekit approvals list`";
static const char NOTHING_ANSWERED[] = "Nothing was answered. See what waits: `tracekit approvals list`";

/* --- list ------------------------------------------------------------------------------------------------------- */

static int show_list(struct link *link, const struct json *reply)
{
    const struct cli *cli = link->cli;
    const struct json *list = json_get(reply, "approvals");
    if (!json_is(list, JSON_ARRAY))
        return link_garbled(link, "no list of approvals");
    if (json_count(list) == 0) {
        fputs("No call waits for an answer. When the policy holds a call for a person, it shows up here.\n",
              cli->out.out);
        return CLI_DONE;
    }
    for (size_t i = 0; i < json_count(list); i++) {
        if (approval_view_id(json_at(list, i)) == NULL)
            return link_garbled(link, "an approval without a usable id");
        approval_view_block(cli, json_at(list, i));
        fputc('\n', cli->out.out);
    }
    if (json_true(json_get(reply, "more")))
        fputs("More are waiting: they show up as these are answered.\n", cli->out.out);
    fputs("Read one before you answer it:\n  ", cli->out.out);
    cli_print_command(cli, &cli->out, "approvals show", approval_view_id(json_at(list, 0)));
    return CLI_DONE;
}

static int list_command(struct cli *cli, int argc, char **argv)
{
    static const struct cli_usage usage = {"", "Lists the calls that wait for a person's answer, oldest first.\n", 0};
    struct link link;
    const struct json *reply = NULL;
    int code = CLI_DONE;
    if (!cli_parse(cli, &usage, NULL, argc, argv, &code))
        return code;
    code = link_open(cli, &link);
    if (code != CLI_DONE)
        return code;
    code = link_call(&link, link_request(&link, "approvals.list"), false, NULL, &reply);
    if (code == CLI_DONE)
        code = cli->json ? link_print_json(&link, reply) : show_list(&link, reply);
    link_close(&link);
    return code;
}

/* --- show ------------------------------------------------------------------------------------------------------- */

/* Asks for one approval. Its id in *approval has been checked. */
static int fetch(struct link *link, const char *id, const struct json **reply, const struct json **approval)
{
    struct json *request = link_request(link, "approvals.show");
    json_set_string(link->arena, request, "id", id);
    int code = link_call(link, request, false, SEE_LIST, reply);
    if (code != CLI_DONE)
        return code;
    *approval = json_get(*reply, "approval");
    const char *found = approval_view_id(*approval);
    if (found == NULL)
        return link_garbled(link, "an approval without a usable id");
    if (strncmp(found, id, strlen(id)) != 0 && strncmp(found + strlen("apr-"), id, strlen(id)) != 0)
        return link_garbled(link, "another approval than the one that was asked for");
    return CLI_DONE;
}

static int show_command(struct cli *cli, int argc, char **argv)
{
    static const struct cli_usage usage = {
        "ID",
        "Shows everything about one held call, and how to answer it. ID is an approval's id or its beginning\n"
        "(at least four characters behind apr-).\n",
        1};
    struct link link;
    const struct json *reply = NULL, *approval = NULL;
    int code = CLI_DONE;
    if (!cli_parse(cli, &usage, NULL, argc, argv, &code))
        return code;
    if (!cli_sendable(argv[1], ID_WORD_BYTES))
        return cli_misuse(cli, "this is no approval's id");
    code = link_open(cli, &link);
    if (code != CLI_DONE)
        return code;
    code = fetch(&link, argv[1], &reply, &approval);
    if (code == CLI_DONE && cli->json)
        code = link_print_json(&link, reply);
    else if (code == CLI_DONE)
        approval_view_whole(cli, approval);
    link_close(&link);
    return code;
}

/* --- approve, reject -------------------------------------------------------------------------------------------- */

struct answer {
    const char *decision; /* "approve" or "reject" */
    const char *id;       /* as it was typed */
    const char *reason;   /* or NULL */
};

/* Says what became of the call. The reply's texts are compared, never printed. */
static int say_what_happened(struct link *link, const struct answer *answer, const struct json *reply)
{
    FILE *out = link->cli->out.out;
    bool approved = strcmp(answer->decision, "approve") == 0;
    const struct json *delivery = json_get(reply, "delivery");
    if (json_equal_cstr(delivery, "waiting"))
        fputs(approved ? "The waiting call goes on now.\n" : "The waiting call is stopped now.\n", out);
    else if (json_equal_cstr(delivery, "kept"))
        fputs(approved
                  ? "No call waits for it now. Within five minutes an identical call of its session goes on, once.\n"
                  : "No call waits for it now. An identical call will be held again.\n",
              out);
    else
        return link_garbled(link, "it does not say what became of the call");
    if (json_true(json_get(reply, "self_approved")))
        fputs("The record says that you and the agent are the same user.\n", out);
    return CLI_DONE;
}

/* Which call was answered, and how, in two lines. */
static void say_which(const struct cli *cli, const struct answer *answer, const struct json *approval)
{
    bool approve = strcmp(answer->decision, "approve") == 0;
    term_styled(&cli->out, approve ? TERM_GREEN : TERM_RED, approve ? "Approved" : "Rejected");
    fprintf(cli->out.out, " %s\n", approval_view_id(approval));
    approval_view_line(&cli->out, approval);
}

static int send_answer(struct link *link, const struct answer *answer, const struct json *approval,
                       const struct json **reply)
{
    const char *binding = json_get_cstr(approval, "binding_digest");
    if (binding == NULL)
        return link_garbled(link, "the approval has no usable binding digest");
    struct json *request = link_request(link, "approvals.answer");
    json_set_string(link->arena, request, "id", approval_view_id(approval));
    json_set_string(link->arena, request, "decision", answer->decision);
    json_set_string(link->arena, request, "binding_digest", binding);
    if (answer->reason != NULL)
        json_set_string(link->arena, request, "reason", answer->reason);
    return link_call(link, request, true, NOTHING_ANSWERED, reply);
}

/* Reads the approval, answers exactly that, and says which it was. */
static int give(struct link *link, const struct answer *answer)
{
    const struct json *reply = NULL, *approval = NULL;
    struct arena *kept = NULL;
    int code = fetch(link, answer->id, &reply, &approval);
    if (code != CLI_DONE)
        return code;
    kept = link_keep(link);
    code = send_answer(link, answer, approval, &reply);
    if (code == CLI_DONE && link->cli->json) {
        code = link_print_json(link, reply);
    } else if (code == CLI_DONE && !json_equal_cstr(json_get(reply, "decision"), answer->decision)) {
        code = link_garbled(link, "it names another decision. Look with `tracekit approvals show`");
    } else if (code == CLI_DONE) {
        say_which(link->cli, answer, approval);
        code = say_what_happened(link, answer, reply);
    }
    arena_free(kept);
    return code;
}

static int answer_command(struct cli *cli, int argc, char **argv, const char *decision, const struct cli_usage *usage)
{
    struct answer answer = {decision, NULL, NULL};
    const struct options_spec own[] = {
        {"reason", 0, "TEXT", "why; it is recorded, and an agent that waits for a refusal is told", &answer.reason,
         NULL},
        {NULL, 0, NULL, NULL, NULL, NULL},
    };
    struct link link;
    int code = CLI_DONE;
    if (!cli_parse(cli, usage, own, argc, argv, &code))
        return code;
    answer.id = argv[1];
    if (!cli_sendable(answer.id, ID_WORD_BYTES))
        return cli_misuse(cli, "this is no approval's id");
    if (answer.reason != NULL && !cli_sendable(answer.reason, REASON_BYTES))
        return cli_misuse(cli, "the reason must be UTF-8 text of 1 to 1024 bytes");
    code = link_open(cli, &link);
    if (code != CLI_DONE)
        return code;
    code = give(&link, &answer);
    link_close(&link);
    return code;
}

static int approve_command(struct cli *cli, int argc, char **argv)
{
    static const struct cli_usage usage = {
        "ID [--reason TEXT]",
        "Lets one held call run, once: the one that waits, or, when none waits any more, an identical call within\n"
        "five minutes. ID is an approval's id or its beginning (at least four characters behind apr-).\n",
        1};
    return answer_command(cli, argc, argv, "approve", &usage);
}

static int reject_command(struct cli *cli, int argc, char **argv)
{
    static const struct cli_usage usage = {
        "ID [--reason TEXT]",
        "Refuses one held call. ID is an approval's id or its beginning (at least four characters behind apr-).\n", 1};
    return answer_command(cli, argc, argv, "reject", &usage);
}

int approvals_command(struct cli *cli, int argc, char **argv)
{
    static const struct cli_command table[] = {
        {"list", list_command, "the calls that wait for an answer"},
        {"show", show_command, "everything about one of them"},
        {"approve", approve_command, "let one run, once"},
        {"reject", reject_command, "refuse one"},
        {NULL, NULL, NULL},
    };
    return cli_dispatch(cli, table, "Calls that the policy holds for a person.\n", argc, argv);
}
