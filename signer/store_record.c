#include "signer/store_record.h"

#include "evidence/tree.h"
#include "signer/store_internal.h"

enum { STORED_LEVELS = 8 };

enum err store_record_append(struct store *s, const struct store_record *r)
{
    return store_run(s, "INSERT INTO records(seq, run, run_seq, type, hash, line) VALUES(?, ?, ?, ?, ?, ?)", "iiisbs",
                     r->seq, r->run, r->run_seq, r->type, r->hash, (size_t)DIGEST_BYTES, r->line);
}

static enum err one_int(struct store *s, const char *sql, int64_t *out)
{
    sqlite3_stmt *stmt = NULL;
    bool row = false;
    enum err e = store_query(s, &stmt, sql, "");
    if (e == ERR_OK)
        e = store_row(s, stmt, &row);
    if (e != ERR_OK || !row)
        return e != ERR_OK ? e : ERR_NOT_FOUND;
    *out = sqlite3_column_int64(stmt, 0);
    store_done(stmt);
    return ERR_OK;
}

enum err store_record_count(struct store *s, uint64_t *count)
{
    int64_t next = 0;
    enum err e = one_int(s, "SELECT ifnull(max(seq), -1) + 1 FROM records", &next);
    if (e == ERR_OK)
        *count = (uint64_t)next;
    return e;
}

#define RECORD_COLUMNS "seq, run, run_seq, type, hash, line"

static enum err visit_rows(struct store *s, sqlite3_stmt *stmt, store_record_visit *visit, void *ctx)
{
    bool row = true;
    enum err e = ERR_OK;
    while ((e = store_row(s, stmt, &row)) == ERR_OK && row) {
        struct store_record r = {
            .seq = sqlite3_column_int64(stmt, 0),
            .run = sqlite3_column_int64(stmt, 1),
            .run_seq = sqlite3_column_int64(stmt, 2),
            .type = (const char *)sqlite3_column_text(stmt, 3),
            .hash = sqlite3_column_blob(stmt, 4),
            .line = (const char *)sqlite3_column_text(stmt, 5),
            .line_len = (size_t)sqlite3_column_bytes(stmt, 5),
        };
        if (r.type == NULL || r.hash == NULL || r.line == NULL || sqlite3_column_bytes(stmt, 4) != DIGEST_BYTES)
            e = ERR_LEDGER;
        else
            e = visit(ctx, &r);
        if (e != ERR_OK) {
            store_done(stmt);
            return e;
        }
    }
    return e;
}

enum err store_record_from(struct store *s, uint64_t seq, store_record_visit *visit, void *ctx)
{
    sqlite3_stmt *stmt = NULL;
    enum err e =
        store_query(s, &stmt, "SELECT " RECORD_COLUMNS " FROM records WHERE seq >= ? ORDER BY seq", "i", (int64_t)seq);
    return e == ERR_OK ? visit_rows(s, stmt, visit, ctx) : e;
}

enum err store_record_of_run(struct store *s, int64_t run, int64_t run_seq, uint64_t size, store_record_visit *visit,
                             void *ctx)
{
    sqlite3_stmt *stmt = NULL;
    enum err e = store_query(s, &stmt,
                             "SELECT " RECORD_COLUMNS " FROM records WHERE run = ? AND run_seq >= ? AND seq < ?"
                             " ORDER BY run_seq",
                             "iii", run, run_seq, (int64_t)size);
    return e == ERR_OK ? visit_rows(s, stmt, visit, ctx) : e;
}

enum err store_record_keys(struct store *s, uint64_t size, store_record_visit *visit, void *ctx)
{
    sqlite3_stmt *stmt = NULL;
    enum err e = store_query(s, &stmt,
                             "SELECT " RECORD_COLUMNS " FROM records WHERE type IN ('signer.epoch', 'key.retire')"
                             " AND seq < ? ORDER BY seq",
                             "i", (int64_t)size);
    return e == ERR_OK ? visit_rows(s, stmt, visit, ctx) : e;
}

enum err store_record_span(struct store *s, int64_t run, uint64_t size, int64_t *first, int64_t *last, int64_t *count)
{
    sqlite3_stmt *stmt = NULL;
    bool row = false;
    /* A run's records are numbered from 0 on, in the order of the log. */
    enum err e = store_query(s, &stmt,
                             "SELECT (SELECT seq FROM records WHERE run = ?1 AND run_seq = 0), seq, run_seq + 1"
                             " FROM records WHERE run = ?1 AND seq < ?2 ORDER BY run_seq DESC LIMIT 1",
                             "ii", run, (int64_t)size);
    if (e == ERR_OK)
        e = store_row(s, stmt, &row);
    if (e != ERR_OK || !row)
        return e != ERR_OK ? e : ERR_NOT_FOUND;
    *first = sqlite3_column_int64(stmt, 0);
    *last = sqlite3_column_int64(stmt, 1);
    *count = sqlite3_column_int64(stmt, 2);
    store_done(stmt);
    return ERR_OK;
}

enum err store_record_node_completed(void *ctx, unsigned level, uint64_t index, const uint8_t hash[static DIGEST_BYTES])
{
    if (level % STORED_LEVELS != 0)
        return ERR_OK;
    return store_run(ctx, "INSERT INTO nodes(level, idx, hash) VALUES(?, ?, ?)", "iib", (int64_t)level, (int64_t)index,
                     hash, (size_t)DIGEST_BYTES);
}

