/* Settings that make the gate void, and those that do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "cli/hook_command.h"
#include "evidence/jcs.h"
#include "harness/hook_line.h"
#include "harness/voids_settings.h"

enum { TEXT_BYTES = 16 << 10 };

struct rig {
    char line[2048];   /* the gate's command line */
    char quoted[2048]; /* the same as JSON */
    char env[512];
};

static struct rig rig;

static int set_up(void **state)
{
    (void)state;
    struct buf b;
    struct arena *arena = arena_new(1 << 20);
    const struct hook_command c = {hook_command_event("BeforeTool"), "/opt/a b/it's/tracekit-hook", "/run/x/agent.sock",
                                   1000, 540};
    buf_init(&b, sizeof rig.line);
    hook_command_write(&b, &c);
    snprintf(rig.line, sizeof rig.line, "%.*s", (int)b.len, (const char *)b.data);
    buf_reset(&b);
    assert_int_equal(jcs_write(&b, json_new_string(arena, rig.line)), ERR_OK);
    snprintf(rig.quoted, sizeof rig.quoted, "%.*s", (int)b.len, (const char *)b.data);
    buf_reset(&b);
    for (const struct hook_variable *v = HOOK_COMMAND_ENVIRONMENT; v->name != NULL; v++)
        buf_printf(&b, "%s\"%s\":\"%s\"", v == HOOK_COMMAND_ENVIRONMENT ? "" : ",", v->name, v->value);
    snprintf(rig.env, sizeof rig.env, "{%.*s}", (int)b.len, (const char *)b.data);
    buf_wipe(&b);
    arena_free(arena);
    return 0;
}

/* The gate's definition with other parts: NULL for what is printed. */
struct gate {
    const char *before, *type, *name, *command, *timeout, *env;
};

static void write_gate(char out[static 4096], const struct gate *g)
{
    snprintf(out, 4096, "{%s\"hooks\":[{\"type\":%s,\"name\":%s,\"command\":%s,\"timeout\":%s,\"env\":%s}]}",
             g->before != NULL ? g->before : "", g->type != NULL ? g->type : "\"command\"",
             g->name != NULL ? g->name : "\"tracekit gate\"", g->command != NULL ? g->command : rig.quoted,
             g->timeout != NULL ? g->timeout : "600000", g->env != NULL ? g->env : rig.env);
}

/* Merges the texts as user, workspace and system settings and judges them. */
static void judge(const char *user, const char *workspace, const char *system, struct voids *v)
{
    const char *const texts[SETTINGS_SCOPES] = {
        [SETTINGS_USER] = user, [SETTINGS_WORKSPACE] = workspace, [SETTINGS_SYSTEM] = system};
    struct arena *arena = arena_new(16 << 20);
    struct settings_node *files[SETTINGS_SCOPES] = {NULL}, *merged = NULL;
    const char *line = NULL;
    for (size_t s = SETTINGS_USER; s < SETTINGS_SCOPES; s++) {
        const struct settings_file file = {"file", texts[s], texts[s] != NULL ? strlen(texts[s]) : 0};
        assert_int_equal(effective_read(arena, &file, (enum settings_scope)s, NULL, &files[s], NULL), ERR_OK);
    }
    assert_int_equal(effective_merge(arena, files, &merged), ERR_OK);
    assert_int_equal(voids_settings(v, arena, merged, true, &line), ERR_OK);
    assert_true(line == NULL || strcmp(line, rig.line) == 0);
    arena_free(arena);
}

static void finds(const char *user, const char *workspace, const char *system, const char *what, const char *why)
{
    struct voids v = {.count = 0};
    judge(user, workspace, system, &v);
    bool found = false;
    for (size_t i = 0; i < v.count; i++)
        found = found || (strcmp(v.list[i].what, what) == 0 && strstr(v.list[i].why, why) != NULL);
    if (!found)
        fail_msg("%zu found, not %s: %s\n%s\n%s", v.count, what, why, user, workspace != NULL ? workspace : "");
}

static void holds(const char *user, const char *workspace, const char *system)
{
    struct voids v = {.count = 0};
    judge(user, workspace, system, &v);
    if (v.count > 0)
        fail_msg("%s: %s\n%s", v.list[0].what, v.list[0].why, user);
}

