#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>

#include "evidence/buf.h"
#include "evidence/json.h"

enum { ARENA_BYTES = 64 << 20, MAX_BYTES = 64 << 20 };

static void fails_at(const char *text, size_t len, enum err want, size_t offset)
{
    struct arena *arena = arena_new(ARENA_BYTES);
    const struct json *v = NULL;
    struct json_fault fault = {.err = ERR_OK};
    enum err e = json_parse(arena, text, len, &v, &fault);
    if (e != want || fault.err != want || fault.offset != offset)
        fail_msg("%.*s: %s at %zu", (int)(len < 200 ? len : 200), text, err_name(e), fault.offset);
    assert_null(v);
    arena_free(arena);
}

static void parses(const char *text, size_t len)
{
    struct arena *arena = arena_new(ARENA_BYTES);
    const struct json *v = NULL;
    struct json_fault fault = {.err = ERR_OK};
    enum err e = json_parse(arena, text, len, &v, &fault);
    if (e != ERR_OK)
        fail_msg("%.*s: %s at %zu", (int)(len < 200 ? len : 200), text, err_name(e), fault.offset);
    assert_non_null(v);
    assert_int_equal(fault.err, ERR_OK);
    arena_free(arena);
}

#define FAILS(text, err, offset) fails_at(text, sizeof(text) - 1, err, offset)

static void good_texts(void **state)
{
    (void)state;
    static const char *const GOOD[] = {
        "null",
        "true",
        "false",
        "0",
        "-0",
        "1",
        "-1",
        "10",
        "9007199254740991",
        "-9007199254740991",
        "0.0",
        "-0.0",
        "0e0",
        "0E+0",
        "0e-0",
        "1.5",
        "1e5",
        "1E5",
        "1e+5",
        "1e-5",
        "1.5e300",
        "1e-400",
        "123456789012345680000.0",
        "5e-324",
        "1.7976931348623157e308",
        "\"\"",
        "\"a\"",
        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
        "\"\\u0000\"",
        "\"\\uD83D\\uDE00\"",
        "\"\\ud83d\\ude00\"",
        "\"\x7f\"",
        "\"\xc2\x80\"",
        "\"\xed\x9f\xbf\"",
        "\"\xee\x80\x80\"",
        "\"\xf0\x90\x80\x80\"",
        "\"\xf4\x8f\xbf\xbf\"",
        "\"\xef\xbb\xbf\"",
        "\"\\uffff\"",
        "\"\xef\xbf\xbf\"",
        "[]",
        "{}",
        "[[]]",
        "[{}]",
        "{\"\":{}}",
        "[1,2,3]",
        "[1 , 2]",
        "{\"a\":1,\"b\":2}",
        " \t\r\n[ \t\r\n] \t\r\n",
        "{ \"a\" : [ ] }",
        "{\"a\":1,\"A\":2}",
        "{\"a\":1,\"aa\":2,\"\":3}",
        "{\"\\u0000\":1,\"\":2}",
        "[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]",
        "{\"a\":{\"a\":{\"a\":1}}}",
        "[{\"a\":1},{\"a\":1}]",
        "[0.1e1,0.1E-1]",
        "\" \"",
        " \"a\" ",
        "[\"\\u0061\\u0041\"]",
    };
    for (size_t i = 0; i < sizeof GOOD / sizeof GOOD[0]; i++)
        parses(GOOD[i], strlen(GOOD[i]));
}

