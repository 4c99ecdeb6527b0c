/* Zip files: what is written is read back, and each rule of the one layout is broken in turn. */
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

enum { PATH_BYTES = 32, PIECE_BYTES = 64 << 10 };

/* Writes a file of these bytes and opens it as a zip. */
static enum err open_bytes(const void *bytes, size_t len, struct zip **z, struct fault *fault)
{
    char path[PATH_BYTES] = "/tmp/tracekit-zip-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, len), len);
    close(fd);
    enum err e = zip_open(path, z, fault);
    unlink(path);
    return e;
}

static void refused_bytes(const void *bytes, size_t len, enum err want, const char *why)
{
    struct zip *z = NULL;
    struct fault fault = {""};
    enum err e = open_bytes(bytes, len, &z, &fault);
    if (e != want || (why != NULL && strstr(fault.text, why) == NULL))
        fail_msg("%s, \"%s\" instead of %s, \"%s\"", err_name(e), fault.text, err_name(want), why == NULL ? "" : why);
    assert_null(z);
}

static void refused(struct forged *f, enum err want, const char *why)
{
    refused_bytes(f->bytes.data, f->bytes.len, want, why);
    buf_wipe(&f->bytes);
}

/* The whole entry as one buffer. */
static enum err read_entry(const struct zip *z, const char *name, struct buf *out, struct fault *fault)
{
    const struct zip_entry *e = zip_find(z, name);
    assert_non_null(e);
    buf_init(out, ZIP_MAX_ENTRY_BYTES);
    return zip_read(z, e, out, fault);
}

/* Opens a forged zip that must be good, and says how reading `name` goes. */
static enum err read_forged(struct forged *f, const char *name, struct buf *out, struct fault *fault)
{
    struct zip *z = NULL;
    assert_int_equal(open_bytes(f->bytes.data, f->bytes.len, &z, fault), ERR_OK);
    enum err e = read_entry(z, name, out, fault);
    zip_close(z);
    buf_wipe(&f->bytes);
    return e;
}

/* Three entries: stored, deflated, empty. */
static const char first[] = "the first entry", second[] = "second second second second second second";

static void forge_three(struct forged *f, const struct forge_extra *x)
{
    struct buf packed;
    const struct forge_item items[] = {
        forge_stored("manifest.json", first, strlen(first)),
        forge_deflated("runs/a-b_c.jsonl", second, strlen(second), &packed),
        forge_stored("zzz", "", 0),
    };
    forge(f, items, 3, x);
    buf_wipe(&packed);
}

