#include "evidence/zip.h"

#include <stdlib.h>
#include <zlib.h>

#include "evidence/zip_layout.h"

enum { PIECE_BYTES = 64 << 10 };

/* One entry being read. */
struct reading {
    const struct zip *z;
    const struct zip_entry *e;
    zip_chunk *chunk;
    void *ctx;
    struct fault *fault;
    uint64_t packed_left, left; /* still to read, still to deliver */
    uLong crc;
    uint8_t *in, *out; /* PIECE_BYTES each */
};

static enum err refuse(const struct reading *r, const char *why)
{
    return fault_set(r->fault, ERR_ZIP, "%.80s: %s", r->e->name, why);
}

/* Hands one piece on. A piece that goes beyond the entry's size is never delivered: no bomb gets further than this. */
static enum err deliver(struct reading *r, const uint8_t *bytes, size_t len)
{
    if (len > r->left)
        return refuse(r, "holds more bytes than its header says");
    r->left -= len;
    r->crc = crc32(r->crc, bytes, (uInt)len);
    return len == 0 ? ERR_OK : r->chunk(r->ctx, bytes, len);
}

/* Reads the next piece of the packed bytes into r->in; *len is 0 when there are none left. */
static enum err next_piece(struct reading *r, size_t *len)
{
    size_t n = r->packed_left < PIECE_BYTES ? (size_t)r->packed_left : PIECE_BYTES;
    enum err e = zip_layout_read(r->z->fd, r->e->offset + (r->e->packed_bytes - r->packed_left), r->in, n, r->fault);
    if (e != ERR_OK)
        return e;
    r->packed_left -= n;
    *len = n;
    return ERR_OK;
}

static enum err read_stored(struct reading *r)
{
    size_t len = 0;

    while (r->packed_left > 0) {
        enum err e = next_piece(r, &len);
        if (e == ERR_OK)
            e = deliver(r, r->in, len);
        if (e != ERR_OK)
            return e;
    }
    return ERR_OK;
}

static enum err inflate_all(struct reading *r, z_stream *s)
{
    int rc = Z_OK;

    s->avail_out = PIECE_BYTES;
    while (rc != Z_STREAM_END) {
        size_t len = 0;
        /* An output that was filled to its end may have more behind it without any input. */
        if (s->avail_in == 0 && s->avail_out > 0) {
            enum err e = next_piece(r, &len);
            if (e != ERR_OK)
                return e;
            if (len == 0)
                return refuse(r, "its deflated data is cut off");
            s->next_in = r->in;
            s->avail_in = (uInt)len;
        }
        s->next_out = r->out;
        s->avail_out = PIECE_BYTES;
        rc = inflate(s, Z_NO_FLUSH);
        if (rc == Z_MEM_ERROR)
            return ERR_NOMEM;
        if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
            return refuse(r, "its deflated data is broken");
        enum err e = deliver(r, r->out, PIECE_BYTES - s->avail_out);
        if (e != ERR_OK)
            return e;
    }
    if (s->avail_in > 0 || r->packed_left > 0)
        return refuse(r, "bytes behind its deflated data");
    return ERR_OK;
}

static enum err read_deflated(struct reading *r)
{
    z_stream s = {0};

    if (inflateInit2(&s, -MAX_WBITS) != Z_OK)
        return ERR_NOMEM;
    enum err e = inflate_all(r, &s);
    inflateEnd(&s);
    return e;
}

enum err zip_stream(const struct zip *z, const struct zip_entry *e, zip_chunk *chunk, void *ctx, struct fault *fault)
{
    struct reading r = {.z = z, .e = e, .chunk = chunk, .ctx = ctx, .fault = fault};
    r.packed_left = e->packed_bytes;
    r.left = e->bytes;
    r.crc = crc32(0, NULL, 0);
    r.in = malloc(PIECE_BYTES);
    r.out = malloc(PIECE_BYTES);

    enum err err = ERR_NOMEM;
    if (r.in != NULL && r.out != NULL)
        err = e->method == ZIP_LAYOUT_STORED ? read_stored(&r) : read_deflated(&r);
    if (err == ERR_OK && r.left > 0)
        err = refuse(&r, "holds fewer bytes than its header says");
    if (err == ERR_OK && r.crc != e->crc)
        err = refuse(&r, "its CRC does not match");
    free(r.in);
    free(r.out);
    return err;
}

static enum err append(void *ctx, const uint8_t *bytes, size_t len)
{
    struct buf *out = ctx;
    buf_put(out, bytes, len);
    return buf_err(out);
}

enum err zip_read(const struct zip *z, const struct zip_entry *e, struct buf *out, struct fault *fault)
{
    if (out->max - out->len < e->bytes)
        return fault_set(fault, ERR_TOO_LARGE, "%.80s: %u bytes, at most %zu are allowed", e->name, e->bytes,
                         out->max - out->len);
    return zip_stream(z, e, append, out, fault);
}
