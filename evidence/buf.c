#include "evidence/buf.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BYTES = 64 };

void buf_init(struct buf *b, size_t max)
{
    *b = (struct buf){.data = NULL, .max = max};
}

void buf_wipe(struct buf *b)
{
    free(b->data);
    buf_init(b, b->max);
}

void buf_reset(struct buf *b)
{
    b->len = 0;
    b->err = ERR_OK;
}

/* Doubling keeps many small writes linear; the maximum bounds the last step. */
static size_t grown(const struct buf *b, size_t need)
{
    size_t cap = b->cap < FIRST_BYTES ? FIRST_BYTES : b->cap;
    while (cap < need)
        cap = cap > b->max / 2 ? b->max : cap * 2;
    return cap;
}

uint8_t *buf_reserve(struct buf *b, size_t len)
{
    if (b->err != ERR_OK)
        return NULL;
    if (len > b->max - b->len) {
        b->err = ERR_TOO_LARGE;
        return NULL;
    }
    if (b->data == NULL || len > b->cap - b->len) {
        size_t cap = grown(b, b->len + len);
        uint8_t *data = cap <= PTRDIFF_MAX ? realloc(b->data, cap) : NULL;
        if (data == NULL) {
            b->err = ERR_NOMEM;
            return NULL;
        }
        b->data = data;
        b->cap = cap;
    }
    return b->data + b->len;
}

void buf_commit(struct buf *b, size_t len)
{
    assert(b->err == ERR_OK && len <= b->cap - b->len);
    b->len += len;
}

void buf_put(struct buf *b, const void *bytes, size_t len)
{
    uint8_t *at = buf_reserve(b, len);
    if (at == NULL || len == 0)
        return;
    memcpy(at, bytes, len);
    b->len += len;
}

void buf_puts(struct buf *b, const char *text)
{
    buf_put(b, text, strlen(text));
}

void buf_putc(struct buf *b, uint8_t byte)
{
    buf_put(b, &byte, 1);
}

void buf_printf(struct buf *b, const char *format, ...)
{
    char small[256];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(small, sizeof small, format, args);
    va_end(args);
    if (n < 0) {
        b->err = b->err == ERR_OK ? ERR_NOMEM : b->err;
        return;
    }
    if ((size_t)n < sizeof small) {
        buf_put(b, small, (size_t)n);
        return;
    }
    char *large = malloc((size_t)n + 1);
    if (large == NULL) {
        b->err = b->err == ERR_OK ? ERR_NOMEM : b->err;
        return;
    }
    va_start(args, format);
    vsnprintf(large, (size_t)n + 1, format, args);
    va_end(args);
    buf_put(b, large, (size_t)n);
    free(large);
}

void buf_put_u32(struct buf *b, uint32_t v)
{
    uint8_t bytes[4];
    for (int i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(v >> (24 - 8 * i));
    buf_put(b, bytes, sizeof bytes);
}

void buf_put_u64(struct buf *b, uint64_t v)
{
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(v >> (56 - 8 * i));
    buf_put(b, bytes, sizeof bytes);
}

void buf_consume(struct buf *b, size_t len)
{
    assert(len <= b->len);
    b->len -= len;
    if (b->len > 0)
        memmove(b->data, b->data + len, b->len);
}

enum err buf_err(const struct buf *b)
{
    return b->err;
}
