/* Writing zip files: what is written is read back, limits hold, and a failing disk is seen. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* fopencookie */
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/zip_forge.h"

/* Contents of every kind and of sizes around the pieces, from a seed. */
static void fill(uint8_t *data, size_t len, unsigned kind, uint32_t seed)
{
    for (size_t i = 0; i < len; i++) {
        seed = seed * UINT32_C(1664525) + UINT32_C(1013904223);
        data[i] = kind == 0 ? 0 : kind == 1 ? (uint8_t)("record\n"[i % 7]) : (uint8_t)(seed >> 24);
    }
}

static const size_t sizes[] = {
    0, 1, 2, 100, FORGE_PIECE_BYTES - 1, FORGE_PIECE_BYTES, FORGE_PIECE_BYTES + 1, 3 * FORGE_PIECE_BYTES, 1 << 20};
enum { SIZES = sizeof sizes / sizeof sizes[0], KINDS = 3 };

static void write_all(FILE *out, uint8_t *data)
{
    struct zip_writer *w = NULL;
    assert_int_equal(zip_writer_new(out, &w), ERR_OK);
    for (unsigned i = 0; i < SIZES * KINDS; i++) {
        char name[32];
        size_t len = sizes[i % SIZES], step = i % 2 == 0 ? len + 1 : 4097;
        snprintf(name, sizeof name, "dir%u/entry-%u.x", i % 4, i);
        fill(data, len, i / SIZES, i);
        assert_int_equal(zip_writer_begin(w, name), ERR_OK);
        for (size_t at = 0; at < len; at += step)
            assert_int_equal(zip_writer_write(w, data + at, len - at < step ? len - at : step), ERR_OK);
        assert_int_equal(zip_writer_write(w, data, 0), ERR_OK);
        assert_int_equal(zip_writer_end(w), ERR_OK);
    }
    assert_int_equal(zip_writer_finish(w), ERR_OK);
    zip_writer_free(w);
    zip_writer_free(NULL);
}

static void what_is_written_is_read_back(void **state)
{
    char path[FORGE_PATH_BYTES] = "/tmp/tracekit-zip-XXXXXX";
    struct zip *z = NULL;
    struct fault fault = {""};
    uint8_t *data = malloc(1 << 20);
    (void)state;
    assert_non_null(data);
    FILE *out = fdopen(mkstemp(path), "w+b");
    assert_non_null(out);
    write_all(out, data);
    assert_int_equal(zip_open(path, &z, &fault), ERR_OK);
    assert_int_equal(zip_count(z), SIZES * KINDS);
    for (unsigned i = 0; i < SIZES * KINDS; i++) {
        struct buf read;
        size_t len = sizes[i % SIZES];
        const struct zip_entry *e = zip_at(z, i);
        assert_int_equal(e->bytes, len);
        assert_int_equal(e->method, len == 0 ? 0 : 8);
        assert_int_equal(forge_read(z, e->name, &read, &fault), ERR_OK);
        fill(data, len, i / SIZES, i);
        assert_int_equal(read.len, len);
        if (len > 0)
            assert_memory_equal(read.data, data, len);
        buf_wipe(&read);
    }
    zip_close(z);
    fclose(out);
    unlink(path);
    free(data);
}

static void equal_contents_make_equal_files(void **state)
{
    FILE *a = tmpfile(), *b = tmpfile();
    uint8_t *data = malloc(1 << 20);
    int byte;
    (void)state;
    assert_true(a != NULL && b != NULL && data != NULL);
    write_all(a, data);
    write_all(b, data);
    rewind(a);
    rewind(b);
    while ((byte = getc(a)) != EOF)
        assert_int_equal(byte, getc(b));
    assert_int_equal(getc(b), EOF);
    fclose(a);
    fclose(b);
    free(data);
}

static void the_writer_refuses_bad_names_and_goes_on(void **state)
{
    FILE *out = tmpfile();
    struct zip_writer *w = NULL;
    (void)state;
    assert_non_null(out);
    assert_int_equal(zip_writer_new(out, &w), ERR_OK);
    assert_int_equal(zip_writer_begin(w, "../etc/passwd"), ERR_ZIP);
    assert_int_equal(zip_writer_begin(w, ""), ERR_ZIP);
    assert_int_equal(zip_writer_begin(w, "a"), ERR_OK);
    assert_int_equal(zip_writer_end(w), ERR_OK);
    assert_int_equal(zip_writer_finish(w), ERR_OK);
    zip_writer_free(w);
    fclose(out);
}

