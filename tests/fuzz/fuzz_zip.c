/*
 * fuzz_zip.c - the input is a zip file.
 *
 * Property: what opens is within the limits, each entry is found by its name and no other, and lies behind the one before
 * it; an entry that reads has the length that its header says, and pieces are never empty. A refusal has words. What
 * reads is written again by our writer, and reads the same.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create */
#endif
#include "tests/fuzz/fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "evidence/zip.h"
#include "evidence/zip_layout.h"

enum { MAX_INPUT = 1 << 20, MAX_READ = 8 << 20, PIECE_BYTES = 64 << 10 };

struct reading {
    struct buf bytes;
    size_t count;
};

static enum err take(void *ctx, const uint8_t *bytes, size_t len)
{
    struct reading *r = ctx;
    FUZZ_CHECK(len > 0 && len <= PIECE_BYTES);
    r->count += len;
    buf_put(&r->bytes, bytes, len);
    return buf_err(&r->bytes);
}

/* Opens what stands in `fd`. */
static enum err open_fd(int fd, struct zip **z, struct fault *fault)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return zip_open(path, z, fault);
}

static void check_written(const struct buf *bytes, const char *name)
{
    struct zip_writer *w = NULL;
    struct zip *z = NULL;
    struct buf again;
    int fd = memfd_create("written", MFD_CLOEXEC);
    FILE *out = fdopen(fd, "w+b");
    FUZZ_CHECK(out != NULL && zip_writer_new(out, &w) == ERR_OK);
    FUZZ_CHECK(zip_writer_begin(w, name) == ERR_OK && zip_writer_write(w, bytes->data, bytes->len) == ERR_OK);
    FUZZ_CHECK(zip_writer_end(w) == ERR_OK && zip_writer_finish(w) == ERR_OK);
    zip_writer_free(w);
    FUZZ_CHECK(open_fd(fd, &z, NULL) == ERR_OK && zip_count(z) == 1);
    buf_init(&again, MAX_READ);
    FUZZ_CHECK(zip_read(z, zip_find(z, name), &again, NULL) == ERR_OK);
    FUZZ_CHECK(again.len == bytes->len && (again.len == 0 || memcmp(again.data, bytes->data, again.len) == 0));
    buf_wipe(&again);
    zip_close(z);
    fclose(out);
}

static void check_entry(const struct zip *z, const struct zip_entry *e)
{
    struct reading r = {.count = 0};
    struct fault fault = {""};
    FUZZ_CHECK(zip_layout_is_name(e->name, strlen(e->name)) && zip_find(z, e->name) == e);
    buf_init(&r.bytes, MAX_READ);
    enum err err = zip_stream(z, e, take, &r, &fault);
    FUZZ_CHECK(r.count <= e->bytes);
    FUZZ_CHECK(err == ERR_OK || err == ERR_TOO_LARGE || (err == ERR_ZIP && fault.text[0] != '\0'));
    if (err == ERR_OK) {
        FUZZ_CHECK(r.count == e->bytes);
        check_written(&r.bytes, e->name);
    }
    buf_wipe(&r.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct zip *z = NULL;
    struct fault fault = {""};
    uint64_t total = 0, next = 0;
    if (size > MAX_INPUT)
        return 0;
    int fd = memfd_create("zip", MFD_CLOEXEC);
    FUZZ_CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    enum err e = open_fd(fd, &z, &fault);
    FUZZ_CHECK(e == ERR_OK || ((e == ERR_ZIP || e == ERR_TOO_LARGE) && fault.text[0] != '\0' && z == NULL));
    for (size_t i = 0; e == ERR_OK && i < zip_count(z); i++) {
        const struct zip_entry *entry = zip_at(z, i);
        FUZZ_CHECK(entry->offset == next + ZIP_LAYOUT_LOCAL_BYTES + strlen(entry->name));
        next = entry->offset + entry->packed_bytes;
        total += entry->bytes;
        FUZZ_CHECK(entry->bytes <= ZIP_MAX_ENTRY_BYTES && total <= ZIP_MAX_TOTAL_BYTES && next < size);
        check_entry(z, entry);
    }
    zip_close(z);
    close(fd);
    return 0;
}
