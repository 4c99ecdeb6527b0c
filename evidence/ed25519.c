#include "evidence/ed25519.h"

#include <sodium.h>
#include <string.h>

_Static_assert(crypto_sign_PUBLICKEYBYTES == ED25519_PUBLIC_BYTES, "not Ed25519");
_Static_assert(crypto_sign_BYTES == ED25519_SIGNATURE_BYTES, "not Ed25519");

/* SEQUENCE { SEQUENCE { OID 1.3.101.112 }, BIT STRING } */
static const uint8_t SPKI_HEAD[] = {0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00};
_Static_assert(sizeof SPKI_HEAD + ED25519_PUBLIC_BYTES == ED25519_SPKI_BYTES, "the header and the key are the SPKI");

/* Whether y < 2^255 - 19, little-endian below the sign bit. */
static bool is_canonical(const uint8_t pub[static ED25519_PUBLIC_BYTES])
{
    if ((pub[31] & 0x7f) != 0x7f)
        return true;
    for (int i = 30; i > 0; i--) {
        if (pub[i] != 0xff)
            return true;
    }
    return pub[0] < 0xed;
}

/* Whether the key is a point of the curve, canonically encoded, and [8]A is not the identity. */
static bool is_acceptable(const uint8_t pub[static ED25519_PUBLIC_BYTES])
{
    static const uint8_t IDENTITY[ED25519_PUBLIC_BYTES] = {1};
    uint8_t point[ED25519_PUBLIC_BYTES];
    if (!is_canonical(pub))
        return false;
    memcpy(point, pub, sizeof point);
    for (int i = 0; i < 3; i++) {
        uint8_t twice[ED25519_PUBLIC_BYTES];
        if (crypto_core_ed25519_add(twice, point, point) != 0)
            return false;
        memcpy(point, twice, sizeof point);
    }
    return memcmp(point, IDENTITY, sizeof point) != 0;
}

enum err ed25519_verify(const uint8_t pub[static ED25519_PUBLIC_BYTES], const void *msg, size_t msg_len,
                        const uint8_t sig[static ED25519_SIGNATURE_BYTES])
{
    if (crypto_sign_ed25519_verify_detached(sig, msg, msg_len, pub) == 0)
        return ERR_OK;
    return is_acceptable(pub) ? ERR_SIGNATURE : ERR_KEY;
}

void ed25519_spki(const uint8_t pub[static ED25519_PUBLIC_BYTES], uint8_t out[static ED25519_SPKI_BYTES])
{
    memcpy(out, SPKI_HEAD, sizeof SPKI_HEAD);
    memcpy(out + sizeof SPKI_HEAD, pub, ED25519_PUBLIC_BYTES);
}

enum err ed25519_spki_parse(const uint8_t *der, size_t len, uint8_t pub[static ED25519_PUBLIC_BYTES])
{
    if (len != ED25519_SPKI_BYTES || memcmp(der, SPKI_HEAD, sizeof SPKI_HEAD) != 0)
        return ERR_KEY;
    memcpy(pub, der + sizeof SPKI_HEAD, ED25519_PUBLIC_BYTES);
    return ERR_OK;
}

void ed25519_kid(const uint8_t pub[static ED25519_PUBLIC_BYTES], char out[static DIGEST_TEXT_BYTES])
{
    uint8_t spki[ED25519_SPKI_BYTES], hash[DIGEST_BYTES];
    ed25519_spki(pub, spki);
    digest_sha256(spki, sizeof spki, hash);
    digest_text(hash, out);
}
