#include "signer/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "signer/store_files.h"
#include "signer/store_internal.h"

enum { MAX_STATEMENTS = 64, APPLICATION_ID = 0x544b4331 /* "TKC1" */ };

struct store {
    sqlite3 *db;
    struct store_files files;
    bool failed, in_transaction;
    char failure[256];
    size_t statement_count;
    struct {
        const char *sql;
        sqlite3_stmt *stmt;
    } statements[MAX_STATEMENTS];
};

/* docs/store.md explains each table. */
static const char schema[] =
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE records(seq INTEGER PRIMARY KEY, run INTEGER NOT NULL, run_seq INTEGER NOT NULL, type TEXT NOT NULL,"
    "  hash BLOB NOT NULL, line TEXT NOT NULL, UNIQUE(run, run_seq));"
    "CREATE INDEX records_of_keys ON records(seq) WHERE type IN ('signer.epoch', 'key.retire');"
    "CREATE TABLE nodes(level INTEGER NOT NULL, idx INTEGER NOT NULL, hash BLOB NOT NULL, PRIMARY KEY(level, idx))"
    "  WITHOUT ROWID;"
    "CREATE TABLE notes(size INTEGER PRIMARY KEY, note TEXT NOT NULL, made_us INTEGER NOT NULL);"
    "CREATE TABLE policies(hash TEXT PRIMARY KEY, snapshot TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE run_policies(run INTEGER NOT NULL, hash TEXT NOT NULL, PRIMARY KEY(run, hash)) WITHOUT ROWID;"
    "CREATE TABLE runs(id INTEGER PRIMARY KEY, run_id TEXT NOT NULL UNIQUE, tenant TEXT NOT NULL, harness TEXT NOT "
    "NULL,"
    "  session TEXT NOT NULL, socket TEXT NOT NULL, uid INTEGER NOT NULL, state TEXT NOT NULL,"
    "  next_run_seq INTEGER NOT NULL, head BLOB NOT NULL, bytes INTEGER NOT NULL, started_us INTEGER NOT NULL,"
    "  active_us INTEGER NOT NULL, ended_us INTEGER);"
    "CREATE INDEX runs_by_session ON runs(session);"
    "CREATE INDEX runs_live ON runs(session, uid, socket) WHERE state <> 'final';"
    "CREATE INDEX runs_unfinished ON runs(state) WHERE state <> 'final';"
    "CREATE TABLE calls(id INTEGER PRIMARY KEY, run INTEGER NOT NULL, tool_call_id TEXT NOT NULL, tool TEXT NOT NULL,"
    "  digest TEXT NOT NULL, bare TEXT NOT NULL, cwd TEXT NOT NULL, decision_id TEXT NOT NULL, state TEXT NOT NULL,"
    "  decided_us INTEGER NOT NULL);"
    "CREATE INDEX calls_open ON calls(run, state, bare, digest, tool);"
    "CREATE UNIQUE INDEX calls_by_id ON calls(tool_call_id);"
    /* The large column stands last: whatever is behind it costs as much to read. */
    "CREATE TABLE approvals(id TEXT PRIMARY KEY, run INTEGER NOT NULL, tool_call_id TEXT NOT NULL,"
    "  decision_id TEXT NOT NULL, tool TEXT NOT NULL, digest TEXT NOT NULL, base_digest TEXT NOT NULL, cwd TEXT NOT "
    "NULL,"
    "  policy_hash TEXT NOT NULL, binding_digest TEXT NOT NULL, facts TEXT NOT NULL, socket TEXT NOT NULL,"
    "  uid INTEGER NOT NULL, state TEXT NOT NULL, created_us INTEGER NOT NULL, expires_us INTEGER NOT NULL,"
    "  answered_us INTEGER, shown BLOB, args BLOB);"
    "CREATE INDEX approvals_live ON approvals(state, created_us) WHERE state IN ('pending', 'approved');"
    "CREATE INDEX approvals_by_call ON approvals(run, base_digest) WHERE state IN ('pending', 'approved');"
    "CREATE INDEX approvals_by_user ON approvals(uid) WHERE state IN ('pending', 'approved');"
    /* A record may be added at the end and never changed, also not by INSERT OR REPLACE, which deletes in silence. */
    "CREATE TRIGGER records_append BEFORE INSERT ON records"
    "  WHEN NEW.seq <> (SELECT ifnull(max(seq), -1) + 1 FROM records)"
    "  OR EXISTS (SELECT 1 FROM records WHERE run = NEW.run AND run_seq = NEW.run_seq)"
    "  BEGIN SELECT raise(ABORT, 'records are append-only'); END;"
    "CREATE TRIGGER records_no_update BEFORE UPDATE ON records BEGIN SELECT raise(ABORT, 'records are append-only'); "
    "END;"
    "CREATE TRIGGER records_no_delete BEFORE DELETE ON records BEGIN SELECT raise(ABORT, 'records are append-only'); "
    "END;"
    "CREATE TRIGGER notes_no_update BEFORE UPDATE ON notes BEGIN SELECT raise(ABORT, 'notes are append-only'); END;"
    "CREATE TRIGGER notes_no_delete BEFORE DELETE ON notes BEGIN SELECT raise(ABORT, 'notes are append-only'); END;";

static enum err failed(struct store *s)
{
    if (!s->failed)
        snprintf(s->failure, sizeof s->failure, "%s", s->db != NULL ? sqlite3_errmsg(s->db) : "out of memory");
    s->failed = true;
    return ERR_STORE;
}

static enum err script(struct store *s, const char *sql)
{
    return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? ERR_OK : failed(s);
}

static enum err pragma_int(struct store *s, const char *sql, int64_t *out)
{
    sqlite3_stmt *stmt = NULL;
    enum err e = ERR_OK;
    if (sqlite3_prepare_v2(s->db, sql, -1, &stmt, NULL) != SQLITE_OK || sqlite3_step(stmt) != SQLITE_ROW)
        e = failed(s);
    else
        *out = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    return e;
}

_Static_assert(STORE_FILES_LOG_BYTES == 16777216, "journal_size_limit");

static enum err configure(struct store *s)
{
    sqlite3_extended_result_codes(s->db, 1);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)NULL);
    sqlite3_limit(s->db, SQLITE_LIMIT_LENGTH, 32 << 20);
    /* EXCLUSIVE: while we run nobody else reads or writes. secure_delete: a sealed argument that is deleted is overwritten. recursive_triggers: REPLACE fires them. */
    return script(s, "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
                     "PRAGMA recursive_triggers=ON; PRAGMA secure_delete=ON; PRAGMA cell_size_check=ON;"
                     "PRAGMA mmap_size=0; PRAGMA cache_size=-2048; PRAGMA wal_autocheckpoint=1000;"
                     "PRAGMA journal_size_limit=16777216;"
                     "PRAGMA temp_store=MEMORY;");
}