static void bad_structure(void **state)
{
    (void)state;
    FAILS("", ERR_SYNTAX, 0);
    FAILS(" \n", ERR_SYNTAX, 2);
    FAILS("[", ERR_SYNTAX, 1);
    FAILS("{", ERR_SYNTAX, 1);
    FAILS("]", ERR_SYNTAX, 0);
    FAILS("}", ERR_SYNTAX, 0);
    FAILS("[1", ERR_SYNTAX, 2);
    FAILS("[1,", ERR_SYNTAX, 3);
    FAILS("[1,]", ERR_SYNTAX, 3);
    FAILS("[,1]", ERR_SYNTAX, 1);
    FAILS("[1,,2]", ERR_SYNTAX, 3);
    FAILS("[1 2]", ERR_SYNTAX, 3);
    FAILS("[1}", ERR_SYNTAX, 2);
    FAILS("{\"a\":1]", ERR_SYNTAX, 6);
    FAILS("{\"a\"}", ERR_SYNTAX, 4);
    FAILS("{\"a\":}", ERR_SYNTAX, 5);
    FAILS("{\"a\":1,}", ERR_SYNTAX, 7);
    FAILS("{\"a\" 1}", ERR_SYNTAX, 5);
    FAILS("{\"a\":1 \"b\":2}", ERR_SYNTAX, 7);
    FAILS("{,\"a\":1}", ERR_SYNTAX, 1);
    FAILS("{1:1}", ERR_SYNTAX, 1);
    FAILS("{a:1}", ERR_SYNTAX, 1);
    FAILS("{'a':1}", ERR_SYNTAX, 1);
    FAILS("{null:1}", ERR_SYNTAX, 1);
    FAILS("{[]:1}", ERR_SYNTAX, 1);
    FAILS("{\"a\":1", ERR_SYNTAX, 6);
    FAILS("{\"a\"", ERR_SYNTAX, 4);
    FAILS("{\"a\":", ERR_SYNTAX, 5);
    FAILS("1 2", ERR_SYNTAX, 2);
    FAILS("[] []", ERR_SYNTAX, 3);
    FAILS("{}}", ERR_SYNTAX, 2);
    FAILS("[]]", ERR_SYNTAX, 2);
    FAILS("null,", ERR_SYNTAX, 4);
    FAILS("1\0", ERR_SYNTAX, 1);
    FAILS("\0", ERR_SYNTAX, 0);
    FAILS("\xef\xbb\xbf{}", ERR_SYNTAX, 0);
    FAILS("[1]\x0c", ERR_SYNTAX, 3);
    FAILS("[\x0b"
          "1]",
          ERR_SYNTAX, 1);
    FAILS("\xc2\xa0"
          "1",
          ERR_SYNTAX, 0);
    FAILS("// a\n1", ERR_SYNTAX, 0);
    FAILS("1/**/", ERR_SYNTAX, 1);
}

static void bad_words(void **state)
{
    (void)state;
    FAILS("tru", ERR_SYNTAX, 0);
    FAILS("True", ERR_SYNTAX, 0);
    FAILS("nul", ERR_SYNTAX, 0);
    FAILS("NULL", ERR_SYNTAX, 0);
    FAILS("truee", ERR_SYNTAX, 4);
    FAILS("[nullnull]", ERR_SYNTAX, 5);
    FAILS("undefined", ERR_SYNTAX, 0);
    FAILS("a", ERR_SYNTAX, 0);
    FAILS("nan", ERR_SYNTAX, 0);
    FAILS("inf", ERR_SYNTAX, 0);
    FAILS("-NaN", ERR_SYNTAX, 1);
    FAILS("+Infinity", ERR_SYNTAX, 0);
    FAILS("NaN", ERR_NON_FINITE, 0);
    FAILS("[1,Infinity]", ERR_NON_FINITE, 3);
    FAILS("{\"a\": -Infinity}", ERR_NON_FINITE, 6);
    FAILS("Infinit", ERR_SYNTAX, 0);
}

static void bad_numbers(void **state)
{
    (void)state;
    FAILS("-", ERR_SYNTAX, 1);
    FAILS("[-]", ERR_SYNTAX, 2);
    FAILS("+1", ERR_SYNTAX, 0);
    FAILS("--1", ERR_SYNTAX, 1);
    FAILS(".5", ERR_SYNTAX, 0);
    FAILS("-.5", ERR_SYNTAX, 1);
    FAILS("1.", ERR_SYNTAX, 2);
    FAILS("[1.]", ERR_SYNTAX, 3);
    FAILS("1.e1", ERR_SYNTAX, 2);
    FAILS("1e", ERR_SYNTAX, 2);
    FAILS("1e+", ERR_SYNTAX, 3);
    FAILS("1E-x", ERR_SYNTAX, 3);
    FAILS("1e1.5", ERR_SYNTAX, 3);
    FAILS("1.5.5", ERR_SYNTAX, 3);
    FAILS("00", ERR_SYNTAX, 1);
    FAILS("01", ERR_SYNTAX, 1);
    FAILS("-01", ERR_SYNTAX, 2);
    FAILS("0x10", ERR_SYNTAX, 1);
    FAILS("1_000", ERR_SYNTAX, 1);
    FAILS("1,5", ERR_SYNTAX, 1);
    FAILS("\xd9\xa1", ERR_SYNTAX, 0); /* an Arabic digit */
    FAILS("[0,9007199254740992]", ERR_INT_RANGE, 3);
    FAILS("-9007199254740992", ERR_INT_RANGE, 0);
    FAILS("9999999999999999", ERR_INT_RANGE, 0);
    FAILS("10000000000000000", ERR_INT_RANGE, 0);
    FAILS("18446744073709551617", ERR_INT_RANGE, 0); /* 1, to whoever wraps around */
    FAILS("{\"a\":-18446744073709551616}", ERR_INT_RANGE, 5);
    FAILS("1e309", ERR_NON_FINITE, 0);
    FAILS("[ -1e309]", ERR_NON_FINITE, 2);
    FAILS("1.7976931348623159e308", ERR_NON_FINITE, 0);
    FAILS("1e99999999999999999999", ERR_NON_FINITE, 0);
}

