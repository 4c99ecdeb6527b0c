/* Keys in files: what is taken for one, and that a start which is cut short at any system call leaves no part of one. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "signer/keyfile.h"
#include "signer/service.h"
#include "tests/unit/scratch.h"

enum { KILLED = 42, MAX_CALLS = 400 };

/* --- system calls that fail, or are the last ones --- */

static int calls, fail_at, die_at;

static bool is_failing(void)
{
    calls++;
    if (calls == die_at)
        _exit(KILLED);
    if (calls != fail_at)
        return false;
    errno = EIO;
    return true;
}

static void find(void *real, const char *name)
{
    void *at = dlsym(RTLD_NEXT, name);
    memcpy(real, &at, sizeof at);
}

int fsync(int file)
{
    int (*real)(int) = NULL;
    find(&real, "fsync");
    return is_failing() ? -1 : real(file);
}

int fdatasync(int file)
{
    int (*real)(int) = NULL;
    find(&real, "fdatasync");
    return is_failing() ? -1 : real(file);
}

ssize_t write(int file, const void *bytes, size_t len)
{
    ssize_t (*real)(int, const void *, size_t) = NULL;
    find(&real, "write");
    return file > STDERR_FILENO && is_failing() ? -1 : real(file, bytes, len);
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
    int (*real)(int, const char *, int, const char *) = NULL;
    find(&real, "renameat");
    return is_failing() ? -1 : real(from_dir, from, to_dir, to);
}

int mkdir(const char *path, mode_t mode)
{
    int (*real)(const char *, mode_t) = NULL;
    find(&real, "mkdir");
    return is_failing() ? -1 : real(path, mode);
}

static void arm(int fail, int die)
{
    calls = 0;
    fail_at = fail;
    die_at = die;
}

/* --- one key --- */

static const uint8_t KEY[KEYFILE_BYTES] = "01234567890123456789012345678901";

static char dir[SCRATCH_PATH_BYTES];
static int fd = -1;

static int make(void **state)
{
    (void)state;
    arm(0, 0);
    scratch_make(dir);
    fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd >= 0 ? 0 : -1;
}

static int clear(void **state)
{
    (void)state;
    arm(0, 0);
    close(fd);
    scratch_remove(dir);
    return 0;
}

static void expect(enum err expected, const char *words)
{
    uint8_t key[KEYFILE_BYTES] = {0};
    struct fault fault = {""};
    assert_int_equal(keyfile_read(fd, "a.key", key, &fault), expected);
    if (expected == ERR_OK)
        assert_memory_equal(key, KEY, sizeof key);
    else
        assert_non_null(strstr(fault.text, words));
}