static enum err make_tables(struct store *s)
{
    char versions[96];
    snprintf(versions, sizeof versions, "PRAGMA application_id=%d; PRAGMA user_version=%d;", APPLICATION_ID,
             STORE_SCHEMA_VERSION);
    enum err e = script(s, "BEGIN EXCLUSIVE");
    if (e == ERR_OK)
        e = script(s, schema);
    if (e == ERR_OK)
        e = script(s, versions);
    return e == ERR_OK ? script(s, "COMMIT") : e;
}

static enum err check_version(struct store *s, struct fault *fault)
{
    int64_t application = 0, version = 0, tables = 0;
    enum err e = pragma_int(s, "PRAGMA application_id", &application);
    if (e == ERR_OK)
        e = pragma_int(s, "PRAGMA user_version", &version);
    if (e == ERR_OK)
        e = pragma_int(s, "SELECT count(*) FROM sqlite_master", &tables);
    if (e != ERR_OK)
        return e;
    if (tables == 0 && application == 0)
        return make_tables(s);
    if (application != APPLICATION_ID)
        return fault_set(fault, ERR_LEDGER, "ledger.db is not a Tracekit database");
    if (version != STORE_SCHEMA_VERSION)
        return fault_set(fault, ERR_VERSION, "ledger.db has schema version %lld, this program knows %d",
                         (long long)version, STORE_SCHEMA_VERSION);
    return ERR_OK;
}

enum err store_open(const char *path, struct store **out, struct fault *fault)
{
    enum err e = ERR_NOMEM;
    struct store *s = calloc(1, sizeof *s);
    if (s == NULL)
        return e;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW;
    if (store_files_init(&s->files, path))
        e = sqlite3_open_v2(path, &s->db, flags, NULL) == SQLITE_OK ? configure(s) : failed(s);
    if (e == ERR_OK)
        e = check_version(s, fault);
    if (e != ERR_OK) {
        if (s->failed)
            fault_set(fault, e, "ledger.db: %s", s->failure);
        store_close(s);
        return e;
    }
    *out = s;
    return ERR_OK;
}

void store_close(struct store *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < s->statement_count; i++)
        sqlite3_finalize(s->statements[i].stmt);
    sqlite3_close(s->db);
    store_files_wipe(&s->files);
    free(s);
}

enum err store_begin(struct store *s)
{
    if (s->failed)
        return ERR_STORE;
    if (s->in_transaction)
        return ERR_STATE;
    enum err e = store_run(s, "BEGIN IMMEDIATE", "");
    s->in_transaction = e == ERR_OK;
    return e;
}

enum err store_commit(struct store *s)
{
    if (s->failed)
        return ERR_STORE;
    if (!s->in_transaction)
        return ERR_STATE;
    if (!store_files_check(&s->files)) {
        snprintf(s->failure, sizeof s->failure, "ledger.db was removed, replaced or cut while it was open");
        s->failed = true;
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
        s->in_transaction = false;
        return ERR_STORE;
    }
    enum err e = store_run(s, "COMMIT", "");
    s->in_transaction = false;
    return e;
}

void store_abandon(struct store *s)
{
    if (s->in_transaction)
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    s->in_transaction = false;
    if (!s->failed)
        snprintf(s->failure, sizeof s->failure, "a transaction was given up");
    s->failed = true;
}