static void the_writer_refuses_a_name_twice(void **state)
{
    static const char *const names[] = {"b", "a", "c", "a"};
    FILE *out = tmpfile();
    struct zip_writer *w = NULL;
    (void)state;
    assert_non_null(out);
    assert_int_equal(zip_writer_new(out, &w), ERR_OK);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(zip_writer_begin(w, names[i]), ERR_OK);
        assert_int_equal(zip_writer_end(w), ERR_OK);
    }
    assert_int_equal(zip_writer_finish(w), ERR_ZIP);
    zip_writer_free(w);
    fclose(out);
}

static void the_writer_keeps_the_limit_of_an_entry(void **state)
{
    FILE *out = tmpfile();
    struct zip_writer *w = NULL;
    static const uint8_t byte[1];
    (void)state;
    assert_non_null(out);
    assert_int_equal(zip_writer_new(out, &w), ERR_OK);
    assert_int_equal(zip_writer_begin(w, "a"), ERR_OK);
    assert_int_equal(zip_writer_write(w, byte, 1), ERR_OK);
    assert_int_equal(zip_writer_write(w, byte, ZIP_MAX_ENTRY_BYTES), ERR_TOO_LARGE); /* not a byte of it is read */
    assert_int_equal(zip_writer_write(w, byte, 1), ERR_TOO_LARGE);
    assert_int_equal(zip_writer_end(w), ERR_TOO_LARGE);
    assert_int_equal(zip_writer_begin(w, "b"), ERR_TOO_LARGE);
    assert_int_equal(zip_writer_finish(w), ERR_TOO_LARGE);
    zip_writer_free(w);
    fclose(out);
}

static void the_writer_keeps_the_limit_of_all_entries(void **state)
{
    FILE *out = tmpfile();
    struct zip_writer *w = NULL;
    uint8_t *zeroes = calloc(1, ZIP_MAX_ENTRY_BYTES);
    (void)state;
    assert_true(out != NULL && zeroes != NULL);
    assert_int_equal(zip_writer_new(out, &w), ERR_OK);
    for (char name[2] = "a"; name[0] < 'i'; name[0]++) {
        assert_int_equal(zip_writer_begin(w, name), ERR_OK);
        assert_int_equal(zip_writer_write(w, zeroes, ZIP_MAX_ENTRY_BYTES), ERR_OK);
        assert_int_equal(zip_writer_end(w), ERR_OK);
    }
    assert_int_equal(zip_writer_begin(w, "i"), ERR_OK);
    assert_int_equal(zip_writer_write(w, zeroes, 1), ERR_TOO_LARGE);
    zip_writer_free(w);
    fclose(out);
    free(zeroes);
}

static void the_most_entries_are_written_and_read(void **state)
{
    char path[FORGE_PATH_BYTES] = "/tmp/tracekit-zip-XXXXXX", name[16];
    struct zip_writer *w = NULL;
    struct zip *z = NULL;
    (void)state;
    FILE *out = fdopen(mkstemp(path), "w+b");
    assert_non_null(out);
    assert_int_equal(zip_writer_new(out, &w), ERR_OK);
    for (unsigned i = 0; i < ZIP_MAX_ENTRIES; i++) {
        snprintf(name, sizeof name, "%u", i * 7919 % ZIP_MAX_ENTRIES);
        assert_int_equal(zip_writer_begin(w, name), ERR_OK);
        assert_int_equal(zip_writer_end(w), ERR_OK);
    }
    assert_int_equal(zip_writer_finish(w), ERR_OK);
    assert_int_equal(zip_open(path, &z, NULL), ERR_OK);
    assert_int_equal(zip_count(z), ZIP_MAX_ENTRIES);
    for (unsigned i = 0; i < ZIP_MAX_ENTRIES; i++) {
        snprintf(name, sizeof name, "%u", i);
        assert_non_null(zip_find(z, name));
    }
    zip_close(z);
    assert_int_equal(zip_writer_begin(w, "one-more"), ERR_TOO_LARGE);
    zip_writer_free(w);
    fclose(out);
    unlink(path);
}