/* Folds `count` = 2^k neighbouring hashes, the first of which stands at row `stmt` is about to give. */
static enum err fold(struct store *s, sqlite3_stmt *stmt, bool leaves, size_t count, uint8_t out[static DIGEST_BYTES])
{
    struct tree t;
    size_t seen = 0;
    bool row = true;
    enum err e = ERR_OK;
    tree_init(&t);
    while ((e = store_row(s, stmt, &row)) == ERR_OK && row) {
        uint8_t hash[DIGEST_BYTES];
        e = store_blob(stmt, 0, hash, sizeof hash);
        if (e == ERR_OK && leaves)
            tree_leaf(hash, sizeof hash, hash);
        if (e == ERR_OK)
            e = tree_append(&t, hash, NULL, NULL);
        if (e != ERR_OK) {
            store_done(stmt);
            return e;
        }
        seen++;
    }
    if (e == ERR_OK && seen != count)
        e = ERR_LEDGER;
    if (e == ERR_OK)
        tree_root(&t, out);
    return e;
}

/* The subtree (level, index) from the stored level below it, of which it covers `count`. */
enum err store_record_node_read(void *ctx, unsigned level, uint64_t index, uint8_t out[static DIGEST_BYTES])
{
    struct store *s = ctx;
    sqlite3_stmt *stmt = NULL;
    unsigned stored = level - level % STORED_LEVELS;
    uint64_t count = UINT64_C(1) << (level - stored), first = index * count;
    enum err e;
    if (stored == 0)
        e = store_query(s, &stmt, "SELECT hash FROM records WHERE seq >= ? AND seq < ? ORDER BY seq", "ii",
                        (int64_t)first, (int64_t)(first + count));
    else
        e = store_query(s, &stmt, "SELECT hash FROM nodes WHERE level = ? AND idx >= ? AND idx < ? ORDER BY idx", "iii",
                        (int64_t)stored, (int64_t)first, (int64_t)(first + count));
    return e == ERR_OK ? fold(s, stmt, stored == 0, count, out) : e;
}

enum err store_record_note_add(struct store *s, uint64_t size, const char *note, int64_t made_us)
{
    return store_run(s, "INSERT INTO notes(size, note, made_us) VALUES(?, ?, ?)", "isi", (int64_t)size, note, made_us);
}

static enum err text_row(struct store *s, sqlite3_stmt *stmt, int column, struct buf *out)
{
    bool row = false;
    enum err e = store_row(s, stmt, &row);
    if (e != ERR_OK || !row)
        return e != ERR_OK ? e : ERR_NOT_FOUND;
    const unsigned char *text = sqlite3_column_text(stmt, column);
    if (text == NULL) {
        e = ERR_LEDGER;
    } else {
        buf_put(out, text, (size_t)sqlite3_column_bytes(stmt, column));
        e = buf_err(out);
    }
    return e;
}

enum err store_record_note_last(struct store *s, uint64_t *size, struct buf *note)
{
    sqlite3_stmt *stmt = NULL;
    enum err e = store_query(s, &stmt, "SELECT note, size FROM notes ORDER BY size DESC LIMIT 1", "");
    if (e == ERR_OK)
        e = text_row(s, stmt, 0, note);
    if (e != ERR_OK)
        return e;
    *size = (uint64_t)sqlite3_column_int64(stmt, 1);
    store_done(stmt);
    return ERR_OK;
}

enum err store_record_policy_add(struct store *s, const char *hash, const char *snapshot)
{
    return store_run(s, "INSERT INTO policies(hash, snapshot) VALUES(?, ?) ON CONFLICT(hash) DO NOTHING", "ss", hash,
                     snapshot);
}

enum err store_record_policy_get(struct store *s, const char *hash, struct buf *snapshot)
{
    sqlite3_stmt *stmt = NULL;
    enum err e = store_query(s, &stmt, "SELECT snapshot FROM policies WHERE hash = ?", "s", hash);
    if (e == ERR_OK)
        e = text_row(s, stmt, 0, snapshot);
    if (e == ERR_OK)
        store_done(stmt);
    return e;
}

enum err store_record_policy_used(struct store *s, int64_t run, const char *hash)
{
    return store_run(s, "INSERT INTO run_policies(run, hash) VALUES(?, ?) ON CONFLICT DO NOTHING", "is", run, hash);
}

enum err store_record_policies_of_run(struct store *s, int64_t run, store_record_policy_visit *visit, void *ctx)
{
    sqlite3_stmt *stmt = NULL;
    bool row = true;
    enum err e = store_query(s, &stmt, "SELECT hash FROM run_policies WHERE run = ? ORDER BY hash", "i", run);
    while (e == ERR_OK && (e = store_row(s, stmt, &row)) == ERR_OK && row) {
        const unsigned char *hash = sqlite3_column_text(stmt, 0);
        e = hash != NULL ? visit(ctx, (const char *)hash) : ERR_LEDGER;
        if (e != ERR_OK)
            store_done(stmt);
    }
    return e;
}
