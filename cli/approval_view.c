#include "cli/approval_view.h"

#include <inttypes.h>
#include <string.h>

#include "cli/arguments.h"
#include "evidence/buf.h"
#include "evidence/jcs.h"

enum { ID_MAX_BYTES = 64, LIST_TEXT_MAX = 1 << 20, ARGUMENTS_TEXT_MAX = 8 << 20, SCREEN_LINES = 24 };

const char *approval_view_id(const struct json *approval)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";
    const char *id = json_get_cstr(approval, "id");
    if (id == NULL || strncmp(id, "apr-", 4) != 0)
        return NULL;
    size_t len = strlen(id);
    return len > 4 && len <= ID_MAX_BYTES && strspn(id, allowed) == len ? id : NULL;
}

bool approval_view_is_pending(const struct json *approval)
{
    return json_equal_cstr(json_get(approval, "state"), "pending");
}

/* The text of a member; "-" when there is none. */
static const char *text_of(const struct json *approval, const char *key, size_t *len)
{
    const char *text = json_text(json_get(approval, key), len);
    if (text != NULL)
        return text;
    *len = 1;
    return "-";
}

static void join(struct buf *out, const struct json *list)
{
    for (size_t i = 0; i < json_count(list); i++) {
        size_t len = 0;
        const char *text = json_text(json_at(list, i), &len);
        if (i > 0)
            buf_puts(out, ", ");
        if (text != NULL)
            buf_put(out, text, len);
    }
}

/* "59m left, a call waits 8m"; our own words and numbers. */
static void time_left(const struct json *approval, char *out, size_t size)
{
    char left[TERM_DURATION_BYTES], wait[TERM_DURATION_BYTES];
    int64_t left_s = 0, wait_s = 0;
    json_int(json_get(approval, "expires_in_s"), &left_s);
    bool counted = json_int(json_get(approval, "wait_left_s"), &wait_s);
    term_duration(left_s, left);
    term_duration(wait_s, wait);
    if (!json_true(json_get(approval, "waiting")))
        snprintf(out, size, "%s left to answer, no call waits for it now", left);
    else if (counted)
        snprintf(out, size, "%s left to answer, the call waits %s more", left, wait);
    else
        snprintf(out, size, "%s left to answer, the call waits", left);
}

/* One line of a block: "  LABEL   text", cut to the width. */
static void block_line(const struct term *t, const char *label, const char *text, size_t len)
{
    enum { LABEL_COLUMNS = 9 };
    fprintf(t->out, "  %-*s", LABEL_COLUMNS - 2, label);
    term_fit(t, text, len, t->width - LABEL_COLUMNS - 1);
    fputc('\n', t->out);
}

static void block_list(const struct term *t, const char *label, const struct json *list)
{
    struct buf b;
    buf_init(&b, LIST_TEXT_MAX);
    if (json_count(list) > 1)
        buf_printf(&b, "%zu: ", json_count(list));
    join(&b, list);
    if (buf_err(&b) != ERR_OK) {
        buf_reset(&b);
        buf_printf(&b, "%zu, too long to be shown here", json_count(list));
    }
    block_line(t, label, (const char *)b.data, b.len);
    buf_wipe(&b);
}

void approval_view_line(const struct term *t, const struct json *approval)
{
    size_t tool_len = 0, len = 0;
    const char *tool = text_of(approval, "tool", &tool_len);
    const char *summary = text_of(approval, "summary", &len);
    fputs("  ", t->out);
    size_t used = term_fit(t, tool, tool_len, t->width / 2);
    fputs(": ", t->out);
    term_fit(t, summary, len, t->width - used - 5);
    fputc('\n', t->out);
}

void approval_view_block(const struct cli *cli, const struct json *approval)
{
    const struct term *t = &cli->out;
    char left[2 * TERM_DURATION_BYTES + 64];
    size_t len = 0;
    const char *text = NULL;
    time_left(approval, left, sizeof left);
    term_styled(t, TERM_BOLD, approval_view_id(approval));
    fprintf(t->out, "\n  %-7s%s\n", "time", left);
    text = text_of(approval, "tool", &len);
    block_line(t, "tool", text, len);
    text = text_of(approval, "summary", &len);
    block_line(t, "call", text, len);
    if (json_count(json_get(approval, "grants")) > 0)
        block_list(t, "grants", json_get(approval, "grants"));
    block_list(t, "rule", json_get(approval, "rule_ids"));
    text = text_of(approval, "cwd", &len);
    block_line(t, "in", text, len);
    text = text_of(approval, "requester", &len);
    block_line(t, "from", text, len);
}

