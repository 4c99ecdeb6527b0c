/* Patterns: whole texts, ASCII, bounded work. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "evidence/pattern.h"

static bool matches(const char *pattern, const char *text, size_t len)
{
    struct pattern *p = NULL;
    struct fault fault = {""};
    bool matched = false;
    assert_int_equal(pattern_new(pattern, &p, &fault), ERR_OK);
    assert_int_equal(pattern_match(p, text, len, &matched), ERR_OK);
    pattern_free(p);
    return matched;
}

static bool matches_text(const char *pattern, const char *text)
{
    return matches(pattern, text, strlen(text));
}

static void a_pattern_matches_whole_texts_only(void **state)
{
    (void)state;
    assert_true(matches_text("^[0-9a-f]{4}$", "00ff"));
    assert_false(matches_text("^[0-9a-f]{4}$", "00ff0"));
    assert_false(matches_text("^[0-9a-f]{4}$", "x00ff"));
    assert_false(matches_text("^[0-9a-f]{4}$", "00ff\n")); /* "$" stands before a last newline in Perl */
    assert_false(matches_text("^[0-9a-f]{4}$", "00fF"));
    assert_false(matches("^[0-9a-f]{4}$", "00ff\0", 5));
    assert_true(matches_text("b|ab", "ab"));
    assert_true(matches_text("a|ab", "ab")); /* the first alternative alone would leave a rest */
    assert_false(matches_text("a", "ba"));
    assert_false(matches_text("a", "ab"));
    assert_true(matches("a*", "", 0));
    assert_true(matches("a*", NULL, 0));
}

static void classes_have_their_ascii_meaning(void **state)
{
    (void)state;
    assert_true(matches_text("\\d+", "0123456789"));
    assert_false(matches_text("\\d", "\xd9\xa3")); /* U+0663, a digit elsewhere */
    assert_false(matches_text("\\w", "\xc3\xa9"));
    assert_false(matches_text("\\s", "\xc2\xa0"));
    assert_true(matches_text("[^a]", "\xc3\xa9")); /* one code point is one character */
    assert_true(matches_text(".{2}", "\xf0\x9f\x98\x80\xc3\xa9"));
    assert_false(matches_text(".", "\n"));
}

static void the_pattern_cannot_change_the_rules(void **state)
{
    static const char *const bad[] = {"(*UCP)\\d", "\\C"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct pattern *p = NULL;
        struct fault fault = {""};
        assert_int_equal(pattern_new(bad[i], &p, &fault), ERR_PATTERN);
        assert_null(p);
        assert_non_null(strstr(fault.text, "pattern, byte "));
    }
}

static void a_broken_pattern_says_where(void **state)
{
    struct pattern *p = NULL;
    struct fault fault = {""};
    char long_one[PATTERN_MAX_BYTES + 2];
    (void)state;
    assert_int_equal(pattern_new("abc(", &p, &fault), ERR_PATTERN);
    assert_non_null(strstr(fault.text, "pattern, byte 4: "));
    assert_int_equal(pattern_new("a{2,1}", &p, NULL), ERR_PATTERN);
    memset(long_one, 'a', sizeof long_one);
    long_one[sizeof long_one - 1] = '\0';
    assert_int_equal(pattern_new(long_one, &p, &fault), ERR_PATTERN);
    assert_non_null(strstr(fault.text, "longer than"));
    assert_null(p);
    long_one[sizeof long_one - 2] = '\0';
    assert_int_equal(pattern_new(long_one, &p, &fault), ERR_OK);
    pattern_free(p);
    pattern_free(NULL);
}

static void text_that_is_not_utf8_is_an_error(void **state)
{
    static const char *const bad[] = {"\x80", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "ab\xe2\x82"};
    struct pattern *p = NULL;
    (void)state;
    assert_int_equal(pattern_new(".*", &p, NULL), ERR_OK);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        bool matched = true;
        assert_int_equal(pattern_match(p, bad[i], strlen(bad[i]), &matched), ERR_UTF8);
        assert_true(matched);
    }
    pattern_free(p);
}

/* Without the limit this takes longer than anybody waits: 2^40 ways to split the text. */
static void a_match_that_runs_away_is_stopped(void **state)
{
    struct pattern *p = NULL;
    bool matched = true;
    (void)state;
    assert_int_equal(pattern_new("(a+|b)+(a+|c)+x", &p, NULL), ERR_OK);
    const char *text = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaayx"; /* the x is there, in vain */
    assert_int_equal(pattern_match(p, text, strlen(text), &matched), ERR_TOO_LARGE);
    text += strlen(text) - 18; /* some 2^18 steps: the library's own limit would let that pass */
    assert_int_equal(pattern_match(p, text, strlen(text), &matched), ERR_TOO_LARGE);
    assert_true(matched);
    assert_int_equal(pattern_match(p, "aax", 3, &matched), ERR_OK); /* and it may be used again */
    assert_true(matched);
    pattern_free(p);
}

static void a_long_text_costs_no_steps(void **state)
{
    struct pattern *p = NULL;
    size_t len = 16 << 20;
    bool matched = false;
    (void)state;
    char *text = malloc(len);
    assert_non_null(text);
    memset(text, 'a', len);
    assert_int_equal(pattern_new("^[A-Za-z0-9+/]+={0,2}$", &p, NULL), ERR_OK);
    assert_int_equal(pattern_match(p, text, len, &matched), ERR_OK);
    assert_true(matched);
    pattern_free(p);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pattern_matches_whole_texts_only),  cmocka_unit_test(classes_have_their_ascii_meaning),
        cmocka_unit_test(the_pattern_cannot_change_the_rules), cmocka_unit_test(a_broken_pattern_says_where),
        cmocka_unit_test(text_that_is_not_utf8_is_an_error),   cmocka_unit_test(a_match_that_runs_away_is_stopped),
        cmocka_unit_test(a_long_text_costs_no_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
