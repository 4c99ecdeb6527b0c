#include "signer/store_call.h"

#include <string.h>

#include "signer/store_internal.h"

enum err store_call_insert(struct store *s, struct store_call *call)
{
    enum err e = store_run(s,
                           "INSERT INTO calls(run, tool_call_id, tool, digest, bare, cwd, decision_id, state,"
                           " decided_us) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)",
                           "isssssssi", call->run, call->tool_call_id, call->tool, call->digest, call->bare, call->cwd,
                           call->decision_id, call->state, call->decided_us);
    if (e == ERR_OK)
        call->id = store_last_id(s);
    return e;
}

enum err store_call_set_state(struct store *s, const char *tool_call_id, const char *state)
{
    return store_run(s, "UPDATE calls SET state = ? WHERE tool_call_id = ?", "ss", state, tool_call_id);
}

enum err store_call_delete(struct store *s, int64_t id)
{
    return store_run(s, "DELETE FROM calls WHERE id = ?", "i", id);
}

enum err store_call_delete_run(struct store *s, int64_t run)
{
    return store_run(s, "DELETE FROM calls WHERE run = ?", "i", run);
}

enum err store_call_in_flight(struct store *s, int64_t run, bool *out)
{
    sqlite3_stmt *stmt = NULL;
    bool row = false;
    enum err e = store_query(s, &stmt, "SELECT 1 FROM calls WHERE run = ? AND state = 'allowed' LIMIT 1", "i", run);
    if (e == ERR_OK)
        e = store_row(s, stmt, &row);
    if (e != ERR_OK)
        return e;
    if (row)
        store_done(stmt);
    *out = row;
    return ERR_OK;
}

enum err store_call_move(struct store *s, int64_t from, int64_t to)
{
    return store_run(
        s, "UPDATE calls SET run = ? WHERE id IN (SELECT id FROM calls WHERE run = ? ORDER BY id DESC LIMIT ?)", "iii",
        to, from, (int64_t)STORE_CALL_MOVED_MAX);
}

#define COLUMNS "id, run, tool_call_id, tool, digest, bare, cwd, decision_id, state, decided_us"

static enum err read_call(sqlite3_stmt *stmt, struct store_call *out)
{
    struct store_call c;
    memset(&c, 0, sizeof c);
    c.id = sqlite3_column_int64(stmt, 0);
    c.run = sqlite3_column_int64(stmt, 1);
    c.decided_us = sqlite3_column_int64(stmt, 9);
    enum err e;
    if ((e = store_text(stmt, 2, c.tool_call_id, sizeof c.tool_call_id)) != ERR_OK ||
        (e = store_text(stmt, 3, c.tool, sizeof c.tool)) != ERR_OK ||
        (e = store_text(stmt, 4, c.digest, sizeof c.digest)) != ERR_OK ||
        (e = store_text(stmt, 5, c.bare, sizeof c.bare)) != ERR_OK ||
        (e = store_text(stmt, 6, c.cwd, sizeof c.cwd)) != ERR_OK ||
        (e = store_text(stmt, 7, c.decision_id, sizeof c.decision_id)) != ERR_OK ||
        (e = store_text(stmt, 8, c.state, sizeof c.state)) != ERR_OK)
        return e;
    *out = c;
    return ERR_OK;
}

static const char *const STATES[] = {STORE_CALL_ALLOWED, STORE_CALL_HELD, STORE_CALL_DENIED};
enum { STATE_COUNT = sizeof STATES / sizeof STATES[0] };

/* The row that a query found, if any, and ends it. */
static enum err take_row(struct store *s, sqlite3_stmt *stmt, struct store_call *out, bool *found)
{
    enum err e = store_row(s, stmt, found);
    if (e == ERR_OK && *found) {
        e = read_call(stmt, out);
        store_done(stmt);
    }
    return e;
}

#define SELECT "SELECT " COLUMNS " FROM calls WHERE run = ? AND state = ? AND tool = ? AND bare = ? "
#define ORDER " ORDER BY id LIMIT 1"

