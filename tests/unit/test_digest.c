#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "evidence/digest.h"

static void hashes_known_answers(void **state)
{
    (void)state;
    /* FIPS 180-4 examples */
    static const struct {
        const char *text, *want;
    } CASES[] = {
        {"", "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "sha256:248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        uint8_t hash[DIGEST_BYTES];
        char text[DIGEST_TEXT_BYTES];
        digest_sha256(CASES[i].text, strlen(CASES[i].text), hash);
        digest_text(hash, text);
        assert_string_equal(text, CASES[i].want);
    }
}

static void hashes_in_pieces(void **state)
{
    (void)state;
    uint8_t bytes[300], whole[DIGEST_BYTES], pieces[DIGEST_BYTES];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 7);
    digest_sha256(bytes, sizeof bytes, whole);
    for (size_t cut = 0; cut <= sizeof bytes; cut++) {
        struct digest_state s;
        digest_init(&s);
        digest_update(&s, bytes, cut);
        digest_update(&s, bytes + cut, sizeof bytes - cut);
        digest_final(&s, pieces);
        assert_memory_equal(pieces, whole, sizeof whole);
    }
}

static void macs_known_answers(void **state)
{
    (void)state;
    /* RFC 4231, test cases 2 and 6: a short key, and one longer than a block */
    uint8_t key[131], mac[DIGEST_BYTES];
    char hex[DIGEST_HEX_BYTES];
    digest_hmac((const uint8_t *)"Jefe", 4, "what do ya want for nothing?", 28, mac);
    digest_hex(mac, sizeof mac, hex);
    assert_string_equal(hex, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    memset(key, 0xaa, sizeof key);
    digest_hmac(key, sizeof key, "Test Using Larger Than Block-Size Key - Hash Key First", 54, mac);
    digest_hex(mac, sizeof mac, hex);
    assert_string_equal(hex, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

static void reads_back_what_it_writes(void **state)
{
    (void)state;
    uint8_t bytes[256], back[256];
    char hex[2 * 256 + 1];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)i;
    digest_hex(bytes, sizeof bytes, hex);
    assert_int_equal(strlen(hex), 512);
    assert_int_equal(digest_unhex(hex, 512, back, sizeof back), ERR_OK);
    assert_memory_equal(back, bytes, sizeof bytes);
    assert_int_equal(digest_unhex("", 0, back, 0), ERR_OK);
}

static void refuses_bad_hex(void **state)
{
    (void)state;
    static const char *const BAD[] = {"0", "000", "0G", "g0", "0A", "A0", " 0", "0 ", "0x", "-1", "0/", "0:", "0`"};
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        uint8_t byte = 0x55;
        assert_int_equal(digest_unhex(BAD[i], strlen(BAD[i]), &byte, 1), ERR_HEX);
        assert_int_equal(byte, 0x55);
    }
    uint8_t two[2] = {0};
    assert_int_equal(digest_unhex("00", 2, two, 2), ERR_HEX);
    assert_int_equal(digest_unhex("0000", 4, two, 1), ERR_HEX);
    assert_int_equal(digest_unhex("0\0", 2, two, 1), ERR_HEX);
}

static void parses_only_its_own_text(void **state)
{
    (void)state;
    uint8_t hash[DIGEST_BYTES], zero[DIGEST_BYTES] = {0};
    char text[DIGEST_TEXT_BYTES] = DIGEST_ZERO_TEXT;
    size_t len = strlen(text);
    assert_int_equal(len, DIGEST_TEXT_BYTES - 1);
    assert_int_equal(digest_parse(text, len, hash), ERR_OK);
    assert_memory_equal(hash, zero, sizeof hash);
    assert_int_equal(digest_parse(text, len - 1, hash), ERR_HEX);
    assert_int_equal(digest_parse(text, len + 1, hash), ERR_HEX);
    assert_int_equal(digest_parse(text, 0, hash), ERR_HEX);
    for (size_t i = 0; i < len; i++) {
        char was = text[i];
        text[i] = 'Z';
        assert_int_equal(digest_parse(text, len, hash), ERR_HEX);
        text[i] = was;
    }
}

static void compares_every_byte(void **state)
{
    (void)state;
    uint8_t a[DIGEST_BYTES] = {0}, b[DIGEST_BYTES] = {0};
    assert_true(digest_equal(a, b));
    for (size_t i = 0; i < 8 * sizeof b; i++) {
        b[i / 8] ^= (uint8_t)(1u << i % 8);
        assert_false(digest_equal(a, b));
        b[i / 8] = 0;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_known_answers), cmocka_unit_test(hashes_in_pieces),
        cmocka_unit_test(macs_known_answers),   cmocka_unit_test(reads_back_what_it_writes),
        cmocka_unit_test(refuses_bad_hex),      cmocka_unit_test(parses_only_its_own_text),
        cmocka_unit_test(compares_every_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
