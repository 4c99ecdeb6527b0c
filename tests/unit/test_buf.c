#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "evidence/buf.h"

static void writes_in_order(void **state)
{
    (void)state;
    static const uint8_t WANT[] = "ab\0c-7xyz\x01\x02\x03\x04\x01\x02\x03\x04\x05\x06\x07\x08";
    struct buf b;
    buf_init(&b, 1000);
    assert_null(b.data);
    buf_put(&b, "ab\0", 3);
    buf_putc(&b, 'c');
    buf_printf(&b, "%d%s", -7, "x");
    buf_puts(&b, "yz");
    buf_put_u32(&b, 0x01020304);
    buf_put_u64(&b, UINT64_C(0x0102030405060708));
    assert_int_equal(buf_err(&b), ERR_OK);
    assert_int_equal(b.len, sizeof WANT - 1);
    assert_memory_equal(b.data, WANT, sizeof WANT - 1);
    buf_wipe(&b);
    assert_null(b.data);
    assert_int_equal(b.max, 1000);
}

static void never_exceeds_its_maximum(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 10);
    buf_put(&b, "0123456789", 10);
    assert_int_equal(buf_err(&b), ERR_OK);
    buf_putc(&b, 'x');
    assert_int_equal(buf_err(&b), ERR_TOO_LARGE);
    assert_int_equal(b.len, 10);
    buf_reset(&b);
    buf_put(&b, "01234567890", 11);
    assert_int_equal(buf_err(&b), ERR_TOO_LARGE);
    assert_int_equal(b.len, 0);
    buf_wipe(&b);
}

static void takes_nothing_after_a_failure(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 4);
    buf_puts(&b, "abcde");
    buf_puts(&b, "a");
    buf_printf(&b, "%s", "a");
    assert_null(buf_reserve(&b, 1));
    assert_int_equal(b.len, 0);
    assert_int_equal(buf_err(&b), ERR_TOO_LARGE);
    buf_reset(&b);
    buf_puts(&b, "a");
    assert_int_equal(buf_err(&b), ERR_OK);
    assert_int_equal(b.len, 1);
    buf_wipe(&b);
}

static void grows_to_the_last_byte(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 100003);
    for (size_t i = 0; i < 100003; i++)
        buf_putc(&b, (uint8_t)i);
    assert_int_equal(buf_err(&b), ERR_OK);
    for (size_t i = 0; i < 100003; i++)
        assert_int_equal(b.data[i], (uint8_t)i);
    buf_putc(&b, 0);
    assert_int_equal(buf_err(&b), ERR_TOO_LARGE);
    buf_wipe(&b);
}

static void refuses_absurd_sizes(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, SIZE_MAX);
    assert_null(buf_reserve(&b, SIZE_MAX));
    assert_int_equal(buf_err(&b), ERR_NOMEM);
    buf_reset(&b);
    buf_putc(&b, 1);
    assert_null(buf_reserve(&b, SIZE_MAX));
    assert_int_equal(buf_err(&b), ERR_TOO_LARGE);
    buf_wipe(&b);
}

static void reserves_and_commits(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 100);
    uint8_t *at = buf_reserve(&b, 100);
    assert_non_null(at);
    memset(at, 'a', 100);
    buf_commit(&b, 3);
    assert_int_equal(b.len, 3);
    assert_non_null(buf_reserve(&b, 97));
    assert_null(buf_reserve(&b, 98));
    buf_wipe(&b);
    assert_non_null(buf_reserve(&b, 0));
    buf_wipe(&b);
}

static void consumes_from_the_front(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 100);
    buf_puts(&b, "abcdef");
    buf_consume(&b, 2);
    buf_puts(&b, "g");
    assert_int_equal(b.len, 5);
    assert_memory_equal(b.data, "cdefg", 5);
    buf_consume(&b, 5);
    assert_int_equal(b.len, 0);
    buf_consume(&b, 0);
    buf_wipe(&b);
}

static void prints_long_lines(void **state)
{
    (void)state;
    char text[2000];
    struct buf b;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    for (size_t len = 250; len < 260; len++) {
        buf_init(&b, 4000);
        buf_printf(&b, "%.*s", (int)len, text);
        assert_int_equal(b.len, len);
        buf_printf(&b, "<%s>", text);
        assert_int_equal(buf_err(&b), ERR_OK);
        assert_int_equal(b.len, len + 2001);
        assert_int_equal(b.data[b.len - 1], '>');
        buf_wipe(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_in_order),
        cmocka_unit_test(never_exceeds_its_maximum),
        cmocka_unit_test(takes_nothing_after_a_failure),
        cmocka_unit_test(grows_to_the_last_byte),
        cmocka_unit_test(refuses_absurd_sizes),
        cmocka_unit_test(reserves_and_commits),
        cmocka_unit_test(consumes_from_the_front),
        cmocka_unit_test(prints_long_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
