#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "cli/options.h"

enum { WORDS_MAX = 16 };

/* What a command line was read into. */
static const char *output, *reason;
static bool force, json;
static int count;
static char *words[WORDS_MAX];

/* Reads a command line that ends with NULL. */
static enum err parse(struct fault *fault, ...)
{
    const struct options_spec own[] = {
        {"output", 'o', "FILE", "where to", &output, NULL},
        {"reason", 0, "TEXT", "why", &reason, NULL},
        {"force", 'f', NULL, "replace", NULL, &force},
        {NULL, 0, NULL, NULL, NULL, NULL},
    };
    const struct options_spec common[] = {
        {"json", 0, NULL, "for programs", NULL, &json},
        {NULL, 0, NULL, NULL, NULL, NULL},
    };
    va_list args;
    output = reason = NULL;
    force = json = false;
    count = 0;
    va_start(args, fault);
    do
        assert_in_range(count, 0, WORDS_MAX - 1);
    while ((words[count++] = va_arg(args, char *)) != NULL);
    va_end(args);
    count--;
    return options_parse(own, common, &count, words, fault);
}

static void takes_each_form(void **state)
{
    (void)state;
    struct fault fault;
    assert_int_equal(parse(&fault, "c", "--output", "a", "--force", "--json", NULL), ERR_OK);
    assert_string_equal(output, "a");
    assert_true(force);
    assert_true(json);
    assert_int_equal(count, 1);
    assert_int_equal(parse(&fault, "c", "--output=a=b", NULL), ERR_OK);
    assert_string_equal(output, "a=b");
    assert_false(force);
    assert_int_equal(parse(&fault, "c", "-o", "a", "-f", NULL), ERR_OK);
    assert_string_equal(output, "a");
    assert_true(force);
    assert_int_equal(parse(&fault, "c", "-oa", NULL), ERR_OK);
    assert_string_equal(output, "a");
    assert_int_equal(parse(&fault, "c", "--output=", NULL), ERR_OK);
    assert_string_equal(output, "");
    assert_int_equal(parse(&fault, "c", "--output=--force", NULL), ERR_OK);
    assert_string_equal(output, "--force");
    assert_int_equal(parse(&fault, "c", "-o", "-", NULL), ERR_OK);
    assert_string_equal(output, "-");
}

static void keeps_the_order_of_words(void **state)
{
    (void)state;
    struct fault fault;
    assert_int_equal(parse(&fault, "c", "one", "--force", "two", "-", "-o", "x", "three", NULL), ERR_OK);
    assert_int_equal(count, 5);
    assert_string_equal(words[1], "one");
    assert_string_equal(words[2], "two");
    assert_string_equal(words[3], "-");
    assert_string_equal(words[4], "three");
    assert_null(words[5]);
}

static void two_dashes_end_the_options(void **state)
{
    (void)state;
    struct fault fault;
    assert_int_equal(parse(&fault, "c", "--force", "--", "--json", "--", "-o", NULL), ERR_OK);
    assert_true(force);
    assert_false(json);
    assert_int_equal(count, 4);
    assert_string_equal(words[1], "--json");
    assert_string_equal(words[2], "--");
    assert_string_equal(words[3], "-o");
}

static void refuses(const char *what, const char *a, const char *b, const char *c)
{
    struct fault fault = {""};
    assert_int_equal(parse(&fault, "c", a, b, c, NULL), ERR_USAGE);
    assert_string_equal(fault.text, what);
}

static void refuses_what_it_does_not_know(void **state)
{
    (void)state;
    refuses("there is no option --forc", "--forc", NULL, NULL);
    refuses("there is no option --forced", "--forced=yes", NULL, NULL);
    refuses("there is no option --Force", "--Force", NULL, NULL);
    refuses("there is no option -x", "-x", NULL, NULL);
    refuses("there is no option ---force", "---force", NULL, NULL);
}

static void refuses_a_repeated_option(void **state)
{
    (void)state;
    refuses("--output is given twice", "--output=a", "--output=a", NULL);
    refuses("--output is given twice", "-oa", "--output=a", NULL);
    refuses("--force is given twice", "--force", "word", "-f");
    refuses("--json is given twice", "--json", "--json", NULL);
}

