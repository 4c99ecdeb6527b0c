/*
 * record.h - v2 records: an event, its hash, and one signature (upstream's format-v2.md section 4).
 *
 * Invariant: record_open succeeds only for an object of exactly the six keys v, event, hash, alg, kid, sig whose hash
 * is that of its event's canonical form; record_verify only when, besides, the signature over the signature message
 * verifies under a key with that kid. Hostile: every byte of a record.
 */
#ifndef EVIDENCE_RECORD_H
#define EVIDENCE_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "evidence/buf.h"
#include "evidence/digest.h"
#include "evidence/ed25519.h"
#include "evidence/err.h"
#include "evidence/json.h"

enum { RECORD_MAX_BYTES = 1 << 20 }; /* one line of a JSON lines file, without its newline */

/* One record, borrowed from the parsed JSON that it was opened from. Strings are NUL-terminated. */
struct record {
    const struct json *event;
    const struct json *data; /* event.data; NULL when it is no object */
    const char *hash;        /* "sha256:<hex>", equal to the event's */
    const char *alg;
    const char *kid;
    const char *sig; /* base64 as it stands */
    uint8_t hash_bytes[DIGEST_BYTES];
    /* Fields of the event that the verifier orders by. Strings are NULL when absent, of a wrong type or with a NUL byte
     * inside; numbers are -1 when absent, no integer token or negative. The schema check says so. */
    const char *type, *tenant, *run_id, *log_id, *prev_hash, *run_prev_hash, *schema_version, *ts, *source;
    int64_t seq, run_seq;
};

/* Opens one record. Errors: RECORD (shape), HASH, NOMEM. Borrows from `value`. */
enum err record_open(const struct json *value, struct record *out) MUST_USE;

/* Appends the signature message of an event that has this hash, alg and kid (missing fields as null). Errors: NOMEM,
 * TOO_LARGE. */
enum err record_message(struct buf *out, const struct json *event, const char *hash, const char *alg,
                        const char *kid) MUST_USE;

/* Verifies the signature of an opened record with the key `pub`, whose kid must be the record's. Errors: ALG when the
 * record's alg is not "ed25519"; UNKNOWN_KID; BASE64; SIGNATURE (also for one that has not 64 bytes); KEY; NOMEM. Stricter
 * than upstream in one thing: base64 must be canonical, with no bits set beyond the last byte. */
enum err record_verify(const struct record *r, const uint8_t pub[static ED25519_PUBLIC_BYTES]) MUST_USE;

/* "sha256:<hex>" of an event's canonical form. Errors: NOMEM, TOO_LARGE. */
enum err record_event_hash(const struct json *event, uint8_t out[static DIGEST_BYTES]) MUST_USE;

/* Appends the record as one line of canonical JSON, without a newline. Errors: NOMEM, TOO_LARGE. */
enum err record_write(struct buf *out, struct arena *arena, const struct json *event, const char *hash, const char *kid,
                      const uint8_t sig[static ED25519_SIGNATURE_BYTES]) MUST_USE;

#endif