static void a_key_is_kept_and_never_replaced(void **state)
{
    (void)state;
    struct stat st;
    struct fault fault = {""};
    const uint8_t other[KEYFILE_BYTES] = {1};
    expect(ERR_NOT_FOUND, "a.key");
    umask(0);
    assert_int_equal(keyfile_create(fd, "a.key", KEY, &fault), ERR_OK);
    umask(077);
    assert_int_equal(fstatat(fd, "a.key", &st, 0), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    expect(ERR_OK, "");
    assert_int_equal(keyfile_create(fd, "a.key", other, &fault), ERR_IO);
    assert_non_null(strstr(fault.text, "exists"));
    expect(ERR_OK, "");
    assert_int_equal(keyfile_create(fd, "a-name-that-is-much-too-long.key", KEY, &fault), ERR_IO);
}

static void what_is_no_private_file_of_32_bytes_is_refused(void **state)
{
    (void)state;
    char path[SCRATCH_PATH_BYTES + 16], other[SCRATCH_PATH_BYTES + 16];
    struct fault fault = {""};
    snprintf(path, sizeof path, "%s/a.key", dir);
    snprintf(other, sizeof other, "%s/b.key", dir);
    assert_int_equal(keyfile_create(fd, "a.key", KEY, &fault), ERR_OK);
    const int open_modes[] = {0640, 0620, 0610, 0604, 0602, 0601};
    for (size_t i = 0; i < sizeof open_modes / sizeof open_modes[0]; i++) {
        assert_int_equal(chmod(path, (mode_t)open_modes[i]), 0);
        expect(ERR_CONFIG, "chmod 600");
    }
    assert_int_equal(chmod(path, 0600), 0);
    expect(ERR_OK, "");
    assert_int_equal(truncate(path, KEYFILE_BYTES + 1), 0);
    expect(ERR_CONFIG, "33 bytes");
    assert_int_equal(truncate(path, 0), 0);
    expect(ERR_CONFIG, "0 bytes");
    assert_int_equal(rename(path, other), 0);
    assert_int_equal(symlink(other, path), 0);
    expect(ERR_IO, "a.key");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    expect(ERR_CONFIG, "regular file");
}

static void a_disk_that_fails_leaves_no_part_of_a_key(void **state)
{
    (void)state;
    struct fault fault = {""};
    uint8_t key[KEYFILE_BYTES];
    enum err e = ERR_IO;
    int n = 0;
    for (n = 1; e != ERR_OK; n++) {
        arm(n, 0);
        e = keyfile_create(fd, "a.key", KEY, &fault);
        arm(0, 0);
        enum err there = keyfile_read(fd, "a.key", key, NULL);
        assert_true(there == ERR_NOT_FOUND || (there == ERR_OK && memcmp(key, KEY, sizeof key) == 0));
        assert_true(e == ERR_OK ? there == ERR_OK : e == ERR_IO || e == ERR_SYNC);
        assert_true(unlinkat(fd, "a.key", 0) == 0 || errno == ENOENT);
        assert_int_equal(faccessat(fd, "a.key.new", F_OK, 0), -1);
    }
    assert_int_equal(n, 6); /* write, sync, rename, sync: and then it works */
}

/* --- a first start --- */

static enum err start(void)
{
    const struct clock now = {.wall_us = INT64_C(1800000000000000), .mono_ms = 1000};
    struct config config = {.dev = true, .tenant = "local"};
    struct service *service = NULL;
    snprintf(config.data_dir, sizeof config.data_dir, "%s", dir);
    enum err e = service_open(&config, &now, &service, NULL);
    if (e == ERR_OK)
        service_close(service);
    return e;
}

static void a_first_start_that_is_killed_at_any_call_is_begun_again(void **state)
{
    int status = 0, n = 1;
    for (; n < MAX_CALLS; n++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            arm(0, n);
            _exit(start() == ERR_OK ? 0 : 1);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
            break;
        assert_int_equal(WEXITSTATUS(status), KILLED);
        if (start() != ERR_OK)
            fail_msg("it does not start again after call %d", n);
        clear(state);
        make(state);
    }
    print_message("# %d calls\n", n - 1);
    assert_true(n > 20 && n < MAX_CALLS);
}

/* A start that says it went well has its names on the disk, too. */
static void a_first_start_on_a_disk_that_fails_is_begun_again(void **state)
{
    int n = 1, failed = 0;
    for (bool is_there = true; is_there && n < MAX_CALLS; n++) {
        arm(n, 0);
        failed += start() != ERR_OK;
        is_there = calls >= n;
        arm(0, 0);
        if (start() != ERR_OK)
            fail_msg("it does not start again after call %d failed", n);
        clear(state);
        make(state);
    }
    print_message("# %d calls, %d failures\n", n - 2, failed);
    assert_true(failed > 20 && n < MAX_CALLS);
}

int main(void)
{
#define KEY_TEST(f) cmocka_unit_test_setup_teardown(f, make, clear)
    const struct CMUnitTest tests[] = {
        KEY_TEST(a_key_is_kept_and_never_replaced),
        KEY_TEST(what_is_no_private_file_of_32_bytes_is_refused),
        KEY_TEST(a_disk_that_fails_leaves_no_part_of_a_key),
        KEY_TEST(a_first_start_that_is_killed_at_any_call_is_begun_again),
        KEY_TEST(a_first_start_on_a_disk_that_fails_is_begun_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
