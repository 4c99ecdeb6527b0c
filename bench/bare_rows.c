/*
 * bare_rows - the rows of decisions, written by SQLite and nothing else.
 *
 *   bare_rows DATABASE LINES COUNT RUNS BATCH
 *
 * In a new database with the ledger's own tables, without its triggers: COUNT times one row of records (a record line
 * of LINES, in turns), one row of calls and one update of runs, for RUNS runs in turns, BATCH of them in each
 * transaction (WAL, synchronous=FULL). Prints the microseconds that they took.
 */
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "evidence/digest.h"
#include "signer/ids.h"
#include "signer/store.h"

struct decision {
    char call_id[IDS_PREFIXED_BYTES], id[IDS_PREFIXED_BYTES];
    uint8_t hash[DIGEST_BYTES];
    char digest[DIGEST_TEXT_BYTES];
    const char *line;
    int64_t seq, run, run_seq, bytes; /* bytes: of the run so far */
};

struct bare {
    sqlite3 *db;
    sqlite3_stmt *begin, *commit, *record, *call, *run;
};

static void check(const struct bare *b, int rc)
{
    if (rc != SQLITE_OK && rc != SQLITE_DONE)
        bench_die(sqlite3_errmsg(b->db));
}

static sqlite3_stmt *prepare(const struct bare *b, const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    check(b, sqlite3_prepare_v3(b->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &stmt, NULL));
    return stmt;
}

static void step(const struct bare *b, sqlite3_stmt *stmt)
{
    check(b, sqlite3_step(stmt));
    check(b, sqlite3_reset(stmt));
}

static void make_tables(const char *path)
{
    struct store *store = NULL;
    struct fault fault = {""};
    if (store_open(path, &store, &fault) != ERR_OK)
        bench_die(fault.text);
    store_close(store);
}

static void make_runs(const struct bare *b, size_t runs)
{
    sqlite3_stmt *stmt = prepare(b, "INSERT INTO runs VALUES(?1, printf('%032d', ?1), 'local', 'gemini', 's-' || ?1,"
                                    " 'agent', 0, 'open', 0, zeroblob(32), 0, 0, 0, NULL)");
    for (size_t i = 1; i <= runs; i++) {
        sqlite3_bind_int64(stmt, 1, (int64_t)i);
        step(b, stmt);
    }
    sqlite3_finalize(stmt);
}

static void open_database(struct bare *b, const char *path)
{
    make_tables(path);
    check(b, sqlite3_open_v2(path, &b->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL));
    check(b, sqlite3_exec(b->db,
                          "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
                          "DROP TRIGGER records_append; DROP TRIGGER records_no_update; DROP TRIGGER records_no_delete",
                          NULL, NULL, NULL));
    b->begin = prepare(b, "BEGIN IMMEDIATE");
    b->commit = prepare(b, "COMMIT");
    b->record = prepare(b, "INSERT INTO records(seq, run, run_seq, type, hash, line)"
                           " VALUES(?, ?, ?, 'policy.decision', ?, ?)");
    b->call = prepare(b, "INSERT INTO calls(run, tool_call_id, tool, digest, cwd, decision_id, state, decided_us)"
                         " VALUES(?, ?, 'run_shell_command', ?, '/home/user/project', ?, 'allowed', ?)");
    b->run = prepare(b, "UPDATE runs SET next_run_seq = ?, head = ?, bytes = ?, active_us = ? WHERE id = ?");
}

static void close_database(struct bare *b)
{
    sqlite3_stmt *const all[] = {b->begin, b->commit, b->record, b->call, b->run};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        sqlite3_finalize(all[i]);
    check(b, sqlite3_close(b->db));
}

static void write_decision(const struct bare *b, const struct decision *d)
{
    sqlite3_bind_int64(b->record, 1, d->seq);
    sqlite3_bind_int64(b->record, 2, d->run);
    sqlite3_bind_int64(b->record, 3, d->run_seq);
    sqlite3_bind_blob(b->record, 4, d->hash, sizeof d->hash, SQLITE_STATIC);
    sqlite3_bind_text(b->record, 5, d->line, -1, SQLITE_STATIC);
    step(b, b->record);
    sqlite3_bind_int64(b->call, 1, d->run);
    sqlite3_bind_text(b->call, 2, d->call_id, -1, SQLITE_STATIC);
    sqlite3_bind_text(b->call, 3, d->digest, -1, SQLITE_STATIC);
    sqlite3_bind_text(b->call, 4, d->id, -1, SQLITE_STATIC);
    sqlite3_bind_int64(b->call, 5, d->seq);
    step(b, b->call);
    sqlite3_bind_int64(b->run, 1, d->run_seq + 1);
    sqlite3_bind_blob(b->run, 2, d->hash, sizeof d->hash, SQLITE_STATIC);
    sqlite3_bind_int64(b->run, 3, d->bytes);
    sqlite3_bind_int64(b->run, 4, d->seq);
    sqlite3_bind_int64(b->run, 5, d->run);
    step(b, b->run);
}

/* All that a decision needs, so that only SQLite is timed. */
static struct decision *prepare_decisions(const struct bench_lines *lines, size_t count, size_t runs)
{
    struct decision *list = bench_alloc(count, sizeof *list);
    for (size_t i = 0; i < count; i++) {
        struct decision *d = &list[i];
        d->line = lines->line[i % lines->count];
        d->seq = (int64_t)i;
        d->run = (int64_t)(i % runs) + 1;
        d->run_seq = (int64_t)(i / runs);
        d->bytes = (int64_t)strlen(d->line) + 1 + (i >= runs ? list[i - runs].bytes : 0);
        if (ids_prefixed("call-", d->call_id) != ERR_OK || ids_prefixed("dec-", d->id) != ERR_OK)
            bench_die("no random numbers");
        digest_sha256(d->call_id, sizeof d->call_id, d->hash);
        digest_text(d->hash, d->digest);
    }
    return list;
}

int main(int argc, char **argv)
{
    struct bench_lines lines;
    struct bare b = {.db = NULL};
    if (argc != 6)
        bench_die("usage: bare_rows DATABASE LINES COUNT RUNS BATCH");
    size_t count = bench_count(argv[3]), runs = bench_count(argv[4]), batch = bench_count(argv[5]);
    bench_read_lines(argv[2], &lines);
    struct decision *list = prepare_decisions(&lines, count, runs);
    open_database(&b, argv[1]);
    make_runs(&b, runs);
    double began = bench_now_us();
    for (size_t i = 0; i < count; i++) {
        if (i % batch == 0)
            step(&b, b.begin);
        write_decision(&b, &list[i]);
        if ((i + 1) % batch == 0 || i + 1 == count)
            step(&b, b.commit);
    }
    printf("%.0f\n", bench_now_us() - began);
    close_database(&b);
    free(list);
    bench_lines_wipe(&lines);
    return 0;
}