const char *store_failure(const struct store *s)
{
    return s->failure;
}

static sqlite3_stmt *statement(struct store *s, const char *sql)
{
    for (size_t i = 0; i < s->statement_count; i++)
        if (s->statements[i].sql == sql)
            return s->statements[i].stmt;
    sqlite3_stmt *stmt = NULL;
    if (s->statement_count == MAX_STATEMENTS ||
        sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &stmt, NULL) != SQLITE_OK)
        return NULL;
    s->statements[s->statement_count].sql = sql;
    s->statements[s->statement_count++].stmt = stmt;
    return stmt;
}

static int bind(sqlite3_stmt *stmt, const char *format, va_list args)
{
    int rc = SQLITE_OK;
    for (int i = 1; *format != '\0' && rc == SQLITE_OK; i++, format++) {
        if (*format == 'i') {
            rc = sqlite3_bind_int64(stmt, i, va_arg(args, int64_t));
        } else if (*format == 's') {
            const char *text = va_arg(args, const char *);
            rc = text == NULL ? sqlite3_bind_null(stmt, i) : sqlite3_bind_text(stmt, i, text, -1, SQLITE_TRANSIENT);
        } else {
            const void *bytes = va_arg(args, const void *);
            size_t len = va_arg(args, size_t);
            rc =
                bytes == NULL ? sqlite3_bind_null(stmt, i) : sqlite3_bind_blob64(stmt, i, bytes, len, SQLITE_TRANSIENT);
        }
    }
    return rc;
}

static enum err start(struct store *s, sqlite3_stmt **out, const char *sql, const char *format, va_list args)
{
    if (s->failed)
        return ERR_STORE;
    sqlite3_stmt *stmt = statement(s, sql);
    if (stmt == NULL || bind(stmt, format, args) != SQLITE_OK)
        return failed(s);
    *out = stmt;
    return ERR_OK;
}

static enum err finish(struct store *s, sqlite3_stmt *stmt)
{
    int rc = sqlite3_step(stmt);
    enum err e = rc == SQLITE_DONE || rc == SQLITE_ROW ? ERR_OK : failed(s);
    store_done(stmt);
    return e;
}

enum err store_run(struct store *s, const char *sql, const char *format, ...)
{
    sqlite3_stmt *stmt = NULL;
    va_list args;
    va_start(args, format);
    enum err e = start(s, &stmt, sql, format, args);
    va_end(args);
    return e == ERR_OK ? finish(s, stmt) : e;
}

enum err store_change(struct store *s, int *changed, const char *sql, const char *format, ...)
{
    sqlite3_stmt *stmt = NULL;
    va_list args;
    va_start(args, format);
    enum err e = start(s, &stmt, sql, format, args);
    va_end(args);
    if (e == ERR_OK)
        e = finish(s, stmt);
    if (e == ERR_OK)
        *changed = sqlite3_changes(s->db);
    return e;
}

enum err store_query(struct store *s, sqlite3_stmt **out, const char *sql, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    enum err e = start(s, out, sql, format, args);
    va_end(args);
    return e;
}

enum err store_row(struct store *s, sqlite3_stmt *stmt, bool *row)
{
    int rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW) {
        *row = true;
        return ERR_OK;
    }
    enum err e = rc == SQLITE_DONE ? ERR_OK : failed(s);
    store_done(stmt);
    if (e == ERR_OK)
        *row = false;
    return e;
}

void store_done(sqlite3_stmt *stmt)
{
    sqlite3_reset(stmt);
    sqlite3_clear_bindings(stmt);
}

enum err store_text(sqlite3_stmt *stmt, int column, char *out, size_t room)
{
    const unsigned char *text = sqlite3_column_text(stmt, column);
    int len = sqlite3_column_bytes(stmt, column);
    if (text == NULL || len < 0 || (size_t)len >= room)
        return ERR_LEDGER;
    memcpy(out, text, (size_t)len + 1);
    return ERR_OK;
}

enum err store_blob(sqlite3_stmt *stmt, int column, void *out, size_t len)
{
    const void *bytes = sqlite3_column_blob(stmt, column);
    if (bytes == NULL || (size_t)sqlite3_column_bytes(stmt, column) != len)
        return ERR_LEDGER;
    memcpy(out, bytes, len);
    return ERR_OK;
}

int64_t store_last_id(const struct store *s)
{
    return sqlite3_last_insert_rowid(s->db);
}

enum err store_meta_get(struct store *s, const char *key, char *out, size_t room)
{
    sqlite3_stmt *stmt = NULL;
    bool row = false;
    enum err e = store_query(s, &stmt, "SELECT value FROM meta WHERE key = ?", "s", key);
    if (e == ERR_OK)
        e = store_row(s, stmt, &row);
    if (e != ERR_OK || !row)
        return e != ERR_OK ? e : ERR_NOT_FOUND;
    e = store_text(stmt, 0, out, room);
    store_done(stmt);
    return e;
}

enum err store_meta_set(struct store *s, const char *key, const char *value)
{
    return store_run(s,
                     "INSERT INTO meta(key, value) VALUES(?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value",
                     "ss", key, value);
}
