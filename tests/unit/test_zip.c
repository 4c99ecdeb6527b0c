/* Zip files: the one layout opens, and each of its rules is broken in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "evidence/zip.h"
#include "evidence/zip_layout.h"
#include "tests/unit/zip_forge.h"

static void refused_bytes(const void *bytes, size_t len, enum err want, const char *why)
{
    struct zip *z = NULL;
    struct fault fault = {""};
    enum err e = forge_open(bytes, len, &z, &fault);
    if (e != want || (why != NULL && strstr(fault.text, why) == NULL))
        fail_msg("%s, \"%s\" instead of %s, \"%s\"", err_name(e), fault.text, err_name(want), why == NULL ? "" : why);
    assert_null(z);
}

static void refused(struct forged *f, enum err want, const char *why)
{
    refused_bytes(f->bytes.data, f->bytes.len, want, why);
    buf_wipe(&f->bytes);
}

static void a_good_zip_opens(void **state)
{
    struct forged f;
    struct zip *z = NULL;
    struct fault fault = {""};
    struct buf out;
    (void)state;
    forge_three(&f, NULL);
    assert_int_equal(forge_open(f.bytes.data, f.bytes.len, &z, &fault), ERR_OK);
    assert_int_equal(zip_count(z), 3);
    assert_string_equal(zip_at(z, 0)->name, "manifest.json");
    assert_string_equal(zip_at(z, 2)->name, "zzz");
    assert_null(zip_at(z, 3));
    assert_ptr_equal(zip_find(z, "runs/a-b_c.jsonl"), zip_at(z, 1));
    assert_null(zip_find(z, "runs/a-b_c.json"));
    assert_null(zip_find(z, ""));
    assert_int_equal(zip_at(z, 1)->method, 8);
    assert_int_equal(zip_at(z, 1)->bytes, strlen(forge_second));

    assert_int_equal(forge_read(z, "manifest.json", &out, &fault), ERR_OK);
    assert_int_equal(out.len, strlen(forge_first));
    assert_memory_equal(out.data, forge_first, out.len);
    buf_wipe(&out);
    assert_int_equal(forge_read(z, "runs/a-b_c.jsonl", &out, &fault), ERR_OK);
    assert_int_equal(out.len, strlen(forge_second));
    assert_memory_equal(out.data, forge_second, out.len);
    buf_wipe(&out);
    assert_int_equal(forge_read(z, "zzz", &out, &fault), ERR_OK);
    assert_int_equal(out.len, 0);
    buf_wipe(&out);
    assert_string_equal(fault.text, "");
    zip_close(z);
    zip_close(NULL);
    buf_wipe(&f.bytes);
}

static void an_empty_zip_opens(void **state)
{
    struct forged f;
    struct zip *z = NULL;
    (void)state;
    forge(&f, NULL, 0, NULL);
    assert_int_equal(f.bytes.len, 22);
    assert_int_equal(forge_open(f.bytes.data, f.bytes.len, &z, NULL), ERR_OK);
    assert_int_equal(zip_count(z), 0);
    assert_null(zip_find(z, "a"));
    zip_close(z);
    buf_wipe(&f.bytes);
}

static void bytes_where_none_may_be_are_refused(void **state)
{
    static const struct {
        struct forge_extra x;
        const char *why;
    } cases[] = {
        {{.prefix = "#!"}, "manifest.json: does not follow the entry before it"},
        {{.gap = "gap"}, "runs/a-b_c.jsonl: does not follow the entry before it"},
        {{.local_extra = "\1\2\0\0"}, "local header"},
        {{.central_extra = "extra"}, "an extra field or comment"},
        {{.central_comment = "comment"}, "an extra field or comment"},
        {{.before_directory = "gap"}, "bytes between the last entry and the central directory"},
        {{.before_end = "gap"}, "does not stand right before it"},
        {{.end_comment = "comment"}, "not a zip file, or bytes behind its end record"},
        {{.suffix = "more"}, "not a zip file, or bytes behind its end record"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct forged f;
        forge_three(&f, &cases[i].x);
        refused(&f, ERR_ZIP, cases[i].why);
    }
}

/* A comment that ends in an end record of its own: other readers look for the last or the first of the two. */
static void two_end_records_are_refused(void **state)
{
    struct forged inner, outer;
    (void)state;
    forge_three(&inner, NULL);
    forge_three(&outer, NULL);
    outer.bytes.data[outer.end + 20] = 22;
    buf_put(&outer.bytes, inner.bytes.data + inner.end, 22);
    buf_wipe(&inner.bytes);
    refused(&outer, ERR_ZIP, "does not stand right before it");
}