static void bad_strings(void **state)
{
    (void)state;
    FAILS("\"", ERR_SYNTAX, 1);
    FAILS("\"a", ERR_SYNTAX, 2);
    FAILS("'a'", ERR_SYNTAX, 0);
    FAILS("\"\\\"", ERR_SYNTAX, 3);
    FAILS("\"\\", ERR_SYNTAX, 2);
    FAILS("\"a\\x\"", ERR_SYNTAX, 2);
    FAILS("\"\\a\"", ERR_SYNTAX, 1);
    FAILS("\"\\U0041\"", ERR_SYNTAX, 1);
    FAILS("\"\\'\"", ERR_SYNTAX, 1);
    FAILS("\"\\0\"", ERR_SYNTAX, 1);
    FAILS("\"\\\n\"", ERR_SYNTAX, 1);
    FAILS("\"\\u\"", ERR_SYNTAX, 1);
    FAILS("\"\\u004\"", ERR_SYNTAX, 1);
    FAILS("\"\\u004g\"", ERR_SYNTAX, 1);
    FAILS("\"\\u 041\"", ERR_SYNTAX, 1);
    FAILS("\"\\u+041\"", ERR_SYNTAX, 1);
    FAILS("\"\\u0x41\"", ERR_SYNTAX, 1);
    FAILS("\"\\u00\\u0041\"", ERR_SYNTAX, 1);
    FAILS("\"\n\"", ERR_SYNTAX, 1);
    FAILS("\"a\tb\"", ERR_SYNTAX, 2);
    FAILS("\"\0\"", ERR_SYNTAX, 1);
    FAILS("\"\x1f\"", ERR_SYNTAX, 1);
    FAILS("\"\\ud800\"", ERR_LONE_SURROGATE, 1);
    FAILS("\"ab\\udc00\"", ERR_LONE_SURROGATE, 3);
    FAILS("\"\\ud83dx\"", ERR_LONE_SURROGATE, 1);
    FAILS("\"\\ud83d\\n\"", ERR_LONE_SURROGATE, 1);
    FAILS("\"\\ud83d\\u0041\"", ERR_LONE_SURROGATE, 1);
    FAILS("\"\\ud83d\\ud83d\\ude00\"", ERR_LONE_SURROGATE, 1);
    FAILS("\"\\ud83d\\ude00\\ude00\"", ERR_LONE_SURROGATE, 13);
    FAILS("\"\\ude00\\ud83d\"", ERR_LONE_SURROGATE, 1);
    FAILS("\"\\ude00\\ude00\"", ERR_LONE_SURROGATE, 1);
    FAILS("{\"a\\udbff\":1}", ERR_LONE_SURROGATE, 3);
}

static void bad_utf8(void **state)
{
    (void)state;
    FAILS("\"\x80\"", ERR_UTF8, 1);
    FAILS("\"\xff\"", ERR_UTF8, 1);
    FAILS("\"a\xc3\"", ERR_UTF8, 2);
    FAILS("\"\xc0\x80\"", ERR_UTF8, 1);
    FAILS("\"\xc1\xbf\"", ERR_UTF8, 1);
    FAILS("\"\xe0\x9f\xbf\"", ERR_UTF8, 1);
    FAILS("\"\xf0\x8f\xbf\xbf\"", ERR_UTF8, 1);
    FAILS("\"\xed\xa0\x80\"", ERR_UTF8, 1);
    FAILS("\"\xed\xbf\xbf\"", ERR_UTF8, 1);
    FAILS("\"\xf4\x90\x80\x80\"", ERR_UTF8, 1);
    FAILS("\"\xf5\x80\x80\x80\"", ERR_UTF8, 1);
    FAILS("\"\xe2\x82\"", ERR_UTF8, 1);
    FAILS("\xe2\x82", ERR_UTF8, 0);
    FAILS("\"0123456789abcdef\xc3\xa9\x80\"", ERR_UTF8, 19);
    FAILS("[1,\x80", ERR_UTF8, 3);
    FAILS("]]]]]]]]]]]]]]]]\x80", ERR_UTF8, 16); /* the whole text first */
    FAILS("\xff\xfe[\0]\0", ERR_UTF8, 0);        /* UTF-16 */
}

