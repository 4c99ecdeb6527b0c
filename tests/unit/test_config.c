#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "signer/config.h"
#include "tests/unit/scratch.h"
#include "wire/peer.h"

static char scratch[SCRATCH_PATH_BYTES];
static char file[512];

static int setup(void **state)
{
    (void)state;
    umask(022);
    scratch_make(scratch);
    snprintf(file, sizeof file, "%s/signer.yaml", scratch);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    scratch_remove(scratch);
    return 0;
}

static void write_file(const char *text, size_t len)
{
    FILE *f = fopen(file, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, len, f), len);
    assert_int_equal(fclose(f), 0);
}

static enum err load(const char *text, struct config *c, struct fault *fault)
{
    write_file(text, strlen(text));
    return config_load(file, c, fault);
}

/* What is refused, with which words; the outputs stay untouched. */
static void refuses(const char *text, enum err want, const char *words)
{
    struct config c = {.tenant = "untouched"};
    struct fault fault = {""};
    assert_int_equal(load(text, &c, &fault), want);
    assert_string_equal(c.tenant, "untouched");
    if (strstr(fault.text, words) == NULL)
        assert_string_equal(fault.text, words);
}

static void dev_uses_the_xdg_directories(void **state)
{
    (void)state;
    struct config c;
    struct config_env env = {.xdg_data_home = "/x/data", .xdg_runtime_dir = "/run/user/7", .home = "/home/u"};
    assert_int_equal(config_dev(NULL, &env, &c, NULL), ERR_OK);
    assert_true(c.dev);
    assert_string_equal(c.data_dir, "/x/data/tracekit-c");
    assert_string_equal(c.agent_socket, "/run/user/7/tracekit-c/agent.sock");
    assert_string_equal(c.control_socket, "/run/user/7/tracekit-c/control.sock");
    assert_string_equal(c.tenant, "local");
    assert_true(c.agent_group == (gid_t)-1);
}

static void dev_falls_back_to_home(void **state)
{
    (void)state;
    struct config c;
    struct fault fault = {""};
    struct config_env env = {.home = "/home/u/"};
    assert_int_equal(config_dev(NULL, &env, &c, NULL), ERR_OK);
    assert_string_equal(c.data_dir, "/home/u/.local/share/tracekit-c");
    assert_string_equal(c.agent_socket, "/home/u/.local/share/tracekit-c/run/agent.sock");
    env.xdg_data_home = "relative";
    env.xdg_runtime_dir = "";
    assert_int_equal(config_dev(NULL, &env, &c, NULL), ERR_OK);
    assert_string_equal(c.control_socket, "/home/u/.local/share/tracekit-c/run/control.sock");
    env.home = "home";
    assert_int_equal(config_dev(NULL, &env, &c, &fault), ERR_CONFIG);
    assert_non_null(strstr(fault.text, "--data DIR"));
}

static void dev_takes_a_named_directory(void **state)
{
    (void)state;
    struct config c;
    char want[2048], here[1024];
    struct config_env env = {.xdg_data_home = "/x", .xdg_runtime_dir = "/run/user/7", .home = "/home/u"};
    assert_int_equal(config_dev("/srv/t//", &env, &c, NULL), ERR_OK);
    assert_string_equal(c.data_dir, "/srv/t");
    assert_string_equal(c.agent_socket, "/srv/t/run/agent.sock");
    assert_non_null(getcwd(here, sizeof here));
    snprintf(want, sizeof want, "%s/sub/dir", here);
    assert_int_equal(config_dev("sub/dir/", &env, &c, NULL), ERR_OK);
    assert_string_equal(c.data_dir, want);
    assert_int_equal(config_dev("", &env, &c, NULL), ERR_PATH);
}