enum header { LOCAL, CENTRAL, END };

/* The second entry's header, or the end record, with one field changed. */
static void fields_that_break_a_rule_are_refused(void **state)
{
    static const struct {
        enum header header;
        unsigned at, width;
        uint32_t value;
        enum err want;
        const char *why;
    } cases[] = {
        {END, 0, 4, 0x06054b51, ERR_ZIP, "not a zip file"},
        {END, 4, 2, 1, ERR_ZIP, "more than one disk"},
        {END, 6, 2, 1, ERR_ZIP, "more than one disk"},
        {END, 8, 2, 2, ERR_ZIP, "more than one disk"},
        {END, 10, 2, 2, ERR_ZIP, "more than one disk"},
        {END, 12, 4, 0, ERR_ZIP, "does not stand right before it"},
        {END, 12, 4, UINT32_MAX, ERR_ZIP, "does not stand right before it"},
        {END, 16, 4, 0, ERR_ZIP, "does not stand right before it"},
        {END, 16, 4, UINT32_MAX, ERR_ZIP, "does not stand right before it"},
        {END, 20, 2, 1, ERR_ZIP, "a comment"},
        {CENTRAL, 0, 4, 0x02014b51, ERR_ZIP, "a bad entry"},
        {CENTRAL, 6, 2, 64, ERR_ZIP, "needs version 64"},
        {CENTRAL, 8, 2, 1, ERR_ZIP, "general-purpose flags 0x1"},       /* encrypted */
        {CENTRAL, 8, 2, 8, ERR_ZIP, "general-purpose flags 0x8"},       /* sizes behind the data */
        {CENTRAL, 8, 2, 0x800, ERR_ZIP, "general-purpose flags 0x800"}, /* names in UTF-8 */
        {CENTRAL, 10, 2, 12, ERR_ZIP, "compression method 12"},
        {CENTRAL, 10, 2, 0, ERR_ZIP, "stored, with two different sizes"},
        {CENTRAL, 16, 4, 7, ERR_ZIP, "local header"},
        {CENTRAL, 20, 4, 5, ERR_ZIP, "local header"},
        {CENTRAL, 20, 4, UINT32_MAX, ERR_ZIP, "zip64"},
        {CENTRAL, 24, 4, 5, ERR_ZIP, "local header"},
        {CENTRAL, 24, 4, UINT32_MAX, ERR_ZIP, "zip64"},
        {CENTRAL, 24, 4, ZIP_MAX_ENTRY_BYTES + 1, ERR_TOO_LARGE, "67108865 bytes, at most 67108864"},
        {CENTRAL, 28, 2, 15, ERR_ZIP, NULL},
        {CENTRAL, 28, 2, 17, ERR_ZIP, NULL},
        {CENTRAL, 28, 2, 0, ERR_ZIP, "bad entry name \"\""},
        {CENTRAL, 28, 2, 0xffff, ERR_ZIP, "a bad entry"},
        {CENTRAL, 30, 2, 1, ERR_ZIP, "an extra field or comment"},
        {CENTRAL, 32, 2, 1, ERR_ZIP, "an extra field or comment"},
        {CENTRAL, 38, 4, UINT32_C(0120777) << 16, ERR_ZIP, "a symbolic link"},
        {CENTRAL, 42, 4, 0, ERR_ZIP, "does not follow the entry before it"},
        {CENTRAL, 42, 4, UINT32_MAX, ERR_ZIP, "zip64"},
        {LOCAL, 0, 4, 0x04034b51, ERR_ZIP, "local header"},
        {LOCAL, 6, 2, 8, ERR_ZIP, "local header"},
        {LOCAL, 8, 2, 0, ERR_ZIP, "local header"},
        {LOCAL, 14, 4, 7, ERR_ZIP, "local header"},
        {LOCAL, 18, 4, 7, ERR_ZIP, "local header"},
        {LOCAL, 22, 4, 7, ERR_ZIP, "local header"},
        {LOCAL, 26, 2, 15, ERR_ZIP, "local header"},
        {LOCAL, 28, 2, 4, ERR_ZIP, "local header"},
        {LOCAL, 30, 1, 'R', ERR_ZIP, "local header"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct forged f;
        forge_three(&f, NULL);
        size_t at = cases[i].header == END ? f.end : cases[i].header == LOCAL ? f.local[1] : f.central[1];
        for (unsigned k = 0; k < cases[i].width; k++)
            f.bytes.data[at + cases[i].at + k] = (uint8_t)(cases[i].value >> (8 * k));
        refused(&f, cases[i].want, cases[i].why);
    }
}

static void names_are_strict(void **state)
{
    static const char *const good[] = {"a", "-", "_", "a.b", "a..", "a/b", "a/.b", "a/..b", "A-Z_0.9/x/y/z"};
    static const char *const bad[] = {
        ".",    "..",    ".a",  "/a",   "a/",    "a//b",     "a/.", "a/..", "a/../b", "a/.../b", "../a",
        "a\\b", "C:\\a", "a b", "a\nb", "a\x7f", "\xc3\xa9", "a:b", "a*",   "\xff",   "a/./b",   "/",
    };
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct forged f;
        struct zip *z = NULL;
        const struct forge_item item = forge_stored(good[i], "x", 1);
        forge(&f, &item, 1, NULL);
        assert_int_equal(forge_open(f.bytes.data, f.bytes.len, &z, NULL), ERR_OK);
        assert_non_null(zip_find(z, good[i]));
        zip_close(z);
        buf_wipe(&f.bytes);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct forged f;
        const struct forge_item item = forge_stored(bad[i], "x", 1);
        forge(&f, &item, 1, NULL);
        refused(&f, ERR_ZIP, "bad entry name \"");
    }
    struct forge_item nul = forge_stored("a", "x", 1);
    struct forged f;
    nul.name = "a\0b";
    nul.name_len = 3;
    forge(&f, &nul, 1, NULL);
    refused(&f, ERR_ZIP, "bad entry name \"a");
}

