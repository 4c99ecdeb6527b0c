#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/paths.h"
#include "wire/peer.h"

static int setup(void **state)
{
    (void)state;
    unsetenv("XDG_DATA_HOME");
    unsetenv("XDG_RUNTIME_DIR");
    return setenv("HOME", "/home/u", 1);
}

static void says(enum err e, const struct fault *fault, enum err want, const char *words)
{
    assert_int_equal(e, want);
    if (strstr(fault->text, words) == NULL)
        assert_string_equal(fault->text, words);
}

static void data_is(const char *option, const char *want)
{
    char out[PATHS_MAX];
    assert_int_equal(paths_data(option, out, NULL), ERR_OK);
    assert_string_equal(out, want);
}

static void sockets_are(const char *option, const char *directory)
{
    char out[PATHS_MAX], want[PATHS_MAX];
    assert_int_equal(paths_agent_socket(option, NULL, out, NULL), ERR_OK);
    snprintf(want, sizeof want, "%s/agent.sock", directory);
    assert_string_equal(out, want);
    assert_int_equal(paths_control_socket(option, NULL, out, NULL), ERR_OK);
    snprintf(want, sizeof want, "%s/control.sock", directory);
    assert_string_equal(out, want);
}

static void the_environment_says_where(void **state)
{
    (void)state;
    data_is(NULL, "/home/u/.local/share/tracekit-c");
    sockets_are(NULL, "/home/u/.local/share/tracekit-c/run");
    setenv("XDG_DATA_HOME", "/data", 1);
    data_is(NULL, "/data/tracekit-c");
    sockets_are(NULL, "/data/tracekit-c/run");
    setenv("XDG_RUNTIME_DIR", "/run/user/7/", 1);
    data_is(NULL, "/data/tracekit-c");
    sockets_are(NULL, "/run/user/7/tracekit-c");
}

static void relative_and_empty_values_are_ignored(void **state)
{
    (void)state;
    static const char *const values[] = {"", "data", "./data", "~/data"};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        setenv("XDG_DATA_HOME", values[i], 1);
        setenv("XDG_RUNTIME_DIR", values[i], 1);
        data_is(NULL, "/home/u/.local/share/tracekit-c");
        sockets_are(NULL, "/home/u/.local/share/tracekit-c/run");
    }
}

static void the_data_option_wins(void **state)
{
    (void)state;
    setenv("XDG_DATA_HOME", "/data", 1);
    setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
    data_is("/d", "/d");
    sockets_are("/d", "/d/run");
    unsetenv("HOME");
    sockets_are("/d", "/d/run");
}

static void the_socket_option_wins(void **state)
{
    (void)state;
    char out[PATHS_MAX];
    unsetenv("HOME");
    assert_int_equal(paths_agent_socket("/d", "/s", out, NULL), ERR_OK);
    assert_string_equal(out, "/s");
    assert_int_equal(paths_control_socket(NULL, "/s", out, NULL), ERR_OK);
    assert_string_equal(out, "/s");
}

static void relative_options_count_from_here(void **state)
{
    (void)state;
    char here[PATHS_MAX], out[PATHS_MAX], want[PATHS_MAX + 8];
    assert_int_equal(chdir("/tmp"), 0);
    assert_non_null(getcwd(here, sizeof here));
    snprintf(want, sizeof want, "%s/x/y", here);
    data_is("x/y", want);
    data_is("././x/y", want);
    assert_int_equal(paths_control_socket(NULL, "x/y", out, NULL), ERR_OK);
    assert_string_equal(out, want);
    assert_int_equal(chdir("/"), 0);
    data_is("x/y", "/x/y");
}

static void what_is_missing_is_told(void **state)
{
    (void)state;
    char out[PATHS_MAX] = "untouched";
    struct fault fault = {""};
    says(paths_data("", out, &fault), &fault, ERR_PATH, "empty");
    says(paths_control_socket(NULL, "", out, &fault), &fault, ERR_PATH, "empty");
    unsetenv("HOME");
    says(paths_data(NULL, out, &fault), &fault, ERR_PATH, "--data DIR");
    says(paths_agent_socket(NULL, NULL, out, &fault), &fault, ERR_PATH, "--data DIR");
    setenv("HOME", "home", 1);
    says(paths_data(NULL, out, &fault), &fault, ERR_PATH, "--data DIR");
    assert_string_equal(out, "untouched");
    /* The runtime directory alone is enough for a socket. */
    setenv("XDG_RUNTIME_DIR", "/run/x", 1);
    sockets_are(NULL, "/run/x/tracekit-c");
}

static void lengths_have_limits(void **state)
{
    (void)state;
    char out[PATHS_MAX] = "untouched", path[PATHS_MAX + 1];
    struct fault fault = {""};
    memset(path, 'x', sizeof path);
    path[0] = '/';
    path[PATHS_MAX] = '\0';
    says(paths_data(path, out, &fault), &fault, ERR_PATH, "longer than 1023 bytes");
    says(paths_data(path + 1, out, &fault), &fault, ERR_PATH, "longer than 1023 bytes");
    path[PATHS_MAX - 1] = '\0';
    says(paths_agent_socket(path, NULL, out, &fault), &fault, ERR_PATH, "longer than 1023 bytes");
    setenv("HOME", path, 1);
    says(paths_data(NULL, out, &fault), &fault, ERR_PATH, "longer than 1023 bytes");
    path[PEER_MAX_PATH + 1] = '\0';
    says(paths_agent_socket(NULL, path, out, &fault), &fault, ERR_PATH, "too long for a socket (108 bytes");
    path[100] = '\0';
    says(paths_control_socket(path, NULL, out, &fault), &fault, ERR_PATH, "too long for a socket (117 bytes");
    assert_string_equal(out, "untouched");
    path[100] = 'x';
    path[PEER_MAX_PATH] = '\0';
    assert_int_equal(paths_agent_socket(NULL, path, out, &fault), ERR_OK);
    assert_string_equal(out, path);
    memset(path, 'x', PATHS_MAX);
    path[0] = '/';
    path[PATHS_MAX - 1] = '\0';
    data_is(path, path);
}

int main(void)
{
#define WITH_HOME(test) cmocka_unit_test_setup(test, setup)
    const struct CMUnitTest tests[] = {
        WITH_HOME(the_environment_says_where),
        WITH_HOME(relative_and_empty_values_are_ignored),
        WITH_HOME(the_data_option_wins),
        WITH_HOME(the_socket_option_wins),
        WITH_HOME(relative_options_count_from_here),
        WITH_HOME(what_is_missing_is_told),
        WITH_HOME(lengths_have_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
