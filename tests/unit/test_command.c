#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "signer/command.h"

enum { MAX_WORDS = 8 };

/* Words are only read; argv is not const because main's is not. */
static enum err parse(const char *const *words, struct command *c, struct fault *fault)
{
    static char copies[MAX_WORDS + 1][200] = {"tracekit-signer"};
    char *argv[MAX_WORDS + 2] = {copies[0]};
    int argc = 1;
    for (; words[argc - 1] != NULL; argc++) {
        assert_true(argc <= MAX_WORDS && strlen(words[argc - 1]) < sizeof copies[0]);
        argv[argc] = memcpy(copies[argc], words[argc - 1], strlen(words[argc - 1]) + 1);
    }
    return command_parse(argc, argv, c, fault);
}

static void refuses(const char *const *words, const char *want)
{
    struct command c = {.data = "untouched"};
    struct fault fault = {""};
    assert_int_equal(parse(words, &c, &fault), ERR_USAGE);
    assert_string_equal(c.data, "untouched");
    assert_string_equal(fault.text, want);
}

static void what_belongs_together_is_read(void **state)
{
    (void)state;
    struct command c;
    const char *const dev[] = {"--dev", NULL};
    assert_int_equal(parse(dev, &c, NULL), ERR_OK);
    assert_true(c.dev);
    assert_null(c.data);
    assert_null(c.config);
    const char *const data[] = {"--data", "/srv/x", "--dev", NULL};
    assert_int_equal(parse(data, &c, NULL), ERR_OK);
    assert_true(c.dev);
    assert_string_equal(c.data, "/srv/x");
    const char *const attached[] = {"--dev", "--data=--odd", NULL};
    assert_int_equal(parse(attached, &c, NULL), ERR_OK);
    assert_string_equal(c.data, "--odd");
    const char *const config[] = {"--config=/etc/signer.yaml", NULL};
    assert_int_equal(parse(config, &c, NULL), ERR_OK);
    assert_false(c.dev);
    assert_string_equal(c.config, "/etc/signer.yaml");
    const char *const help[] = {"-h", NULL}, *const version[] = {"--version", "--dev", NULL};
    assert_int_equal(parse(help, &c, NULL), ERR_OK);
    assert_true(c.help);
    assert_int_equal(parse(version, &c, NULL), ERR_OK);
    assert_true(c.version);
}

static void anything_else_is_named(void **state)
{
    (void)state;
    const struct {
        const char *words[5];
        const char *want;
    } rows[] = {
        {{NULL}, "give either --dev or --config FILE"},
        {{"--dev", "--config", "x", NULL}, "give either --dev or --config FILE"},
        {{"--config", "x", "--data", "y", NULL}, "--data goes with --dev; a configuration file has the key \"data\""},
        {{"--dev", "--dev", NULL}, "--dev is given twice"},
        {{"--dev", "--data", "a", "--data=b", NULL}, "--data is given twice"},
        {{"--dev", "--data", NULL}, "--data needs a value"},
        {{"--data", "--dev", NULL}, "--data needs a value"},
        {{"--dev", "--data=", NULL}, "--data needs a value"},
        {{"--dev", "--data", "", NULL}, "--data needs a value"},
        {{"--config=", NULL}, "--config needs a value"},
        {{"--dev=yes", NULL}, "there is no option \"--dev=yes\""},
        {{"--dat", "x", NULL}, "there is no option \"--dat\""},
        {{"--database", "x", NULL}, "there is no option \"--database\""},
        {{"-d", NULL}, "there is no option \"-d\""},
        {{"dev", NULL}, "there is no argument \"dev\""},
        {{"--dev", "", NULL}, "there is no argument \"\""},
        {{"--", NULL}, "there is no option \"--\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        refuses(rows[i].words, rows[i].want);
}

static void the_help_names_every_option(void **state)
{
    (void)state;
    const char *const names[] = {"--dev", "--data DIR", "--config FILE", "--help", "--version", "Exit status:"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_non_null(strstr(command_help(), names[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_belongs_together_is_read),
        cmocka_unit_test(anything_else_is_named),
        cmocka_unit_test(the_help_names_every_option),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
