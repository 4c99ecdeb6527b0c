#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/frame.h"

static void head_is(const uint8_t bytes[static FRAME_HEAD_BYTES], struct frame_head want)
{
    struct frame_head h = {0};
    assert_int_equal(frame_head_read(bytes, &h), 0);
    assert_int_equal(h.kind, want.kind);
    assert_int_equal(h.flags, want.flags);
    assert_int_equal(h.a, want.a);
    assert_int_equal(h.b, want.b);
}

/* The bytes of docs/wire.md, so that both ends can be of different versions. */
static void a_head_has_these_bytes(void **state)
{
    (void)state;
    static const uint8_t want[FRAME_HEAD_BYTES] = {'T', 'K', 'C', '1', 2, 1, 0, 0, 0, 0, 0x0f, 0xfe, 0, 0, 1, 2};
    struct frame_head head = {FRAME_ANSWER, FRAME_ALLOW, 0x0ffe, 0x0102};
    uint8_t bytes[FRAME_HEAD_BYTES];
    frame_head_write(&head, bytes);
    assert_memory_equal(bytes, want, sizeof want);
    head_is(want, head);
}

static int read_back(struct frame_head head)
{
    uint8_t bytes[FRAME_HEAD_BYTES];
    struct frame_head h = {99, 98, 97, 96};
    frame_head_write(&head, bytes);
    if (frame_head_read(bytes, &h) != 0) {
        assert_true(h.kind == 99 && h.flags == 98 && h.a == 97 && h.b == 96); /* untouched */
        return -1;
    }
    head_is(bytes, head);
    return 0;
}

static void each_kind_has_its_limits(void **state)
{
    (void)state;
    static const struct {
        uint8_t kind, flag;
        uint32_t max_a, max_b;
    } kinds[] = {
        {FRAME_HOOK, 0, FRAME_MAX_META, FRAME_MAX_PAYLOAD},
        {FRAME_ANSWER, FRAME_ALLOW, FRAME_MAX_OUT, FRAME_MAX_OUT},
        {FRAME_REQUEST, 0, 0, FRAME_MAX_REQUEST},
        {FRAME_REPLY, FRAME_ERROR, 0, FRAME_MAX_REPLY},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        uint8_t k = kinds[i].kind, f = kinds[i].flag;
        uint32_t a = kinds[i].max_a, b = kinds[i].max_b;
        assert_int_equal(read_back((struct frame_head){k, 0, 0, 0}), 0);
        assert_int_equal(read_back((struct frame_head){k, 0, a, b}), 0);
        assert_int_equal(read_back((struct frame_head){k, f, a, b}), 0);
        assert_int_equal(read_back((struct frame_head){k, f, a + 1, b}), -1);
        assert_int_equal(read_back((struct frame_head){k, f, a, b + 1}), -1);
        assert_int_equal(read_back((struct frame_head){k, f, UINT32_MAX, 0}), -1);
        assert_int_equal(read_back((struct frame_head){k, f, 0, UINT32_MAX}), -1);
    }
}

static void each_kind_has_its_flags(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < 256; kind++)
        for (unsigned flags = 0; flags < 256; flags++) {
            unsigned known = kind == FRAME_HOOK     ? FRAME_OVERSIZE
                             : kind == FRAME_ANSWER ? FRAME_ALLOW
                             : kind == FRAME_REPLY  ? FRAME_ERROR
                                                    : 0;
            int want = kind >= FRAME_HOOK && kind <= FRAME_REPLY && (flags & ~known) == 0 ? 0 : -1;
            assert_int_equal(read_back((struct frame_head){(uint8_t)kind, (uint8_t)flags, 0, 0}), want);
        }
}

static void an_oversize_hook_has_no_payload(void **state)
{
    (void)state;
    assert_int_equal(read_back((struct frame_head){FRAME_HOOK, FRAME_OVERSIZE, 20, 0}), 0);
    assert_int_equal(read_back((struct frame_head){FRAME_HOOK, FRAME_OVERSIZE, 20, 1}), -1);
}

static void magic_and_reserved_bytes_count(void **state)
{
    (void)state;
    uint8_t good[FRAME_HEAD_BYTES], bytes[FRAME_HEAD_BYTES];
    struct frame_head h;
    frame_head_write(&(struct frame_head){FRAME_ANSWER, FRAME_ALLOW, 2, 0}, good);
    static const size_t fixed[] = {0, 1, 2, 3, 6, 7};
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        for (int bit = 0; bit < 8; bit++) {
            memcpy(bytes, good, sizeof bytes);
            bytes[fixed[i]] ^= (uint8_t)(1 << bit);
            assert_int_equal(frame_head_read(bytes, &h), -1);
        }
}

static size_t write_meta(uint32_t wait_ms, const char *harness, const char *event, uint8_t out[static FRAME_MAX_META])
{
    struct frame_meta m = {.wait_ms = wait_ms};
    memcpy(m.harness, harness, strlen(harness));
    memcpy(m.event, event, strlen(event));
    return frame_meta_write(&m, out);
}

