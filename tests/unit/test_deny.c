#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/json.h"
#include "hook/deny.h"

/* As Gemini reads it: one JSON object whose decision is "deny". */
static bool is_deny_for_gemini(const uint8_t *text, size_t len)
{
    struct arena *arena = arena_new(1 << 20);
    const struct json *v = NULL;
    struct json_fault loose;
    bool good = json_parse_loose(arena, text, len, &v, NULL, &loose) == ERR_OK &&
                json_equal_cstr(json_get(v, "decision"), "deny");
    arena_free(arena);
    return good;
}

static bool deny_is_text(const char *text)
{
    return deny_is((const uint8_t *)text, strlen(text));
}

static void a_reason_is_said(void **state)
{
    (void)state;
    struct deny d;
    size_t len = 0;
    deny_begin(&d);
    deny_say(&d, "no more than ");
    deny_say_number(&d, 0);
    deny_say(&d, " or ");
    deny_say_number(&d, UINT64_MAX);
    deny_end(&d);
    assert_string_equal(d.text, "{\"decision\":\"deny\",\"reason\":\"no more than 0 or 18446744073709551615\"}");
    assert_int_equal(d.len, strlen(d.text));
    const char *reason = deny_reason(&d, &len);
    assert_int_equal(len, strlen("no more than 0 or 18446744073709551615"));
    assert_memory_equal(reason, "no more than 0", 14);
    assert_true(deny_is((const uint8_t *)d.text, d.len));
}

static void every_byte_ends_as_plain_text(void **state)
{
    (void)state;
    for (int byte = 1; byte < 256; byte++) {
        struct deny d;
        char text[2] = {(char)byte, '\0'};
        size_t len = 0;
        deny_begin(&d);
        deny_say(&d, text);
        deny_end(&d);
        const char *reason = deny_reason(&d, &len);
        assert_int_equal(len, 1);
        bool plain = byte >= 0x20 && byte <= 0x7e && byte != '"' && byte != '\\';
        assert_int_equal(reason[0], plain ? byte : '?');
        assert_true(deny_is((const uint8_t *)d.text, d.len));
        assert_true(is_deny_for_gemini((const uint8_t *)d.text, d.len));
    }
}

static void a_long_reason_is_cut(void **state)
{
    (void)state;
    struct deny d;
    size_t len = 0;
    deny_begin(&d);
    for (int i = 0; i < 100; i++)
        deny_say(&d, "0123456789");
    deny_say_number(&d, 12345);
    deny_end(&d);
    deny_reason(&d, &len);
    assert_int_equal(len, DENY_MAX_REASON);
    assert_int_equal(d.text[d.len], '\0');
    assert_true(deny_is((const uint8_t *)d.text, d.len));
}

static void only_a_deny_is_one(void **state)
{
    (void)state;
    assert_true(deny_is_text("{\"decision\":\"deny\",\"reason\":\"no\"}"));
    assert_true(deny_is_text("{\"decision\":\"deny\",\"reason\":\"no\"}\n"));
    assert_true(deny_is_text("{\"decision\":\"deny\",\"reason\":\"\"}"));
    assert_true(deny_is_text("{\"decision\":\"deny\",\"reason\":\"a \\\"b\\\" \\\\ \\n \\u00fC\"}"));
    static const char *const others[] = {
        "",
        "\n",
        "{}",
        "{\"decision\":\"allow\"}",
        "{\"decision\":\"deny\"}",
        "{\"decision\":\"deny\",\"reason\":\"no\"",
        "{\"decision\":\"deny\",\"reason\":\"no}",
        "{\"decision\":\"deny\",\"reason\":\"no\"}\n\n",
        "{\"decision\":\"deny\",\"reason\":\"no\"} ",
        " {\"decision\":\"deny\",\"reason\":\"no\"}",
        "{\"decision\":\"deny\",\"reason\":\"no\"}{\"decision\":\"deny\",\"reason\":\"no\"}",
        "{\"decision\":\"deny\",\"reason\":\"no\",\"decision\":\"allow\"}",
        "{\"decision\":\"deny\",\"reason\":\"no\\\"}",
        "{\"decision\":\"deny\",\"reason\":\"no\\x\"}",
        "{\"decision\":\"deny\",\"reason\":\"no\\u12g4\"}",
        "{\"decision\":\"deny\",\"reason\":\"no\\u123\"}",
        "{\"decision\":\"deny\",\"reason\":\"a\nb\"}",
        "{\"decision\":\"deny\",\"reason\":\"\x7f\"}",
        "{\"decision\":\"deny\",\"reason\":\"\xc3\xbc\"}",
        "{\"decision\":\"Deny\",\"reason\":\"no\"}",
        "{\"decision\":\"deny\",\"reason\":42}",
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_false(deny_is_text(others[i]));
    static const char with_nul[] = "{\"decision\":\"deny\",\"reason\":\"a\0b\"}";
    static const char escaped_nul[] = "{\"decision\":\"deny\",\"reason\":\"a\\\0b\"}";
    assert_false(deny_is((const uint8_t *)with_nul, sizeof with_nul - 1));
    assert_false(deny_is((const uint8_t *)escaped_nul, sizeof escaped_nul - 1));
}

/* Whatever one or two changed bytes make of a deny: what deny_is still takes, Gemini refuses. */
static void what_is_taken_is_refused_by_gemini(void **state)
{
    (void)state;
    static const char good[] = "{\"decision\":\"deny\",\"reason\":\"a \\\"b\\\" \\\\ \\u00fc\"}";
    static const uint8_t bytes[] = {'"', '\\', '}', '{', ',', 'u', 'n', '0', ' ', '\n', 0, 0x80, ':'};
    enum { LEN = sizeof good - 1, BYTES = sizeof bytes };
    uint8_t text[LEN];
    unsigned taken = 0;
    for (size_t first = 0; first < LEN; first++)
        for (size_t second = first; second < LEN; second++)
            for (size_t choice = 0; choice < BYTES * BYTES; choice++) {
                memcpy(text, good, LEN);
                text[first] = bytes[choice / BYTES];
                text[second] = bytes[choice % BYTES];
                if (!deny_is(text, LEN))
                    continue;
                assert_true(is_deny_for_gemini(text, LEN));
                taken++;
            }
    assert_true(taken > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reason_is_said),
        cmocka_unit_test(every_byte_ends_as_plain_text),
        cmocka_unit_test(a_long_reason_is_cut),
        cmocka_unit_test(only_a_deny_is_one),
        cmocka_unit_test(what_is_taken_is_refused_by_gemini),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
