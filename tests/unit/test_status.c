/* `tracekit status`: the page, and whether a settings file holds the gate. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/gate_file.h"
#include "cli/status_view.h"
#include "evidence/arena.h"
#include "tests/unit/scratch.h"

enum { TEXT_BYTES = 1 << 16 };

static struct term term;
static char page[TEXT_BYTES];

static int setup(void **state)
{
    (void)state;
    term = (struct term){.out = tmpfile(), .width = 100};
    return term.out == NULL;
}

static int teardown(void **state)
{
    (void)state;
    return fclose(term.out);
}

static void show(const struct status_view *v)
{
    rewind(term.out);
    assert_int_equal(ftruncate(fileno(term.out), 0), 0);
    status_view_print(&term, v);
    rewind(term.out);
    size_t n = fread(page, 1, sizeof page - 1, term.out);
    page[n] = '\0';
}

static void has(const char *text)
{
    if (strstr(page, text) == NULL)
        fail_msg("the page lacks: %s\n%s", text, page);
}

static void a_page_says_how_things_stand(void **state)
{
    (void)state;
    struct arena *arena = arena_new(1 << 20);
    const struct json *reply = NULL;
    static const char text[] =
        "{\"version\":\"1\",\"pid\":77,\"started_at\":\"T\",\"mode\":\"dev\",\"data_dir\":\"/d\",\"log_id\":\"l\","
        "\"records\":12,\"covered\":10,\"runs_open\":2,\"pending\":3,\"hooks_waiting\":1,\"paused\":null,\"unasked\":["
        "1]}";
    assert_int_equal(json_parse(arena, text, strlen(text), &reply, NULL), ERR_OK);
    struct status_view v = {.reply = reply,
                            .why = "",
                            .manager = DAEMON_SYSTEMD,
                            .unit = "u.service",
                            .gate = GATE_FILE_WITH,
                            .settings = "/s"};
    show(&v);
    has("Signer: running\n  process     77, looked after by the systemd unit u.service\n");
    has("12, of which the last checkpoint covers 10");
    has("2 open");
    has("3 pending, 1 of them with a call that waits: `tracekit approvals list`");
    has("1 session of an agent runs and never asked");
    has("Gate of Gemini CLI: in the settings\n  file        /s\n");
    has("\nWhat this does not protect\n");
    has("tripwires");
    has("Esc");
    has("wait for ever");
    has("Yolo");
    has("not signed");
    has("docs/gemini.md");
    assert_null(strchr(page, '\033'));
    arena_free(arena);
}

static void nothing_of_a_reply_reaches_the_terminal_as_it_is(void **state)
{
    (void)state;
    struct arena *arena = arena_new(1 << 20);
    const struct json *reply = NULL;
    static const char text[] =
        "{\"version\":\"\\u001b[2J\",\"pid\":\"x\",\"mode\":[],\"data_dir\":null,"
        "\"log_id\":\"\\u202e\\nSigner: fine\",\"paused\":{\"until\":\"\\u001b[2Jx\"},\"unasked\":7}";
    assert_int_equal(json_parse(arena, text, strlen(text), &reply, NULL), ERR_OK);
    struct status_view v = {.reply = reply, .why = "", .unit = "", .gate = GATE_FILE_UNREADABLE, .settings = "/\033s"};
    show(&v);
    assert_null(strchr(page, '\033'));
    assert_null(strstr(page, "\nSigner: fine"));
    has("\\x1b[2J");
    has("PAUSED      until \\x1b[2Jx: what policy would stop runs");
    has("data        unknown");
    has("file        /\\x1bs\n");
    has("cannot be read");
    arena_free(arena);
}

static void without_a_signer_it_says_why(void **state)
{
    (void)state;
    struct status_view v = {.why = "nobody", .unit = "", .gate = GATE_FILE_ABSENT, .settings = ""};
    show(&v);
    has("Signer: not reachable\n");
    has("nobody");
    has("tracekit up");
    has("not installed");
    has("What this does not protect");
    term.color = true;
    show(&v);
    assert_non_null(strchr(page, '\033'));
}

static void judged(const char *text, enum gate_file expected)
{
    size_t len = strlen(text);
    char *copy = malloc(len + 1);
    assert_non_null(copy);
    memcpy(copy, text, len + 1);
    if (gate_file_judge(copy, len) != expected)
        fail_msg("judged wrongly: %s", text);
    free(copy);
}

#define LINE "'/b/tracekit-hook' gemini --event BeforeTool --socket '/s' --signer-uid 1 --wait 540; "
#define GUARD "[ $? = 42 ] && exit 0; echo tracekit: hook failed >&2; exit 2"
#define VARIABLES \
    "\"BASH_ENV\":\"\",\"SHELLOPTS\":\"\",\"BASHOPTS\":\"\",\"LD_PRELOAD\":\"\",\"LD_LIBRARY_PATH\":\"\"," \
    "\"LD_AUDIT\":\"\",\"LD_DEBUG\":\"\",\"GLIBC_TUNABLES\":\"\",\"LC_ALL\":\"C\",\"SHLVL\":\"1\"," \
    "\"BASH_FUNC_[%%\":\"\",\"BASH_FUNC_exit%%\":\"\",\"BASH_FUNC_echo%%\":\"\""
#define HOOK(line, env) "{\"type\":\"command\",\"command\":\"" line "\",\"env\":{" env "}}"
#define OURS HOOK(LINE GUARD, VARIABLES)
#define ALONE(hook) "{\"hooks\":{\"BeforeTool\":[{\"hooks\":[" hook "]}]}}"

static void the_gate_is_found_where_gemini_looks(void **state)
{
    (void)state;
    judged(ALONE(OURS), GATE_FILE_WITH);
    judged("// c\n{\"hooks\":{/* \" */\"BeforeTool\":[7,{\"hooks\":7},{\"hooks\":[7,{}," OURS "]}]}}", GATE_FILE_WITH);
    judged("{\"hooks\":{\"AfterTool\":[{\"hooks\":[" OURS "]}]}}", GATE_FILE_WITHOUT);
    judged("{\"hooks\":{\"BeforeTool\":[{\"hooks\":[{\"type\":\"x\",\"command\":\"tracekit-hook BeforeTool\"}]}]}}",
           GATE_FILE_WITHOUT);
    judged("{\"hooks\":{\"BeforeTool\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"true\"}]}]}}",
           GATE_FILE_WITHOUT);
    judged("{\"hooks\":{\"BeforeTool\":[/*{\"hooks\":[" OURS "]}*/]}}", GATE_FILE_WITHOUT);
    judged("{\"hooks\":{\"BeforeTool\":{\"a\":{\"hooks\":[" OURS "]}}}}", GATE_FILE_WITHOUT);
    judged(ALONE(HOOK(LINE GUARD, "")), GATE_FILE_ALTERED);
    judged(ALONE(HOOK(LINE "exit 0", VARIABLES)), GATE_FILE_ALTERED);
    judged(ALONE(HOOK("bash /b/tracekit-hook gemini --event BeforeTool", VARIABLES)), GATE_FILE_ALTERED);
    judged(ALONE(HOOK(LINE "exit 0", VARIABLES) "," OURS), GATE_FILE_WITH);
    judged("{}", GATE_FILE_WITHOUT);
    judged("[]", GATE_FILE_UNREADABLE);
    judged("", GATE_FILE_UNREADABLE);
    judged("{\"hooks\":", GATE_FILE_UNREADABLE);
}

static void only_a_regular_file_is_read(void **state)
{
    (void)state;
    char scratch[SCRATCH_PATH_BYTES], path[SCRATCH_PATH_BYTES + 16];
    scratch_make(scratch);
    snprintf(path, sizeof path, "%s/f", scratch);
    assert_int_equal(gate_file_read(path), GATE_FILE_ABSENT);
    assert_int_equal(gate_file_read(scratch), GATE_FILE_UNREADABLE);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(gate_file_read(path), GATE_FILE_UNREADABLE);
    assert_int_equal(unlink(path), 0);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("{}", f);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(gate_file_read(path), GATE_FILE_WITHOUT);
    assert_int_equal(truncate(path, GATE_FILE_MAX_BYTES + 1), 0);
    assert_int_equal(gate_file_read(path), GATE_FILE_UNREADABLE);
    scratch_remove(scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_page_says_how_things_stand, setup, teardown),
        cmocka_unit_test_setup_teardown(nothing_of_a_reply_reaches_the_terminal_as_it_is, setup, teardown),
        cmocka_unit_test_setup_teardown(without_a_signer_it_says_why, setup, teardown),
        cmocka_unit_test(the_gate_is_found_where_gemini_looks),
        cmocka_unit_test(only_a_regular_file_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
