/* What starts and stops the signer, as far as it needs no signer: the unit's text, the log, the environment, the tools. */
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

#include "cli/daemon_env.h"
#include "cli/daemon_log.h"
#include "cli/daemon_unit.h"
#include "cli/tool.h"
#include "tests/unit/scratch.h"

static char scratch[SCRATCH_PATH_BYTES];

static int setup(void **state)
{
    (void)state;
    scratch_make(scratch);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    scratch_remove(scratch);
    return 0;
}

/* --- the unit ------------------------------------------------------------------------------------------------------- */

static char unit_text[DAEMON_UNIT_MAX_BYTES + 1];

static enum err write_unit(const struct daemon_unit *unit, struct fault *fault)
{
    struct buf out;
    buf_init(&out, DAEMON_UNIT_MAX_BYTES);
    enum err e = daemon_unit_write(&out, unit, fault);
    if (out.len > 0)
        memcpy(unit_text, out.data, out.len);
    unit_text[out.len] = '\0';
    buf_wipe(&out);
    return e;
}

static void a_unit_holds_paths_as_systemd_reads_them(void **state)
{
    (void)state;
    struct fault fault = {""};
    struct daemon_unit unit = {.signer = "/opt/a b/$x/100%/q\"\\/tracekit-signer",
                               .data = "/srv/$HOME/%h/it's \"x\"\\",
                               .home = "/home/%u/$y"};
    assert_int_equal(write_unit(&unit, &fault), ERR_OK);
    assert_non_null(strstr(unit_text, "\nExecStart=\"/opt/a b/$x/100%%/q\\\"\\\\/tracekit-signer\" --dev --data "
                                      "\"/srv/$$HOME/%%h/it's \\\"x\\\"\\\\\"\n"));
    assert_non_null(strstr(unit_text, "\nEnvironment=\"HOME=/home/%%u/$y\"\n"));
    assert_null(strstr(unit_text, "XDG_"));
    assert_int_equal(strncmp(unit_text, DAEMON_UNIT_MARK, strlen(DAEMON_UNIT_MARK)), 0);
}

static void a_unit_without_data_has_none(void **state)
{
    (void)state;
    struct daemon_unit unit = {
        .signer = "/bin/tracekit-signer", .xdg_data_home = "relative", .xdg_runtime_dir = "/run/u"};
    assert_int_equal(write_unit(&unit, NULL), ERR_OK);
    assert_non_null(
        strstr(unit_text, "\nExecStart=\"/bin/tracekit-signer\" --dev\nEnvironment=\"XDG_RUNTIME_DIR=/run/u\"\n"));
    assert_null(strstr(unit_text, "XDG_DATA_HOME"));
    /* The signer compares namespaces with its callers': none of its own. */
    assert_null(strstr(unit_text, "Private"));
    assert_null(strstr(unit_text, "Protect"));
    assert_non_null(strstr(unit_text, "\nUMask=0077\n"));
    assert_non_null(strstr(unit_text, "\nNoNewPrivileges=yes\n"));
}

static void no_path_can_add_a_line_to_a_unit(void **state)
{
    (void)state;
    static const char *const bad[] = {"/a\nExecStartPre=/bin/evil", "/a\rb", "/a\tb", "/a\x7f", "/a\xff", "/a\xc2\x85"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct fault fault = {""};
        struct daemon_unit as_data = {.signer = "/bin/x", .data = bad[i]}, as_signer = {.signer = bad[i]};
        struct daemon_unit as_home = {.signer = "/bin/x", .home = bad[i]};
        assert_int_equal(write_unit(&as_data, &fault), ERR_PATH);
        assert_non_null(strstr(fault.text, "systemd unit"));
        assert_int_equal(write_unit(&as_signer, NULL), ERR_PATH);
        assert_int_equal(write_unit(&as_home, NULL), ERR_PATH);
    }
}

static void each_data_directory_has_its_unit(void **state)
{
    (void)state;
    char a[DAEMON_UNIT_NAME_BYTES], b[DAEMON_UNIT_NAME_BYTES], c[DAEMON_UNIT_NAME_BYTES];
    daemon_unit_name(NULL, a);
    daemon_unit_name("/srv/a", b);
    daemon_unit_name("/srv/b", c);
    assert_string_equal(a, "tracekit-signer.service");
    assert_string_not_equal(b, c);
    assert_int_equal(strlen(b), strlen("tracekit-signer-01234567.service"));
    assert_int_equal(strspn(b + strlen("tracekit-signer-"), "0123456789abcdef"), 8);
}

