/* base64.h - standard base64 with padding (RFC 4648 section 4); only its canonical form is accepted. */
#ifndef EVIDENCE_BASE64_H
#define EVIDENCE_BASE64_H

#include <stddef.h>
#include <stdint.h>

#include "evidence/err.h"

/* Bytes of the text of `len` bytes, with its NUL. */
#define BASE64_TEXT_BYTES(len) (((len) + 2) / 3 * 4 + 1)

/* Writes BASE64_TEXT_BYTES(len) bytes to `out`. */
void base64_encode(const uint8_t *bytes, size_t len, char *out);

/* Decodes `text_len` characters into at most `max` bytes; *len is how many. Errors: BASE64 (bad character, bad or
 * missing padding, bits set beyond the last byte, white space, more than `max` bytes); *len is untouched then. */
enum err base64_decode(const char *text, size_t text_len, uint8_t *out, size_t max, size_t *len) MUST_USE;

#endif
