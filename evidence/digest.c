#include "evidence/digest.h"

#include <sodium.h>
#include <string.h>

_Static_assert(sizeof(crypto_hash_sha256_state) <= sizeof(struct digest_state), "the state does not fit");
_Static_assert(crypto_hash_sha256_BYTES == DIGEST_BYTES, "not SHA-256");

static const char PREFIX[] = "sha256:";
enum { PREFIX_CHARS = sizeof PREFIX - 1, TEXT_CHARS = DIGEST_TEXT_BYTES - 1 };

void digest_sha256(const void *bytes, size_t len, uint8_t out[static DIGEST_BYTES])
{
    crypto_hash_sha256(out, bytes, len);
}

void digest_hmac(const uint8_t *key, size_t key_len, const void *bytes, size_t len, uint8_t out[static DIGEST_BYTES])
{
    crypto_auth_hmacsha256_state state;
    crypto_auth_hmacsha256_init(&state, key, key_len);
    crypto_auth_hmacsha256_update(&state, bytes, len);
    crypto_auth_hmacsha256_final(&state, out);
    sodium_memzero(&state, sizeof state);
}

void digest_init(struct digest_state *s)
{
    crypto_hash_sha256_state state;
    crypto_hash_sha256_init(&state);
    memcpy(s->opaque, &state, sizeof state);
}

void digest_update(struct digest_state *s, const void *bytes, size_t len)
{
    crypto_hash_sha256_state state;
    memcpy(&state, s->opaque, sizeof state);
    crypto_hash_sha256_update(&state, bytes, len);
    memcpy(s->opaque, &state, sizeof state);
}

void digest_final(struct digest_state *s, uint8_t out[static DIGEST_BYTES])
{
    crypto_hash_sha256_state state;
    memcpy(&state, s->opaque, sizeof state);
    crypto_hash_sha256_final(&state, out);
    sodium_memzero(s->opaque, sizeof s->opaque);
}

void digest_hex(const uint8_t *bytes, size_t len, char *out)
{
    sodium_bin2hex(out, 2 * len + 1, bytes, len);
}

static int nibble(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

enum err digest_unhex(const char *text, size_t text_len, uint8_t *out, size_t len)
{
    if (text_len % 2 != 0 || text_len / 2 != len)
        return ERR_HEX;
    for (size_t i = 0; i < text_len; i++) {
        if (nibble(text[i]) < 0)
            return ERR_HEX;
    }
    for (size_t i = 0; i < len; i++)
        out[i] = (uint8_t)(nibble(text[2 * i]) << 4 | nibble(text[2 * i + 1]));
    return ERR_OK;
}

void digest_text(const uint8_t hash[static DIGEST_BYTES], char out[static DIGEST_TEXT_BYTES])
{
    memcpy(out, PREFIX, PREFIX_CHARS);
    digest_hex(hash, DIGEST_BYTES, out + PREFIX_CHARS);
}

enum err digest_parse(const char *text, size_t len, uint8_t out[static DIGEST_BYTES])
{
    if (len != TEXT_CHARS || memcmp(text, PREFIX, PREFIX_CHARS) != 0)
        return ERR_HEX;
    return digest_unhex(text + PREFIX_CHARS, len - PREFIX_CHARS, out, DIGEST_BYTES);
}

bool digest_equal(const uint8_t a[static DIGEST_BYTES], const uint8_t b[static DIGEST_BYTES])
{
    return sodium_memcmp(a, b, DIGEST_BYTES) == 0;
}
