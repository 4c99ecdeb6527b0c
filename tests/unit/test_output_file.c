#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "cli/output_file.h"
#include "tests/unit/scratch.h"

static char scratch[SCRATCH_PATH_BYTES];
static char path[SCRATCH_PATH_BYTES + 16];

static int setup(void **state)
{
    (void)state;
    umask(022);
    scratch_make(scratch);
    snprintf(path, sizeof path, "%s/out", scratch);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    scratch_remove(scratch);
    return 0;
}

static int files(void)
{
    int n = 0;
    DIR *d = opendir(scratch);
    assert_non_null(d);
    for (struct dirent *e = readdir(d); e != NULL; e = readdir(d))
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static void put(const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void holds(const char *want)
{
    char text[64] = "";
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = '\0';
    assert_string_equal(text, want);
}

static struct output_file *opened(bool replace)
{
    struct output_file *f = NULL;
    struct fault fault = {""};
    assert_int_equal(output_file_open(path, replace, &f, &fault), ERR_OK);
    fputs("new", output_file_stream(f));
    return f;
}

static void it_appears_whole(void **state)
{
    (void)state;
    struct stat st;
    struct fault fault = {""};
    struct output_file *f = opened(false);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(files(), 1);
    assert_int_equal(output_file_commit(f, &fault), ERR_OK);
    output_file_close(f);
    holds("new");
    assert_int_equal(files(), 1);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(st.st_nlink, 1);
}

static void without_a_commit_nothing_is_left(void **state)
{
    (void)state;
    output_file_close(opened(false));
    assert_int_equal(files(), 0);
    put("old");
    output_file_close(opened(true));
    assert_int_equal(files(), 1);
    holds("old");
    output_file_close(NULL);
}

static void refuses(bool replace, const char *words)
{
    struct output_file *f = NULL;
    struct fault fault = {""};
    assert_int_equal(output_file_open(path, replace, &f, &fault), ERR_PATH);
    assert_non_null(strstr(fault.text, words));
    assert_null(f);
}

static void an_existing_file_needs_to_be_replaced(void **state)
{
    (void)state;
    struct fault fault = {""};
    put("old");
    refuses(false, "is there already");
    holds("old");
    struct output_file *f = opened(true);
    assert_int_equal(output_file_commit(f, &fault), ERR_OK);
    output_file_close(f);
    holds("new");
    assert_int_equal(files(), 1);
}

/* The name was free when we looked first. */
static void a_name_that_was_taken_meanwhile_stays(void **state)
{
    (void)state;
    struct fault fault = {""};
    struct output_file *f = opened(false);
    put("other");
    assert_int_equal(output_file_commit(f, &fault), ERR_PATH);
    assert_non_null(strstr(fault.text, "is there already"));
    output_file_close(f);
    holds("other");
    assert_int_equal(files(), 1);
}

static void only_regular_files_are_replaced(void **state)
{
    (void)state;
    assert_int_equal(symlink("/dev/null", path), 0);
    refuses(true, "not a regular file");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    refuses(true, "not a regular file");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    refuses(true, "not a regular file");
    assert_int_equal(rmdir(path), 0);
    struct fault fault = {""};
    struct output_file *f = opened(true);
    assert_int_equal(symlink("/dev/null", path), 0);
    assert_int_equal(output_file_commit(f, &fault), ERR_PATH);
    output_file_close(f);
    assert_int_equal(files(), 1);
}

static void unusable_names_are_refused(void **state)
{
    (void)state;
    static char long_name[5000];
    struct output_file *f = NULL;
    struct fault fault = {""};
    memset(long_name, 'x', sizeof long_name - 1);
    assert_int_equal(output_file_open("", false, &f, &fault), ERR_PATH);
    assert_int_equal(output_file_open("dir/", false, &f, &fault), ERR_PATH);
    assert_int_equal(output_file_open(long_name, false, &f, &fault), ERR_PATH);
    long_name[300] = '\0';
    assert_int_equal(output_file_open(long_name, false, &f, &fault), ERR_PATH);
    snprintf(path, sizeof path, "%s/no/out", scratch);
    assert_int_equal(output_file_open(path, false, &f, &fault), ERR_IO);
    assert_non_null(strstr(fault.text, "cannot make a file in"));
    assert_null(f);
}

static void a_full_disk_is_said(void **state)
{
    (void)state;
    struct fault fault = {""};
    struct output_file *f = opened(false);
    FILE *stream = output_file_stream(f);
    /* The stream now writes to a device that is always full. */
    fflush(stream);
    int full = open("/dev/full", O_WRONLY);
    assert_true(full >= 0);
    assert_true(dup2(full, fileno(stream)) >= 0);
    close(full);
    fputs("more", stream);
    assert_int_equal(output_file_commit(f, &fault), ERR_IO);
    output_file_close(f);
    assert_int_equal(files(), 0);
}

/* Runs a child that has a temporary file and gets a signal; returns how it ended. */
static int ended_by(int number, bool ignored)
{
    int status = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (ignored)
            signal(number, SIG_IGN);
        struct output_file *f = NULL;
        struct fault fault;
        if (output_file_open(path, false, &f, &fault) != ERR_OK)
            _exit(99);
        raise(number);
        output_file_close(f);
        _exit(7);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void a_signal_leaves_nothing(void **state)
{
    (void)state;
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        assert_int_equal(ended_by(numbers[i], false), 1000 + numbers[i]);
        assert_int_equal(files(), 0);
        assert_int_equal(ended_by(numbers[i], true), 7);
        assert_int_equal(files(), 0);
    }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(it_appears_whole),
        CASE(without_a_commit_nothing_is_left),
        CASE(an_existing_file_needs_to_be_replaced),
        CASE(a_name_that_was_taken_meanwhile_stays),
        CASE(only_regular_files_are_replaced),
        CASE(unusable_names_are_refused),
        CASE(a_full_disk_is_said),
        CASE(a_signal_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