/* The first row of a key, in the order of STATES. */
static enum err match(struct store *s, const struct store_call_key *key, bool is_exact, struct store_call *out)
{
    bool found = false;
    enum err e = ERR_OK;
    for (size_t i = 0; e == ERR_OK && !found && i < STATE_COUNT; i++) {
        sqlite3_stmt *stmt = NULL;
        e = is_exact ? store_query(s, &stmt, SELECT "AND digest = ?" ORDER, "issss", key->run, STATES[i], key->tool,
                                   key->bare, key->digest)
                     : store_query(s, &stmt, SELECT ORDER, "isss", key->run, STATES[i], key->tool, key->bare);
        if (e == ERR_OK)
            e = take_row(s, stmt, out, &found);
    }
    return e == ERR_OK && !found ? ERR_NOT_FOUND : e;
}

enum err store_call_match(struct store *s, const struct store_call_key *key, struct store_call *out)
{
    return match(s, key, true, out);
}

enum err store_call_match_bare(struct store *s, const struct store_call_key *key, struct store_call *out)
{
    return match(s, key, false, out);
}

enum err store_call_only(struct store *s, const struct store_call_key *key, struct store_call *out)
{
    struct store_call call;
    sqlite3_stmt *stmt = NULL;
    size_t seen = 0, fits = 0;
    bool row = false;
    enum err e = store_query(s, &stmt, "SELECT " COLUMNS " FROM calls WHERE run = ? AND state = 'allowed' LIMIT ?",
                             "ii", key->run, (int64_t)STORE_CALL_LOOKED_AT);
    while (e == ERR_OK && (e = store_row(s, stmt, &row)) == ERR_OK && row) {
        struct store_call c;
        e = read_call(stmt, &c);
        seen++;
        if (e == ERR_OK && strcmp(c.tool, key->tool) == 0 && ++fits == 1)
            call = c;
    }
    if (row)
        store_done(stmt);
    if (e != ERR_OK)
        return e;
    if (fits != 1 || seen == STORE_CALL_LOOKED_AT)
        return ERR_NOT_FOUND;
    *out = call;
    return ERR_OK;
}

enum err store_call_all_ask(struct store *s, int64_t run, bool *out)
{
    sqlite3_stmt *stmt = NULL;
    bool row = false;
    enum err e = store_query(s, &stmt,
                             "SELECT count(*), sum(digest <> bare) FROM"
                             " (SELECT digest, bare FROM calls WHERE run = ? AND state = 'allowed' LIMIT ?)",
                             "ii", run, (int64_t)STORE_CALL_LOOKED_AT);
    if (e == ERR_OK)
        e = store_row(s, stmt, &row);
    if (e != ERR_OK)
        return e;
    int64_t calls = sqlite3_column_int64(stmt, 0), asking = sqlite3_column_int64(stmt, 1);
    store_done(stmt);
    *out = calls > 0 && calls == asking && calls < STORE_CALL_LOOKED_AT;
    return ERR_OK;
}

enum err store_call_unfinished(struct store *s, int64_t run, size_t room, char (*ids)[IDS_PREFIXED_BYTES],
                               int64_t *count)
{
    sqlite3_stmt *stmt = NULL;
    size_t n = 0;
    bool row = false;
    enum err e = store_query(s, &stmt, "SELECT count(*) FROM calls WHERE run = ? AND state = 'allowed'", "i", run);
    if (e == ERR_OK)
        e = store_row(s, stmt, &row);
    if (e != ERR_OK)
        return e;
    *count = sqlite3_column_int64(stmt, 0);
    store_done(stmt);
    e = store_query(s, &stmt, "SELECT tool_call_id FROM calls WHERE run = ? AND state = 'allowed' ORDER BY id LIMIT ?",
                    "ii", run, (int64_t)room);
    while (e == ERR_OK && (e = store_row(s, stmt, &row)) == ERR_OK && row)
        e = store_text(stmt, 0, ids[n++], IDS_PREFIXED_BYTES);
    if (e != ERR_OK && row)
        store_done(stmt);
    return e;
}
