/*
 * jcs.h - canonical JSON (JCS, RFC 8785).
 *
 * Invariant: equal values give equal bytes, on every machine: keys sorted by UTF-16 code units, no white space, numbers
 * as ECMAScript prints them, minimal escapes, UTF-8.
 *
 * Beware: a real from 2^53 up to 1e21 (the token 1e20, say) is written without an exponent, and json_parse refuses such a
 * token as an integer out of range. Values that may hold one are hashed in canonical form, but not kept in it to be parsed
 * again; json_parse_loose reads it back as the same real.
 */
#ifndef EVIDENCE_JCS_H
#define EVIDENCE_JCS_H

#include "evidence/buf.h"
#include "evidence/err.h"
#include "evidence/json.h"

/* Room for the longest text of a number, with its NUL. */
enum { JCS_NUMBER_BYTES = 40 };

/* Containers inside each other: what a parsed value may have, and as many again around it. */
enum { JCS_MAX_DEPTH = 2 * JSON_MAX_DEPTH };

/* Appends the canonical form of `v` to `out`. Errors: NOMEM (also when `v` or a part of it could not be built),
 * TOO_LARGE (over the buffer's maximum, or built deeper than JCS_MAX_DEPTH). On failure `out` holds an unusable prefix and its error is set. */
enum err jcs_write(struct buf *out, const struct json *v) MUST_USE;

/* Appends the canonical form of a string: `len` bytes of valid UTF-8. */
void jcs_string(struct buf *out, const char *text, size_t len);

/* ECMAScript's Number::toString of a finite number (ECMA-262 6.1.6.1.20). */
void jcs_number(double v, char out[static JCS_NUMBER_BYTES]);

#endif
