#include "signer/store_approval.h"

#include <string.h>

#include "signer/store_internal.h"

#define COLUMNS \
    "id, run, tool_call_id, decision_id, tool, digest, base_digest, cwd, policy_hash, binding_digest, facts, socket," \
    " uid, state, created_us, expires_us, ifnull(answered_us, 0)"

enum err store_approval_insert(struct store *s, const struct store_approval *a, const struct buf *args,
                               const struct buf *shown)
{
    return store_run(s,
                     "INSERT INTO approvals(id, run, tool_call_id, decision_id, tool, digest, base_digest, cwd,"
                     " policy_hash, binding_digest, facts, socket, uid, state, created_us, expires_us, args, shown)"
                     " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                     "sissssssssssisiibb", a->id, a->run, a->tool_call_id, a->decision_id, a->tool, a->digest,
                     a->base_digest, a->cwd, a->policy_hash, a->binding_digest, a->facts, a->socket, a->uid, a->state,
                     a->created_us, a->expires_us, args->data, args->len, shown->data, shown->len);
}

enum err store_approval_set_state(struct store *s, const char *id, const char *state, int64_t answered_us)
{
    int changed = 0;
    enum err e = store_change(s, &changed,
                              "UPDATE approvals SET state = ?1, answered_us = ifnull(nullif(?2, 0), answered_us),"
                              " args = CASE WHEN ?1 IN ('pending', 'approved') THEN args END,"
                              " shown = CASE WHEN ?1 IN ('pending', 'approved') THEN shown END"
                              " WHERE id = ?3 AND state IN ('pending', 'approved')",
                              "sis", state, answered_us, id);
    return e == ERR_OK && changed != 1 ? ERR_LEDGER : e;
}

static enum err read_approval(sqlite3_stmt *stmt, struct store_approval *out)
{
    struct store_approval a;
    memset(&a, 0, sizeof a);
    const struct {
        int column;
        char *to;
        size_t room;
    } texts[] = {
        {0, a.id, sizeof a.id},
        {2, a.tool_call_id, sizeof a.tool_call_id},
        {3, a.decision_id, sizeof a.decision_id},
        {4, a.tool, sizeof a.tool},
        {5, a.digest, sizeof a.digest},
        {6, a.base_digest, sizeof a.base_digest},
        {7, a.cwd, sizeof a.cwd},
        {8, a.policy_hash, sizeof a.policy_hash},
        {9, a.binding_digest, sizeof a.binding_digest},
        {10, a.facts, sizeof a.facts},
        {11, a.socket, sizeof a.socket},
        {13, a.state, sizeof a.state},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        enum err e = store_text(stmt, texts[i].column, texts[i].to, texts[i].room);
        if (e != ERR_OK)
            return e;
    }
    a.run = sqlite3_column_int64(stmt, 1);
    a.uid = sqlite3_column_int64(stmt, 12);
    a.created_us = sqlite3_column_int64(stmt, 14);
    a.expires_us = sqlite3_column_int64(stmt, 15);
    a.answered_us = sqlite3_column_int64(stmt, 16);
    *out = a;
    return ERR_OK;
}

/* Exactly one row; a second one is AMBIGUOUS. */
static enum err only(struct store *s, sqlite3_stmt *stmt, struct store_approval *out)
{
    struct store_approval found;
    bool row = false;
    enum err e = store_row(s, stmt, &row);
    if (e != ERR_OK || !row)
        return e != ERR_OK ? e : ERR_NOT_FOUND;
    e = read_approval(stmt, &found);
    if (e == ERR_OK)
        e = store_row(s, stmt, &row);
    if (e == ERR_OK && !row) {
        *out = found;
        return ERR_OK;
    }
    store_done(stmt);
    return e == ERR_OK ? ERR_AMBIGUOUS : e;
}

enum err store_approval_get(struct store *s, const char *id, struct store_approval *out)
{
    sqlite3_stmt *stmt = NULL;
    enum err e = store_query(s, &stmt, "SELECT " COLUMNS " FROM approvals WHERE id = ?", "s", id);
    return e == ERR_OK ? only(s, stmt, out) : e;
}

/* Ids are "apr-" and hexadecimal, so every one with this prefix lies below the prefix and a 'g'. */
enum err store_approval_find(struct store *s, const char *prefix, struct store_approval *out)
{
    sqlite3_stmt *stmt = NULL;
    enum err e = store_query(s, &stmt, "SELECT " COLUMNS " FROM approvals WHERE id >= ?1 AND id < ?1 || 'g' LIMIT 2",
                             "s", prefix);
    return e == ERR_OK ? only(s, stmt, out) : e;
}

