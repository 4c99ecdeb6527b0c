#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "signer/datadir.h"
#include "tests/unit/scratch.h"

enum { NOBODY = 65534 };

static char scratch[SCRATCH_PATH_BYTES];

static int setup(void **state)
{
    (void)state;
    umask(022); /* the modes must not depend on it */
    scratch_make(scratch);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    scratch_remove(scratch);
    return 0;
}

/* A path in the scratch directory; valid until the next call but one. */
static const char *in(const char *name)
{
    static char paths[2][512];
    static int turn;
    turn = !turn;
    snprintf(paths[turn], sizeof paths[turn], "%s/%s", scratch, name);
    return paths[turn];
}

static unsigned mode_of(const char *path)
{
    struct stat st;
    assert_int_equal(lstat(path, &st), 0);
    return st.st_mode & 07777;
}

static void refuses(enum err want, const char *path, const char *words)
{
    struct fault fault = {""};
    assert_int_equal(datadir_make(path, (gid_t)-1, &fault), want);
    if (strstr(fault.text, words) == NULL)
        assert_string_equal(fault.text, words);
}

static void missing_parents_are_made_private(void **state)
{
    (void)state;
    struct fault fault = {""};
    assert_int_equal(datadir_make(in("a/b//c/./d/"), (gid_t)-1, &fault), ERR_OK);
    assert_int_equal(mode_of(in("a")), 0700);
    assert_int_equal(mode_of(in("a/b")), 0700);
    assert_int_equal(mode_of(in("a/b/c/d")), 0700);
    assert_int_equal(datadir_make(in("a/b/c/d"), (gid_t)-1, &fault), ERR_OK); /* and again */
    assert_string_equal(fault.text, "");
}

static void parents_that_are_there_keep_their_mode(void **state)
{
    (void)state;
    assert_int_equal(mkdir(in("open"), 0755), 0);
    assert_int_equal(datadir_make(in("open/data"), (gid_t)-1, NULL), ERR_OK);
    assert_int_equal(mode_of(in("open")), 0755);
    assert_int_equal(symlink("open", in("link")), 0);
    assert_int_equal(datadir_make(in("link/other"), (gid_t)-1, NULL), ERR_OK);
    assert_int_equal(mode_of(in("open/other")), 0700);
}

static void a_symbolic_link_is_refused(void **state)
{
    (void)state;
    assert_int_equal(mkdir(in("real"), 0700), 0);
    assert_int_equal(symlink("real", in("data")), 0);
    refuses(ERR_PATH, in("data"), "symbolic link");
    refuses(ERR_PATH, in("data/"), "symbolic link");
    assert_int_equal(symlink("nowhere", in("dangling")), 0);
    refuses(ERR_PATH, in("dangling"), "symbolic link");
    assert_int_not_equal(access(in("nowhere"), F_OK), 0);
}

static void others_may_have_no_rights(void **state)
{
    (void)state;
    const unsigned modes[] = {0755, 0750, 0710, 0701, 0770, 0704, 0720, 01777};
    assert_int_equal(mkdir(in("data"), 0700), 0);
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        char remedy[600];
        assert_int_equal(chmod(in("data"), modes[i]), 0);
        if ((modes[i] & S_ISVTX) != 0) /* such as /tmp: closing it to others would be bad advice */
            snprintf(remedy, sizeof remedy, "choose a directory of the signer's own");
        else
            snprintf(remedy, sizeof remedy, "chmod 700 %s", in("data"));
        refuses(ERR_PATH, in("data"), remedy);
        assert_int_equal(mode_of(in("data")), modes[i]); /* it is the owner who changes it, not we */
    }
}

