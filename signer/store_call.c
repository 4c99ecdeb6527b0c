#include "signer/store_call.h"

#include <string.h>

#include "signer/store_internal.h"

enum err store_call_insert(struct store *s, struct store_call *call)
{
    enum err e = store_run(s,
                           "INSERT INTO calls(run, tool_call_id, tool, digest, cwd, decision_id, state, decided_us)"
                           " VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
                           "issssssi", call->run, call->tool_call_id, call->tool, call->digest, call->cwd,
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

static enum err read_call(sqlite3_stmt *stmt, struct store_call *out)
{
    struct store_call c;
    memset(&c, 0, sizeof c);
    c.id = sqlite3_column_int64(stmt, 0);
    c.run = sqlite3_column_int64(stmt, 1);
    c.decided_us = sqlite3_column_int64(stmt, 8);
    enum err e;
    if ((e = store_text(stmt, 2, c.tool_call_id, sizeof c.tool_call_id)) != ERR_OK ||
        (e = store_text(stmt, 3, c.tool, sizeof c.tool)) != ERR_OK ||
        (e = store_text(stmt, 4, c.digest, sizeof c.digest)) != ERR_OK ||
        (e = store_text(stmt, 5, c.cwd, sizeof c.cwd)) != ERR_OK ||
        (e = store_text(stmt, 6, c.decision_id, sizeof c.decision_id)) != ERR_OK ||
        (e = store_text(stmt, 7, c.state, sizeof c.state)) != ERR_OK)
        return e;
    *out = c;
    return ERR_OK;
}

enum err store_call_match(struct store *s, int64_t run, const char *tool, const char *digest, struct store_call *out)
{
    static const char *const states[] = {STORE_CALL_ALLOWED, STORE_CALL_HELD, STORE_CALL_DENIED};
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        sqlite3_stmt *stmt = NULL;
        bool row = false;
        enum err e =
            store_query(s, &stmt,
                        "SELECT id, run, tool_call_id, tool, digest, cwd, decision_id, state, decided_us FROM calls"
                        " WHERE run = ? AND digest = ? AND tool = ? AND state = ? ORDER BY id LIMIT 1",
                        "isss", run, digest, tool, states[i]);
        if (e == ERR_OK)
            e = store_row(s, stmt, &row);
        if (e == ERR_OK && row) {
            e = read_call(stmt, out);
            store_done(stmt);
        }
        if (e != ERR_OK || row)
            return e;
    }
    return ERR_NOT_FOUND;
}
