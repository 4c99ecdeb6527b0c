#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "evidence/base64.h"
#include "evidence/ed25519.h"
#include "tests/unit/lines.h"

enum { MAX_MESSAGE = 256 };

static size_t unhex(const char *text, uint8_t *out, size_t max)
{
    assert_non_null(text);
    size_t len = strlen(text) / 2;
    assert_true(len <= max);
    assert_int_equal(digest_unhex(text, strlen(text), out, len), ERR_OK);
    return len;
}

struct tally {
    size_t good, bad_key, bad_signature;
};

static void check_vector(const struct json *line, void *context)
{
    struct tally *tally = context;
    uint8_t pub[ED25519_PUBLIC_BYTES], sig[ED25519_SIGNATURE_BYTES], msg[MAX_MESSAGE];
    if (json_get(line, "valid") == NULL)
        return;
    unhex(json_get_cstr(line, "public"), pub, sizeof pub);
    unhex(json_get_cstr(line, "sig"), sig, sizeof sig);
    size_t msg_len = unhex(json_get_cstr(line, "msg"), msg, sizeof msg);
    enum err want = json_true(json_get(line, "valid"))                          ? ERR_OK
                    : strstr(json_get_cstr(line, "note"), "public key") != NULL ? ERR_KEY
                                                                                : ERR_SIGNATURE;
    assert_int_equal(ed25519_verify(pub, msg, msg_len, sig), want);
    tally->good += want == ERR_OK;
    tally->bad_key += want == ERR_KEY;
    tally->bad_signature += want == ERR_SIGNATURE;
}

static void upstream_vectors(void **state)
{
    (void)state;
    struct tally tally = {0};
    assert_int_equal(lines_each("tests/vectors/upstream/sig_v2.jsonl", check_vector, &tally), 15);
    assert_int_equal(tally.good, 1);
    assert_int_equal(tally.bad_key, 9);
    assert_int_equal(tally.bad_signature, 2);
}

/* RFC 8032 section 7.1, tests 2 and 3 */
static const struct {
    const char *pub, *msg, *sig;
} RFC8032[] = {
    {"3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
     "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
     "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"},
    {"fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
     "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
     "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"},
};

static void known_answers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof RFC8032 / sizeof RFC8032[0]; i++) {
        uint8_t pub[ED25519_PUBLIC_BYTES], sig[ED25519_SIGNATURE_BYTES], msg[MAX_MESSAGE];
        unhex(RFC8032[i].pub, pub, sizeof pub);
        unhex(RFC8032[i].sig, sig, sizeof sig);
        size_t len = unhex(RFC8032[i].msg, msg, sizeof msg);
        assert_int_equal(ed25519_verify(pub, msg, len, sig), ERR_OK);
    }
}

/* No bit of message, signature or key may change. */
static void every_bit_counts(void **state)
{
    (void)state;
    uint8_t all[ED25519_PUBLIC_BYTES + ED25519_SIGNATURE_BYTES + 2];
    uint8_t *pub = all, *sig = all + ED25519_PUBLIC_BYTES, *msg = sig + ED25519_SIGNATURE_BYTES;
    unhex(RFC8032[1].pub, pub, ED25519_PUBLIC_BYTES);
    unhex(RFC8032[1].sig, sig, ED25519_SIGNATURE_BYTES);
    unhex(RFC8032[1].msg, msg, 2);
    assert_int_equal(ed25519_verify(pub, msg, 2, sig), ERR_OK);
    for (size_t bit = 0; bit < 8 * sizeof all; bit++) {
        all[bit / 8] ^= (uint8_t)(1u << bit % 8);
        enum err e = ed25519_verify(pub, msg, 2, sig);
        assert_true(e == ERR_SIGNATURE || (e == ERR_KEY && bit < 8 * ED25519_PUBLIC_BYTES));
        all[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    assert_int_equal(ed25519_verify(pub, msg, 1, sig), ERR_SIGNATURE);
}

/* y = 2^255 - 19 + n, for all n that still fit below the sign bit: the encodings that no honest key has. */
static void keys_have_one_encoding(void **state)
{
    (void)state;
    uint8_t pub[ED25519_PUBLIC_BYTES], sig[ED25519_SIGNATURE_BYTES] = {1};
    for (int first = 0xed; first <= 0xff; first++) {
        for (int sign = 0; sign < 2; sign++) {
            memset(pub, 0xff, sizeof pub);
            pub[0] = (uint8_t)first;
            pub[31] = sign ? 0xff : 0x7f;
            assert_int_equal(ed25519_verify(pub, "", 0, sig), ERR_KEY);
        }
    }
    /* y = 2 is not on the curve. */
    memset(pub, 0, sizeof pub);
    pub[0] = 2;
    assert_int_equal(ed25519_verify(pub, "", 0, sig), ERR_KEY);
    /* The largest canonical y that is on the curve is a fine key with a bad signature. */
    int found = 0;
    for (int first = 0xeb; first > 0x80 && !found; first--) {
        memset(pub, 0xff, sizeof pub);
        pub[0] = (uint8_t)first;
        pub[31] = 0x7f;
        found = ed25519_verify(pub, "", 0, sig) == ERR_SIGNATURE;
    }
    assert_true(found);
}

static void spki_round_trips(void **state)
{
    (void)state;
    uint8_t pub[ED25519_PUBLIC_BYTES], der[ED25519_SPKI_BYTES], back[ED25519_PUBLIC_BYTES];
    char text[BASE64_TEXT_BYTES(ED25519_SPKI_BYTES)], kid[DIGEST_TEXT_BYTES];
    unhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", pub, sizeof pub);
    ed25519_spki(pub, der);
    base64_encode(der, sizeof der, text);
    assert_string_equal(text, "MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=");
    assert_int_equal(ed25519_spki_parse(der, sizeof der, back), ERR_OK);
    assert_memory_equal(back, pub, sizeof pub);
    ed25519_kid(pub, kid);
    assert_string_equal(kid, "sha256:06e3fd8fda29bb60ab59557de61edb0aecdb231134be30e75b455f8e1b792fa9");
}

static void refuses_any_other_spki(void **state)
{
    (void)state;
    uint8_t pub[ED25519_PUBLIC_BYTES] = {0}, der[ED25519_SPKI_BYTES + 1] = {0}, back[ED25519_PUBLIC_BYTES];
    ed25519_spki(pub, der);
    assert_int_equal(ed25519_spki_parse(der, ED25519_SPKI_BYTES - 1, back), ERR_KEY);
    assert_int_equal(ed25519_spki_parse(der, ED25519_SPKI_BYTES + 1, back), ERR_KEY);
    assert_int_equal(ed25519_spki_parse(der, 0, back), ERR_KEY);
    for (size_t i = 0; i < ED25519_SPKI_BYTES - ED25519_PUBLIC_BYTES; i++) {
        der[i] ^= 1;
        assert_int_equal(ed25519_spki_parse(der, ED25519_SPKI_BYTES, back), ERR_KEY);
        der[i] ^= 1;
    }
    assert_int_equal(ed25519_spki_parse(der, ED25519_SPKI_BYTES, back), ERR_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(upstream_vectors), cmocka_unit_test(known_answers),
        cmocka_unit_test(every_bit_counts), cmocka_unit_test(keys_have_one_encoding),
        cmocka_unit_test(spki_round_trips), cmocka_unit_test(refuses_any_other_spki),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
