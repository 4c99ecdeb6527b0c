#define ZLIB_CONST
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "evidence/zip.h"
#include "evidence/zip_layout.h"

enum { PIECE_BYTES = 64 << 10, LEVEL = 6, FIRST_ENTRIES = 64 };

#define REGULAR_0644 (UINT32_C(0100644) << 16)

struct zip_writer {
    FILE *out;
    enum err failed; /* the first failure that makes the file useless */
    bool in_entry;
    uint64_t at;    /* bytes written; the next go here */
    uint64_t total; /* bytes of all entries before packing */
    struct zip_entry *entries;
    size_t count, cap;
    z_stream deflater;
    uint8_t piece[PIECE_BYTES];
};

enum err zip_writer_new(FILE *out, struct zip_writer **w)
{
    struct zip_writer *made = calloc(1, sizeof *made);
    if (made == NULL)
        return ERR_NOMEM;
    made->out = out;
    if (deflateInit2(&made->deflater, LEVEL, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        free(made);
        return ERR_NOMEM;
    }
    *w = made;
    return ERR_OK;
}

void zip_writer_free(struct zip_writer *w)
{
    if (w == NULL)
        return;
    deflateEnd(&w->deflater);
    free(w->entries);
    free(w);
}

static enum err fail(struct zip_writer *w, enum err e)
{
    w->failed = e;
    return e;
}

static enum err put(struct zip_writer *w, const void *bytes, size_t len)
{
    if (fwrite(bytes, 1, len, w->out) != len)
        return ERR_IO;
    w->at += len;
    return ERR_OK;
}

static struct zip_layout_header header_of(const struct zip_entry *e)
{
    size_t name_len = strlen(e->name);
    struct zip_layout_header h = {
        .method = e->method,
        .crc = e->crc,
        .packed_bytes = e->packed_bytes,
        .bytes = e->bytes,
        .name_len = (uint16_t)name_len,
        .attributes = REGULAR_0644,
        .offset = (uint32_t)(e->offset - ZIP_LAYOUT_LOCAL_BYTES - name_len),
    };
    return h;
}

static enum err put_local(struct zip_writer *w, const struct zip_entry *e)
{
    uint8_t raw[ZIP_LAYOUT_LOCAL_BYTES];
    struct zip_layout_header h = header_of(e);

    zip_layout_put_local(&h, raw);
    return put(w, raw, sizeof raw);
}

static enum err grow(struct zip_writer *w)
{
    if (w->count < w->cap)
        return ERR_OK;
    size_t cap = w->cap == 0 ? FIRST_ENTRIES : 2 * w->cap;
    struct zip_entry *entries = realloc(w->entries, cap * sizeof *entries);
    if (entries == NULL)
        return ERR_NOMEM;
    w->entries = entries;
    w->cap = cap;
    return ERR_OK;
}

enum err zip_writer_begin(struct zip_writer *w, const char *name)
{
    size_t name_len = strlen(name);

    if (w->failed != ERR_OK)
        return w->failed;
    assert(!w->in_entry);
    if (!zip_layout_is_name(name, name_len))
        return ERR_ZIP;
    if (w->count == ZIP_MAX_ENTRIES)
        return fail(w, ERR_TOO_LARGE);
    enum err e = grow(w);
    if (e != ERR_OK)
        return fail(w, e);