static void a_meta_has_these_bytes(void **state)
{
    (void)state;
    static const uint8_t want[] = "\x00\x08\x3d\x60\x06gemini\x0a"
                                  "BeforeTool";
    uint8_t bytes[FRAME_MAX_META];
    struct frame_meta m;
    assert_int_equal(write_meta(540000, "gemini", "BeforeTool", bytes), sizeof want - 1);
    assert_memory_equal(bytes, want, sizeof want - 1);
    assert_int_equal(frame_meta_read(want, sizeof want - 1, &m), 0);
    assert_int_equal(m.wait_ms, 540000);
    assert_string_equal(m.harness, "gemini");
    assert_string_equal(m.event, "BeforeTool");
}

static void a_meta_takes_names_alone(void **state)
{
    (void)state;
    uint8_t bytes[FRAME_MAX_META];
    static const char longest[] = "abcdefghijklmnopqrstuvwx";
    assert_int_equal(sizeof longest - 1, FRAME_MAX_NAME);
    assert_int_equal(write_meta(UINT32_MAX, longest, "A-Z_09", bytes), 4 + 1 + FRAME_MAX_NAME + 1 + 6);
    assert_int_equal(write_meta(UINT32_MAX, longest, longest, bytes), 4 + 2 * (1 + FRAME_MAX_NAME));
    assert_int_equal(write_meta(1, "", "x", bytes), 0);
    assert_int_equal(write_meta(1, "x", "", bytes), 0);
    static const char *const bad[] = {"a b", "a.b", "a/b", "a\n", "\xc3\xbc", "a@", "a[", "a`", "a{", "a:"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(write_meta(1, bad[i], "x", bytes), 0);
        assert_int_equal(write_meta(1, "x", bad[i], bytes), 0);
    }
    struct frame_meta unterminated;
    memset(&unterminated, 'x', sizeof unterminated);
    assert_int_equal(frame_meta_write(&unterminated, bytes), 0);
}

static void every_cut_of_a_meta_is_refused(void **state)
{
    (void)state;
    uint8_t bytes[FRAME_MAX_META + 1] = {0};
    struct frame_meta m, untouched;
    size_t len = write_meta(540000, "gemini", "BeforeTool", bytes);
    memset(&m, 7, sizeof m);
    untouched = m;
    for (size_t n = 0; n < len; n++) {
        /* A copy of exactly that size, so that a sanitizer sees every byte read too many. */
        uint8_t *cut = malloc(n + (n == 0));
        assert_non_null(cut);
        memcpy(cut, bytes, n);
        assert_int_equal(frame_meta_read(cut, n, &m), -1);
        free(cut);
    }
    for (size_t n = len + 1; n <= sizeof bytes; n++)
        assert_int_equal(frame_meta_read(bytes, n, &m), -1);
    assert_memory_equal(&m, &untouched, sizeof m);
    bytes[4] = FRAME_MAX_NAME + 1;
    assert_int_equal(frame_meta_read(bytes, FRAME_MAX_META, &m), -1);
    bytes[4] = 0;
    assert_int_equal(frame_meta_read(bytes, len, &m), -1);
    bytes[4] = 255;
    assert_int_equal(frame_meta_read(bytes, len, &m), -1);
}

/* xorshift64*; the seed is printed, and taken from TEST_SEED. */
static uint64_t random_state;

static uint8_t random_byte(void)
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (uint8_t)((random_state * UINT64_C(2685821657736338717)) >> 56);
}

/* Whatever is read without complaint is written back as the same bytes: there is one form of each frame. */
static void what_is_read_is_written_alike(void **state)
{
    (void)state;
    const char *seed = getenv("TEST_SEED");
    random_state = seed != NULL ? strtoull(seed, NULL, 10) : 20260821;
    print_message("# TEST_SEED=%llu\n", (unsigned long long)random_state);
    random_state |= 1;
    unsigned heads = 0, metas = 0;
    for (int round = 0; round < 200000; round++) {
        uint8_t bytes[FRAME_MAX_META], again[FRAME_MAX_META];
        struct frame_head h;
        struct frame_meta m;
        frame_head_write(&(struct frame_head){FRAME_ANSWER, FRAME_ALLOW, 12, 34}, bytes);
        bytes[random_byte() % FRAME_HEAD_BYTES] = random_byte();
        if (frame_head_read(bytes, &h) == 0) {
            frame_head_write(&h, again);
            assert_memory_equal(bytes, again, FRAME_HEAD_BYTES);
            heads++;
        }
        size_t len = write_meta(random_byte(), "gemini", "AfterTool", bytes);
        bytes[random_byte() % len] = random_byte();
        if (round % 4 == 0)
            len = random_byte() % (len + 1);
        if (frame_meta_read(bytes, len, &m) == 0) {
            assert_int_equal(frame_meta_write(&m, again), len);
            assert_memory_equal(bytes, again, len);
            metas++;
        }
    }
    assert_true(heads > 1000 && metas > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_head_has_these_bytes),         cmocka_unit_test(each_kind_has_its_limits),
        cmocka_unit_test(each_kind_has_its_flags),        cmocka_unit_test(an_oversize_hook_has_no_payload),
        cmocka_unit_test(magic_and_reserved_bytes_count), cmocka_unit_test(a_meta_has_these_bytes),
        cmocka_unit_test(a_meta_takes_names_alone),       cmocka_unit_test(every_cut_of_a_meta_is_refused),
        cmocka_unit_test(what_is_read_is_written_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
