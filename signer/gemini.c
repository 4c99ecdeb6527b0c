/* Gemini CLI's hook payloads and answers (docs/gemini.md; measured on 0.61.0). */
#include <stdio.h>
#include <string.h>

#include "evidence/jcs.h"
#include "signer/harness.h"

static bool gemini_event(const char *event, enum harness_event *out)
{
    static const struct {
        const char *name;
        enum harness_event event;
    } events[] = {
        {"BeforeTool", HARNESS_BEFORE_TOOL},     {"AfterTool", HARNESS_AFTER_TOOL},
        {"SessionStart", HARNESS_SESSION_START}, {"SessionEnd", HARNESS_SESSION_END},
        {"BeforeAgent", HARNESS_PROMPT},         {"AfterAgent", HARNESS_OTHER},
        {"Notification", HARNESS_NOTICE},        {"PreCompress", HARNESS_OTHER},
        {"BeforeModel", HARNESS_OTHER},          {"AfterModel", HARNESS_OTHER},
        {"BeforeToolSelection", HARNESS_OTHER},
    };
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        if (strcmp(events[i].name, event) == 0) {
            *out = events[i].event;
            return true;
        }
    }
    return false;
}

/* A session id is a UUID today; any short printable text will do, for it is only compared and shown. */
static bool usable_session(const char *session)
{
    if (session == NULL || session[0] == '\0' || strlen(session) > HARNESS_MAX_SESSION_BYTES)
        return false;
    for (const char *c = session; *c != '\0'; c++)
        if (*c <= ' ' || *c > '~')
            return false;
    return true;
}

static const char *refuse_args(struct arena *arena, const char *why, size_t offset)
{
    char text[160];
    int n = snprintf(text, sizeof text, "%s (byte %zu of the payload)", why, offset);
    const char *copy = arena_copy(arena, text, (size_t)n);
    return copy != NULL ? copy : "not strict JSON";
}

static void read_call(struct arena *arena, const struct json *payload, const struct json_fault *loose,
                      struct harness_message *m)
{
    const char *tool = json_get_cstr(payload, "tool_name");
    const struct json *args = json_get(payload, "tool_input");
    if (tool != NULL)
        m->tool = tool;
    m->args_loose = args;
    if (m->event == HARNESS_BEFORE_TOOL && loose->err != ERR_OK)
        m->args_error = refuse_args(arena, err_text(loose->err), loose->offset);
    else if (!json_is(args, JSON_OBJECT))
        m->args_error = "tool_input is not an object";
    else if (tool == NULL)
        m->args_error = "tool_name is not a text";
    else
        m->args = args;
}

/* An MCP tool's name is mcp_<server>_<tool>, and where it is cut cannot be told from the name. */
static void read_context(const struct json *payload, struct harness_message *m)
{
    const struct json *mcp = json_get(payload, "mcp_context");
    const struct json *server = json_get(mcp, "server_name"), *tool = json_get(mcp, "tool_name");
    const struct json *first = json_get(payload, "original_request_name");
    if (json_is(server, JSON_STRING) && json_is(tool, JSON_STRING)) {
        m->server = server;
        m->server_tool = tool;
    }
    if (json_is(first, JSON_STRING))
        m->replaces = first;
}

static void read_result(const struct json *payload, struct harness_message *m)
{
    const struct json *error;
    m->result = json_get(payload, "tool_response");
    error = json_get(m->result, "error");
    m->result_ok = m->result != NULL && (error == NULL || json_is(error, JSON_NULL));
    m->result_reopens = json_equal_cstr(json_get(error, "type"), "sandbox_expansion_required");
}

/* What has been read of every event; the rest depends on which one it is. */
static void read_event(struct arena *arena, const struct json *payload, const struct json_fault *loose,
                       struct harness_message *m)
{
    switch (m->event) {
    case HARNESS_AFTER_TOOL:
        read_result(payload, m);
        /* fallthrough */
    case HARNESS_BEFORE_TOOL:
        read_call(arena, payload, loose, m);
        read_context(payload, m);
        return;
    case HARNESS_PROMPT:
        if (json_is(json_get(payload, "prompt"), JSON_STRING))
            m->prompt = json_get(payload, "prompt");
        return;
    case HARNESS_NOTICE:
        m->notice_widens = json_equal_cstr(json_get(json_get(payload, "details"), "type"), "sandbox_expansion");
        return;
    case HARNESS_SESSION_START:
    case HARNESS_SESSION_END:
    case HARNESS_OTHER:
        return;
    }
}

static enum err gemini_read(struct arena *arena, const char *event, const void *payload, size_t len,
                            struct harness_message *out, struct fault *fault)
{
    const struct json *v = NULL;
    struct json_fault bad, loose;

    memset(out, 0, sizeof *out);
    out->cwd = out->tool = "";
    if (!gemini_event(event, &out->event))
        return fault_set(fault, ERR_PAYLOAD, "no such event");
    enum err e = json_parse_loose(arena, payload, len, &v, &bad, &loose);
    if (e == ERR_NOMEM || e == ERR_TOO_LARGE)
        return fault_set(fault, e, "%s", err_text(e));
    if (e != ERR_OK)
        return fault_set(fault, ERR_PAYLOAD, "%s (byte %zu of the payload)", err_text(e), bad.offset);
    if (!json_equal_cstr(json_get(v, "hook_event_name"), event))
        return fault_set(fault, ERR_PAYLOAD, "hook_event_name is not the event on the hook's command line");
    const char *session = json_get_cstr(v, "session_id");
    if (!usable_session(session))
        return fault_set(fault, ERR_PAYLOAD, "session_id is not a short printable text");
    const char *cwd = json_get_cstr(v, "cwd");
    if (cwd != NULL && strlen(cwd) > HARNESS_MAX_CWD_BYTES)
        return fault_set(fault, ERR_PAYLOAD, "cwd is longer than %d bytes", HARNESS_MAX_CWD_BYTES);
    out->session = session;
    if (cwd != NULL)
        out->cwd = cwd;
    read_event(arena, v, &loose, out);
    return ERR_OK;
}

static void gemini_allow(struct buf *out)
{
    buf_puts(out, "{}");
}

/* One ASCII object. The reason goes to standard error too: with it, exit code 2 stops the call even if the object on
 * standard output should not arrive. */
static void gemini_deny(const char *reason, struct buf *out, struct buf *err)
{
    char text[HARNESS_MAX_REASON + 1];
    harness_ascii(reason, HARNESS_MAX_REASON, text);
    buf_puts(out, "{\"decision\":\"deny\",\"reason\":\"");
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\')
            buf_putc(out, '\\');
        buf_putc(out, (uint8_t)*c);
    }
    buf_puts(out, "\"}");
    buf_puts(err, text);
    buf_putc(err, '\n');
}

const struct harness gemini_harness = {
    .name = "gemini",
    .agent = "gemini-cli",
    .event = gemini_event,
    .read = gemini_read,
    .allow = gemini_allow,
    .deny = gemini_deny,
    .noted = gemini_allow,
};
