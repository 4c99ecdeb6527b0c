/*
 * visible.h - text of unknown origin, made visible for a terminal.
 *
 * Invariant: the output is valid UTF-8 without control characters (C0, DEL, C1), bidirectional or zero-width
 * format characters, line or paragraph separators, private use and unassigned-looking tag characters: each is written
 * as an escape (\n, \t, \x1b, \u{202e}), a backslash as \\, and a byte that is not UTF-8 as \xNN. So nothing that came
 * from an agent can move the cursor, hide itself, or reorder what stands around it.
 */
#ifndef EVIDENCE_VISIBLE_H
#define EVIDENCE_VISIBLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "evidence/buf.h"

/* Decodes one code point from at most `len` bytes (len > 0): *code, and returns its length in bytes, or 0 when the
 * bytes do not start with one valid UTF-8 sequence (no surrogates, no overlong forms, at most U+10FFFF). */
size_t visible_decode(const uint8_t *bytes, size_t len, uint32_t *code);

/* Whether a terminal may be given this code point as it is. */
bool visible_is_plain(uint32_t code);

/* Appends `len` bytes of `text`, made visible, to `out`. When the result would be longer than `max_chars` code points
 * it is cut and followed by "... (N more characters)"; SIZE_MAX never cuts. */
void visible_write(struct buf *out, const char *text, size_t len, size_t max_chars);

/* Like visible_write, but drops what is not plain and escapes nothing (upstream's manner in reports). */
void visible_strip(struct buf *out, const char *text, size_t len, size_t max_chars);

#endif
