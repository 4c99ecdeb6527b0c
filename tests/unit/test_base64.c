#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "evidence/base64.h"

static void known_answers(void **state)
{
    (void)state;
    /* RFC 4648 section 10 */
    static const struct {
        const char *bytes, *text;
    } CASES[] = {
        {"", ""},
        {"f", "Zg=="},
        {"fo", "Zm8="},
        {"foo", "Zm9v"},
        {"foob", "Zm9vYg=="},
        {"fooba", "Zm9vYmE="},
        {"foobar", "Zm9vYmFy"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        char text[16];
        uint8_t bytes[8];
        size_t len = 99, want = strlen(CASES[i].bytes);
        base64_encode((const uint8_t *)CASES[i].bytes, want, text);
        assert_string_equal(text, CASES[i].text);
        assert_int_equal(BASE64_TEXT_BYTES(want), strlen(text) + 1);
        assert_int_equal(base64_decode(text, strlen(text), bytes, want, &len), ERR_OK);
        assert_int_equal(len, want);
        assert_memory_equal(bytes, CASES[i].bytes, want);
    }
}

/* Of all texts of one group, exactly those are accepted that encoding gives back. */
static void accepts_one_text_for_each_value(void **state)
{
    (void)state;
    static const char ALPHABET[] = "AZaz09+/=BPQgw-_ \n.";
    enum { SIGNS = sizeof ALPHABET }; /* with the NUL */
    for (unsigned n = 0; n < SIGNS * SIGNS * SIGNS * SIGNS; n++) {
        char text[4], again[5];
        uint8_t bytes[3];
        size_t len = 99;
        for (unsigned i = 0, left = n; i < 4; i++, left /= SIGNS)
            text[i] = ALPHABET[left % SIGNS];
        if (base64_decode(text, 4, bytes, sizeof bytes, &len) != ERR_OK) {
            assert_int_equal(len, 99);
            continue;
        }
        base64_encode(bytes, len, again);
        assert_memory_equal(again, text, 4);
    }
}

/* Every byte in every place of a group: what is accepted is what encoding gives back. */
static void no_byte_stands_for_another(void **state)
{
    (void)state;
    for (unsigned place = 0; place < 4; place++)
        for (unsigned byte = 0; byte < 256; byte++) {
            char text[5] = "Zm9v", again[5];
            uint8_t bytes[3];
            size_t len = 0;
            text[place] = (char)byte;
            if (base64_decode(text, 4, bytes, sizeof bytes, &len) != ERR_OK)
                continue;
            base64_encode(bytes, len, again);
            assert_memory_equal(again, text, 4);
        }
}

static void refuses_what_is_not_canonical(void **state)
{
    (void)state;
    static const char *const BAD[] = {
        "Zg",    "Zg=",   "Z",     "Zg===",    "=",        "====", "Zh==",       "Zm9=",       "Zm8",  "Zm9v\n",
        " Zm9v", "Zm9v ", "Zm 9v", "Zm9v====", "Zg==Zg==", "Z===", "Zm9vYg==\n", "Zm9vYg=\n=", "Zm-_", "\xc3\xa9==",
    };
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        uint8_t bytes[16];
        size_t len = 99;
        assert_int_equal(base64_decode(BAD[i], strlen(BAD[i]), bytes, sizeof bytes, &len), ERR_BASE64);
        assert_int_equal(len, 99);
    }
}

static void refuses_more_than_fits(void **state)
{
    (void)state;
    uint8_t bytes[4] = {0, 0, 0, 0x55};
    size_t len = 99;
    assert_int_equal(base64_decode("Zm9vYg==", 8, bytes, 3, &len), ERR_BASE64);
    assert_int_equal(len, 99);
    assert_int_equal(bytes[3], 0x55);
    assert_int_equal(base64_decode("Zm9v", 4, bytes, 3, &len), ERR_OK);
    assert_int_equal(len, 3);
    assert_int_equal(base64_decode("Zg==", 4, bytes, 0, &len), ERR_BASE64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(accepts_one_text_for_each_value),
        cmocka_unit_test(no_byte_stands_for_another),
        cmocka_unit_test(refuses_what_is_not_canonical),
        cmocka_unit_test(refuses_more_than_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
