/*
 * commit.h - commitments to what the agent said (upstream's format-v2.md section 2).
 *
 * Invariant: no plain hash of agent content is ever published. What is published is HMAC(salt, digest), where the salt
 * is HMAC(salt key, label) and the label belongs to one record: opening one commitment opens no other.
 */
#ifndef EVIDENCE_COMMIT_H
#define EVIDENCE_COMMIT_H

#include <stdint.h>

#include "evidence/digest.h"
#include "evidence/err.h"
#include "evidence/json.h"

enum { COMMIT_KEY_BYTES = 32, COMMIT_SALT_BYTES = 32 };

/* The longest canonical form that is digested: a full frame (docs/wire.md), grown by the worst that canonical form does
 * to a text. */
enum { COMMIT_MAX_BYTES = 6 * (16 << 20) };

/* "sha256:<hex>" of JCS({"tool": tool, "args": args}). `tool` is NUL-terminated UTF-8. Errors: NOMEM, TOO_LARGE. */
enum err commit_args_digest(const char *tool, const struct json *args, char out[static DIGEST_TEXT_BYTES]) MUST_USE;

/* "sha256:<hex>" of JCS(value), and its byte length into *size (may be NULL). Errors: NOMEM, TOO_LARGE. */
enum err commit_value_digest(const struct json *value, char out[static DIGEST_TEXT_BYTES], uint64_t *size) MUST_USE;

/* salt = HMAC-SHA-256(key, label). */
void commit_salt(const uint8_t key[static COMMIT_KEY_BYTES], const char *label, uint8_t out[static COMMIT_SALT_BYTES]);

/* "hmac-sha256:<hex>" of HMAC-SHA-256(salt, the digest's text). */
void commit_write(const uint8_t salt[static COMMIT_SALT_BYTES], const char *digest_text,
                  char out[static DIGEST_HMAC_TEXT_BYTES]);

#endif
