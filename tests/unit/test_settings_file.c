/* A settings file is replaced whole, or not at all. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/settings_file.h"
#include "tests/unit/scratch.h"

static char scratch[SCRATCH_PATH_BYTES];
static char folder[SCRATCH_PATH_BYTES + 16];
static char path[SCRATCH_PATH_BYTES + 32];

static int setup(void **state)
{
    (void)state;
    umask(0);
    scratch_make(scratch);
    snprintf(folder, sizeof folder, "%s/.gemini", scratch);
    snprintf(path, sizeof path, "%s/settings.json", folder);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    scratch_remove(scratch);
    return 0;
}

static void put(const char *name, const char *text, mode_t mode)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, mode);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static void holds(const char *name, const char *want)
{
    char text[64] = "";
    int fd = open(name, O_RDONLY);
    assert_true(fd >= 0);
    assert_true(read(fd, text, sizeof text - 1) >= 0);
    close(fd);
    assert_string_equal(text, want);
}

static int files(void)
{
    int n = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e = readdir(d); e != NULL; e = readdir(d))
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static void opens(struct settings_file *f)
{
    struct fault fault = {""};
    if (settings_file_open(scratch, f, &fault) != ERR_OK)
        fail_msg("%s", fault.text);
}

static void opens_not(const char *words)
{
    struct settings_file f;
    struct fault fault = {""};
    assert_int_equal(settings_file_open(scratch, &f, &fault), ERR_PATH);
    if (strstr(fault.text, words) == NULL)
        assert_string_equal(fault.text, words);
}

static void a_file_is_replaced(void **state)
{
    (void)state;
    struct settings_file f;
    struct stat st;
    char copy[SCRATCH_PATH_BYTES + 96];
    mkdir(folder, 0700);
    put(path, "old", 0640);
    opens(&f);
    assert_true(f.exists);
    assert_int_equal(f.text.len, 3);
    assert_int_equal(settings_file_replace(&f, "new", 3, NULL), ERR_OK);
    snprintf(copy, sizeof copy, "%s/%s", folder, f.backup);
    settings_file_close(&f);
    holds(path, "new");
    holds(copy, "old");
    assert_int_equal(files(), 2);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    assert_int_equal(stat(copy, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

static void a_file_is_made(void **state)
{
    (void)state;
    struct settings_file f;
    struct stat st;
    opens(&f);
    assert_false(f.exists);
    assert_int_equal(settings_file_replace(&f, "new", 3, NULL), ERR_OK);
    assert_string_equal(f.backup, "");
    settings_file_close(&f);
    holds(path, "new");
    assert_int_equal(files(), 1);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(stat(folder, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
}

/* Somebody writes the file between our reading and our writing. */
static void a_change_in_between_is_noticed(void **state)
{
    (void)state;
    struct settings_file f;
    struct fault fault = {""};
    mkdir(folder, 0700);
    put(path, "old", 0600);
    opens(&f);
    put(path, "oLd", 0600);
    assert_int_equal(settings_file_replace(&f, "new", 3, &fault), ERR_STATE);
    assert_non_null(strstr(fault.text, "changed by somebody else"));
    assert_int_equal(settings_file_remove(&f, &fault), ERR_STATE);
    settings_file_close(&f);
    holds(path, "oLd");
    assert_int_equal(files(), 1);

    opens(&f);
    unlink(path);
    assert_int_equal(settings_file_replace(&f, "new", 3, &fault), ERR_STATE);
    settings_file_close(&f);
    assert_int_equal(files(), 0);

    opens(&f);
    put(path, "", 0600);
    assert_int_equal(settings_file_replace(&f, "new", 3, &fault), ERR_STATE);
    settings_file_close(&f);
    holds(path, "");
    assert_int_equal(files(), 1);
}

static void a_link_in_between_is_not_followed(void **state)
{
    (void)state;
    struct settings_file f;
    char other[SCRATCH_PATH_BYTES + 16];
    snprintf(other, sizeof other, "%s/other", scratch);
    mkdir(folder, 0700);
    put(path, "old", 0600);
    put(other, "old", 0600);
    opens(&f);
    unlink(path);
    assert_int_equal(symlink("../other", path), 0);
    assert_int_equal(settings_file_replace(&f, "new", 3, NULL), ERR_PATH);
    assert_int_equal(settings_file_remove(&f, NULL), ERR_PATH);
    settings_file_close(&f);
    holds(other, "old");
    assert_int_equal(files(), 1);
}

static void what_is_not_plainly_ours_is_refused(void **state)
{
    (void)state;
    put(folder, "x", 0600);
    opens_not("no directory");
    unlink(folder);
    mkdir(folder, 0770);
    opens_not("may be changed by others (mode 770)");
    chmod(folder, 0700);
    put(path, "{}", 0602);
    opens_not("may be changed by others (mode 602)");
    unlink(path);
    mkdir(path, 0700);
    opens_not("is no regular file");
    rmdir(path);
    assert_int_equal(symlink("/dev/null", path), 0);
    opens_not("is a symbolic link");
}

static void a_file_is_removed(void **state)
{
    (void)state;
    struct settings_file f;
    mkdir(folder, 0700);
    put(path, "old", 0600);
    opens(&f);
    assert_int_equal(settings_file_remove(&f, NULL), ERR_OK);
    settings_file_close(&f);
    assert_int_equal(files(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_file_is_replaced, setup, teardown),
        cmocka_unit_test_setup_teardown(a_file_is_made, setup, teardown),
        cmocka_unit_test_setup_teardown(a_change_in_between_is_noticed, setup, teardown),
        cmocka_unit_test_setup_teardown(a_link_in_between_is_not_followed, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_not_plainly_ours_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(a_file_is_removed, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
