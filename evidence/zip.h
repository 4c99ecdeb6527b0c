/*
 * zip.h - the one zip layout that a bundle may have (upstream's format-v2.md section 9).
 *
 * Invariant: a zip is accepted only when its end record ends the file; the central directory stands right before it;
 * the entries are contiguous from offset 0, each local header repeating its central entry; there is no zip64, comment,
 * extra field or general-purpose flag; entries are stored or deflated; names match
 * [A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9._-]+)* without an all-dot segment; none is a symlink; none comes twice.
 * Then every reader of the file sees the same bytes. Hostile: the whole file.
 *
 * In three points we are stricter than upstream's reader: a name has at most 255 bytes; an entry that inflates to more
 * than its header says is refused at that byte; and its deflated data ends exactly where the entry ends.
 */
#ifndef EVIDENCE_ZIP_H
#define EVIDENCE_ZIP_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "evidence/buf.h"
#include "evidence/err.h"

enum {
    ZIP_MAX_ENTRIES = 10000,
    ZIP_MAX_ENTRY_BYTES = 64 << 20,
    ZIP_MAX_TOTAL_BYTES = 512 << 20,
    ZIP_NAME_BYTES = 256, /* the longest name we accept, with its NUL */
};

struct zip_entry {
    char name[ZIP_NAME_BYTES];
    uint64_t offset; /* of its data in the file */
    uint32_t packed_bytes, bytes, crc;
    uint16_t method; /* 0 stored, 8 deflated */
};

struct zip; /* an open zip file; never changes once open, so several threads may read it */

/* Opens and checks the layout of the file at `path`, which must be a regular file. The file is opened once; all later
 * reads use that descriptor. The limits are checked on the declared sizes, before anything is inflated. A fault names the
 * entry by at most 80 bytes of its name, as they stand in the file. Errors: ZIP or TOO_LARGE or IO with a fault, NOMEM.
 * The caller closes it. */
enum err zip_open(const char *path, struct zip **out, struct fault *fault) MUST_USE;
void zip_close(struct zip *z);
size_t zip_count(const struct zip *z);
/* Valid until zip_close; in the file's order; NULL for i >= zip_count. */
const struct zip_entry *zip_at(const struct zip *z, size_t i);
const struct zip_entry *zip_find(const struct zip *z, const char *name); /* NULL when absent */

/* Reads one entry piece by piece: `chunk` gets each piece of its bytes in order, and may stop the reading by returning
 * an error, which is passed through. Pieces have 1 to 65536 bytes. Length and CRC are known to be right only when it
 * returns OK: nothing of an entry may be relied on before. Memory (about 200 KiB) does not grow with the entry.
 * Errors: ZIP or IO with a fault, NOMEM, those of `chunk`. */
typedef enum err zip_chunk(void *ctx, const uint8_t *bytes, size_t len);
enum err zip_stream(const struct zip *z, const struct zip_entry *e, zip_chunk *chunk, void *ctx,
                    struct fault *fault) MUST_USE;
/* Appends a whole entry to `out`. TOO_LARGE when it would not fit out->max; then nothing was read. */
enum err zip_read(const struct zip *z, const struct zip_entry *e, struct buf *out, struct fault *fault) MUST_USE;

/*
 * Writing (zip_writer.c): entries are deflated, empty ones stored; a fixed time, no flags, mode 0644: equal contents give
 * equal files. The local header is written again when its entry's sizes are known, so the file must be seekable.
 *
 * After any other error than that for a bad name the file is of no use: every later call returns it again. Calls out of
 * turn (write without begin, begin twice) are our own bug, and asserted.
 */
struct zip_writer;
/* Writes to `out`, an empty file at its start, which stays the caller's. Errors: NOMEM. The caller frees the writer. */
enum err zip_writer_new(FILE *out, struct zip_writer **w) MUST_USE;
void zip_writer_free(struct zip_writer *w);
/* One entry: begin, any number of writes, end. Errors: ZIP for a bad name (then no entry has begun, and another may),
 * TOO_LARGE over a limit of the reader, IO, NOMEM. */
enum err zip_writer_begin(struct zip_writer *w, const char *name) MUST_USE;
enum err zip_writer_write(struct zip_writer *w, const void *bytes, size_t len) MUST_USE;
enum err zip_writer_end(struct zip_writer *w) MUST_USE;
/* Central directory and end record, and a flush of `out`. The caller syncs and closes the file. Errors: ZIP when a name
 * came twice, IO, NOMEM. */
enum err zip_writer_finish(struct zip_writer *w) MUST_USE;

#endif