/* A file with BeforeTool and more behind it. */
static const char *settings(const struct gate *gate, const char *more)
{
    static char text[4][TEXT_BYTES];
    static unsigned next;
    char definition[4096];
    char *out = text[next++ % 4];
    write_gate(definition, gate);
    snprintf(out, TEXT_BYTES, "{\"hooks\":{\"BeforeTool\":[%s]}%s}", definition, more);
    return out;
}

static const struct gate WHOLE = {0};

static void the_printed_definition_holds(void **state)
{
    (void)state;
    holds(settings(&WHOLE, ""), NULL, NULL);
    holds(NULL, NULL, settings(&WHOLE, ""));
    holds(settings(&(struct gate){.before = "\"matcher\":\"*\","}, ""), NULL, NULL);
    holds(settings(&(struct gate){.before = "\"matcher\":\" .* \","}, ""), NULL, NULL);
    holds(settings(&(struct gate){.before = "\"matcher\":null,\"sequential\":true,"}, ""), NULL, NULL);
    holds(settings(&WHOLE, ",\"hooksConfig\":{\"enabled\":true,\"disabled\":[\"other\",\"Tracekit gate\"]}"), NULL,
          NULL);
    holds(settings(&WHOLE, ""), "{\"hooks\":{\"BeforeTool\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"x\"}]}]}}",
          NULL);
    /* Dropped, and there again in a later file. */
    holds("{\"hooks\":false}", NULL, settings(&WHOLE, ""));
}

static void a_gate_that_is_less_is_found(void **state)
{
    (void)state;
    static const char here[] = "hooks.BeforeTool (user settings)";
    char line[2200];
    finds("{}", NULL, NULL, "hooks.BeforeTool", "no hook of tracekit's");
    finds("{\"hooks\":{\"BeforeTool\":{}}}", NULL, NULL, "hooks.BeforeTool", "no hook of tracekit's");
    finds(settings(&(struct gate){.type = "\"plugin\""}, ""), NULL, NULL, here, "type");
    finds(settings(&(struct gate){.name = "1"}, ""), NULL, NULL, here, "name");
    finds(settings(&(struct gate){.timeout = "540000"}, ""), NULL, NULL, here, "timeout");
    finds(settings(&(struct gate){.timeout = "null"}, ""), NULL, NULL, here, "timeout");
    finds(settings(&(struct gate){.timeout = "\"600000\""}, ""), NULL, NULL, here, "timeout");
    finds(settings(&(struct gate){.timeout = "2147483648"}, ""), NULL, NULL, here, "timeout");
    finds(settings(&(struct gate){.env = "{}"}, ""), NULL, NULL, here, "env");
    finds(settings(&(struct gate){.env = "null"}, ""), NULL, NULL, here, "env");
    snprintf(line, sizeof line, "{\"PATH\":\"/x\",%s", rig.env + 1);
    finds(settings(&(struct gate){.env = line}, ""), NULL, NULL, here, "env");
    snprintf(line, sizeof line, "%.*s || true\"", (int)strlen(rig.quoted) - 1, rig.quoted);
    finds(settings(&(struct gate){.command = line}, ""), NULL, NULL, here, "command line");
    finds(settings(&(struct gate){.before = "\"matcher\":\"run_shell_command\","}, ""), NULL, NULL, here, "matcher");
    /* Another entry, in which the gate's words are a comment. */
    finds(settings(&(struct gate){.command = "\"exit 0 # tracekit-hook gemini --event BeforeTool\""}, ""), NULL, NULL,
          here, "command line");
}

