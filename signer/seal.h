/*
 * seal.h - the arguments of held calls, sealed while they wait, and the salts of commitments.
 *
 * Invariant: what a call was asked to do stands in the database only sealed (XSalsa20-Poly1305 under keys/seal.key) and only
 * until its approval ends; published records hold commitments only (keys/args_salt.key).
 */
#ifndef SIGNER_SEAL_H
#define SIGNER_SEAL_H

#include <stddef.h>
#include <stdint.h>

#include "evidence/buf.h"
#include "evidence/digest.h"
#include "evidence/err.h"

struct seal;

/* Opens seal.key and args_salt.key, or makes them. Errors as holder_open. */
enum err seal_open(int directory, int create, struct seal **out, struct fault *fault) MUST_USE;
void seal_close(struct seal *s); /* wipes the keys */

/* Appends the sealed bytes. Errors: NOMEM, TOO_LARGE. */
enum err seal_write(const struct seal *s, const void *bytes, size_t len, struct buf *out) MUST_USE;
/* Appends the plain bytes. Errors: LEDGER when they were not sealed by us, NOMEM, TOO_LARGE. */
enum err seal_read(const struct seal *s, const void *bytes, size_t len, struct buf *out) MUST_USE;

/* The commitment to a digest text under the salt of `label` (evidence/commit.h). */
void seal_commit(const struct seal *s, const char *label, const char *digest_text,
                 char out[static DIGEST_HMAC_TEXT_BYTES]);

#endif