static void paths_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    struct config c = {.tenant = "untouched"};
    struct fault fault = {""};
    struct config_env env = {.home = "/home/u"};
    char name[2000];
    memset(name, 'x', sizeof name);
    name[0] = '/';
    /* DIR/run/control.sock has 17 bytes more than DIR. */
    name[PEER_MAX_PATH - 17 + 1] = '\0';
    assert_int_equal(config_dev(name, &env, &c, &fault), ERR_PATH);
    assert_string_equal(c.tenant, "untouched");
    assert_non_null(strstr(fault.text, "at most 107 bytes, and this one 108; choose a shorter one: /xxx"));
    name[PEER_MAX_PATH - 17] = '\0';
    assert_int_equal(config_dev(name, &env, &c, NULL), ERR_OK);
    assert_int_equal(strlen(c.control_socket), PEER_MAX_PATH);
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    name[0] = '/';
    assert_int_equal(config_dev(name, &env, &c, &fault), ERR_PATH);
    assert_non_null(strstr(fault.text, "longer than 1023 bytes"));
}

static void a_file_sets_everything(void **state)
{
    (void)state;
    struct config c;
    struct fault fault = {""};
    assert_int_equal(load("# the signer\ndata: /srv/ledger/\ntenant: team-1\npolicy: builtin:base\nsockets:\n"
                          "  agent: /run/t/a.sock\n  control: /run/t2/c.sock\n  agent_group: 1234\n",
                          &c, &fault),
                     ERR_OK);
    assert_false(c.dev);
    assert_string_equal(c.data_dir, "/srv/ledger");
    assert_string_equal(c.tenant, "team-1");
    assert_string_equal(c.agent_socket, "/run/t/a.sock");
    assert_string_equal(c.control_socket, "/run/t2/c.sock");
    assert_int_equal(c.agent_group, 1234);
    assert_int_equal(load("{\"tenant\": \"j\", \"sockets\": {\"agent_group\": \"root\"}}", &c, &fault), ERR_OK);
    assert_string_equal(c.tenant, "j");
    assert_int_equal(c.agent_group, 0);
    assert_int_equal(load("tenant: no", &c, &fault), ERR_OK); /* text, as in YAML 1.2 */
    assert_string_equal(c.tenant, "no");
}

static void a_file_may_leave_everything_out(void **state)
{
    (void)state;
    struct config c;
    const char *const texts[] = {"", "# nothing\n", "{}"};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(load(texts[i], &c, NULL), ERR_OK);
        assert_string_equal(c.data_dir, "/var/lib/tracekit-c");
        assert_string_equal(c.agent_socket, "/run/tracekit-c/agent.sock");
        assert_string_equal(c.control_socket, "/run/tracekit-c/control.sock");
        assert_string_equal(c.tenant, "local");
        assert_true(c.agent_group == (gid_t)-1);
    }
}

static void unknown_keys_are_errors_with_their_place(void **state)
{
    (void)state;
    char words[600];
    snprintf(words, sizeof words, "%s:3:1: unknown key \"tenent\"", file);
    refuses("data: /d\n# typo\ntenent: x\n", ERR_CONFIG, words);
    snprintf(words, sizeof words, "%s:2:3: unknown key \"group\"", file);
    refuses("sockets:\n  group: x\n", ERR_CONFIG, words);
    snprintf(words, sizeof words, "%s:2:2: unknown key \"x\"", file);
    refuses("{\"data\": \"/d\",\n \"x\": 1}", ERR_CONFIG, words);
    refuses("\"dat\": /d", ERR_CONFIG, "unknown key \"dat\"");
    refuses("{\"data\\u0000x\": \"/d\"}", ERR_CONFIG, "unknown key \"data");
    refuses("data: /a\ndata: /b\n", ERR_CONFIG, ":2:1: this key stands in the mapping already");
}

static void values_are_checked(void **state)
{
    (void)state;
    refuses("data: relative/path", ERR_PATH, ":1:1: this has to be an absolute path");
    refuses("data: 17", ERR_CONFIG, "absolute path");
    refuses("data:", ERR_CONFIG, "absolute path");
    refuses("data: \"/a\\0b\"", ERR_CONFIG, "absolute path");
    refuses("tenant: \"\"", ERR_CONFIG, "a tenant has 1 to 128");
    refuses("tenant: a b", ERR_CONFIG, "a tenant has");
    refuses("tenant: 7", ERR_CONFIG, "a tenant has");
    refuses("policy: builtin:coding", ERR_CONFIG, "unknown policy");
    refuses("sockets: /run", ERR_CONFIG, "this has to be a mapping");
    refuses("- data", ERR_CONFIG, "this has to be a mapping");
    refuses("sockets: {agent_group: no-such-group-here}", ERR_CONFIG, "there is no such group");
    refuses("sockets: {agent_group: -1}", ERR_CONFIG, "there is no such group");
    refuses("sockets: {agent_group: 4294967295}", ERR_CONFIG, "there is no such group");
    refuses("sockets: {agent_group: true}", ERR_CONFIG, "there is no such group");
    refuses("sockets: {agent: /a/s, control: /a/s}", ERR_CONFIG, "both sockets have the same path");
    refuses("sockets: {agent: /run/tracekit-c/control.sock}", ERR_CONFIG, "both sockets have the same path");
    refuses("data: !!python/object/apply:os.system [id]", ERR_CONFIG, "anchors and tags are not read");
}