static void long_names_are_refused(void **state)
{
    char name[300];
    (void)state;
    memset(name, 'n', sizeof name);
    for (size_t len = 255; len <= 257; len++) {
        struct forge_item items[] = {forge_stored("a", "x", 1), forge_stored("b", "x", 1)};
        struct forged f;
        struct zip *z = NULL;
        items[0].name = name;
        items[0].name_len = len;
        forge(&f, items, 2, NULL);
        if (len <= 255) {
            assert_int_equal(forge_open(f.bytes.data, f.bytes.len, &z, NULL), ERR_OK);
            assert_int_equal(strlen(zip_at(z, 0)->name), len);
            zip_close(z);
            buf_wipe(&f.bytes);
        } else {
            refused(&f, ERR_ZIP, "bad entry name \"nnn");
        }
    }
}

static void a_name_twice_is_refused(void **state)
{
    const struct forge_item items[] = {
        forge_stored("b", "1", 1),
        forge_stored("a", "2", 1),
        forge_stored("c", "3", 1),
        forge_stored("a", "2", 1),
    };
    struct forged f;
    (void)state;
    forge(&f, items, 4, NULL);
    refused(&f, ERR_ZIP, "a: twice in the zip file");
}

/* Entries that share one local header: contiguity forbids what overlaps. */
static void overlapping_entries_are_refused(void **state)
{
    struct forged f;
    (void)state;
    forge_three(&f, NULL);
    memcpy(f.bytes.data + f.central[1] + 42, f.bytes.data + f.central[0] + 42, 4);
    refused(&f, ERR_ZIP, "does not follow the entry before it");
}

static void declared_sizes_are_limited_at_open(void **state)
{
    struct forge_item items[9];
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
    (void)state;
    for (size_t n = 8; n <= 9; n++) {
        struct forged f;
        struct zip *z = NULL;
        for (size_t i = 0; i < n; i++) {
            items[i] = forge_stored(names[i], "", 0);
            items[i].method = 8;
            items[i].bytes = ZIP_MAX_ENTRY_BYTES;
        }
        forge(&f, items, n, NULL);
        if (n == 8) {
            assert_int_equal(forge_open(f.bytes.data, f.bytes.len, &z, NULL), ERR_OK);
            zip_close(z);
            buf_wipe(&f.bytes);
        } else {
            refused(&f, ERR_TOO_LARGE, "i: the entries are over 536870912 bytes together");
        }
    }
}

static void too_many_entries_are_refused(void **state)
{
    struct forged f;
    (void)state;
    forge_three(&f, NULL);
    f.bytes.data[f.end + 8] = f.bytes.data[f.end + 10] = 0x11; /* 10001 */
    f.bytes.data[f.end + 9] = f.bytes.data[f.end + 11] = 0x27;
    refused(&f, ERR_TOO_LARGE, "10001 entries, at most 10000");
    forge_three(&f, NULL);
    f.bytes.data[f.end + 8] = f.bytes.data[f.end + 10] = 4;
    refused(&f, ERR_ZIP, "4 entries do not fit a central directory of");
    forge_three(&f, NULL);
    f.bytes.data[f.end + 8] = f.bytes.data[f.end + 10] = 2;
    refused(&f, ERR_ZIP, "more bytes than its 2 entries");
    forge_three(&f, NULL);
    f.bytes.data[f.end + 8] = f.bytes.data[f.end + 10] = 0;
    refused(&f, ERR_ZIP, "0 entries do not fit a central directory of");
}