static void a_good_zip_opens(void **state)
{
    struct forged f;
    struct zip *z = NULL;
    struct fault fault = {""};
    struct buf out;
    (void)state;
    forge_three(&f, NULL);
    assert_int_equal(open_bytes(f.bytes.data, f.bytes.len, &z, &fault), ERR_OK);
    assert_int_equal(zip_count(z), 3);
    assert_string_equal(zip_at(z, 0)->name, "manifest.json");
    assert_string_equal(zip_at(z, 2)->name, "zzz");
    assert_null(zip_at(z, 3));
    assert_ptr_equal(zip_find(z, "runs/a-b_c.jsonl"), zip_at(z, 1));
    assert_null(zip_find(z, "runs/a-b_c.json"));
    assert_null(zip_find(z, ""));
    assert_int_equal(zip_at(z, 1)->method, 8);
    assert_int_equal(zip_at(z, 1)->bytes, strlen(second));

    assert_int_equal(read_entry(z, "manifest.json", &out, &fault), ERR_OK);
    assert_int_equal(out.len, strlen(first));
    assert_memory_equal(out.data, first, out.len);
    buf_wipe(&out);
    assert_int_equal(read_entry(z, "runs/a-b_c.jsonl", &out, &fault), ERR_OK);
    assert_int_equal(out.len, strlen(second));
    assert_memory_equal(out.data, second, out.len);
    buf_wipe(&out);
    assert_int_equal(read_entry(z, "zzz", &out, &fault), ERR_OK);
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
    assert_int_equal(open_bytes(f.bytes.data, f.bytes.len, &z, NULL), ERR_OK);
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
        assert_int_equal(open_bytes(f.bytes.data, f.bytes.len, &z, NULL), ERR_OK);
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
            assert_int_equal(open_bytes(f.bytes.data, f.bytes.len, &z, NULL), ERR_OK);
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
            assert_int_equal(open_bytes(f.bytes.data, f.bytes.len, &z, NULL), ERR_OK);
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
    } entries[] = {{"manifest.json", first}, {"runs/a-b_c.jsonl", second}, {"zzz", ""}};
    struct forged f;
    (void)state;
    forge_three(&f, NULL);
    for (size_t i = 0; i < f.bytes.len; i++)
        for (unsigned change = 1; change < 256; change = change * 2 + 1) {
            struct zip *z = NULL;
            f.bytes.data[i] ^= (uint8_t)change;
            enum err e = open_bytes(f.bytes.data, f.bytes.len, &z, NULL);
            f.bytes.data[i] ^= (uint8_t)change;
            for (size_t k = 0; e == ERR_OK && k < 3; k++) {
                struct buf out;
                enum err read = read_entry(z, entries[k].name, &out, NULL);
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
    char path[PATH_BYTES] = "/tmp/tracekit-zip-XXXXXX";
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

/* A bomb: the header says 10 bytes, the data inflates to 64 MiB. Not one byte over 10 is delivered. */
static enum err count_bytes(void *ctx, const uint8_t *bytes, size_t len)
{
    size_t *count = ctx;
    assert_non_null(bytes);
    assert_in_range(len, 1, PIECE_BYTES);
    *count += len;
    return ERR_OK;
}

static void a_bomb_is_refused_at_once(void **state)
{
    enum { BOMB_BYTES = 64 << 20 };
    static const uint32_t says[] = {0, 10, PIECE_BYTES, PIECE_BYTES + 1, BOMB_BYTES - 1};
    uint8_t *zeroes = calloc(1, BOMB_BYTES);
    struct buf packed;
    (void)state;
    assert_non_null(zeroes);
    struct forge_item item = forge_deflated("bomb", zeroes, BOMB_BYTES, &packed);
    for (size_t i = 0; i < sizeof says / sizeof says[0]; i++) {
        struct forged f;
        struct zip *z = NULL;
        struct fault fault = {""};
        size_t count = 0;
        item.bytes = says[i];
        forge(&f, &item, 1, NULL);
        assert_int_equal(open_bytes(f.bytes.data, f.bytes.len, &z, NULL), ERR_OK);
        assert_int_equal(zip_stream(z, zip_at(z, 0), count_bytes, &count, &fault), ERR_ZIP);
        assert_string_equal(fault.text, "bomb: holds more bytes than its header says");
        assert_true(count <= says[i]);
        zip_close(z);
        buf_wipe(&f.bytes);
    }
    buf_wipe(&packed);
    free(zeroes);
}

static void entries_that_do_not_hold_what_they_say_are_refused(void **state)
{
    static const struct {
        int bytes, packed; /* added to the true sizes */
        uint32_t crc;
        const char *why; /* NULL: it reads */
    } cases[] = {
        {0, 0, 0, NULL},
        {1, 0, 0, "x: holds fewer bytes than its header says"},
        {-1, 0, 0, "x: holds more bytes than its header says"},
        {0, -1, 0, "x: its deflated data is cut off"},
        {0, 1, 0, "x: bytes behind its deflated data"},
        {0, 0, 1, "x: its CRC does not match"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct forged f;
        struct buf packed, out;
        struct fault fault = {""};
        struct forge_item item = forge_deflated("x", second, strlen(second), &packed);
        buf_putc(&packed, 0);
        item.packed = packed.data;
        item.bytes = (uint32_t)((int)item.bytes + cases[i].bytes);
        item.packed_bytes = (uint32_t)((int)item.packed_bytes + cases[i].packed);
        item.crc ^= cases[i].crc;
        forge(&f, &item, 1, NULL);
        assert_int_equal(read_forged(&f, "x", &out, &fault), cases[i].why == NULL ? ERR_OK : ERR_ZIP);
        assert_string_equal(fault.text, cases[i].why == NULL ? "" : cases[i].why);
        buf_wipe(&out);
        buf_wipe(&packed);
    }
}

static void broken_deflate_is_refused(void **state)
{
    static const char *const packed[] = {"\x07", "\xff\xff\xff\xff", "\x01\x05\x00\x00\x00hello", ""};
    (void)state;
    for (size_t i = 0; i < sizeof packed / sizeof packed[0]; i++) {
        struct forged f;
        struct buf out;
        struct fault fault = {""};
        size_t len = i == 2 ? 10 : strlen(packed[i]);
        struct forge_item item = forge_stored("x", packed[i], len);
        item.method = 8;
        forge(&f, &item, 1, NULL);
        assert_int_equal(read_forged(&f, "x", &out, &fault), ERR_ZIP);
        assert_non_null(strstr(fault.text, "x: its deflated data is "));
        buf_wipe(&out);
    }
}

static void a_stored_entry_has_a_crc_too(void **state)
{
    struct forged f;
    struct buf out;
    struct fault fault = {""};
    struct forge_item item = forge_stored("x", first, strlen(first));
    (void)state;
    item.crc ^= 1;
    forge(&f, &item, 1, NULL);
    assert_int_equal(read_forged(&f, "x", &out, &fault), ERR_ZIP);
    assert_string_equal(fault.text, "x: its CRC does not match");
    buf_wipe(&out);
}

static enum err stop_at_once(void *ctx, const uint8_t *bytes, size_t len)
{
    size_t *calls = ctx;
    (void)bytes;
    (void)len;
    ++*calls;
    return ERR_CHAIN;
}

static void the_reader_may_stop(void **state)
{
    struct forged f;
    struct zip *z = NULL;
    size_t calls = 0;
    struct buf small;
    struct fault fault = {""};
    (void)state;
    forge_three(&f, NULL);
    assert_int_equal(open_bytes(f.bytes.data, f.bytes.len, &z, NULL), ERR_OK);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(zip_stream(z, zip_at(z, i), stop_at_once, &calls, NULL), ERR_CHAIN);
    assert_int_equal(calls, 2);
    assert_int_equal(zip_stream(z, zip_at(z, 2), stop_at_once, &calls, NULL), ERR_OK); /* empty: no piece */
    assert_int_equal(calls, 2);

    buf_init(&small, strlen(first) - 1);
    assert_int_equal(zip_read(z, zip_at(z, 0), &small, &fault), ERR_TOO_LARGE);
    assert_string_equal(fault.text, "manifest.json: 15 bytes, at most 14 are allowed");
    assert_int_equal(small.len, 0);
    zip_close(z);
    buf_wipe(&f.bytes);
}

/* A file that shrinks between opening and reading. */
static void a_file_cut_while_open_is_refused(void **state)
{
    char path[PATH_BYTES] = "/tmp/tracekit-zip-XXXXXX";
    struct forged f;
    struct zip *z = NULL;
    struct buf out;
    struct fault fault = {""};
    (void)state;
    forge_three(&f, NULL);
    int fd = mkstemp(path);
    assert_int_equal(write(fd, f.bytes.data, f.bytes.len), f.bytes.len);
    assert_int_equal(zip_open(path, &z, NULL), ERR_OK);
    assert_int_equal(ftruncate(fd, (off_t)f.local[1]), 0);
    assert_int_equal(read_entry(z, "manifest.json", &out, &fault), ERR_OK);
    buf_wipe(&out);
    assert_int_equal(read_entry(z, "runs/a-b_c.jsonl", &out, &fault), ERR_ZIP);
    assert_non_null(strstr(fault.text, "cut off at byte "));
    buf_wipe(&out);
    zip_close(z);
    close(fd);
    unlink(path);
    buf_wipe(&f.bytes);
}

/* Contents of every kind and of sizes around the pieces, from a seed. */
static void fill(uint8_t *data, size_t len, unsigned kind, uint32_t seed)
{
    for (size_t i = 0; i < len; i++) {
        seed = seed * UINT32_C(1664525) + UINT32_C(1013904223);
        data[i] = kind == 0 ? 0 : kind == 1 ? (uint8_t)("record\n"[i % 7]) : (uint8_t)(seed >> 24);
    }
}

static const size_t sizes[] = {0, 1, 2, 100, PIECE_BYTES - 1, PIECE_BYTES, PIECE_BYTES + 1, 3 * PIECE_BYTES, 1 << 20};
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
    char path[PATH_BYTES] = "/tmp/tracekit-zip-XXXXXX";
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
        assert_int_equal(read_entry(z, e->name, &read, &fault), ERR_OK);
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
    char path[PATH_BYTES] = "/tmp/tracekit-zip-XXXXXX", name[16];
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
    assert_int_equal(zip_writer_write(w, first, strlen(first)), ERR_OK);
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
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(a_changed_byte_never_changes_an_entry),
        cmocka_unit_test(what_is_no_regular_file_is_refused),
        cmocka_unit_test(a_bomb_is_refused_at_once),
        cmocka_unit_test(entries_that_do_not_hold_what_they_say_are_refused),
        cmocka_unit_test(broken_deflate_is_refused),
        cmocka_unit_test(a_stored_entry_has_a_crc_too),
        cmocka_unit_test(the_reader_may_stop),
        cmocka_unit_test(a_file_cut_while_open_is_refused),
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(equal_contents_make_equal_files),
        cmocka_unit_test(the_writer_refuses_bad_names_and_goes_on),
        cmocka_unit_test(the_writer_refuses_a_name_twice),
        cmocka_unit_test(the_writer_keeps_the_limit_of_an_entry),
        cmocka_unit_test(the_writer_keeps_the_limit_of_all_entries),
        cmocka_unit_test(the_most_entries_are_written_and_read),
        cmocka_unit_test(failing_writes_are_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
