/*
 * zip_layout.h - what the files of zip.h share: the fixed parts of a zip file as bytes, and an open file.
 *
 * Invariant: what zip_layout_put_* writes, zip_layout_get_* reads back. All numbers are little-endian (APPNOTE.TXT 4.3.7,
 * 4.3.12, 4.3.16). Reading checks nothing but lengths of the caller's buffers: the rules are zip.c's.
 */
#ifndef EVIDENCE_ZIP_LAYOUT_H
#define EVIDENCE_ZIP_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "evidence/err.h"
#include "evidence/zip.h"

enum {
    ZIP_LAYOUT_LOCAL_BYTES = 30,
    ZIP_LAYOUT_CENTRAL_BYTES = 46,
    ZIP_LAYOUT_END_BYTES = 22,
    ZIP_LAYOUT_STORED = 0,
    ZIP_LAYOUT_DEFLATED = 8,
};
#define ZIP_LAYOUT_LOCAL_SIGNATURE UINT32_C(0x04034b50)
#define ZIP_LAYOUT_CENTRAL_SIGNATURE UINT32_C(0x02014b50)
#define ZIP_LAYOUT_END_SIGNATURE UINT32_C(0x06054b50)

/* A local header or a central directory entry, without the name that follows it. The last three are the central
 * entry's alone. */
struct zip_layout_header {
    uint32_t signature;
    uint16_t needed; /* version needed to extract */
    uint16_t flags, method;
    uint32_t crc, packed_bytes, bytes;
    uint16_t name_len, extra_len;
    uint16_t comment_len;
    uint32_t attributes; /* a Unix mode in the upper half */
    uint32_t offset;     /* of the local header */
};

struct zip_layout_end {
    uint32_t signature;
    uint16_t disk, directory_disk, count_here, count;
    uint32_t directory_bytes, directory_offset;
    uint16_t comment_len;
};

void zip_layout_get_local(const uint8_t in[static ZIP_LAYOUT_LOCAL_BYTES], struct zip_layout_header *out);
void zip_layout_get_central(const uint8_t in[static ZIP_LAYOUT_CENTRAL_BYTES], struct zip_layout_header *out);
void zip_layout_get_end(const uint8_t in[static ZIP_LAYOUT_END_BYTES], struct zip_layout_end *out);

/* Writing puts the signature, the time 1980-01-01 00:00:00 and the versions by itself. */
void zip_layout_put_local(const struct zip_layout_header *h, uint8_t out[static ZIP_LAYOUT_LOCAL_BYTES]);
void zip_layout_put_central(const struct zip_layout_header *h, uint8_t out[static ZIP_LAYOUT_CENTRAL_BYTES]);
void zip_layout_put_end(const struct zip_layout_end *end, uint8_t out[static ZIP_LAYOUT_END_BYTES]);

/* An open zip file, read by zip.c and zip_stream.c. */
struct zip {
    int fd;
    size_t count;
    struct zip_entry *entries;        /* in the file's order */
    const struct zip_entry **by_name; /* the same, sorted */
};

/* Reads exactly `len` bytes at `offset`. Errors: ZIP with a fault when the file is shorter, IO with a fault. */
enum err zip_layout_read(int fd, uint64_t offset, void *out, size_t len, struct fault *fault) MUST_USE;

/* Whether `len` bytes are a name that a bundle may have (zip.h). */
bool zip_layout_is_name(const char *name, size_t len);

#endif