/* `start`, then `count` times `c`. */
static void refuses_long(const char *start, char c, size_t count, enum err want, const char *words)
{
    char text[1300], run[1200];
    memset(run, c, count);
    snprintf(text, sizeof text, "%s%.*s", start, (int)count, run);
    refuses(text, want, words);
}

static void long_values_are_refused(void **state)
{
    (void)state;
    refuses_long("tenant: ", 't', 129, ERR_CONFIG, "a tenant has 1 to 128");
    refuses_long("sockets:\n  agent: /", 's', PEER_MAX_PATH, ERR_PATH,
                 ":2:3: a socket's path has at most 107 bytes, and this one 108");
    refuses_long("data: /", 'd', 1100, ERR_PATH, ":1:1: a path has at most 1023 bytes");
}

static void the_file_is_safe_from_others(void **state)
{
    (void)state;
    struct config c;
    struct fault fault = {""};
    write_file("tenant: x\n", 10);
    assert_int_equal(chmod(file, 0664), 0);
    assert_int_equal(config_load(file, &c, &fault), ERR_CONFIG);
    assert_non_null(strstr(fault.text, "chmod go-w"));
    assert_int_equal(chmod(file, 0602), 0);
    assert_int_equal(config_load(file, &c, &fault), ERR_CONFIG);
    assert_int_equal(chmod(file, 0644), 0);
    assert_int_equal(config_load(file, &c, &fault), ERR_OK);
    if (geteuid() != 0)
        return;
    assert_int_equal(chown(file, 65534, 65534), 0);
    assert_int_equal(config_load(file, &c, &fault), ERR_CONFIG);
    assert_non_null(strstr(fault.text, "belongs to uid 65534"));
}

static void other_files_are_refused(void **state)
{
    (void)state;
    struct config c;
    struct fault fault = {""};
    assert_int_equal(config_load(file, &c, &fault), ERR_CONFIG);
    assert_non_null(strstr(fault.text, "No such file"));
    assert_int_equal(config_load(scratch, &c, &fault), ERR_CONFIG);
    assert_non_null(strstr(fault.text, "not a regular file"));
    assert_int_equal(mkfifo(file, 0600), 0);
    assert_int_equal(config_load(file, &c, &fault), ERR_CONFIG); /* and does not wait */
    assert_int_equal(unlink(file), 0);
    size_t len = (1 << 20) + 1;
    char *text = malloc(len);
    assert_non_null(text);
    memset(text, '#', len);
    write_file(text, len);
    assert_int_equal(config_load(file, &c, &fault), ERR_CONFIG);
    assert_non_null(strstr(fault.text, "larger than 1048576 bytes"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dev_uses_the_xdg_directories),
        cmocka_unit_test(dev_falls_back_to_home),
        cmocka_unit_test(dev_takes_a_named_directory),
        cmocka_unit_test(paths_that_do_not_fit_are_refused),
        cmocka_unit_test_setup_teardown(a_file_sets_everything, setup, teardown),
        cmocka_unit_test_setup_teardown(a_file_may_leave_everything_out, setup, teardown),
        cmocka_unit_test_setup_teardown(unknown_keys_are_errors_with_their_place, setup, teardown),
        cmocka_unit_test_setup_teardown(values_are_checked, setup, teardown),
        cmocka_unit_test_setup_teardown(long_values_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(the_file_is_safe_from_others, setup, teardown),
        cmocka_unit_test_setup_teardown(other_files_are_refused, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
