#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "evidence/visible.h"

enum { MAX_BYTES = 1 << 20 };

static void shows(const char *text, size_t len, size_t max_chars, const char *want)
{
    struct buf b;
    buf_init(&b, MAX_BYTES);
    visible_write(&b, text, len, max_chars);
    buf_putc(&b, '\0');
    assert_int_equal(buf_err(&b), ERR_OK);
    assert_string_equal((const char *)b.data, want);
    buf_wipe(&b);
}

static void strips(const char *text, size_t len, size_t max_chars, const char *want)
{
    struct buf b;
    buf_init(&b, MAX_BYTES);
    visible_strip(&b, text, len, max_chars);
    buf_putc(&b, '\0');
    assert_int_equal(buf_err(&b), ERR_OK);
    assert_string_equal((const char *)b.data, want);
    buf_wipe(&b);
}

#define SHOWS(text, want) shows(text, sizeof(text) - 1, SIZE_MAX, want)
#define STRIPS(text, want) strips(text, sizeof(text) - 1, SIZE_MAX, want)

static void leaves_plain_text_alone(void **state)
{
    (void)state;
    SHOWS("", "");
    SHOWS("ls -la 'a b' \"c\" $d `e`", "ls -la 'a b' \"c\" $d `e`");
    SHOWS("\xc3\xbcn\xc3\xaf \xe2\x82\xac \xe4\xb8\xad \xf0\x9f\x98\x80",
          "\xc3\xbcn\xc3\xaf \xe2\x82\xac \xe4\xb8\xad \xf0\x9f\x98\x80");
}

static void escapes_controls(void **state)
{
    (void)state;
    SHOWS("a\nb\tc\rd", "a\\nb\\tc\\rd");
    SHOWS("\x1b[31mred\x07", "\\x1b[31mred\\x07");
    SHOWS("a\0b", "a\\x00b");
    SHOWS("\x7f", "\\x7f");
    SHOWS("\xc2\x9b"
          "31m",
          "\\u{9b}31m");
    SHOWS("C:\\n", "C:\\\\n");
}

static void escapes_what_hides_or_reorders(void **state)
{
    (void)state;
    SHOWS("\xe2\x80\xae", "\\u{202e}");
    SHOWS("a\xe2\x80\x8b"
          "b",
          "a\\u{200b}b");
    SHOWS("\xef\xbb\xbf", "\\u{feff}");
    SHOWS("\xe2\x81\xa6\xe2\x81\xa9", "\\u{2066}\\u{2069}");
    SHOWS("\xe2\x80\xa8\xe2\x80\xa9", "\\u{2028}\\u{2029}");
    SHOWS("\xc2\xad", "\\u{ad}");
    SHOWS("\xd8\x9c", "\\u{61c}");
    SHOWS("\xef\xb8\x8f", "\\u{fe0f}");
    SHOWS("\xf3\xa0\x81\x81", "\\u{e0041}");
    SHOWS("\xee\x80\x80", "\\u{e000}");
    SHOWS("\xf4\x8f\xbf\xbf", "\\u{10ffff}");
}

static void escapes_what_is_not_utf8(void **state)
{
    (void)state;
    SHOWS("\xff\xfe", "\\xff\\xfe");
    SHOWS("a\x80z", "a\\x80z");
    SHOWS("\xc0\xaf", "\\xc0\\xaf"); /* overlong */
    SHOWS("\xe0\x80\xaf", "\\xe0\\x80\\xaf");
    SHOWS("\xf0\x80\x80\xaf", "\\xf0\\x80\\x80\\xaf");
    SHOWS("\xed\xa0\x80", "\\xed\\xa0\\x80");          /* a surrogate */
    SHOWS("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"); /* beyond U+10FFFF */
    SHOWS("\xe2\x82", "\\xe2\\x82");                   /* cut off */
    SHOWS("\xe2\x82z", "\\xe2\\x82z");
}

