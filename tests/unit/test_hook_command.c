#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "cli/hook_command.h"

static void line_is(const struct hook_command *c, const char *want)
{
    struct buf b;
    buf_init(&b, 4096);
    hook_command_write(&b, c);
    buf_putc(&b, '\0');
    assert_int_equal(buf_err(&b), ERR_OK);
    assert_string_equal((const char *)b.data, want);
    buf_wipe(&b);
}

static void a_gate_has_a_guard(void **state)
{
    (void)state;
    struct hook_command c = {hook_command_event("BeforeTool"), "/opt/h", "/run/a.sock", 1000, 540};
    line_is(&c, "'/opt/h' gemini --event BeforeTool --socket '/run/a.sock' --signer-uid 1000 --wait 540; "
                "[ $? = 42 ] && exit 0; echo tracekit: hook failed >&2; exit 2");
}

static void other_events_end_well(void **state)
{
    (void)state;
    struct hook_command c = {hook_command_event("AfterTool"), "/opt/h", "/run/a.sock", 4294967294, 8};
    line_is(&c, "'/opt/h' gemini --event AfterTool --socket '/run/a.sock' --signer-uid 4294967294 --wait 8; exit 0");
}

static void paths_are_quoted(void **state)
{
    (void)state;
    struct hook_command c = {hook_command_event("SessionEnd"), "/it's", "/a b'';\"`\\!*", 0, 8};
    line_is(&c,
            "'/it'\\''s' gemini --event SessionEnd --socket '/a b'\\'''\\'';\"`\\!*' --signer-uid 0 --wait 8; exit 0");
}

static void events_have_time(void **state)
{
    (void)state;
    size_t gates = 0, count = 0;
    for (const struct hook_event *e = HOOK_COMMAND_EVENTS; e->name != NULL; e++, count++) {
        assert_ptr_equal(hook_command_event(e->name), e);
        /* Gemini lets a call run whose hook is late, so the hook has to be done well before; it takes two seconds more to
         * deliver an answer. */
        assert_true((e->wait_s + 2) * 1000 <= e->timeout_ms);
        gates += e->gates;
    }
    assert_int_equal(count, 6);
    assert_int_equal(gates, 1);
    assert_true(hook_command_event("BeforeTool")->gates);
    assert_null(hook_command_event("beforetool"));
    assert_null(hook_command_event(""));
}

static void path_says(const char *path, const char *words)
{
    struct fault fault = {""};
    assert_int_equal(hook_command_check_path(path, &fault), ERR_PATH);
    if (strstr(fault.text, words) == NULL)
        assert_string_equal(fault.text, words);
}

static void paths_that_change_on_the_way_are_refused(void **state)
{
    (void)state;
    path_says("/a$b", "Gemini replaces");
    path_says("/a$", "Gemini replaces");
    path_says("/a\nb", "cannot be shown");
    path_says("/a\tb", "cannot be shown");
    path_says("/a\x1b[2J", "cannot be shown");
    path_says("/a\x7f", "cannot be shown");
    path_says("/a\xc2\x9b", "cannot be shown");
    path_says("/a\xe2\x80\xae", "cannot be shown");
    path_says("/a\xff", "not UTF-8");
    path_says("/a\xc3", "not UTF-8");
    path_says("/a\xed\xa0\x80", "not UTF-8");
    assert_int_equal(hook_command_check_path("/a b'c\"d\\e;f`g/\xc3\xbc\xe6\x97\xa5", NULL), ERR_OK);
}

static void the_environment_holds_what_ends_a_shell(void **state)
{
    (void)state;
    static const char *const needed[] = {"BASH_ENV", "SHELLOPTS",     "LD_PRELOAD",       "LD_LIBRARY_PATH", "LD_AUDIT",
                                         "LD_DEBUG", "BASH_FUNC_[%%", "BASH_FUNC_exit%%", "BASH_FUNC_echo%%"};
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        const struct hook_variable *v = HOOK_COMMAND_ENVIRONMENT;
        while (v->name != NULL && strcmp(v->name, needed[i]) != 0)
            v++;
        assert_non_null(v->name);
        assert_string_equal(v->value, "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gate_has_a_guard),
        cmocka_unit_test(other_events_end_well),
        cmocka_unit_test(paths_are_quoted),
        cmocka_unit_test(events_have_time),
        cmocka_unit_test(paths_that_change_on_the_way_are_refused),
        cmocka_unit_test(the_environment_holds_what_ends_a_shell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
