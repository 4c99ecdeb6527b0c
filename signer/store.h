/*
 * store.h - the one database: records, runs, calls, approvals, tree nodes, notes, policies (docs/store.md).
 *
 * Invariant: what belongs together commits or vanishes together: store_begin, any number of reads and writes,
 * store_commit, which returns OK only after the data is on the disk (WAL, synchronous=FULL). After the first failure
 * the store answers every call with an error: a failed sync is never retried. Records are append-only, also against our
 * own mistakes (triggers). Trust never rests on the database: it rests on signatures, chain and tree, which the ledger
 * checks when it opens. Only signer/store*.c know SQLite.
 *
 * Text that a reading function hands out is copied into the caller's struct or arena. Rows are visited with callbacks;
 * a callback that returns an error stops the visit, and the error is passed through.
 */
#ifndef SIGNER_STORE_H
#define SIGNER_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "evidence/err.h"

enum { STORE_SCHEMA_VERSION = 1 };

struct store;

/* Opens DATA/ledger.db, or makes it with empty tables. Errors: VERSION (made by a newer program), LEDGER (not our
 * database), STORE with a fault, NOMEM. */
enum err store_open(const char *path, struct store **out, struct fault *fault) MUST_USE;
void store_close(struct store *s);

/* A transaction. store_begin inside one is STATE. */
enum err store_begin(struct store *s) MUST_USE;
enum err store_commit(struct store *s) MUST_USE;
/* Undoes what was written since store_begin, and makes the store unusable: memory may be ahead of it. */
void store_abandon(struct store *s);

/* What SQLite said about the failure that made the store unusable; "" before. Borrowed. */
const char *store_failure(const struct store *s);

/* Small facts: log_id, origin. Errors: NOT_FOUND, STORE, LEDGER when the value does not fit into `room` bytes. */
enum err store_meta_get(struct store *s, const char *key, char *out, size_t room) MUST_USE;
enum err store_meta_set(struct store *s, const char *key, const char *value) MUST_USE;

#endif
