#include "signer/store_run.h"

#include <string.h>

#include "signer/store_internal.h"

#define COLUMNS \
    "id, run_id, tenant, harness, session, socket, uid, state, next_run_seq, head, bytes, started_us, active_us," \
    " ifnull(ended_us, 0)"
/* Not the signer's own. */
#define AGENTS "run_id <> 'tracekit/signer'"

enum err store_run_insert(struct store *s, struct store_run *run)
{
    enum err e = store_run(s,
                           "INSERT INTO runs(run_id, tenant, harness, session, socket, uid, state, next_run_seq, head,"
                           " bytes, started_us, active_us) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                           "sssssisibiii", run->run_id, run->tenant, run->harness, run->session, run->socket, run->uid,
                           run->state, run->next_run_seq, run->head, sizeof run->head, run->bytes, run->started_us,
                           run->active_us);
    if (e == ERR_OK)
        run->id = store_last_id(s);
    return e;
}

/* Without the columns of the indexes, which would be written again for each record. */
enum err store_run_advance(struct store *s, const struct store_run *run)
{
    return store_run(s, "UPDATE runs SET next_run_seq = ?, head = ?, bytes = ?, active_us = ? WHERE id = ?", "ibiii",
                     run->next_run_seq, run->head, sizeof run->head, run->bytes, run->active_us, run->id);
}

enum err store_run_set_state(struct store *s, const struct store_run *run)
{
    return store_run(s, "UPDATE runs SET state = ?, ended_us = nullif(?, 0) WHERE id = ?", "sii", run->state,
                     run->ended_us, run->id);
}

static enum err read_run(sqlite3_stmt *stmt, struct store_run *out)
{
    struct store_run r;
    memset(&r, 0, sizeof r);
    r.id = sqlite3_column_int64(stmt, 0);
    r.uid = sqlite3_column_int64(stmt, 6);
    r.next_run_seq = sqlite3_column_int64(stmt, 8);
    r.bytes = sqlite3_column_int64(stmt, 10);
    r.started_us = sqlite3_column_int64(stmt, 11);
    r.active_us = sqlite3_column_int64(stmt, 12);
    r.ended_us = sqlite3_column_int64(stmt, 13);
    enum err e;
    if ((e = store_text(stmt, 1, r.run_id, sizeof r.run_id)) != ERR_OK ||
        (e = store_text(stmt, 2, r.tenant, sizeof r.tenant)) != ERR_OK ||
        (e = store_text(stmt, 3, r.harness, sizeof r.harness)) != ERR_OK ||
        (e = store_text(stmt, 4, r.session, sizeof r.session)) != ERR_OK ||
        (e = store_text(stmt, 5, r.socket, sizeof r.socket)) != ERR_OK ||
        (e = store_text(stmt, 7, r.state, sizeof r.state)) != ERR_OK ||
        (e = store_blob(stmt, 9, r.head, sizeof r.head)) != ERR_OK)
        return e;
    *out = r;
    return ERR_OK;
}

/* Exactly one row, the first; *more (may be NULL): there was another one. */
static enum err only(struct store *s, sqlite3_stmt *stmt, struct store_run *out, bool *more)
{
    bool row = false;
    enum err e = store_row(s, stmt, &row);
    if (e != ERR_OK || !row)
        return e != ERR_OK ? e : ERR_NOT_FOUND;
    e = read_run(stmt, out);
    if (e == ERR_OK && more != NULL) {
        e = store_row(s, stmt, more);
        if (e != ERR_OK || !*more)
            return e;
    }
    store_done(stmt);
    return e;
}

enum err store_run_live(struct store *s, const struct store_run_key *key, struct store_run *out)
{
    sqlite3_stmt *stmt = NULL;
    enum err e = store_query(s, &stmt,
                             "SELECT " COLUMNS " FROM runs WHERE session = ? AND uid = ? AND socket = ?"
                             " AND state <> 'final' AND " AGENTS " ORDER BY id DESC LIMIT 1",
                             "sis", key->session, key->uid, key->socket);
    return e == ERR_OK ? only(s, stmt, out, NULL) : e;
}

enum err store_run_live_in(struct store *s, const struct store_run_key *key, const char *state, struct store_run *out)
{
    sqlite3_stmt *stmt = NULL;
    enum err e = store_query(s, &stmt,
                             "SELECT " COLUMNS " FROM runs WHERE session = ? AND uid = ? AND socket = ?"
                             " AND state <> 'final' AND state = ? AND " AGENTS " ORDER BY id DESC LIMIT 1",
                             "siss", key->session, key->uid, key->socket, state);
    return e == ERR_OK ? only(s, stmt, out, NULL) : e;
}