static void failing_writes_are_seen(void **state)
{
    struct zip_writer *w = NULL;
    (void)state;
    FILE *full = fopen("/dev/full", "wb");
    assert_non_null(full);
    assert_int_equal(zip_writer_new(full, &w), ERR_OK);
    assert_int_equal(zip_writer_begin(w, "a"), ERR_OK); /* still in the stream's buffer */
    assert_int_equal(zip_writer_write(w, forge_first, strlen(forge_first)), ERR_OK);
    assert_int_equal(zip_writer_end(w), ERR_IO);
    assert_int_equal(zip_writer_finish(w), ERR_IO);
    zip_writer_free(w);
    fclose(full);

    full = fopen("/dev/full", "wb");
    assert_non_null(full);
    assert_int_equal(zip_writer_new(full, &w), ERR_OK);
    assert_int_equal(zip_writer_finish(w), ERR_IO); /* only the end record */
    zip_writer_free(w);
    fclose(full);

    int ends[2];
    assert_int_equal(pipe(ends), 0);
    FILE *no_seek = fdopen(ends[1], "wb");
    assert_non_null(no_seek);
    assert_int_equal(zip_writer_new(no_seek, &w), ERR_OK);
    assert_int_equal(zip_writer_begin(w, "a"), ERR_OK);
    assert_int_equal(zip_writer_end(w), ERR_IO);
    zip_writer_free(w);
    fclose(no_seek);
    close(ends[0]);
}

/* A disk of which operation number `fail_at` fails, once; all others work. */
struct disk {
    FILE *file;
    unsigned operations, fail_at;
};

static bool fails(struct disk *d)
{
    d->operations++;
    if (d->operations != d->fail_at)
        return false;
    errno = EIO;
    return true;
}

static ssize_t disk_write(void *cookie, const char *bytes, size_t len)
{
    struct disk *d = cookie;
    return fails(d) ? 0 : (ssize_t)fwrite(bytes, 1, len, d->file);
}

static int disk_seek(void *cookie, off64_t *offset, int whence)
{
    struct disk *d = cookie;
    if (fails(d) || fseeko(d->file, *offset, whence) != 0)
        return -1;
    *offset = ftello(d->file);
    return 0;
}

/* One entry that overflows every buffer, and an empty one. */
static enum err write_two(FILE *out, const uint8_t *data, size_t len)
{
    struct zip_writer *w = NULL;
    assert_int_equal(zip_writer_new(out, &w), ERR_OK);
    enum err e = zip_writer_begin(w, "large");
    if (e == ERR_OK)
        e = zip_writer_write(w, data, len);
    if (e == ERR_OK)
        e = zip_writer_end(w);
    if (e == ERR_OK)
        e = zip_writer_begin(w, "empty");
    if (e == ERR_OK)
        e = zip_writer_end(w);
    enum err last = zip_writer_finish(w);
    assert_int_equal(last, e == ERR_OK ? last : e); /* the first failure stays */
    zip_writer_free(w);
    return last;
}

/* Whichever operation fails, even when all later ones work: the writer says so. */
static void no_failed_operation_is_missed(void **state)
{
    static uint8_t data[200 << 10];
    struct disk disk = {.operations = 0};
    bool all_worked = false;
    (void)state;
    fill(data, sizeof data, 2, 7);
    while (!all_worked) {
        const cookie_io_functions_t functions = {.write = disk_write, .seek = disk_seek};
        disk = (struct disk){.file = tmpfile(), .fail_at = disk.fail_at + 1};
        FILE *out = fopencookie(&disk, "w", functions);
        assert_true(disk.file != NULL && out != NULL);
        enum err e = write_two(out, data, sizeof data);
        all_worked = disk.operations < disk.fail_at;
        assert_int_equal(e, all_worked ? ERR_OK : ERR_IO);
        fclose(out);
        fclose(disk.file);
    }
    assert_true(disk.fail_at > 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(equal_contents_make_equal_files),
        cmocka_unit_test(the_writer_refuses_bad_names_and_goes_on),
        cmocka_unit_test(the_writer_refuses_a_name_twice),
        cmocka_unit_test(the_writer_keeps_the_limit_of_an_entry),
        cmocka_unit_test(the_writer_keeps_the_limit_of_all_entries),
        cmocka_unit_test(the_most_entries_are_written_and_read),
        cmocka_unit_test(failing_writes_are_seen),
        cmocka_unit_test(no_failed_operation_is_missed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