static void duplicate_keys(void **state)
{
    (void)state;
    FAILS("{\"a\":1,\"a\":2}", ERR_DUPLICATE_KEY, 7);
    FAILS("{\"a\":1,\"\\u0061\":2}", ERR_DUPLICATE_KEY, 7);
    FAILS("{\"\":1,\"\":2}", ERR_DUPLICATE_KEY, 6);
    FAILS("{\"a\\u0000b\":1,\"a\\u0000c\":2,\"a\\u0000b\":3}", ERR_DUPLICATE_KEY, 27);
    FAILS("{\"\xf0\x9f\x98\x80\":1,\"\\ud83d\\ude00\":2}", ERR_DUPLICATE_KEY, 10);
    FAILS("{\"x\":{\"a\":1,\"b\":{\"a\":1},\"a\":3}}", ERR_DUPLICATE_KEY, 24);
    /* Of two pairs the one that repeats first; of two objects the one that closes first. */
    FAILS("{\"b\":1,\"a\":1,\"a\":2,\"b\":2}", ERR_DUPLICATE_KEY, 13);
    FAILS("{\"a\":1,\"a\":{\"b\":1,\"b\":2}}", ERR_DUPLICATE_KEY, 18);
    FAILS("{\"a\":1,\"a\":2,]", ERR_SYNTAX, 13);
}

/* No prefix of a text reads beyond its end; the sanitizers watch. */
static void every_prefix_is_judged(void **state)
{
    (void)state;
    static const char TEXT[] = "{\"a\\ud83d\\ude00\\n\":[true,false,null,-12.5e-3,\"\xc3\xa9\",{}],\"b\":-Infinity}";
    for (size_t len = 0; len < sizeof TEXT - 1; len++) {
        char *copy = malloc(len > 0 ? len : 1);
        struct arena *arena = arena_new(ARENA_BYTES);
        const struct json *v = NULL;
        assert_non_null(copy);
        memcpy(copy, TEXT, len);
        assert_true(json_parse(arena, copy, len, &v, NULL) != ERR_OK);
        arena_free(arena);
        free(copy);
    }
}

static const struct json *loose(struct arena *arena, const char *text, enum err want, size_t offset)
{
    const struct json *v = NULL;
    struct json_fault note = {.err = ERR_IO};
    assert_int_equal(json_parse_loose(arena, text, strlen(text), &v, NULL, &note), ERR_OK);
    assert_int_equal(note.err, want);
    if (want != ERR_OK)
        assert_int_equal(note.offset, offset);
    return v;
}

static void loose_mode_forgives(void **state)
{
    (void)state;
    struct arena *arena = arena_new(ARENA_BYTES);
    int64_t n = 0;
    double d = 0;
    const struct json *v = loose(arena, "{\"a\":1,\"b\":2}", ERR_OK, 0);
    assert_true(json_int(json_get(v, "a"), &n) && n == 1);
    v = loose(arena, "{\"a\":1,\"b\":2,\"a\":3,\"c\":4,\"a\":5}", ERR_DUPLICATE_KEY, 13);
    assert_int_equal(json_count(v), 3);
    assert_true(json_int(json_get(v, "a"), &n) && n == 5);
    assert_true(json_int(json_get(v, "b"), &n) && n == 2);
    assert_true(json_int(json_get(v, "c"), &n) && n == 4);
    assert_string_equal(json_key(v, 0, NULL), "b");
    assert_string_equal(json_key(v, 1, NULL), "c");
    assert_string_equal(json_key(v, 2, NULL), "a");
    v = loose(arena, "\"a\\ud800b\"", ERR_LONE_SURROGATE, 2);
    assert_string_equal(json_cstr(v), "a\xef\xbf\xbd"
                                      "b");
    v = loose(arena, "\"\\ud83d\\ud83d\\ude00\"", ERR_LONE_SURROGATE, 1);
    assert_string_equal(json_cstr(v), "\xef\xbf\xbd\xf0\x9f\x98\x80");
    v = loose(arena, "[9007199254740993]", ERR_INT_RANGE, 1);
    assert_false(json_int(json_at(v, 0), &n));
    assert_true(json_number(json_at(v, 0), &d) && d == 9007199254740992.0);
    v = loose(arena, "-1e400", ERR_NON_FINITE, 0);
    assert_true(json_number(v, &d) && d == -DBL_MAX);
    v = loose(arena, "[1e400,\"\\udc00\"]", ERR_NON_FINITE, 1);
    assert_true(json_number(json_at(v, 0), &d) && d == DBL_MAX);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_texts),          cmocka_unit_test(bad_structure),
        cmocka_unit_test(bad_words),           cmocka_unit_test(bad_numbers),
        cmocka_unit_test(bad_strings),         cmocka_unit_test(bad_utf8),
        cmocka_unit_test(duplicate_keys),      cmocka_unit_test(every_prefix_is_judged),
        cmocka_unit_test(loose_mode_forgives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