enum err store_run_by_id(struct store *s, int64_t id, struct store_run *out)
{
    sqlite3_stmt *stmt = NULL;
    enum err e = store_query(s, &stmt, "SELECT " COLUMNS " FROM runs WHERE id = ?", "i", id);
    return e == ERR_OK ? only(s, stmt, out, NULL) : e;
}

enum err store_run_by_run_id(struct store *s, const char *run_id, struct store_run *out)
{
    sqlite3_stmt *stmt = NULL;
    enum err e = store_query(s, &stmt, "SELECT " COLUMNS " FROM runs WHERE run_id = ?", "s", run_id);
    return e == ERR_OK ? only(s, stmt, out, NULL) : e;
}

/* Run ids are hexadecimal, so every one with this prefix lies below the prefix and a 'g'. */
static enum err by_prefix(struct store *s, const char *prefix, struct store_run *out)
{
    sqlite3_stmt *stmt = NULL;
    struct store_run found;
    bool more = false;
    enum err e = store_query(
        s, &stmt, "SELECT " COLUMNS " FROM runs WHERE run_id >= ?1 AND run_id < ?1 || 'g' AND " AGENTS " LIMIT 2", "s",
        prefix);
    if (e == ERR_OK)
        e = only(s, stmt, &found, &more);
    if (e == ERR_OK && more)
        e = ERR_AMBIGUOUS;
    if (e == ERR_OK)
        *out = found;
    return e;
}

enum err store_run_find(struct store *s, const char *words, struct store_run *out)
{
    sqlite3_stmt *stmt = NULL;
    enum err e;
    if (words[0] == '\0')
        return ERR_NOT_FOUND;
    if (strcmp(words, "latest") == 0)
        e = store_query(s, &stmt, "SELECT " COLUMNS " FROM runs WHERE " AGENTS " ORDER BY id DESC LIMIT 1", "");
    else
        e = store_query(s, &stmt,
                        "SELECT " COLUMNS " FROM runs WHERE session = ? AND " AGENTS " ORDER BY id DESC LIMIT 1", "s",
                        words);
    if (e == ERR_OK)
        e = only(s, stmt, out, NULL);
    return e == ERR_NOT_FOUND && strcmp(words, "latest") != 0 ? by_prefix(s, words, out) : e;
}

static enum err visit_runs(struct store *s, sqlite3_stmt *stmt, store_run_visit *visit, void *ctx)
{
    struct store_run run;
    bool row = true;
    enum err e = ERR_OK;
    while ((e = store_row(s, stmt, &row)) == ERR_OK && row) {
        e = read_run(stmt, &run);
        if (e == ERR_OK)
            e = visit(ctx, &run);
        if (e != ERR_OK) {
            store_done(stmt);
            return e;
        }
    }
    return e;
}

enum err store_run_newest(struct store *s, int64_t limit, store_run_visit *visit, void *ctx)
{
    sqlite3_stmt *stmt = NULL;
    enum err e =
        store_query(s, &stmt, "SELECT " COLUMNS " FROM runs WHERE " AGENTS " ORDER BY id DESC LIMIT ?", "i", limit);
    return e == ERR_OK ? visit_runs(s, stmt, visit, ctx) : e;
}

enum err store_run_in_state(struct store *s, const struct store_run_range *range, store_run_visit *visit, void *ctx)
{
    sqlite3_stmt *stmt = NULL;
    /* The first condition lets the planner take the partial index. */
    enum err e = store_query(s, &stmt,
                             "SELECT " COLUMNS " FROM runs WHERE state <> 'final' AND state = ? AND id > ? AND " AGENTS
                             " ORDER BY id LIMIT ?",
                             "sii", range->state, range->after, range->limit);
    return e == ERR_OK ? visit_runs(s, stmt, visit, ctx) : e;
}

enum err store_run_open_count(struct store *s, int64_t *count)
{
    sqlite3_stmt *stmt = NULL;
    bool row = false;
    /* The first condition lets the planner take the partial index. */
    enum err e =
        store_query(s, &stmt, "SELECT count(*) FROM runs WHERE state <> 'final' AND state = 'open' AND " AGENTS, "");
    if (e == ERR_OK)
        e = store_row(s, stmt, &row);
    if (e != ERR_OK)
        return e;
    if (!row)
        return ERR_LEDGER;
    *count = sqlite3_column_int64(stmt, 0);
    store_done(stmt);
    return ERR_OK;
}
