/*
 * store_internal.h - how the store_*.c files speak to SQLite. Nobody else includes this.
 *
 * Statements are prepared once and kept: `sql` must be a string literal, its address is the key. Parameters are bound by
 * a format of one letter each: i int64_t, s const char * (NULL binds NULL), b const void * and size_t.
 */
#ifndef SIGNER_STORE_INTERNAL_H
#define SIGNER_STORE_INTERNAL_H

#include <sqlite3.h>
#include <stdarg.h>

#include "signer/store.h"

/* Runs a statement that gives no rows. Errors: STORE. */
enum err store_run(struct store *s, const char *sql, const char *format, ...) MUST_USE;
/* The same, and how many rows it changed. */
enum err store_change(struct store *s, int *changed, const char *sql, const char *format, ...) MUST_USE;

/* Starts a query. Call store_row until *row is false or an error, or store_done to stop early. */
enum err store_query(struct store *s, sqlite3_stmt **out, const char *sql, const char *format, ...) MUST_USE;
enum err store_row(struct store *s, sqlite3_stmt *stmt, bool *row) MUST_USE;
void store_done(sqlite3_stmt *stmt);

/* Copies a text column into a buffer. Errors: LEDGER when it does not fit or is NULL. */
enum err store_text(sqlite3_stmt *stmt, int column, char *out, size_t room) MUST_USE;
/* Copies a blob column of exactly `len` bytes. Errors: LEDGER. */
enum err store_blob(sqlite3_stmt *stmt, int column, void *out, size_t len) MUST_USE;

int64_t store_last_id(const struct store *s);

#endif
