#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/arguments.h"
#include "cli/term.h"
#include "evidence/arena.h"
#include "evidence/visible.h"

enum { TEXT_BYTES = 1 << 20 };

static struct term term;
static char text[TEXT_BYTES];

static int setup(void **state)
{
    (void)state;
    term = (struct term){.out = tmpfile(), .width = 80};
    return term.out == NULL;
}

static int teardown(void **state)
{
    (void)state;
    return fclose(term.out);
}

/* What was printed since the last call. */
static const char *printed(void)
{
    rewind(term.out);
    size_t n = fread(text, 1, sizeof text - 1, term.out);
    assert_true(n < sizeof text - 1);
    text[n] = '\0';
    rewind(term.out);
    assert_int_equal(ftruncate(fileno(term.out), 0), 0);
    return text;
}

static size_t fit(const char *from, size_t columns)
{
    return term_fit(&term, from, strlen(from), columns);
}

static const struct json *parse(struct arena *arena, const char *from)
{
    const struct json *v = NULL;
    assert_int_equal(json_parse(arena, from, strlen(from), &v, NULL), ERR_OK);
    return v;
}

static void a_file_is_no_terminal(void **state)
{
    (void)state;
    struct term t;
    term_init(&t, term.out, true);
    assert_false(t.is_tty);
    assert_false(t.color);
    assert_int_equal(t.width, TERM_WIDTH_DEFAULT);
}

static void colours_are_switched(void **state)
{
    (void)state;
    term_styled(&term, TERM_RED, "no");
    assert_string_equal(printed(), "no");
    term.color = true;
    term_styled(&term, TERM_RED, "no");
    assert_string_equal(printed(), "\033[31mno\033[0m");
    term_styled(&term, TERM_PLAIN, "no");
    assert_string_equal(printed(), "no");
}

static void texts_become_visible(void **state)
{
    (void)state;
    static const char hostile[] = "\033[2Jx\r\n\x9b\xff\xe2\x80\xae\xe2\x80\x8b\\";
    term_text(&term, hostile, sizeof hostile - 1, SIZE_MAX);
    assert_string_equal(printed(), "\\x1b[2Jx\\r\\n\\x9b\\xff\\u{202e}\\u{200b}\\\\");
    term_text(&term, "", 0, SIZE_MAX);
    assert_string_equal(printed(), "");
    term_text(&term, "a\0b", 3, SIZE_MAX);
    assert_string_equal(printed(), "a\\x00b");
}

static void a_line_is_never_left(void **state)
{
    (void)state;
    assert_int_equal(fit("12345", 5), 5);
    assert_string_equal(printed(), "12345");
    assert_int_equal(fit("123456", 5), 5);
    assert_string_equal(printed(), "12...");
    assert_int_equal(fit("\n\n\n\n", 7), 7);
    assert_string_equal(printed(), "\\n\\n...");
    assert_int_equal(fit("", 5), 0);
    assert_int_equal(fit("abc", 2), 0);
    assert_string_equal(printed(), "");
    assert_int_equal(fit("abc", 0), 0);
    /* Wide characters count twice. */
    assert_int_equal(fit("\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2", 6), 6);
    assert_string_equal(printed(), "\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2");
    assert_int_equal(fit("\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2", 5), 5);
    assert_string_equal(printed(), "\xe6\xbc\xa2...");
}

/* However long a text is, only what fits is looked at, also when the cut falls into a character. */
static void a_huge_text_is_cut(void **state)
{
    (void)state;
    size_t len = TEXT_BYTES;
    char *huge = malloc(len);
    assert_non_null(huge);
    for (size_t i = 0; i < len; i++)
        huge[i] = "\xf0\x9f\x98\x80"[i % 4];
    for (size_t columns = 0; columns < 50; columns++) {
        assert_true(term_fit(&term, huge, len, columns) <= columns);
        assert_true(strlen(printed()) <= 4 * columns + 3);
    }
    free(huge);
}

/* Random bytes: whatever they are, the columns hold and the output is one plain line. */
static void random_bytes_stay_in_their_columns(void **state)
{
    (void)state;
    const char *given = getenv("TEST_SEED");
    unsigned seed = given != NULL ? (unsigned)strtoul(given, NULL, 10) : 20261130;
    print_message("# TEST_SEED=%u\n", seed);
    srand(seed);
    for (int round = 0; round < 3000; round++) {
        char bytes[64];
        size_t len = (size_t)rand() % sizeof bytes, columns = (size_t)rand() % 60, at = 0, seen = 0;
        for (size_t i = 0; i < len; i++)
            bytes[i] = (char)(rand() % 3 == 0 ? rand() % 256 : 0x80 + rand() % 128);
        size_t taken = term_fit(&term, bytes, len, columns);
        const char *out = printed();
        assert_true(taken <= columns);
        for (size_t n = strlen(out); at < n;) {
            uint32_t code = 0;
            size_t step = visible_decode((const uint8_t *)out + at, n - at, &code);
            assert_true(step > 0 && (code == '\\' || visible_is_plain(code)));
            at += step;
            seen += code >= 0x1100 ? 2 : 1;
        }
        assert_int_equal(seen, taken);
    }
}

static void each_line_bears_our_mark(void **state)
{
    (void)state;
    term.width = 40;
    assert_int_equal(term_wrap(&term, 4, "one\n\ntracekit: approved\n", 24), 4);
    assert_string_equal(printed(), "    | one\n    | \n    | tracekit: approved\n    | \n");
    assert_int_equal(term_wrap(&term, 2, "", 0), 1);
    assert_string_equal(printed(), "  | \n");
    assert_int_equal(term_wrap(&term, 0, "0123456789012345678901234567890123456789", 40), 2);
    assert_string_equal(printed(), "| 0123456789012345678901234567890123456\n: 789\n");
}

