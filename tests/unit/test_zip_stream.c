/* Reading the entries of a zip file: bombs, broken data, and readers that stop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/zip_forge.h"

/* Opens a forged zip that must be good, and says how reading `name` goes. */
static enum err read_forged(struct forged *f, const char *name, struct buf *out, struct fault *fault)
{
    struct zip *z = NULL;
    assert_int_equal(forge_open(f->bytes.data, f->bytes.len, &z, fault), ERR_OK);
    enum err e = forge_read(z, name, out, fault);
    zip_close(z);
    buf_wipe(&f->bytes);
    return e;
}

/* A bomb: the header says 10 bytes, the data inflates to 64 MiB. Not one byte over 10 is delivered. */
static enum err count_bytes(void *ctx, const uint8_t *bytes, size_t len)
{
    size_t *count = ctx;
    assert_non_null(bytes);
    assert_in_range(len, 1, FORGE_PIECE_BYTES);
    *count += len;
    return ERR_OK;
}

static void a_bomb_is_refused_at_once(void **state)
{
    enum { BOMB_BYTES = 64 << 20 };
    static const uint32_t says[] = {0, 10, FORGE_PIECE_BYTES, FORGE_PIECE_BYTES + 1, BOMB_BYTES - 1};
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
        assert_int_equal(forge_open(f.bytes.data, f.bytes.len, &z, NULL), ERR_OK);
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
        struct forge_item item = forge_deflated("x", forge_second, strlen(forge_second), &packed);
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
    struct forge_item item = forge_stored("x", forge_first, strlen(forge_first));
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
    assert_int_equal(forge_open(f.bytes.data, f.bytes.len, &z, NULL), ERR_OK);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(zip_stream(z, zip_at(z, i), stop_at_once, &calls, NULL), ERR_CHAIN);
    assert_int_equal(calls, 2);
    assert_int_equal(zip_stream(z, zip_at(z, 2), stop_at_once, &calls, NULL), ERR_OK); /* empty: no piece */
    assert_int_equal(calls, 2);

    buf_init(&small, strlen(forge_first) - 1);
    assert_int_equal(zip_read(z, zip_at(z, 0), &small, &fault), ERR_TOO_LARGE);
    assert_string_equal(fault.text, "manifest.json: 15 bytes, at most 14 are allowed");
    assert_int_equal(small.len, 0);
    zip_close(z);
    buf_wipe(&f.bytes);
}

/* A file that shrinks between opening and reading. */
static void a_file_cut_while_open_is_refused(void **state)
{
    char path[FORGE_PATH_BYTES] = "/tmp/tracekit-zip-XXXXXX";
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
    assert_int_equal(forge_read(z, "manifest.json", &out, &fault), ERR_OK);
    buf_wipe(&out);
    assert_int_equal(forge_read(z, "runs/a-b_c.jsonl", &out, &fault), ERR_ZIP);
    assert_non_null(strstr(fault.text, "cut off at byte "));
    buf_wipe(&out);
    zip_close(z);
    close(fd);
    unlink(path);
    buf_wipe(&f.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bomb_is_refused_at_once),
        cmocka_unit_test(entries_that_do_not_hold_what_they_say_are_refused),
        cmocka_unit_test(broken_deflate_is_refused),
        cmocka_unit_test(a_stored_entry_has_a_crc_too),
        cmocka_unit_test(the_reader_may_stop),
        cmocka_unit_test(a_file_cut_while_open_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
