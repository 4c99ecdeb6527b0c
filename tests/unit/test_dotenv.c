/* What a .env file may give a variable. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "harness/dotenv.h"

static char all[4096];

static void collect(void *context, const char *value)
{
    (void)context;
    size_t len = strlen(all);
    snprintf(all + len, sizeof all - len, "[%s]", value);
}

/* The values, each in brackets. */
static void expect(const char *text, const char *want)
{
    all[0] = '\0';
    dotenv_values(text, strlen(text), "GEMINI_SANDBOX", collect, NULL);
    if (strcmp(all, want) != 0)
        fail_msg("%s\ngives %s, not %s", text, all, want);
}

/* One of the values is `want`. */
static void gives(const char *text, const char *want)
{
    char bracketed[256];
    all[0] = '\0';
    snprintf(bracketed, sizeof bracketed, "[%s]", want);
    dotenv_values(text, strlen(text), "GEMINI_SANDBOX", collect, NULL);
    if (strstr(all, bracketed) == NULL)
        fail_msg("%s\ngives %s, not %s", text, all, want);
}

static void values_are_found(void **state)
{
    (void)state;
    expect("GEMINI_SANDBOX=docker", "[docker]");
    expect("A=1\nGEMINI_SANDBOX = docker # x\nB=2", "[docker]");
    expect("  export GEMINI_SANDBOX=docker\r\n", "[docker]");
    expect("export\nGEMINI_SANDBOX=docker", "[docker][docker]");
    expect("GEMINI_SANDBOX: docker", "[docker]");
    expect("GEMINI_SANDBOX\n=docker", "[docker]");
    expect("GEMINI_SANDBOX=", "[]");
    expect("A=1\rGEMINI_SANDBOX=docker\r", "[docker]");
    expect("GEMINI_SANDBOX=a\nGEMINI_SANDBOX=b", "[a][b]");
    gives("GEMINI_SANDBOX='docker'", "docker");
    gives("GEMINI_SANDBOX=\"docker\" # x", "docker");
    gives("GEMINI_SANDBOX=`docker`", "docker");
    gives("GEMINI_SANDBOX=\"docker\\n\"", "docker");
    gives("GEMINI_SANDBOX=\n\"docker\"", "docker");
    gives("GEMINI_SANDBOX='#docker'", "#docker");
    gives("GEMINI_SANDBOX=\"docker", "\"docker");
    gives("\xef\xbb\xbfGEMINI_SANDBOX=docker", "docker");
    gives("\xc2\xa0GEMINI_SANDBOX=docker", "docker");
    gives("A=b\xe2\x80\xa8GEMINI_SANDBOX=docker", "docker");
}

static void what_is_no_assignment_gives_nothing(void **state)
{
    (void)state;
    expect("", "");
    expect("# GEMINI_SANDBOX=docker", "");
    expect("X_GEMINI_SANDBOX=docker", "");
    expect("A=GEMINI_SANDBOX=docker", "");
    expect("GEMINI_SANDBOX_IMAGE=docker", "");
    expect("GEMINI_SANDBOX.X=docker", "");
    expect("GEMINI_SANDBOX docker", "");
    expect("GEMINI_SANDBOX:docker", "");
    expect("GEMINI_SANDBOX", "");
    expect("export GEMINI_SANDBOX", "");
}

static void long_values_are_cut(void **state)
{
    (void)state;
    static char text[1 << 20];
    memset(text, ' ', sizeof text);
    memcpy(text, "GEMINI_SANDBOX=\"", 16);
    memcpy(text + sizeof text - 8, "docker\"", 8);
    all[0] = '\0';
    dotenv_values(text, sizeof text - 1, "GEMINI_SANDBOX", collect, NULL);
    assert_non_null(strstr(all, "[docker]"));
    memset(text + 16, 'x', 1000);
    all[0] = '\0';
    dotenv_values(text, sizeof text - 1, "GEMINI_SANDBOX", collect, NULL);
    assert_true(strlen(all) < 2 * (DOTENV_VALUE_BYTES + 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_found),
        cmocka_unit_test(what_is_no_assignment_gives_nothing),
        cmocka_unit_test(long_values_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