/* --- the log -------------------------------------------------------------------------------------------------------- */

static void in_scratch(const char *name, char out[static SCRATCH_PATH_BYTES + 64])
{
    snprintf(out, SCRATCH_PATH_BYTES + 64, "%s/%s", scratch, name);
}

static void put_file(const char *path, const char *text, size_t pad)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (size_t i = 0; i < pad; i++)
        fputc('x', f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static void a_start_makes_its_directory_and_locks_it(void **state)
{
    (void)state;
    char path[SCRATCH_PATH_BYTES + 64];
    struct fault fault = {""};
    struct stat st;
    int first = -1, second = -1;
    in_scratch("deep/er/data", path);
    assert_int_equal(daemon_log_enter(path, 0, &first, &fault), ERR_OK);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    assert_int_equal(daemon_log_enter(path, 60, &second, &fault), ERR_TIMEOUT);
    assert_int_equal(second, -1);
    close(first);
    assert_int_equal(daemon_log_enter(path, 0, &second, &fault), ERR_OK);
    close(second);
    assert_int_equal(chmod(path, 0710), 0);
    assert_int_equal(daemon_log_enter(path, 0, &first, &fault), ERR_PATH);
    assert_non_null(strstr(fault.text, "run: chmod 700"));
}

static void a_linked_or_ordinary_file_is_no_data_directory(void **state)
{
    (void)state;
    char file[SCRATCH_PATH_BYTES + 64], link[SCRATCH_PATH_BYTES + 64];
    struct fault fault = {""};
    int fd = -1;
    in_scratch("file", file);
    in_scratch("link", link);
    put_file(file, "x", 0);
    assert_int_equal(daemon_log_enter(file, 0, &fd, &fault), ERR_PATH);
    assert_int_equal(symlink(scratch, link), 0);
    assert_int_equal(daemon_log_enter(link, 0, &fd, &fault), ERR_PATH);
}

static void a_long_log_is_put_aside(void **state)
{
    (void)state;
    char log[SCRATCH_PATH_BYTES + 64], old[SCRATCH_PATH_BYTES + 64];
    struct fault fault = {""};
    struct stat st;
    int directory = -1, fd = -1;
    int64_t from = -1;
    in_scratch("signer.log", log);
    in_scratch("signer.log.1", old);
    assert_int_equal(daemon_log_enter(scratch, 0, &directory, &fault), ERR_OK);
    put_file(log, "", DAEMON_LOG_MAX_BYTES);
    assert_int_equal(daemon_log_open(directory, &fd, &from, &fault), ERR_OK);
    assert_int_equal(from, DAEMON_LOG_MAX_BYTES);
    assert_int_equal(write(fd, "y", 1), 1);
    close(fd);
    assert_int_equal(stat(log, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(daemon_log_open(directory, &fd, &from, &fault), ERR_OK);
    assert_int_equal(from, 0);
    close(fd);
    assert_int_equal(stat(old, &st), 0);
    assert_int_equal(st.st_size, DAEMON_LOG_MAX_BYTES + 1);
    assert_int_equal(unlink(log), 0);
    assert_int_equal(symlink(old, log), 0);
    assert_int_not_equal(daemon_log_open(directory, &fd, &from, &fault), ERR_OK);
    assert_int_equal(unlink(log), 0);
    assert_int_equal(mkfifo(log, 0600), 0);
    assert_int_not_equal(daemon_log_open(directory, &fd, &from, &fault), ERR_OK);
    close(directory);
}

static void tail_is(const char *path, int64_t from, const char *expected)
{
    struct buf out;
    buf_init(&out, 8192);
    daemon_log_tail(path, from, &out);
    assert_int_equal(out.len, strlen(expected));
    if (out.len > 0)
        assert_memory_equal(out.data, expected, out.len);
    buf_wipe(&out);
}

static void the_last_lines_of_a_start_are_shown(void **state)
{
    (void)state;
    char log[SCRATCH_PATH_BYTES + 64];
    in_scratch("log", log);
    tail_is(log, 0, "");
    put_file(log, "old\nnew\nlast\n", 0);
    tail_is(log, 4, "new\nlast\n");
    tail_is(log, 13, "");
    tail_is(log, 99, "");
    put_file(log, "\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10", 100000);
    tail_is(log, 0, "1\n2\n3\n4\n5\n6\n7\n8\n9\n10");
}

/* --- the environment and tools ---------------------------------------------------------------------------------------- */

static void little_of_an_environment_is_passed_on(void **state)
{
    (void)state;
    char home[] = "HOME=/h", secret[] = "HOMESICK=1", key[] = "GEMINI_API_KEY=k", preload[] = "LD_PRELOAD=x";
    char data[] = "XDG_DATA_HOME=/d", language[] = "LC_ALL=C", socket[] = "NOTIFY_SOCKET=/n", bare[] = "PATH";
    char *all[] = {secret, home, key, preload, data, language, socket, bare, NULL};
    char *kept[DAEMON_ENV_MAX + 1];
    daemon_env_filter(all, kept);
    assert_ptr_equal(kept[0], home);
    assert_ptr_equal(kept[1], data);
    assert_ptr_equal(kept[2], language);
    assert_null(kept[3]);
    char *many[DAEMON_ENV_MAX + 10];
    for (size_t i = 0; i < DAEMON_ENV_MAX + 9; i++)
        many[i] = home;
    many[DAEMON_ENV_MAX + 9] = NULL;
    daemon_env_filter(many, kept);
    assert_null(kept[DAEMON_ENV_MAX]);
}

static void a_tool_is_found_in_absolute_directories_only(void **state)
{
    (void)state;
    char found[PATHS_MAX];
    assert_true(tool_find("sh", "::bin:/nowhere:/bin:/usr/bin", found));
    assert_string_equal(found, "/bin/sh");
    assert_false(tool_find("sh", "bin:.::", found));
    assert_false(tool_find("sh", "", found));
    assert_false(tool_find("sh", NULL, found));
    assert_false(tool_find("passwd", "/etc", found));
}

static enum err shell(const char *words, int timeout_ms, struct buf *out, int *status)
{
    char program[] = "/bin/sh", option[] = "-c", text[256];
    char *argv[] = {program, option, text, NULL}, *none[] = {NULL};
    snprintf(text, sizeof text, "%s", words);
    return tool_run(argv, none, timeout_ms, out, status);
}

static void a_tool_has_an_end(void **state)
{
    (void)state;
    struct buf out;
    int status = -1;
    buf_init(&out, 16);
    assert_int_equal(shell("cat; echo out; echo err >&2; exit 7", 10000, &out, &status), ERR_OK);
    assert_int_equal(status, 7);
    assert_int_equal(out.len, 8);
    assert_memory_equal(out.data, "out\nerr\n", 8);
    buf_reset(&out);
    assert_int_equal(shell("echo 0123456789012345678901234567890123456789", 10000, &out, &status), ERR_OK);
    assert_int_equal(out.len, 16);
    assert_int_equal(shell("kill -9 $$", 10000, NULL, &status), ERR_OK);
    assert_int_equal(status, 137);
    status = 55;
    assert_int_equal(shell("exec sleep 20", 100, NULL, &status), ERR_TIMEOUT);
    assert_int_equal(shell("exec >&- 2>&-; exec sleep 20", 100, NULL, &status), ERR_TIMEOUT);
    assert_int_equal(status, 55);
    buf_wipe(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_unit_holds_paths_as_systemd_reads_them),
        cmocka_unit_test(a_unit_without_data_has_none),
        cmocka_unit_test(no_path_can_add_a_line_to_a_unit),
        cmocka_unit_test(each_data_directory_has_its_unit),
        cmocka_unit_test_setup_teardown(a_start_makes_its_directory_and_locks_it, setup, teardown),
        cmocka_unit_test_setup_teardown(a_linked_or_ordinary_file_is_no_data_directory, setup, teardown),
        cmocka_unit_test_setup_teardown(a_long_log_is_put_aside, setup, teardown),
        cmocka_unit_test_setup_teardown(the_last_lines_of_a_start_are_shown, setup, teardown),
        cmocka_unit_test(little_of_an_environment_is_passed_on),
        cmocka_unit_test(a_tool_is_found_in_absolute_directories_only),
        cmocka_unit_test(a_tool_has_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
