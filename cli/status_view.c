#include "cli/status_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LINE_BYTES = 400 };

static void fact(const struct term *t, const char *label, const char *text)
{
    term_fact(t, label, text, strlen(text));
}

/* A member's text as a fact; "unknown" when there is none. */
static void fact_of(const struct term *t, const char *label, const struct json *reply, const char *key)
{
    size_t len = 0;
    const char *text = json_text(json_get(reply, key), &len);
    if (text == NULL)
        fact(t, label, "unknown");
    else
        term_fact(t, label, text, len);
}

static int64_t number(const struct json *reply, const char *key)
{
    int64_t n = 0;
    return json_int(json_get(reply, key), &n) ? n : 0;
}

const char *status_view_manager(enum daemon_manager manager)
{
    switch (manager) {
    case DAEMON_SYSTEMD:
        return "systemd";
    case DAEMON_DETACHED:
        return "detached";
    case DAEMON_NOBODY:
        break;
    }
    return "unknown";
}

const char *status_view_gate(enum gate_file gate)
{
    switch (gate) {
    case GATE_FILE_WITH:
        return "yes";
    case GATE_FILE_ALTERED:
        return "altered";
    case GATE_FILE_UNREADABLE:
        return "unreadable";
    case GATE_FILE_ABSENT:
    case GATE_FILE_WITHOUT:
        break;
    }
    return "no";
}

static void print_process(const struct term *t, const struct status_view *v)
{
    char line[LINE_BYTES];
    const char *unit = v->unit[0] != '\0' ? v->unit : "systemd";
    fputs("Signer: ", t->out);
    term_styled(t, TERM_GREEN, "running");
    fputc('\n', t->out);
    snprintf(line, sizeof line, "%" PRId64 "%s%s", number(v->reply, "pid"),
             v->manager == DAEMON_SYSTEMD ? ", looked after by the systemd unit " : ", without a service manager",
             v->manager == DAEMON_SYSTEMD ? unit : "");
    fact(t, "process", line);
    fact_of(t, "since", v->reply, "started_at");
    fact_of(t, "version", v->reply, "version");
    fact(t, "mode",
         json_equal_cstr(json_get(v->reply, "mode"), "dev") ? "dev: the signer is a process of your user"
                                                            : "system: the signer has a user of its own");
    fact_of(t, "data", v->reply, "data_dir");
    fact_of(t, "log", v->reply, "log_id");
}

static void print_record(const struct term *t, const struct json *reply)
{
    char line[LINE_BYTES];
    int64_t records = number(reply, "records"), covered = number(reply, "covered");
    snprintf(line, sizeof line, "%" PRId64 ", of which the last checkpoint covers %" PRId64, records, covered);
    fact(t, "records", line);
    snprintf(line, sizeof line, "%" PRId64 " open", number(reply, "runs_open"));
    fact(t, "runs", line);
    snprintf(line, sizeof line, "%" PRId64 " pending, %" PRId64 " of them with a call that waits%s",
             number(reply, "pending"), number(reply, "hooks_waiting"),
             number(reply, "pending") > 0 ? ": `tracekit approvals list`" : "");
    fact(t, "approvals", line);
}

static void print_alarms(const struct term *t, const struct json *reply)
{
    const struct json *paused = json_get(reply, "paused"), *unasked = json_get(reply, "unasked");
    if (json_is(paused, JSON_OBJECT)) {
        char until[LINE_BYTES];
        const char *text = json_get_cstr(paused, "until");
        snprintf(until, sizeof until, "until %s: what policy would stop runs (`tracekit resume`)",
                 text != NULL ? text : "?");
        fact(t, "PAUSED", until);
    }
    if (json_count(unasked) > 0) {
        char line[LINE_BYTES];
        snprintf(line, sizeof line, "%zu session%s of an agent run%s and never asked", json_count(unasked),
                 json_count(unasked) == 1 ? "" : "s", json_count(unasked) == 1 ? "s" : "");
        fact(t, "unasked", line);
    }
}

static void print_gate(const struct term *t, const struct status_view *v)
{
    static const struct {
        const char *word, *text;
    } SAID[] = {
        [GATE_FILE_ABSENT] = {"not installed", "the file is not there"},
        [GATE_FILE_WITHOUT] = {"not installed", "no BeforeTool hook in it is ours"},
        [GATE_FILE_ALTERED] = {"altered",
                               "its command line or env is not as it was printed: calls may run without an answer"},
        [GATE_FILE_WITH] = {"in the settings", "our BeforeTool hook is in it"},
        [GATE_FILE_UNREADABLE] = {"unknown", "it cannot be read as JSON with comments"},
    };
    bool is_there = v->gate == GATE_FILE_WITH;
    fputs("\nGate of Gemini CLI: ", t->out);
    term_styled(t, is_there ? TERM_GREEN : TERM_RED, SAID[v->gate].word);
    fputc('\n', t->out);
    if (v->settings[0] != '\0')
        fact(t, "file", v->settings);
    fact(t, "", SAID[v->gate].text);
    if (!is_there)
        fact(t, "", "`tracekit init --dev --agent gemini` puts it right");
}

static void print_limits(const struct term *t)
{
    fputs("\n", t->out);
    term_styled(t, TERM_BOLD, "What this does not protect");
    fputs("\n"
          "  - Signer and agent are the same user in dev mode: the checks are tripwires, not walls.\n"
          "  - Esc in Gemini does not release a held call; answer it, or let it wait.\n"
          "  - Without a terminal and with the tool sandbox, Gemini can wait for ever on a denial.\n"
          "  - Yolo mode opens the network to sandboxed commands without asking a hook.\n"
          "  - The sandbox settings that a run had are not signed into it.\n"
          "  docs/gemini.md has the whole list.\n",
          t->out);
}

void status_view_print(const struct term *t, const struct status_view *v)
{
    if (v->reply == NULL) {
        fputs("Signer: ", t->out);
        term_styled(t, TERM_RED, "not reachable");
        fputc('\n', t->out);
        if (v->why[0] != '\0')
            fact(t, "", v->why);
        fact(t, "", "`tracekit up` starts it; until then the hook denies every call");
    } else {
        print_process(t, v);
        print_record(t, v->reply);
        print_alarms(t, v->reply);
    }
    print_gate(t, v);
    print_limits(t);
}
