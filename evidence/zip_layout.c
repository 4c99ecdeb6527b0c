#include "evidence/zip_layout.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum {
    VERSION = 20,         /* 2.0: deflate */
    MADE_ON_UNIX = 3,     /* so that the attributes hold a mode */
    DOS_DATE_1980 = 0x21, /* 1980-01-01: the first day that a zip can name */
};

static uint16_t get_u16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static uint32_t get_u32(const uint8_t *p)
{
    return get_u16(p) | (uint32_t)get_u16(p + 2) << 16;
}

static uint8_t *put_u16(uint8_t *p, unsigned v)
{
    p[0] = v & 0xff;
    p[1] = v >> 8 & 0xff;
    return p + 2;
}

static uint8_t *put_u32(uint8_t *p, uint32_t v)
{
    return put_u16(put_u16(p, v & 0xffff), v >> 16);
}

/* The run of fields from "version needed" to "extra length" that both kinds of header share. */
static void get_shared(const uint8_t *in, struct zip_layout_header *out)
{
    out->needed = get_u16(in);
    out->flags = get_u16(in + 2);
    out->method = get_u16(in + 4);
    out->crc = get_u32(in + 10);
    out->packed_bytes = get_u32(in + 14);
    out->bytes = get_u32(in + 18);
    out->name_len = get_u16(in + 22);
    out->extra_len = get_u16(in + 24);
}

static uint8_t *put_shared(uint8_t *p, const struct zip_layout_header *h)
{
    p = put_u16(p, VERSION);
    p = put_u16(p, h->flags);
    p = put_u16(p, h->method);
    p = put_u16(p, 0); /* time */
    p = put_u16(p, DOS_DATE_1980);
    p = put_u32(p, h->crc);
    p = put_u32(p, h->packed_bytes);
    p = put_u32(p, h->bytes);
    p = put_u16(p, h->name_len);
    return put_u16(p, h->extra_len);
}

void zip_layout_get_local(const uint8_t in[static ZIP_LAYOUT_LOCAL_BYTES], struct zip_layout_header *out)
{
    memset(out, 0, sizeof *out);
    out->signature = get_u32(in);
    get_shared(in + 4, out);
}

void zip_layout_get_central(const uint8_t in[static ZIP_LAYOUT_CENTRAL_BYTES], struct zip_layout_header *out)
{
    memset(out, 0, sizeof *out);
    out->signature = get_u32(in);
    get_shared(in + 6, out);
    out->comment_len = get_u16(in + 32);
    out->attributes = get_u32(in + 38);
    out->offset = get_u32(in + 42);
}

void zip_layout_get_end(const uint8_t in[static ZIP_LAYOUT_END_BYTES], struct zip_layout_end *out)
{
    out->signature = get_u32(in);
    out->disk = get_u16(in + 4);
    out->directory_disk = get_u16(in + 6);
    out->count_here = get_u16(in + 8);
    out->count = get_u16(in + 10);
    out->directory_bytes = get_u32(in + 12);
    out->directory_offset = get_u32(in + 16);
    out->comment_len = get_u16(in + 20);
}

void zip_layout_put_local(const struct zip_layout_header *h, uint8_t out[static ZIP_LAYOUT_LOCAL_BYTES])
{
    put_shared(put_u32(out, ZIP_LAYOUT_LOCAL_SIGNATURE), h);
}

void zip_layout_put_central(const struct zip_layout_header *h, uint8_t out[static ZIP_LAYOUT_CENTRAL_BYTES])
{
    uint8_t *p = put_u32(out, ZIP_LAYOUT_CENTRAL_SIGNATURE);
    p = put_u16(p, MADE_ON_UNIX << 8 | VERSION);
    p = put_shared(p, h);
    p = put_u16(p, h->comment_len);
    p = put_u16(p, 0); /* disk */
    p = put_u16(p, 0); /* internal attributes */
    p = put_u32(p, h->attributes);
    put_u32(p, h->offset);
}

void zip_layout_put_end(const struct zip_layout_end *end, uint8_t out[static ZIP_LAYOUT_END_BYTES])
{
    uint8_t *p = put_u32(out, ZIP_LAYOUT_END_SIGNATURE);
    p = put_u16(p, end->disk);
    p = put_u16(p, end->directory_disk);
    p = put_u16(p, end->count_here);
    p = put_u16(p, end->count);
    p = put_u32(p, end->directory_bytes);
    p = put_u32(p, end->directory_offset);
    put_u16(p, end->comment_len);
}

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
}

bool zip_layout_is_name(const char *name, size_t len)
{
    bool dots_only = true; /* in the segment so far; true for an empty one too */

    if (len == 0 || len >= ZIP_NAME_BYTES || name[0] == '.')
        return false;
    for (size_t i = 0; i < len; i++) {
        if (name[i] != '/' && !is_name_char(name[i]))
            return false;
        if (name[i] == '/' && dots_only)
            return false;
        dots_only = name[i] == '/' || (dots_only && name[i] == '.');
    }
    return !dots_only;
}

enum err zip_layout_read(int fd, uint64_t offset, void *out, size_t len, struct fault *fault)
{
    uint8_t *p = out;

    while (len > 0) {
        ssize_t n = pread(fd, p, len, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fault_set(fault, ERR_IO, "cannot read at byte %llu: %s", (unsigned long long)offset,
                             strerror(errno));
        if (n == 0)
            return fault_set(fault, ERR_ZIP, "cut off at byte %llu", (unsigned long long)offset);
        p += n;
        len -= (size_t)n;
        offset += (uint64_t)n;
    }
    return ERR_OK;
}