static enum err blob(struct store *s, sqlite3_stmt *stmt, struct buf *out)
{
    bool row = false;
    enum err e = store_row(s, stmt, &row);
    if (e != ERR_OK || !row)
        return e != ERR_OK ? e : ERR_NOT_FOUND;
    buf_put(out, sqlite3_column_blob(stmt, 0), (size_t)sqlite3_column_bytes(stmt, 0));
    store_done(stmt);
    return buf_err(out);
}

enum err store_approval_args(struct store *s, const char *id, struct buf *out)
{
    sqlite3_stmt *stmt = NULL;
    enum err e = store_query(s, &stmt, "SELECT args FROM approvals WHERE id = ? AND args IS NOT NULL", "s", id);
    return e == ERR_OK ? blob(s, stmt, out) : e;
}

enum err store_approval_shown(struct store *s, const char *id, struct buf *out)
{
    sqlite3_stmt *stmt = NULL;
    enum err e = store_query(s, &stmt, "SELECT shown FROM approvals WHERE id = ? AND shown IS NOT NULL", "s", id);
    return e == ERR_OK ? blob(s, stmt, out) : e;
}

static enum err visit_approvals(struct store *s, sqlite3_stmt *stmt, store_approval_visit *visit, void *ctx)
{
    struct store_approval a;
    bool row = true;
    enum err e = ERR_OK;
    while ((e = store_row(s, stmt, &row)) == ERR_OK && row) {
        e = read_approval(stmt, &a);
        if (e == ERR_OK)
            e = visit(ctx, &a);
        if (e != ERR_OK) {
            store_done(stmt);
            return e;
        }
    }
    return e;
}

enum err store_approval_of_call(struct store *s, int64_t run, const char *base_digest, store_approval_visit *visit,
                                void *ctx)
{
    sqlite3_stmt *stmt = NULL;
    enum err e = store_query(s, &stmt,
                             "SELECT " COLUMNS " FROM approvals WHERE run = ? AND base_digest = ?"
                             " AND state IN ('pending', 'approved') ORDER BY rowid",
                             "is", run, base_digest);
    return e == ERR_OK ? visit_approvals(s, stmt, visit, ctx) : e;
}

enum err store_approval_in_state(struct store *s, const char *state, int64_t limit, store_approval_visit *visit,
                                 void *ctx)
{
    sqlite3_stmt *stmt = NULL;
    /* The first condition lets the planner take the partial index. */
    enum err e = store_query(s, &stmt,
                             "SELECT " COLUMNS " FROM approvals WHERE state IN ('pending', 'approved') AND state = ?"
                             " ORDER BY created_us, rowid LIMIT ?",
                             "si", state, limit);
    return e == ERR_OK ? visit_approvals(s, stmt, visit, ctx) : e;
}

enum err store_approval_of_run(struct store *s, int64_t run, store_approval_visit *visit, void *ctx)
{
    sqlite3_stmt *stmt = NULL;
    enum err e = store_query(s, &stmt,
                             "SELECT " COLUMNS " FROM approvals WHERE run = ? AND state IN ('pending', 'approved')"
                             " ORDER BY rowid",
                             "i", run);
    return e == ERR_OK ? visit_approvals(s, stmt, visit, ctx) : e;
}

static enum err count_rows(struct store *s, sqlite3_stmt *stmt, int64_t *count)
{
    bool row = false;
    enum err e = store_row(s, stmt, &row);
    if (e != ERR_OK || !row)
        return e != ERR_OK ? e : ERR_NOT_FOUND;
    *count = sqlite3_column_int64(stmt, 0);
    store_done(stmt);
    return ERR_OK;
}

enum err store_approval_pending(struct store *s, int64_t *count)
{
    sqlite3_stmt *stmt = NULL;
    enum err e = store_query(s, &stmt,
                             "SELECT count(*) FROM approvals WHERE state IN ('pending', 'approved')"
                             " AND state = 'pending'",
                             "");
    return e == ERR_OK ? count_rows(s, stmt, count) : e;
}

enum err store_approval_pending_of_run(struct store *s, int64_t run, int64_t *count)
{
    sqlite3_stmt *stmt = NULL;
    enum err e = store_query(s, &stmt,
                             "SELECT count(*) FROM approvals WHERE state IN ('pending', 'approved')"
                             " AND state = 'pending' AND run = ?",
                             "i", run);
    return e == ERR_OK ? count_rows(s, stmt, count) : e;
}

enum err store_approval_open_of_user(struct store *s, int64_t uid, int64_t *count)
{
    sqlite3_stmt *stmt = NULL;
    enum err e = store_query(
        s, &stmt, "SELECT count(*) FROM approvals WHERE state IN ('pending', 'approved') AND uid = ?", "i", uid);
    return e == ERR_OK ? count_rows(s, stmt, count) : e;
}
