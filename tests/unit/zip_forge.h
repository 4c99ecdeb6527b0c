/*
 * zip_forge.h - zip files byte by byte, right ones and wrong ones, for test_zip.c.
 *
 * Invariant: without changes a forged zip is what zip.h accepts; each change breaks one rule, and all other fields still
 * fit what stands in the file.
 */
#ifndef UNIT_ZIP_FORGE_H
#define UNIT_ZIP_FORGE_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "evidence/buf.h"
#include "evidence/zip.h"

enum { FORGE_MAX_ITEMS = 16, FORGE_MAX_BYTES = 1 << 20, FORGE_PATH_BYTES = 32, FORGE_PIECE_BYTES = 64 << 10 };

/* One entry. The declared fields are the true ones unless forge_pack's results are changed afterwards. */
struct forge_item {
    const char *name;
    size_t name_len;
    const uint8_t *packed;
    uint32_t packed_bytes, bytes, crc;
    uint16_t method;
};

/* Bytes put where none may be; NULL for none. Those about an entry are about the second one. */
struct forge_extra {
    const char *prefix, *gap, *local_extra, *central_extra, *central_comment, *before_directory, *before_end,
        *end_comment, *suffix;
};

struct forged {
    struct buf bytes;
    size_t local[FORGE_MAX_ITEMS], central[FORGE_MAX_ITEMS], end; /* where the headers stand */
};

static inline void forge_u16(struct buf *b, unsigned v)
{
    buf_putc(b, v & 0xff);
    buf_putc(b, v >> 8 & 0xff);
}

static inline void forge_u32(struct buf *b, uint32_t v)
{
    forge_u16(b, v & 0xffff);
    forge_u16(b, v >> 16);
}

static inline unsigned forge_len(const char *text)
{
    return text == NULL ? 0 : (unsigned)strlen(text);
}

static inline void forge_text(struct buf *b, const char *text)
{
    buf_put(b, text == NULL ? "" : text, forge_len(text));
}

/* A stored entry of `data`. */
static inline struct forge_item forge_stored(const char *name, const void *data, size_t len)
{
    struct forge_item item = {.name = name, .name_len = strlen(name), .packed = data, .packed_bytes = (uint32_t)len};
    item.bytes = (uint32_t)len;
    item.crc = (uint32_t)crc32(crc32(0, NULL, 0), data, (uInt)len);
    return item;
}

/* A deflated entry of `data`; its packed bytes go into `packed`, which the caller wipes after the zip was made. */
static inline struct forge_item forge_deflated(const char *name, const void *data, size_t len, struct buf *packed)
{
    struct forge_item item = forge_stored(name, data, len);
    z_stream s = {0};
    union {
        const void *data;
        Bytef *input;
    } u = {data};
    buf_init(packed, len + 1024);
    uint8_t *room = buf_reserve(packed, len + 1024);
    assert_non_null(room);
    assert_int_equal(deflateInit2(&s, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    s.next_in = u.input;
    s.avail_in = (uInt)len;
    s.next_out = room;
    s.avail_out = (uInt)len + 1024;
    assert_int_equal(deflate(&s, Z_FINISH), Z_STREAM_END);
    buf_commit(packed, s.total_out);
    deflateEnd(&s);
    item.packed = packed->data;
    item.packed_bytes = (uint32_t)packed->len;
    item.method = 8;
    return item;
}

/* The fields from "version needed" to "extra length". */
static inline void forge_shared(struct buf *b, const struct forge_item *item, unsigned extra)
{
    forge_u16(b, 20);
    forge_u16(b, 0);
    forge_u16(b, item->method);
    forge_u32(b, 0x00210000);
    forge_u32(b, item->crc);
    forge_u32(b, item->packed_bytes);
    forge_u32(b, item->bytes);
    forge_u16(b, (unsigned)item->name_len);
    forge_u16(b, extra);
}

static inline void forge_local(struct buf *b, const struct forge_item *item, const char *extra)
{
    forge_u32(b, 0x04034b50);
    forge_shared(b, item, forge_len(extra));
    buf_put(b, item->name, item->name_len);
    forge_text(b, extra);
    buf_put(b, item->packed, item->packed_bytes);
}

static inline void forge_central(struct buf *b, const struct forge_item *item, size_t local, const char *extra,
                                 const char *comment)
{
    forge_u32(b, 0x02014b50);
    forge_u16(b, 3 << 8 | 20);
    forge_shared(b, item, forge_len(extra));
    forge_u16(b, forge_len(comment));
    forge_u16(b, 0);
    forge_u16(b, 0);
    forge_u32(b, UINT32_C(0100644) << 16);
    forge_u32(b, (uint32_t)local);
    buf_put(b, item->name, item->name_len);
    forge_text(b, extra);
    forge_text(b, comment);
}

/* The zip of these items. The caller wipes f->bytes. */
static inline void forge(struct forged *f, const struct forge_item *items, size_t count, const struct forge_extra *x)
{
    static const struct forge_extra none;
    struct buf *b = &f->bytes;

    x = x == NULL ? &none : x;
    buf_init(b, FORGE_MAX_BYTES);
    forge_text(b, x->prefix);
    for (size_t i = 0; i < count; i++) {
        forge_text(b, i == 1 ? x->gap : NULL);
        f->local[i] = b->len;
        forge_local(b, &items[i], i == 1 ? x->local_extra : NULL);
    }
    forge_text(b, x->before_directory);
    size_t directory = b->len;
    for (size_t i = 0; i < count; i++) {
        f->central[i] = b->len;
        forge_central(b, &items[i], f->local[i], i == 1 ? x->central_extra : NULL, i == 1 ? x->central_comment : NULL);
    }
    size_t directory_bytes = b->len - directory;
    forge_text(b, x->before_end);
    f->end = b->len;
    forge_u32(b, 0x06054b50);
    forge_u32(b, 0);
    forge_u16(b, (unsigned)count);
    forge_u16(b, (unsigned)count);
    forge_u32(b, (uint32_t)directory_bytes);
    forge_u32(b, (uint32_t)directory);
    forge_u16(b, forge_len(x->end_comment));
    forge_text(b, x->end_comment);
    forge_text(b, x->suffix);
    assert_int_equal(buf_err(b), ERR_OK);
}

/* Three entries: stored, deflated, empty. */
static const char forge_first[] = "the first entry", forge_second[] = "second second second second second second";

static inline void forge_three(struct forged *f, const struct forge_extra *x)
{
    struct buf packed;
    const struct forge_item items[] = {
        forge_stored("manifest.json", forge_first, strlen(forge_first)),
        forge_deflated("runs/a-b_c.jsonl", forge_second, strlen(forge_second), &packed),
        forge_stored("zzz", "", 0),
    };
    forge(f, items, 3, x);
    buf_wipe(&packed);
}

/* Writes a file of these bytes and opens it as a zip. */
static inline enum err forge_open(const void *bytes, size_t len, struct zip **z, struct fault *fault)
{
    char path[FORGE_PATH_BYTES] = "/tmp/tracekit-zip-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, len), len);
    close(fd);
    enum err e = zip_open(path, z, fault);
    unlink(path);
    return e;
}

/* The whole entry as one buffer. */
static inline enum err forge_read(const struct zip *z, const char *name, struct buf *out, struct fault *fault)
{
    const struct zip_entry *e = zip_find(z, name);
    assert_non_null(e);
    buf_init(out, ZIP_MAX_ENTRY_BYTES);
    return zip_read(z, e, out, fault);
}

#endif