static void a_fact_goes_on_below_itself(void **state)
{
    (void)state;
    term.width = 40;
    term_fact(&term, "tool", "a\nb", 3);
    assert_string_equal(printed(), "  tool        a\\nb\n");
    term_fact(&term, "", "012345678901234567890123456789", 30);
    assert_string_equal(printed(), "              0123456789012345678901234\n            : 56789\n");
}

static void json_is_canonical_in_a_file(void **state)
{
    (void)state;
    struct arena *arena = arena_new(1 << 16);
    const struct json *v = parse(arena, "{\"b\":\"\\u202e\\u009b\\u001b \\\\\",\"a\":1.0}");
    assert_int_equal(term_json(&term, v), ERR_OK);
    assert_string_equal(printed(), "{\"a\":1,\"b\":\"\xe2\x80\xae\xc2\x9b\\u001b \\\\\"}\n");
    assert_int_equal(term_json(&term, NULL), ERR_NOMEM);
    assert_string_equal(printed(), "");
    arena_free(arena);
}

/* On a terminal the same value comes without a character that acts on it. */
static void json_is_harmless_on_a_terminal(void **state)
{
    (void)state;
    struct arena *arena = arena_new(1 << 16);
    const struct json *v = parse(arena, "{\"k\\u202e\":\"\\u009b2J\\u007f\\udb40\\udc41 \\\\ \xc3\xa9\\u001b\"}");
    term.is_tty = true;
    assert_int_equal(term_json(&term, v), ERR_OK);
    assert_string_equal(printed(), "{\"k\\u202e\":\"\\u009b2J\\u007f\\udb40\\udc41 \\\\ \xc3\xa9\\u001b\"}\n");
    arena_free(arena);
}

static void durations_never_promise_more(void **state)
{
    (void)state;
    static const struct {
        int64_t seconds;
        const char *want;
    } cases[] = {{INT64_MIN, "0s"},  {-1, "0s"},
                 {0, "0s"},          {8, "8s"},
                 {59, "59s"},        {60, "1m"},
                 {3599, "59m"},      {3600, "1h"},
                 {3659, "1h"},       {3660, "1h 1m"},
                 {86399, "23h 59m"}, {86400, "1d 0h"},
                 {100000, "1d 3h"},  {INT64_MAX, "106751991167300d 15h"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char out[TERM_DURATION_BYTES];
        term_duration(cases[i].seconds, out);
        assert_string_equal(out, cases[i].want);
    }
}

/* --- arguments.h ------------------------------------------------------------------------------------------------ */

static void shows(const char *args, size_t lines, const char *want)
{
    struct arena *arena = arena_new(1 << 20);
    assert_int_equal(arguments_print(&term, parse(arena, args)), lines);
    assert_string_equal(printed(), want);
    arena_free(arena);
}

static void arguments_are_laid_out(void **state)
{
    (void)state;
    shows("{\"command\":\"npm install\",\"n\":1.50,\"t\":true,\"z\":null}", 5,
          "  command\n    | npm install\n  n = 1.5\n  t = true\n  z = null\n");
    shows("{\"a\":{\"read\":[\"/etc\",{}],\"none\":[]},\"s\":\"\"}", 8,
          "  a\n    read\n      [0]\n        | /etc\n      [1] = {}\n    none = []\n  s\n    | \n");
    shows("{}", 1, "  = {}\n");
    shows("[1]", 1, "  [0] = 1\n");
    shows("\"text\"", 1, "  | text\n");
}

/* A string is not a number, and no key can look like a line of another kind. */
static void arguments_cannot_look_like_others(void **state)
{
    (void)state;
    shows("{\"t\":\"true\"}", 2, "  t\n    | true\n");
    shows("{\"a = 1\\n  b\":1}", 4, "  (key)\n  | a = 1\n  |   b\n    = 1\n");
    shows("{\"\":\"x\"}", 3, "  (key)\n  | \n    | x\n");
    shows("{\"[0]\":{\"x\":1}}", 3, "  (key)\n  | [0]\n    x = 1\n");
    shows("{\"command\":\"ls\\n  command\\n    | rm\\u001b[8m\"}", 4,
          "  command\n    | ls\n    |   command\n    |     | rm\\x1b[8m\n");
}

static void deep_arguments_say_their_level(void **state)
{
    (void)state;
    enum { DEEP = JSON_MAX_DEPTH };
    char args[2 * DEEP + 1];
    memset(args, '[', DEEP);
    memset(args + DEEP, ']', DEEP);
    args[2 * DEEP] = '\0';
    struct arena *arena = arena_new(1 << 20);
    assert_int_equal(arguments_print(&term, parse(arena, args)), DEEP - 1);
    const char *out = printed();
    assert_non_null(strstr(out, "                    [0]\n                    (level 11) [0]\n"));
    assert_non_null(strstr(out, "(level 127) [0] = []\n"));
    arena_free(arena);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_file_is_no_terminal),
        CASE(colours_are_switched),
        CASE(texts_become_visible),
        CASE(a_line_is_never_left),
        CASE(a_huge_text_is_cut),
        CASE(random_bytes_stay_in_their_columns),
        CASE(each_line_bears_our_mark),
        CASE(a_fact_goes_on_below_itself),
        CASE(json_is_canonical_in_a_file),
        CASE(json_is_harmless_on_a_terminal),
        CASE(durations_never_promise_more),
        CASE(arguments_are_laid_out),
        CASE(arguments_cannot_look_like_others),
        CASE(deep_arguments_say_their_level),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