/* More entries than there are, which a directory with long names has room for. */
static void a_directory_that_ends_early_is_refused(void **state)
{
    char name[121];
    struct forged f;
    (void)state;
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    const struct forge_item items[] = {forge_stored("m", "x", 1), forge_stored(name, "x", 1)};
    forge(&f, items, 2, NULL);
    f.bytes.data[f.end + 8] = f.bytes.data[f.end + 10] = 3;
    refused(&f, ERR_ZIP, "the central directory is cut off");
}

static void every_truncation_is_refused(void **state)
{
    struct forged f;
    (void)state;
    forge_three(&f, NULL);
    for (size_t len = 0; len < f.bytes.len; len++)
        refused_bytes(f.bytes.data, len, ERR_ZIP, NULL);
    for (size_t cut = 1; cut < f.bytes.len; cut++)
        refused_bytes(f.bytes.data + cut, f.bytes.len - cut, ERR_ZIP, NULL);
    buf_wipe(&f.bytes);
}

/* Whatever byte is changed: the zip is refused, or each entry is refused, or it reads as it was. */
static void a_changed_byte_never_changes_an_entry(void **state)
{
    static const struct {
        const char *name, *data;
    } entries[] = {{"manifest.json", forge_first}, {"runs/a-b_c.jsonl", forge_second}, {"zzz", ""}};
    struct forged f;
    (void)state;
    forge_three(&f, NULL);
    for (size_t i = 0; i < f.bytes.len; i++)
        for (unsigned change = 1; change < 256; change = change * 2 + 1) {
            struct zip *z = NULL;
            f.bytes.data[i] ^= (uint8_t)change;
            enum err e = forge_open(f.bytes.data, f.bytes.len, &z, NULL);
            f.bytes.data[i] ^= (uint8_t)change;
            for (size_t k = 0; e == ERR_OK && k < 3; k++) {
                struct buf out;
                enum err read = forge_read(z, entries[k].name, &out, NULL);
                assert_true(read == ERR_ZIP || read == ERR_OK);
                if (read == ERR_OK && out.len > 0)
                    assert_memory_equal(out.data, entries[k].data, out.len);
                assert_true(read != ERR_OK || out.len == strlen(entries[k].data));
                buf_wipe(&out);
            }
            if (e != ERR_OK)
                assert_true(e == ERR_ZIP || e == ERR_TOO_LARGE);
            zip_close(z);
        }
    buf_wipe(&f.bytes);
}

static void what_is_no_regular_file_is_refused(void **state)
{
    char path[FORGE_PATH_BYTES] = "/tmp/tracekit-zip-XXXXXX";
    struct zip *z = NULL;
    struct fault fault = {""};
    (void)state;
    assert_int_equal(zip_open("/tmp", &z, &fault), ERR_ZIP);
    assert_string_equal(fault.text, "not a regular file");
    assert_non_null(mkdtemp(path));
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(zip_open(path, &z, &fault), ERR_IO);
    assert_non_null(strstr(fault.text, "cannot open: "));
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(zip_open(path, &z, &fault), ERR_ZIP); /* and does not wait for a writer */
    assert_string_equal(fault.text, "not a regular file");
    unlink(path);
    assert_null(z);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_zip_opens),
        cmocka_unit_test(an_empty_zip_opens),
        cmocka_unit_test(bytes_where_none_may_be_are_refused),
        cmocka_unit_test(two_end_records_are_refused),
        cmocka_unit_test(fields_that_break_a_rule_are_refused),
        cmocka_unit_test(names_are_strict),
        cmocka_unit_test(long_names_are_refused),
        cmocka_unit_test(a_name_twice_is_refused),
        cmocka_unit_test(overlapping_entries_are_refused),
        cmocka_unit_test(declared_sizes_are_limited_at_open),
        cmocka_unit_test(too_many_entries_are_refused),
        cmocka_unit_test(a_directory_that_ends_early_is_refused),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(a_changed_byte_never_changes_an_entry),
        cmocka_unit_test(what_is_no_regular_file_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
