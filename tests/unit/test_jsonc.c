/* Comments become spaces, and nothing else changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "harness/jsonc.h"

static void expect(const char *text, const char *want)
{
    char copy[64];
    size_t len = strlen(text);
    assert_int_equal(len, strlen(want));
    memcpy(copy, text, len + 1);
    jsonc_strip(copy, len);
    assert_string_equal(copy, want);
}

static void comments_become_spaces(void **state)
{
    (void)state;
    expect("{\"a\":1} // x\n", "{\"a\":1}     \n");
    expect("{/* x\ty\n */\"a\":1}", "{    \t \n   \"a\":1}");
    expect("// x\r\n{}", "    \r\n{}");
    expect("/**/{}", "    {}");
    expect("/*/{}", "     ");
    expect("{} /", "{} /");
    expect("{} /*", "{}   ");
}

static void comment_signs_in_strings_are_text(void **state)
{
    (void)state;
    expect("{\"a\":\"//b\"}", "{\"a\":\"//b\"}");
    expect("{\"a\":\"\\\"//b\"}//", "{\"a\":\"\\\"//b\"}  ");
    expect("{\"a\":\"\\\\\"//b\"", "{\"a\":\"\\\\\"    ");
    expect("\"/*", "\"/*");
    expect("\"\\", "\"\\");
}

static void a_lone_carriage_return_ends_no_comment(void **state)
{
    (void)state;
    expect("// x\r{}\n[]", "    \r  \n[]");
    expect("// x\r", "    \r");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comments_become_spaces),
        cmocka_unit_test(comment_signs_in_strings_are_text),
        cmocka_unit_test(a_lone_carriage_return_ends_no_comment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
