/*
 * bundle_maker.h - makes bundles for tests: a valid one first, then changed entry by entry before it is zipped.
 *
 *     log_maker_init(&log); ... log_maker_add(&log, ...);
 *     bundle_maker_export(&b, &log, "default", "run-a", log.count, 1);
 *     bundle_maker_replace(&b, b.run_name, "true", "false");
 *     bundle_maker_list(&b, "1.0.0");
 *     bundle_maker_save(&b, path);
 *
 * A call that cannot work ends the test program.
 */
#ifndef TESTS_TOOLS_BUNDLE_MAKER_H
#define TESTS_TOOLS_BUNDLE_MAKER_H

#include "evidence/buf.h"
#include "evidence/bundle.h"
#include "tests/tools/log_maker.h"

enum { BUNDLE_MAKER_ENTRIES = 24, BUNDLE_MAKER_NAME_BYTES = 128 };

struct bundle_maker {
    struct {
        char name[BUNDLE_MAKER_NAME_BYTES];
        struct buf bytes;
    } entries[BUNDLE_MAKER_ENTRIES];
    size_t count;
    char run_name[BUNDLE_RUN_NAME_BYTES]; /* the exported run's entry */
    char note_name[BUNDLE_MAKER_NAME_BYTES];
};

/* The bundle of one run, from the log's first `size` records, cosigned by a set of witnesses; without a manifest yet. */
void bundle_maker_export(struct bundle_maker *b, const struct log_maker *log, const char *tenant, const char *run_id,
                         uint64_t size, unsigned witnesses);
void bundle_maker_wipe(struct bundle_maker *b);

/* The entry's bytes, to be changed at will. */
struct buf *bundle_maker_entry(struct bundle_maker *b, const char *name);
/* Adds an entry or puts other bytes into it. */
void bundle_maker_put(struct bundle_maker *b, const char *name, const void *bytes, size_t len);
void bundle_maker_drop(struct bundle_maker *b, const char *name);
/* Replaces the first `old` in an entry, which must be there. */
void bundle_maker_replace(struct bundle_maker *b, const char *name, const char *old, const char *new_text);

/* Lines of a JSON lines entry, counted from 0. The caller frees a line. `line` NULL takes the line out; `at` may be one
 * behind the last for bundle_maker_insert_line. */
size_t bundle_maker_lines(struct bundle_maker *b, const char *name);
char *bundle_maker_line(struct bundle_maker *b, const char *name, size_t at);
void bundle_maker_set_line(struct bundle_maker *b, const char *name, size_t at, const char *line);
void bundle_maker_insert_line(struct bundle_maker *b, const char *name, size_t at, const char *line);
/* Replaces text in one line, and signs the record anew with a key of the log (-1: leaves hash and signature). */
void bundle_maker_edit_line(struct bundle_maker *b, const struct log_maker *log, size_t at, const char *old,
                            const char *new_text, int key);

/* Writes manifest.json over what the entries are now. */
void bundle_maker_list(struct bundle_maker *b, const char *min_version);
/* Writes the zip file. */
void bundle_maker_save(struct bundle_maker *b, const char *path);
/* Replaces bytes in a file: each `old` by `new_bytes`, both of `len` bytes. Returns how often. */
size_t bundle_maker_patch(const char *path, const void *old, const void *new_bytes, size_t len);

#endif
