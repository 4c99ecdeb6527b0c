/*
 * buf.h - a growing byte buffer with a maximum.
 *
 * Invariant: len <= max, and after the first failure (out of memory, or over the maximum) the buffer takes nothing
 * more and buf_err says why: a run of writes is checked once at its end. A buffer never truncates in silence.
 */
#ifndef EVIDENCE_BUF_H
#define EVIDENCE_BUF_H

#include <stddef.h>
#include <stdint.h>

#include "evidence/err.h"

struct buf {
    uint8_t *data; /* owned; valid until the next buf_* call that may write; NULL while empty */
    size_t len;
    size_t cap;
    size_t max;
    enum err err; /* OK, NOMEM or TOO_LARGE */
};

/* An empty buffer that may grow to `max` bytes. Allocates nothing. */
void buf_init(struct buf *b, size_t max);

/* Frees the memory; the struct is empty and may be used again with the same maximum. Wipes nothing. */
void buf_wipe(struct buf *b);

/* Forgets the contents and any failure, keeps the memory. */
void buf_reset(struct buf *b);

void buf_put(struct buf *b, const void *bytes, size_t len);
void buf_puts(struct buf *b, const char *text);
void buf_putc(struct buf *b, uint8_t byte);
void buf_printf(struct buf *b, const char *format, ...) PRINTF_LIKE(2, 3);
void buf_put_u32(struct buf *b, uint32_t v); /* big-endian */
void buf_put_u64(struct buf *b, uint64_t v); /* big-endian */

/* Room for `len` more bytes at the end: returns where to write them, NULL on failure (then buf_err is set). Call
 * buf_commit with the number of bytes really written, at most `len`. */
uint8_t *buf_reserve(struct buf *b, size_t len);
void buf_commit(struct buf *b, size_t len);

/* Drops `len` bytes (at most b->len) from the front. */
void buf_consume(struct buf *b, size_t len);

/* The first failure, or OK. */
enum err buf_err(const struct buf *b) MUST_USE;

#endif