static void cuts_and_counts(void **state)
{
    (void)state;
    shows("abcdef", 6, 6, "abcdef");
    shows("abcdef", 6, 5, "abcde... (1 more characters)");
    shows("abcdef", 6, 0, "... (6 more characters)");
    shows("", 0, 0, "");
    shows("\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac", 9, 2, "\xe2\x82\xac\xe2\x82\xac... (1 more characters)");
    /* an escape is never cut, and the rest is counted in characters of the source */
    shows("ab\x1b\x1b", 4, 5, "ab... (2 more characters)");
    shows("ab\x1b\x1b", 4, 6, "ab\\x1b... (1 more characters)");
    shows("ab\x1b\x1b", 4, 10, "ab\\x1b\\x1b");
}

static void strips_without_a_trace(void **state)
{
    (void)state;
    STRIPS("a\x1b[0m\n\\b\xe2\x80\xae"
           "c\xff\xc2\x9b"
           "d",
           "a[0m\\bcd");
    strips("a\nb\nc\n", 6, 2, "ab... (1 more characters)");
    strips("ab\n\n\n", 5, 2, "ab");
}

static void knows_every_code_point(void **state)
{
    (void)state;
    static const uint32_t HIDDEN[] = {
        0,       0x1f,    0x7f,    0x80,    0x9f,    0xad,     0x200b,   0x200f,     0x2028, 0x202e, 0x2060,
        0x206f,  0xd800,  0xdfff,  0xe000,  0xf8ff,  0xfdd0,   0xfeff,   0xfff9,     0xfffb, 0xfffe, 0xffff,
        0x1fffe, 0x2ffff, 0xe0001, 0xe007f, 0xf0000, 0x10fffd, 0x110000, UINT32_MAX, 0x180e, 0x3164, 0x115f};
    static const uint32_t PLAIN[] = {' ',    '~',    0xa0,   0xac,   0xae,   0x200a,  0x2010,
                                     0x2027, 0x202f, 0x205f, 0x2070, 0x4e2d, 0xd7ff,  0xf900,
                                     0xfdcf, 0xfdf0, 0xff01, 0xfffc, 0xfffd, 0x10000, 0x1f600};
    for (size_t i = 0; i < sizeof HIDDEN / sizeof HIDDEN[0]; i++)
        assert_false(visible_is_plain(HIDDEN[i]));
    for (size_t i = 0; i < sizeof PLAIN / sizeof PLAIN[0]; i++)
        assert_true(visible_is_plain(PLAIN[i]));
}

/* Whatever goes in, what comes out is UTF-8 and every code point of it is plain. */
static void output_is_always_plain(void **state)
{
    (void)state;
    const char *given = getenv("TEST_SEED");
    unsigned seed = given != NULL ? (unsigned)strtoul(given, NULL, 10) : 1;
    print_message("TEST_SEED=%u\n", seed);
    srand(seed);
    for (int round = 0; round < 3000; round++) {
        char text[64];
        struct buf b;
        size_t len = (size_t)rand() % sizeof text;
        for (size_t i = 0; i < len; i++)
            text[i] = (char)(rand() % 3 == 0 ? 0xe0 + rand() % 32 : rand() % 256);
        buf_init(&b, MAX_BYTES);
        visible_write(&b, text, len, (size_t)rand() % 80);
        visible_strip(&b, text, len, (size_t)rand() % 80);
        for (size_t at = 0; at < b.len;) {
            uint32_t code = 0;
            size_t n = visible_decode(b.data + at, b.len - at, &code);
            assert_true(n > 0 && visible_is_plain(code));
            at += n;
        }
        buf_wipe(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaves_plain_text_alone),
        cmocka_unit_test(escapes_controls),
        cmocka_unit_test(escapes_what_hides_or_reorders),
        cmocka_unit_test(escapes_what_is_not_utf8),
        cmocka_unit_test(cuts_and_counts),
        cmocka_unit_test(strips_without_a_trace),
        cmocka_unit_test(knows_every_code_point),
        cmocka_unit_test(output_is_always_plain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