static void other_things_are_refused(void **state)
{
    (void)state;
    int fd = open(in("file"), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    close(fd);
    refuses(ERR_PATH, in("file"), "Not a directory");
    refuses(ERR_PATH, "relative/path", "not an absolute path");
    refuses(ERR_PATH, "", "not an absolute path");
    refuses(ERR_PATH, "/", "not a directory of our own");
    char long_name[300] = "/tmp/";
    memset(long_name + 5, 'x', 256);
    refuses(ERR_PATH, long_name, "a name in the path is longer than 255 bytes");
    memcpy(long_name + 261, "/y", 3);
    refuses(ERR_PATH, long_name, "a name in the path is longer than 255 bytes");
    refuses(ERR_PATH, "////", "not a directory of our own");
    refuses(ERR_IO, "/proc/no-such/data", "cannot make the directory");
}

static void somebody_elses_directory_is_refused(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    assert_int_equal(mkdir(in("data"), 0700), 0);
    assert_int_equal(chown(in("data"), NOBODY, NOBODY), 0);
    refuses(ERR_PATH, in("data"), "belongs to uid 65534 and we are uid 0");
}

static void a_group_may_enter_a_socket_directory(void **state)
{
    (void)state;
    struct fault fault = {""};
    gid_t group = geteuid() == 0 ? NOBODY : getegid();
    struct stat st;
    assert_int_equal(datadir_make(in("run/tracekit"), group, &fault), ERR_OK);
    assert_int_equal(stat(in("run/tracekit"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0750);
    assert_int_equal(st.st_gid, group);
    assert_int_equal(mode_of(in("run")), 0700);
    assert_int_equal(datadir_make(in("run/tracekit"), group, &fault), ERR_OK);
    assert_int_equal(chmod(in("run/tracekit"), 0770), 0);
    assert_int_equal(datadir_make(in("run/tracekit"), group, &fault), ERR_PATH);
    assert_non_null(strstr(fault.text, "chmod 750"));
    assert_int_equal(chmod(in("run/tracekit"), 0751), 0);
    assert_int_equal(datadir_make(in("run/tracekit"), group, &fault), ERR_PATH);
}

static void the_lock_is_ours_alone(void **state)
{
    (void)state;
    struct fault fault = {""};
    int first = -1, second = -1;
    char process[64];
    snprintf(process, sizeof process, "(process %ld)", (long)getpid());
    assert_int_equal(datadir_open(in("data"), &first, &fault), ERR_OK);
    assert_int_equal(fcntl(first, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    assert_int_equal(mode_of(in("data/lock")), 0600);
    assert_int_equal(datadir_open(in("data"), &second, &fault), ERR_LOCKED);
    assert_int_equal(second, -1);
    assert_non_null(strstr(fault.text, process));
    datadir_close(first);
    assert_int_equal(datadir_open(in("data"), &second, &fault), ERR_OK);
    datadir_close(second);
    datadir_close(-1);
}

static void what_the_lock_file_says_is_not_trusted(void **state)
{
    (void)state;
    struct fault fault = {""};
    int lock = -1, other = -1;
    assert_int_equal(datadir_open(in("data"), &lock, NULL), ERR_OK);
    assert_int_equal(ftruncate(lock, 0), 0);
    assert_int_equal(datadir_open(in("data"), &other, &fault), ERR_LOCKED);
    assert_non_null(strstr(fault.text, "another signer uses"));
    assert_int_equal(pwrite(lock, "\033[2J123456789012345678901234567890", 34, 0), 34);
    assert_int_equal(datadir_open(in("data"), &other, &fault), ERR_LOCKED);
    assert_non_null(strstr(fault.text, "another signer uses"));
    assert_null(strchr(fault.text, '\033'));
    datadir_close(lock);
}

static void the_lock_file_is_no_link_and_never_waited_for(void **state)
{
    (void)state;
    int lock = -1, other = -1;
    assert_int_equal(datadir_open(in("data"), &lock, NULL), ERR_OK);
    datadir_close(lock);
    assert_int_equal(unlink(in("data/lock")), 0);
    assert_int_equal(symlink("/etc/passwd", in("data/lock")), 0);
    assert_int_equal(datadir_open(in("data"), &other, NULL), ERR_IO); /* never follows a link */
    assert_int_equal(unlink(in("data/lock")), 0);
    assert_int_equal(mkfifo(in("data/lock"), 0600), 0);
    assert_int_equal(datadir_open(in("data"), &other, NULL), ERR_OK); /* and never waits */
    datadir_close(other);
}

static void the_lock_ends_with_its_process(void **state)
{
    (void)state;
    int ready[2], status = 0, lock = -1;
    char byte = 0;
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int held = -1;
        byte = datadir_open(in("data"), &held, NULL) == ERR_OK ? 'y' : 'n';
        if (write(ready[1], &byte, 1) == 1)
            pause();
        _exit(1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(byte, 'y');
    struct fault fault = {""};
    assert_int_equal(datadir_open(in("data"), &lock, &fault), ERR_LOCKED);
    char process[64];
    snprintf(process, sizeof process, "(process %ld)", (long)child);
    assert_non_null(strstr(fault.text, process));
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(datadir_open(in("data"), &lock, &fault), ERR_OK);
    datadir_close(lock);
    close(ready[0]);
    close(ready[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(missing_parents_are_made_private, setup, teardown),
        cmocka_unit_test_setup_teardown(parents_that_are_there_keep_their_mode, setup, teardown),
        cmocka_unit_test_setup_teardown(a_symbolic_link_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(others_may_have_no_rights, setup, teardown),
        cmocka_unit_test_setup_teardown(other_things_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(somebody_elses_directory_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(a_group_may_enter_a_socket_directory, setup, teardown),
        cmocka_unit_test_setup_teardown(the_lock_is_ours_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(what_the_lock_file_says_is_not_trusted, setup, teardown),
        cmocka_unit_test_setup_teardown(the_lock_file_is_no_link_and_never_waited_for, setup, teardown),
        cmocka_unit_test_setup_teardown(the_lock_ends_with_its_process, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
