/*
 * bundle_writer.h - writes a `tracekit.bundle.v2` file by file, as its bytes arrive (upstream's format-v2.md section
 * 9).
 *
 * Invariant: every file in the zip is named in manifest.json with the SHA-256 of the bytes that were written; the
 * manifest comes last, because only then are they known (readers find files by name). Memory holds names and hashes,
 * never contents. After an error only bundle_writer_free may follow. Hostile: nothing; callers check what the signer
 * sent.
 */
#ifndef CLI_BUNDLE_WRITER_H
#define CLI_BUNDLE_WRITER_H

#include <stddef.h>
#include <stdio.h>

#include "evidence/err.h"

struct bundle_writer;

/* Writes to `out`, which is seekable and stays the caller's. Errors: NOMEM. */
enum err bundle_writer_new(FILE *out, struct bundle_writer **w) MUST_USE;
void bundle_writer_free(struct bundle_writer *w);

/* One file: begin, any number of writes, end. Errors: BUNDLE when the name is there already, ZIP when it is none,
 * TOO_LARGE over a limit of the format, IO, NOMEM. */
enum err bundle_writer_begin(struct bundle_writer *w, const char *name) MUST_USE;
enum err bundle_writer_write(struct bundle_writer *w, const void *bytes, size_t len) MUST_USE;
enum err bundle_writer_end(struct bundle_writer *w) MUST_USE;
/* The three in one. */
enum err bundle_writer_file(struct bundle_writer *w, const char *name, const void *bytes, size_t len) MUST_USE;

/* The manifest and the end of the zip. The caller syncs and closes the stream. */
enum err bundle_writer_finish(struct bundle_writer *w) MUST_USE;

#endif
