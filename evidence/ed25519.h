/*
 * ed25519.h - Ed25519 public keys and strict verification (RFC 8032; upstream's format-v2.md section 4).
 *
 * Invariant: a signature is accepted only under the strict rules that every implementation of the format shares:
 * S < L, a canonically encoded public key that is not of small order, and the cofactorless equation. No secret key
 * ever comes here: signing is the key holder's (signer/holder.h).
 */
#ifndef EVIDENCE_ED25519_H
#define EVIDENCE_ED25519_H

#include <stddef.h>
#include <stdint.h>

#include "evidence/digest.h"
#include "evidence/err.h"

enum {
    ED25519_PUBLIC_BYTES = 32,
    ED25519_SIGNATURE_BYTES = 64,
    ED25519_SPKI_BYTES = 44, /* DER SubjectPublicKeyInfo (RFC 8410) */
};

/* Errors: KEY (not canonical, not on the curve, or of small order), SIGNATURE. Verification is in variable time.
 *
 * Stricter than upstream in one thing: a signature whose R is of small order is refused, even where the equation holds.
 * Only the owner of the key can make one, on purpose, with a nonce of 0; no signer ever does. */
enum err ed25519_verify(const uint8_t pub[static ED25519_PUBLIC_BYTES], const void *msg, size_t msg_len,
                        const uint8_t sig[static ED25519_SIGNATURE_BYTES]) MUST_USE;

/* The DER SubjectPublicKeyInfo of a raw public key, and back (errors: KEY for any other DER; the key itself is not
 * checked here, ed25519_verify does that). */
void ed25519_spki(const uint8_t pub[static ED25519_PUBLIC_BYTES], uint8_t out[static ED25519_SPKI_BYTES]);
enum err ed25519_spki_parse(const uint8_t *der, size_t len, uint8_t pub[static ED25519_PUBLIC_BYTES]) MUST_USE;

/* kid = "sha256:" + hex of the SHA-256 of the SPKI. */
void ed25519_kid(const uint8_t pub[static ED25519_PUBLIC_BYTES], char out[static DIGEST_TEXT_BYTES]);

#endif
