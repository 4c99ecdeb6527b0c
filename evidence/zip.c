#include "evidence/zip.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "evidence/zip_layout.h"

enum {
    NEWEST_VERSION = 63, /* the newest "version needed" that upstream's reader takes */
    SHOWN_NAME_BYTES = 80,
};

/* What the checks of the layout pass along. */
struct opening {
    struct zip *z;
    struct fault *fault;
    uint64_t next;  /* where the next local header must be */
    uint64_t total; /* bytes of the entries so far */
};

/* O_NONBLOCK so that a FIFO is refused instead of waited on. */
static enum err open_file(const char *path, int *out, uint64_t *size, struct fault *fault)
{
    enum err e = ERR_OK;
    struct stat st;

    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return fault_set(fault, ERR_IO, "cannot open: %s", strerror(errno));
    if (fstat(fd, &st) != 0)
        e = fault_set(fault, ERR_IO, "cannot stat: %s", strerror(errno));
    else if (!S_ISREG(st.st_mode))
        e = fault_set(fault, ERR_ZIP, "not a regular file");
    if (e != ERR_OK) {
        close(fd);
        return e;
    }
    *out = fd;
    *size = (uint64_t)st.st_size;
    return ERR_OK;
}

static enum err read_end(int fd, uint64_t size, struct zip_layout_end *end, struct fault *fault)
{
    uint8_t raw[ZIP_LAYOUT_END_BYTES];

    if (size < sizeof raw)
        return fault_set(fault, ERR_ZIP, "not a zip file: too short");
    enum err e = zip_layout_read(fd, size - sizeof raw, raw, sizeof raw, fault);
    if (e != ERR_OK)
        return e;
    zip_layout_get_end(raw, end);
    if (end->signature != ZIP_LAYOUT_END_SIGNATURE)
        return fault_set(fault, ERR_ZIP, "not a zip file, or bytes behind its end record");
    if (end->disk != 0 || end->directory_disk != 0 || end->count_here != end->count)
        return fault_set(fault, ERR_ZIP, "end record: more than one disk");
    if (end->comment_len != 0)
        return fault_set(fault, ERR_ZIP, "end record: a comment");
    if ((uint64_t)end->directory_offset + end->directory_bytes != size - sizeof raw)
        return fault_set(fault, ERR_ZIP, "end record: the central directory does not stand right before it");
    if (end->count > ZIP_MAX_ENTRIES)
        return fault_set(fault, ERR_TOO_LARGE, "%u entries, at most %d are allowed", end->count, ZIP_MAX_ENTRIES);
    if (end->directory_bytes < end->count * (uint32_t)ZIP_LAYOUT_CENTRAL_BYTES ||
        end->directory_bytes > end->count * (uint32_t)(ZIP_LAYOUT_CENTRAL_BYTES + ZIP_NAME_BYTES - 1))
        return fault_set(fault, ERR_ZIP, "end record: %u entries do not fit a central directory of %u bytes",
                         end->count, end->directory_bytes);
    return ERR_OK;
}

/* The rules about one entry that its central header alone can break. */
static enum err check_central(struct opening *o, const struct zip_layout_header *h, const char *name)
{
    struct fault *fault = o->fault;
    int shown = h->name_len < SHOWN_NAME_BYTES ? h->name_len : SHOWN_NAME_BYTES;

    if (!zip_layout_is_name(name, h->name_len))
        return fault_set(fault, ERR_ZIP, "bad entry name \"%.*s\"", shown, name);
    if (h->offset == UINT32_MAX || h->packed_bytes == UINT32_MAX || h->bytes == UINT32_MAX)
        return fault_set(fault, ERR_ZIP, "%.*s: zip64 is not supported", shown, name);
    if ((h->needed & 0xff) > NEWEST_VERSION)
        return fault_set(fault, ERR_ZIP, "%.*s: needs version %u to extract", shown, name, h->needed & 0xffu);
    if (h->method != ZIP_LAYOUT_STORED && h->method != ZIP_LAYOUT_DEFLATED)
        return fault_set(fault, ERR_ZIP, "%.*s: compression method %u, only stored and deflated are allowed", shown,
                         name, h->method);
    if (h->method == ZIP_LAYOUT_STORED && h->packed_bytes != h->bytes)
        return fault_set(fault, ERR_ZIP, "%.*s: stored, with two different sizes", shown, name);
    if (h->flags != 0)
        return fault_set(fault, ERR_ZIP, "%.*s: general-purpose flags 0x%x", shown, name, h->flags);
    if ((h->attributes >> 16 & S_IFMT) == S_IFLNK)
        return fault_set(fault, ERR_ZIP, "%.*s: a symbolic link", shown, name);
    if (h->bytes > ZIP_MAX_ENTRY_BYTES)
        return fault_set(fault, ERR_TOO_LARGE, "%.*s: %u bytes, at most %d are allowed", shown, name, h->bytes,
                         ZIP_MAX_ENTRY_BYTES);
    o->total += h->bytes;
    if (o->total > ZIP_MAX_TOTAL_BYTES)
        return fault_set(fault, ERR_TOO_LARGE, "%.*s: the entries are over %d bytes together", shown, name,
                         ZIP_MAX_TOTAL_BYTES);
    if (h->offset != o->next)
        return fault_set(fault, ERR_ZIP, "%.*s: does not follow the entry before it", shown, name);
    return ERR_OK;
}

static enum err check_local(struct opening *o, const struct zip_layout_header *central, const char *name)
{
    uint8_t raw[ZIP_LAYOUT_LOCAL_BYTES + ZIP_NAME_BYTES];
    struct zip_layout_header local;

