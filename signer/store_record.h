/*
 * store_record.h - records, the tree's stored nodes, checkpoint notes and policy snapshots, as rows.
 *
 * Invariant: records are appended in order and never changed. Of the tree only complete subtrees whose level is a
 * multiple of 8 are stored; every other one is computed from at most 256 stored hashes.
 */
#ifndef SIGNER_STORE_RECORD_H
#define SIGNER_STORE_RECORD_H

#include <stdint.h>

#include "evidence/buf.h"
#include "evidence/digest.h"
#include "signer/store.h"

struct store_record {
    int64_t seq, run, run_seq;
    const char *type;
    const uint8_t *hash; /* DIGEST_BYTES */
    const char *line;    /* canonical JSON, without newline */
    size_t line_len;
};

/* Appends. The store copies everything. Errors: STORE (also for a row that does not come next). */
enum err store_record_append(struct store *s, const struct store_record *r) MUST_USE;

/* How many records there are. */
enum err store_record_count(struct store *s, uint64_t *count) MUST_USE;

/* Visits records in order: all from `seq` on, or of one run from `run_seq` on with seq < `size`. The row is valid
 * during the call. */
typedef enum err store_record_visit(void *ctx, const struct store_record *r);
enum err store_record_from(struct store *s, uint64_t seq, store_record_visit *visit, void *ctx) MUST_USE;
enum err store_record_of_run(struct store *s, int64_t run, int64_t run_seq, uint64_t size, store_record_visit *visit,
                             void *ctx) MUST_USE;
/* The key records (signer.epoch, key.retire) with seq < `size`, in order. */
enum err store_record_keys(struct store *s, uint64_t size, store_record_visit *visit, void *ctx) MUST_USE;

/* First and last seq of a run below `size`. Errors: NOT_FOUND when there is none. */
enum err store_record_span(struct store *s, int64_t run, uint64_t size, int64_t *first, int64_t *last,
                           int64_t *count) MUST_USE;

/* A tree_completed that stores what is worth storing, and a tree_read over all of it; ctx is the store. */
enum err store_record_node_completed(void *ctx, unsigned level, uint64_t index,
                                     const uint8_t hash[static DIGEST_BYTES]) MUST_USE;
enum err store_record_node_read(void *ctx, unsigned level, uint64_t index, uint8_t out[static DIGEST_BYTES]) MUST_USE;

/* Notes: the newest one (NOT_FOUND when there is none). */
enum err store_record_note_add(struct store *s, uint64_t size, const char *note, int64_t made_us) MUST_USE;
enum err store_record_note_last(struct store *s, uint64_t *size, struct buf *note) MUST_USE;

/* Policy snapshots by hash. */
enum err store_record_policy_add(struct store *s, const char *hash, const char *snapshot) MUST_USE;
enum err store_record_policy_get(struct store *s, const char *hash, struct buf *snapshot) MUST_USE;
/* Which policies a run was decided under: noted once each, visited in the order of their hashes. */
enum err store_record_policy_used(struct store *s, int64_t run, const char *hash) MUST_USE;
typedef enum err store_record_policy_visit(void *ctx, const char *hash);
enum err store_record_policies_of_run(struct store *s, int64_t run, store_record_policy_visit *visit,
                                      void *ctx) MUST_USE;

#endif