static void fact(const struct term *t, const char *label, const struct json *approval, const char *key)
{
    size_t len = 0;
    const char *text = text_of(approval, key, &len);
    term_fact(t, label, text, len);
}

/* What only some calls have. */
static void optional_fact(const struct term *t, const char *label, const struct json *approval, const char *key)
{
    if (json_is(json_get(approval, key), JSON_STRING))
        fact(t, label, approval, key);
}

/* The texts of a list, one a line under one label. */
static void fact_list(const struct term *t, const char *label, const struct json *list, const char *none)
{
    if (json_count(list) == 0)
        term_fact(t, label, none, strlen(none));
    for (size_t i = 0; i < json_count(list); i++) {
        size_t len = 0;
        const char *text = json_text(json_at(list, i), &len);
        term_fact(t, i == 0 ? label : "", text != NULL ? text : "-", text != NULL ? len : 1);
    }
}

/* The arguments, or NULL: they are kept only while the approval waits. */
static const struct json *args_of(const struct json *approval)
{
    const struct json *args = json_get(approval, "args");
    return args != NULL && !json_is(args, JSON_NULL) ? args : NULL;
}

static void put_facts(const struct term *t, const struct json *approval)
{
    const struct json *args = args_of(approval);
    char left[2 * TERM_DURATION_BYTES + 64];
    time_left(approval, left, sizeof left);
    fact(t, "state", approval, "state");
    if (approval_view_is_pending(approval))
        term_fact(t, "time", left, strlen(left));
    fact(t, "tool", approval, "tool");
    optional_fact(t, "server", approval, "server");
    optional_fact(t, "its tool", approval, "server_tool");
    optional_fact(t, "replaces", approval, "replaces");
    /* What a call asks for is in its arguments. */
    fact_list(t, "grants", json_get(approval, "grants"), args != NULL ? "none are asked for" : "(no longer kept)");
    fact_list(t, "rules", json_get(approval, "rule_ids"), "-");
    fact_list(t, "because", json_get(approval, "reasons"), "-");
    fact(t, "directory", approval, "cwd");
    fact(t, "asked by", approval, "requester");
    fact(t, "asked at", approval, "created_at");
    fact(t, "ends at", approval, "expires_at");
    fact(t, "run", approval, "run");
    fact(t, "session", approval, "session");
    fact(t, "call id", approval, "tool_call_id");
    fact(t, "policy", approval, "policy_hash");
    fact(t, "binding", approval, "binding_digest");
}

/* Returns how many lines the arguments took. */
static size_t put_arguments(const struct term *t, const struct json *args)
{
    struct buf b;
    if (args == NULL) {
        fputs("\nThe arguments are gone: they are kept only while the approval waits.\n", t->out);
        return 0;
    }
    buf_init(&b, ARGUMENTS_TEXT_MAX);
    if (jcs_write(&b, args) == ERR_OK)
        fprintf(t->out,
                "\nArguments, %zu bytes as JSON; a string's lines stand behind '|', ':' goes on with the line above:\n",
                b.len);
    else
        fputs("\nArguments; a string's lines stand behind '|', ':' goes on with the line above:\n", t->out);
    buf_wipe(&b);
    return arguments_print(t, args);
}

static void put_commands(const struct cli *cli, const char *id)
{
    const struct term *t = &cli->out;
    fputs("\nTo let this call run, once:\n  ", t->out);
    cli_print_command(cli, t, "approvals approve", id);
    fputs("To refuse it:\n  ", t->out);
    cli_print_command(cli, t, "approvals reject", id);
}

void approval_view_whole(const struct cli *cli, const struct json *approval)
{
    const struct term *t = &cli->out;
    const char *id = approval_view_id(approval);
    fputs("Approval ", t->out);
    term_styled(t, TERM_BOLD, id);
    fputc('\n', t->out);
    put_facts(t, approval);
    size_t lines = put_arguments(t, args_of(approval));
    if (!approval_view_is_pending(approval)) {
        fputs("\nIt no longer waits for an answer.\n", t->out);
        return;
    }
    if (lines > SCREEN_LINES)
        fprintf(t->out, "\nThe arguments fill %zu lines. Read them all before you answer; a pager helps.\n", lines);
    put_commands(cli, id);
}