    struct zip_entry *entry = &w->entries[w->count];
    memset(entry, 0, sizeof *entry);
    memcpy(entry->name, name, name_len + 1);
    entry->offset = w->at + ZIP_LAYOUT_LOCAL_BYTES + name_len;
    entry->crc = (uint32_t)crc32(0, NULL, 0);
    deflateReset(&w->deflater);
    e = put_local(w, entry);
    if (e == ERR_OK)
        e = put(w, name, name_len);
    if (e != ERR_OK)
        return fail(w, e);
    w->in_entry = true;
    return ERR_OK;
}

/* Deflates what the deflater was given as input, with Z_NO_FLUSH, or all that it still holds, with Z_FINISH. */
static enum err pack(struct zip_writer *w, struct zip_entry *entry, int flush)
{
    do {
        w->deflater.next_out = w->piece;
        w->deflater.avail_out = sizeof w->piece;
        int rc = deflate(&w->deflater, flush);
        assert(rc == Z_OK || rc == Z_STREAM_END || rc == Z_BUF_ERROR);
        (void)rc;
        size_t len = sizeof w->piece - w->deflater.avail_out;
        enum err e = put(w, w->piece, len);
        if (e != ERR_OK)
            return e;
        entry->packed_bytes += (uint32_t)len;
    } while (w->deflater.avail_out == 0);
    return ERR_OK;
}

enum err zip_writer_write(struct zip_writer *w, const void *bytes, size_t len)
{
    if (w->failed != ERR_OK)
        return w->failed;
    assert(w->in_entry);
    struct zip_entry *entry = &w->entries[w->count];
    if (len > ZIP_MAX_ENTRY_BYTES - entry->bytes || len > ZIP_MAX_TOTAL_BYTES - w->total)
        return fail(w, ERR_TOO_LARGE);
    if (len == 0)
        return ERR_OK;
    entry->bytes += (uint32_t)len;
    w->total += len;
    entry->crc = (uint32_t)crc32(entry->crc, bytes, (uInt)len);
    entry->method = ZIP_LAYOUT_DEFLATED;
    w->deflater.next_in = bytes;
    w->deflater.avail_in = (uInt)len;
    enum err e = pack(w, entry, Z_NO_FLUSH);
    return e == ERR_OK ? ERR_OK : fail(w, e);
}

/* Writes the local header again, now with the sizes. */
static enum err patch_local(struct zip_writer *w, const struct zip_entry *entry)
{
    uint64_t end = w->at;

    if (fseeko(w->out, (off_t)(entry->offset - ZIP_LAYOUT_LOCAL_BYTES - strlen(entry->name)), SEEK_SET) != 0)
        return ERR_IO;
    enum err e = put_local(w, entry);
    if (e != ERR_OK)
        return e;
    w->at = end;
    return fseeko(w->out, (off_t)end, SEEK_SET) == 0 ? ERR_OK : ERR_IO;
}

enum err zip_writer_end(struct zip_writer *w)
{
    if (w->failed != ERR_OK)
        return w->failed;
    assert(w->in_entry);
    struct zip_entry *entry = &w->entries[w->count];
    enum err e = entry->method == ZIP_LAYOUT_DEFLATED ? pack(w, entry, Z_FINISH) : ERR_OK;
    if (e == ERR_OK)
        e = patch_local(w, entry);
    if (e != ERR_OK)
        return fail(w, e);
    w->in_entry = false;
    w->count++;
    return ERR_OK;
}

static int compare_names(const void *a, const void *b)
{
    const struct zip_entry *left = a, *right = b;
    return strcmp(left->name, right->name);
}

/* Whether a name comes twice. The entries are sorted in a copy: the directory keeps the file's order. */
static enum err check_names(const struct zip_writer *w)
{
    enum err e = ERR_OK;

    if (w->count < 2)
        return ERR_OK;
    struct zip_entry *sorted = malloc(w->count * sizeof *sorted);
    if (sorted == NULL)
        return ERR_NOMEM;
    memcpy(sorted, w->entries, w->count * sizeof *sorted);
    qsort(sorted, w->count, sizeof *sorted, compare_names);
    for (size_t i = 1; i < w->count; i++)
        if (strcmp(sorted[i - 1].name, sorted[i].name) == 0)
            e = ERR_ZIP;
    free(sorted);
    return e;
}

static enum err put_central(struct zip_writer *w, const struct zip_entry *entry)
{
    uint8_t raw[ZIP_LAYOUT_CENTRAL_BYTES];
    struct zip_layout_header h = header_of(entry);

    zip_layout_put_central(&h, raw);
    enum err e = put(w, raw, sizeof raw);
    return e == ERR_OK ? put(w, entry->name, h.name_len) : e;
}

static enum err put_end(struct zip_writer *w, uint64_t directory)
{
    uint8_t raw[ZIP_LAYOUT_END_BYTES];
    struct zip_layout_end end = {
        .count_here = (uint16_t)w->count,
        .count = (uint16_t)w->count,
        .directory_bytes = (uint32_t)(w->at - directory),
        .directory_offset = (uint32_t)directory,
    };
    zip_layout_put_end(&end, raw);
    return put(w, raw, sizeof raw);
}

enum err zip_writer_finish(struct zip_writer *w)
{
    if (w->failed != ERR_OK)
        return w->failed;
    assert(!w->in_entry);
    uint64_t directory = w->at;
    enum err e = check_names(w);
    for (size_t i = 0; e == ERR_OK && i < w->count; i++)
        e = put_central(w, &w->entries[i]);
    if (e == ERR_OK)
        e = put_end(w, directory);
    if (e == ERR_OK && fflush(w->out) != 0)
        e = ERR_IO;
    return e == ERR_OK ? ERR_OK : fail(w, e);
}