    enum err e = zip_layout_read(o->z->fd, central->offset, raw, ZIP_LAYOUT_LOCAL_BYTES + central->name_len, o->fault);
    if (e != ERR_OK)
        return e;
    zip_layout_get_local(raw, &local);
    if (local.signature != ZIP_LAYOUT_LOCAL_SIGNATURE || local.flags != central->flags ||
        local.method != central->method || local.crc != central->crc || local.packed_bytes != central->packed_bytes ||
        local.bytes != central->bytes || local.name_len != central->name_len || local.extra_len != 0 ||
        memcmp(raw + ZIP_LAYOUT_LOCAL_BYTES, name, central->name_len) != 0)
        return fault_set(o->fault, ERR_ZIP, "%.*s: the local header does not repeat the central entry",
                         central->name_len < SHOWN_NAME_BYTES ? central->name_len : SHOWN_NAME_BYTES, name);
    return ERR_OK;
}

/* Reads the entry at *at of the central directory and moves *at behind it. */
static enum err read_entry(struct opening *o, const uint8_t *directory, size_t len, size_t *at, struct zip_entry *out)
{
    struct zip_layout_header h;

    if (len - *at < ZIP_LAYOUT_CENTRAL_BYTES)
        return fault_set(o->fault, ERR_ZIP, "the central directory is cut off");
    zip_layout_get_central(directory + *at, &h);
    *at += ZIP_LAYOUT_CENTRAL_BYTES;
    if (h.signature != ZIP_LAYOUT_CENTRAL_SIGNATURE || h.extra_len != 0 || h.comment_len != 0 || h.name_len > len - *at)
        return fault_set(o->fault, ERR_ZIP, "central directory: a bad entry, or one with an extra field or comment");
    const char *name = (const char *)directory + *at;
    *at += h.name_len;

    enum err e = check_central(o, &h, name);
    if (e == ERR_OK)
        e = check_local(o, &h, name);
    if (e != ERR_OK)
        return e;
    memcpy(out->name, name, h.name_len);
    out->name[h.name_len] = '\0';
    out->offset = (uint64_t)h.offset + ZIP_LAYOUT_LOCAL_BYTES + h.name_len;
    out->packed_bytes = h.packed_bytes;
    out->bytes = h.bytes;
    out->crc = h.crc;
    out->method = h.method;
    o->next = out->offset + h.packed_bytes;
    return ERR_OK;
}

static enum err read_entries(struct opening *o, const struct zip_layout_end *end, const uint8_t *directory)
{
    size_t at = 0;

    for (size_t i = 0; i < end->count; i++) {
        enum err e = read_entry(o, directory, end->directory_bytes, &at, &o->z->entries[i]);
        if (e != ERR_OK)
            return e;
        o->z->by_name[i] = &o->z->entries[i];
    }
    if (at != end->directory_bytes)
        return fault_set(o->fault, ERR_ZIP, "central directory: more bytes than its %u entries", end->count);
    if (o->next != end->directory_offset)
        return fault_set(o->fault, ERR_ZIP, "bytes between the last entry and the central directory");
    o->z->count = end->count;
    return ERR_OK;
}

static int compare_names(const void *a, const void *b)
{
    const struct zip_entry *const *left = a, *const *right = b;
    return strcmp((*left)->name, (*right)->name);
}

static enum err sort_names(struct zip *z, struct fault *fault)
{
    if (z->count > 0)
        qsort(z->by_name, z->count, sizeof *z->by_name, compare_names);
    for (size_t i = 1; i < z->count; i++)
        if (strcmp(z->by_name[i - 1]->name, z->by_name[i]->name) == 0)
            return fault_set(fault, ERR_ZIP, "%.80s: twice in the zip file", z->by_name[i]->name);
    return ERR_OK;
}

enum err zip_open(const char *path, struct zip **out, struct fault *fault)
{
    enum err e = ERR_NOMEM;
    uint8_t *directory = NULL;
    struct zip_layout_end end;
    uint64_t size = 0;

    struct zip *z = calloc(1, sizeof *z);
    if (z == NULL)
        goto out;
    z->fd = -1;
    e = open_file(path, &z->fd, &size, fault);
    if (e == ERR_OK)
        e = read_end(z->fd, size, &end, fault);
    if (e != ERR_OK)
        goto out;

    e = ERR_NOMEM;
    directory = malloc(end.directory_bytes + 1u);
    z->entries = calloc(end.count + 1u, sizeof *z->entries);
    z->by_name = calloc(end.count + 1u, sizeof *z->by_name);
    if (directory == NULL || z->entries == NULL || z->by_name == NULL)
        goto out;

    struct opening o = {.z = z, .fault = fault};
    e = zip_layout_read(z->fd, end.directory_offset, directory, end.directory_bytes, fault);
    if (e == ERR_OK)
        e = read_entries(&o, &end, directory);
    if (e == ERR_OK)
        e = sort_names(z, fault);
    if (e != ERR_OK)
        goto out;
    *out = z;
    z = NULL;
out:
    free(directory);
    zip_close(z);
    return e;
}

void zip_close(struct zip *z)
{
    if (z == NULL)
        return;
    if (z->fd >= 0)
        close(z->fd);
    free(z->by_name);
    free(z->entries);
    free(z);
}

size_t zip_count(const struct zip *z)
{
    return z->count;
}

const struct zip_entry *zip_at(const struct zip *z, size_t i)
{
    return i < z->count ? &z->entries[i] : NULL;
}

const struct zip_entry *zip_find(const struct zip *z, const char *name)
{
    size_t low = 0, high = z->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(name, z->by_name[middle]->name);
        if (order == 0)
            return z->by_name[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}
