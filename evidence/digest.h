/*
 * digest.h - SHA-256 and HMAC-SHA-256, and their text forms.
 *
 * Text forms are those of upstream's format-v2.md: "sha256:" or "hmac-sha256:" and 64 lower-case hexadecimal digits.
 * Hostile: the texts given to digest_unhex and digest_parse.
 *
 * Nothing here, in base64.h or in ed25519.h needs sodium_init: hashing, HMAC, the codecs and verification use no state
 * of the library. Programs that draw random numbers or hold secrets call it themselves.
 */
#ifndef EVIDENCE_DIGEST_H
#define EVIDENCE_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "evidence/err.h"
#include "evidence/json.h"

enum {
    DIGEST_BYTES = 32,
    DIGEST_HEX_BYTES = 65,       /* 64 digits and NUL */
    DIGEST_TEXT_BYTES = 72,      /* "sha256:" + 64 digits + NUL */
    DIGEST_HMAC_TEXT_BYTES = 77, /* "hmac-sha256:" + 64 digits + NUL */
};

/* The hash of a record that has no predecessor. */
#define DIGEST_ZERO_TEXT "sha256:0000000000000000000000000000000000000000000000000000000000000000"

void digest_sha256(const void *bytes, size_t len, uint8_t out[static DIGEST_BYTES]);
void digest_hmac(const uint8_t *key, size_t key_len, const void *bytes, size_t len, uint8_t out[static DIGEST_BYTES]);

/* Incremental SHA-256: init, any number of updates, final. */
struct digest_state {
    _Alignas(16) uint8_t opaque[128];
};
void digest_init(struct digest_state *s);
void digest_update(struct digest_state *s, const void *bytes, size_t len);
void digest_final(struct digest_state *s, uint8_t out[static DIGEST_BYTES]);

/* Lower-case hexadecimal of `len` bytes and a NUL: 2 * len + 1 bytes at `out`. */
void digest_hex(const uint8_t *bytes, size_t len, char *out);
/* The bytes of exactly 2 * len lower-case digits (text_len counts them). Errors: HEX. */
enum err digest_unhex(const char *text, size_t text_len, uint8_t *out, size_t len) MUST_USE;

/* "sha256:<hex>" of 32 bytes, and back (errors: HEX for anything else). */
void digest_text(const uint8_t hash[static DIGEST_BYTES], char out[static DIGEST_TEXT_BYTES]);
enum err digest_parse(const char *text, size_t len, uint8_t out[static DIGEST_BYTES]) MUST_USE;

/* Compares 32 bytes in constant time. */
bool digest_equal(const uint8_t a[static DIGEST_BYTES], const uint8_t b[static DIGEST_BYTES]);

#endif