static void refuses_a_missing_or_superfluous_value(void **state)
{
    (void)state;
    refuses("--output needs a value: --output=FILE", "word", "--output", NULL);
    refuses("--output needs a value: --output=FILE", "--output", "--force", NULL);
    refuses("--output needs a value: --output=FILE", "-o", "--", "a");
    refuses("--force takes no value", "--force=yes", NULL, NULL);
    refuses("--force takes no value", "-fx", NULL, NULL);
}

static void a_long_unknown_option_is_cut(void **state)
{
    (void)state;
    static char word[4000];
    struct fault fault = {""};
    memset(word, '-', 2);
    memset(word + 2, 'x', sizeof word - 3);
    assert_int_equal(parse(&fault, "c", word, NULL), ERR_USAGE);
    assert_in_range(strlen(fault.text), 100, 140);
}

static void counts_the_words_of_an_option(void **state)
{
    (void)state;
    const struct options_spec table[] = {
        {"data", 'd', "DIR", "", &output, NULL},
        {"json", 0, NULL, "", NULL, &json},
        {NULL, 0, NULL, NULL, NULL, NULL},
    };
    char *two[] = {(char[]){"--data"}, (char[]){"x"}, NULL}, *attached[] = {(char[]){"--data=x"}, (char[]){"y"}, NULL};
    char *last[] = {(char[]){"--data"}, NULL}, *flag[] = {(char[]){"--json"}, (char[]){"y"}, NULL};
    char *unknown[] = {(char[]){"--jso"}, NULL}, *word[] = {(char[]){"word"}, NULL}, *dash[] = {(char[]){"-"}, NULL};
    assert_int_equal(options_words(table, two), 2);
    assert_int_equal(options_words(table, attached), 1);
    assert_int_equal(options_words(table, last), 1);
    assert_int_equal(options_words(table, flag), 1);
    assert_int_equal(options_words(table, unknown), 0);
    assert_int_equal(options_words(table, word), 0);
    assert_int_equal(options_words(table, dash), 0);
}

static void reads_numbers_within_their_range(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",   "0", "501", "-1", "+1", " 1", "1 ", "1e2", "0x10", "1.0", "99999999999999999999", "18446744073709551617",
        "1\n"};
    struct fault fault = {""};
    int64_t n = -7;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(options_number("limit", bad[i], 1, 500, &n, &fault), ERR_USAGE);
        assert_string_equal(fault.text, "--limit must be a number from 1 to 500");
        assert_int_equal(n, -7);
    }
    assert_int_equal(options_number("limit", "1", 1, 500, &n, &fault), ERR_OK);
    assert_int_equal(n, 1);
    assert_int_equal(options_number("limit", "000500", 1, 500, &n, &fault), ERR_OK);
    assert_int_equal(n, 500);
}

static void the_help_comes_from_the_table(void **state)
{
    (void)state;
    const struct options_spec table[] = {
        {"output", 'o', "FILE", "where to", &output, NULL},
        {"json", 0, NULL, "for programs", NULL, &json},
        {NULL, 0, NULL, NULL, NULL, NULL},
    };
    char text[256] = "";
    FILE *f = tmpfile();
    assert_non_null(f);
    options_help(f, table);
    rewind(f);
    size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = '\0';
    assert_string_equal(text, "  -o, --output FILE    where to\n  --json               for programs\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_each_form),
        cmocka_unit_test(keeps_the_order_of_words),
        cmocka_unit_test(two_dashes_end_the_options),
        cmocka_unit_test(refuses_what_it_does_not_know),
        cmocka_unit_test(refuses_a_repeated_option),
        cmocka_unit_test(refuses_a_missing_or_superfluous_value),
        cmocka_unit_test(a_long_unknown_option_is_cut),
        cmocka_unit_test(counts_the_words_of_an_option),
        cmocka_unit_test(reads_numbers_within_their_range),
        cmocka_unit_test(the_help_comes_from_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