static void a_gate_that_is_switched_off_is_found(void **state)
{
    (void)state;
    const char *user = settings(&WHOLE, "");
    static const char *const off[] = {"false", "0", "\"\"", "\"False\""};
    char text[256];
    for (size_t i = 0; i < sizeof off / sizeof off[0]; i++) {
        snprintf(text, sizeof text, "{\"hooksConfig\":{\"enabled\":%s}}", off[i]);
        finds(user, text, NULL, "hooksConfig.enabled (workspace settings)", "off");
    }
    holds(user, "{\"hooksConfig\":{\"enabled\":null}}", NULL);
    holds(user, "{\"hooksConfig\":{\"enabled\":false}}", "{\"hooksConfig\":{\"enabled\":true}}");
    finds(user, "{\"hooksConfig\":{\"disabled\":[\"tracekit gate\"]}}", NULL,
          "hooksConfig.disabled (workspace settings)", "off");
    finds(user, "{\"hooksConfig\":{\"disabled\":\"tracekit gate\"}}", "{\"hooksConfig\":{\"disabled\":[]}}",
          "hooksConfig.disabled (workspace settings)", "off");
    /* Once it is no object, what follows is no list. */
    finds(user, "{\"hooksConfig\":1}", "{\"hooksConfig\":{\"disabled\":\"a tracekit gate b\"}}",
          "hooksConfig.disabled (system settings)", "off");
    static const char *const dropped[] = {"[]", "false", "null", "\"x\""};
    for (size_t i = 0; i < sizeof dropped / sizeof dropped[0]; i++) {
        snprintf(text, sizeof text, "{\"hooks\":%s}", dropped[i]);
        finds(user, text, NULL, "hooks (workspace settings)", "drops");
    }
    finds(user, "{\"hooks\":{\"BeforeTool\":[{\"matcher\":1,\"hooks\":[]}]}}", NULL,
          "hooks.BeforeTool matcher (workspace settings)", "no text");
    finds(user, "{\"hooks\":{\"AfterTool\":[{\"matcher\":{},\"hooks\":[]}]}}", NULL,
          "hooks.AfterTool matcher (workspace settings)", "no text");
}

static void what_stands_in_its_place_is_found(void **state)
{
    (void)state;
    static const char there[] = "hooks.BeforeTool (user settings)";
    const struct gate late = {.timeout = "1"}, other = {.name = "\"x\"", .timeout = "1"};
    char name[2100], command[64];
    finds(settings(&late, ""), settings(&WHOLE, ""), NULL, there, "in its place");
    holds(settings(&WHOLE, ""), settings(&late, ""), NULL); /* the first wins */
    holds(settings(&other, ""), settings(&WHOLE, ""), NULL);
    /* The same "name:command", divided at another colon. */
    const char *colon = strstr(rig.quoted, "tracekit: hook");
    snprintf(name, sizeof name, "\"tracekit gate:%.*s\"", (int)(colon + 8 - rig.quoted - 1), rig.quoted + 1);
    snprintf(command, sizeof command, "\"%s", colon + 9);
    finds(settings(&(struct gate){.name = name, .command = command}, ""), settings(&WHOLE, ""), NULL, there,
          "in its place");
}

static void a_sandbox_is_found(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        bool on;
    } cases[] = {
        {"true", true},
        {"\"true\"", true},
        {"\"TRUE\"", true},
        {"\"1\"", true},
        {"\"docker\"", true},
        {"\"runsc\"", true},
        {"{\"enabled\":true}", true},
        {"{\"enabled\":\"false\",\"command\":\"docker\"}", true}, /* in a file with another error */
        {"{\"enabled\":true,\"command\":\"podman\"}", true},
        {"{\"enabled\":true,\"command\":true}", true},
        {"{\"enabled\":true,\"command\":null}", true},
        {"false", false},
        {"\"\"", false},
        {"\"false\"", false},
        {"\"none\"", false}, /* Gemini ends with an error */
        {"null", false},
        {"[\"docker\"]", false},
        {"{}", false},
        {"{\"command\":\"docker\"}", false},
        {"{\"enabled\":false,\"command\":\"docker\"}", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char more[128];
        snprintf(more, sizeof more, ",\"tools\":{\"sandbox\":%s}", cases[i].value);
        if (cases[i].on)
            finds(settings(&WHOLE, more), NULL, NULL, "tools.sandbox (user settings)", "container");
        else
            holds(settings(&WHOLE, more), NULL, NULL);
    }
    holds(settings(&WHOLE, ",\"tools\":{\"sandbox\":true}"), "{\"tools\":{\"sandbox\":{\"command\":\"docker\"}}}",
          NULL);
}

static void lines_are_read_to_the_last_sign(void **state)
{
    (void)state;
    struct hook_line line;
    char text[2100];
    assert_true(hook_line_read(rig.line, &line));
    assert_string_equal(line.program, "/opt/a b/it's/tracekit-hook");
    assert_string_equal(line.socket, "/run/x/agent.sock");
    assert_int_equal(line.signer_uid, 1000);
    assert_int_equal(line.wait_s, 540);
    static const char *const bad[] = {
        "",
        "tracekit-hook",
        "'/a/tracekit-hook' gemini --event BeforeTool --socket '/s' --signer-uid 1 --wait 5",
        "'/a/tracekit-hook' gemini --event AfterTool --socket '/s' --signer-uid 1 --wait 5; exit 0",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(hook_line_read(bad[i], &line));
    static const char *const heads[] = {
        "'/a/tracekit-hook' gemini --event BeforeTool --socket '/s' --signer-uid 1", /* no wait */
        "'/a/tracekit-hook' gemini --event BeforeTool --socket '/s' --signer-uid 1 --wait 0",
        "'/a/tracekit-hook' gemini --event BeforeTool --socket '/s' --signer-uid 1 --wait 5 --wait 6",
        "'/a/tracekit-hook' gemini --event BeforeTool --socket s --signer-uid 1 --wait 5", /* relative */
        "'a/tracekit-hook' gemini --event BeforeTool --socket '/s' --signer-uid 1 --wait 5",
        "'/a/tracekit-hooks' gemini --event BeforeTool --socket '/s' --signer-uid 1 --wait 5",
        "'/a/$X/tracekit-hook' gemini --event BeforeTool --socket '/s' --signer-uid 1 --wait 5", /* replaced */
        "'/a/tracekit-hook' gemini --event BeforeTool --socket '/s' --signer-uid 1 --wait 5 &",
        "'/a/tracekit-hook' gemini --event BeforeTool --socket '/s' --signer-uid 4294967296 --wait 5",
        "'/a/tracekit-hook' gemini --event BeforeTools --socket '/s' --signer-uid 1 --wait 5",
        "'/a/tracekit-hook' gemini --event BeforeTool --socket '/s' --signer-uid 1 --wait 5 --help x",
        "true || '/a/tracekit-hook' gemini --event BeforeTool --socket '/s' --signer-uid 1 --wait 5",
        "'/a/tracekit-hook gemini --event BeforeTool --socket /s --signer-uid 1 --wait 5",
    };
    const char *guard = strchr(rig.line, ';');
    snprintf(text, sizeof text, "'/a/tracekit-hook' gemini --event BeforeTool --socket '/s' --signer-uid 1 --wait 5%s",
             guard);
    assert_true(hook_line_read(text, &line));
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        snprintf(text, sizeof text, "%s%s", heads[i], guard);
        if (hook_line_read(text, &line))
            fail_msg("taken: %s", text);
    }
    snprintf(text, sizeof text, "%s ", rig.line);
    assert_false(hook_line_read(text, &line));
}

static void the_environment_is_the_printed_one(void **state)
{
    (void)state;
    size_t i = 0;
    for (; HOOK_COMMAND_ENVIRONMENT[i].name != NULL; i++) {
        assert_non_null(HOOK_LINE_ENVIRONMENT[i].name);
        assert_string_equal(HOOK_COMMAND_ENVIRONMENT[i].name, HOOK_LINE_ENVIRONMENT[i].name);
        assert_string_equal(HOOK_COMMAND_ENVIRONMENT[i].value, HOOK_LINE_ENVIRONMENT[i].value);
    }
    assert_null(HOOK_LINE_ENVIRONMENT[i].name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_printed_definition_holds),
        cmocka_unit_test(a_gate_that_is_less_is_found),
        cmocka_unit_test(a_gate_that_is_switched_off_is_found),
        cmocka_unit_test(what_stands_in_its_place_is_found),
        cmocka_unit_test(a_sandbox_is_found),
        cmocka_unit_test(lines_are_read_to_the_last_sign),
        cmocka_unit_test(the_environment_is_the_printed_one),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
