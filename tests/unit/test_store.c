/* The database by itself: what its rows refuse, and what a failure leaves. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sqlite3.h>
#include <string.h>

#include "signer/store_approval.h"
#include "signer/store_record.h"
#include "tests/unit/scratch.h"

static char dir[SCRATCH_PATH_BYTES], path[SCRATCH_PATH_BYTES + 16];
static struct store *store;

static int make(void **state)
{
    (void)state;
    scratch_make(dir);
    snprintf(path, sizeof path, "%s/ledger.db", dir);
    return store_open(path, &store, NULL) == ERR_OK ? 0 : -1;
}

static int clear(void **state)
{
    (void)state;
    store_close(store);
    scratch_remove(dir);
    return 0;
}

static struct store_record record(int64_t seq, int64_t run_seq)
{
    static const uint8_t hash[DIGEST_BYTES] = {7};
    return (struct store_record){
        .seq = seq, .run = 1, .run_seq = run_seq, .type = "t", .hash = hash, .line = "{}", .line_len = 2};
}

static void append(int64_t seq)
{
    const struct store_record r = record(seq, seq);
    assert_int_equal(store_record_append(store, &r), ERR_OK);
}

static void records_come_one_after_the_other(void **state)
{
    const struct store_record bad[] = {record(0, 5), record(1, 0), record(2, 2), record(-1, 2)};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(store_begin(store), ERR_OK);
        append(0);
        assert_int_equal(store_record_append(store, &bad[i]), ERR_STORE);
        assert_non_null(strstr(store_failure(store), "append-only"));
        /* From then on it does nothing more. */
        uint64_t count = 0;
        assert_int_equal(store_record_count(store, &count), ERR_STORE);
        assert_int_equal(store_commit(store), ERR_STORE);
        assert_int_equal(store_begin(store), ERR_STORE);
        clear(state);
        make(state);
    }
}

/* Not even our own mistakes change a record. */
static void records_and_notes_are_never_changed(void **state)
{
    const char *const mistakes[] = {
        "UPDATE records SET line = '[]'",
        "DELETE FROM records",
        "INSERT OR REPLACE INTO records SELECT * FROM records",
        "INSERT INTO records SELECT seq, run, run_seq, 'u', hash, line FROM records WHERE true"
        " ON CONFLICT(seq) DO UPDATE SET type = 'u'",
        "UPDATE notes SET note = ''",
        "DELETE FROM notes",
    };
    assert_int_equal(store_begin(store), ERR_OK);
    append(0);
    assert_int_equal(store_record_note_add(store, 1, "n", 1), ERR_OK);
    assert_int_equal(store_commit(store), ERR_OK);
    store_close(store);
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        sqlite3 *db = NULL;
        assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
        assert_int_equal(sqlite3_exec(db, "PRAGMA recursive_triggers=ON", NULL, NULL, NULL), SQLITE_OK);
        if (sqlite3_exec(db, mistakes[i], NULL, NULL, NULL) != SQLITE_CONSTRAINT)
            fail_msg("%s works", mistakes[i]);
        assert_non_null(strstr(sqlite3_errmsg(db), "append-only"));
        sqlite3_close(db);
    }
    assert_int_equal(store_open(path, &store, NULL), ERR_OK);
    (void)state;
}

static void a_transaction_is_all_or_nothing(void **state)
{
    (void)state;
    uint64_t count = 0;
    assert_int_equal(store_commit(store), ERR_STATE);
    assert_int_equal(store_begin(store), ERR_OK);
    assert_int_equal(store_begin(store), ERR_STATE);
    append(0);
    assert_int_equal(store_commit(store), ERR_OK);
    assert_int_equal(store_begin(store), ERR_OK);
    append(1);
    store_abandon(store);
    assert_int_equal(store_begin(store), ERR_STORE);
    store_close(store);
    assert_int_equal(store_open(path, &store, NULL), ERR_OK);
    assert_int_equal(store_record_count(store, &count), ERR_OK);
    assert_int_equal(count, 1);
}

/* --- approvals --- */

static void insert_large(const char *id, int times)
{
    struct store_approval a = {.run = 1, .uid = 1000, .created_us = 1, .expires_us = 2};
    struct buf args, shown;
    buf_init(&args, 1 << 20);
    buf_init(&shown, 16);
    for (int i = 0; i < times; i++)
        buf_puts(&args, "sealed");
    buf_puts(&shown, "shown");
    snprintf(a.id, sizeof a.id, "%s", id);
    snprintf(a.state, sizeof a.state, "%s", STORE_APPROVAL_PENDING);
    assert_int_equal(store_approval_insert(store, &a, &args, &shown), ERR_OK);
    buf_wipe(&args);
    buf_wipe(&shown);
}

static void insert(const char *id)
{
    insert_large(id, 1);
}

static void expect_sealed(const char *id, enum err expected)
{
    struct buf bytes;
    buf_init(&bytes, 16);
    assert_int_equal(store_approval_args(store, id, &bytes), expected);
    assert_int_equal(bytes.len, expected == ERR_OK ? 6 : 0);
    buf_reset(&bytes);
    assert_int_equal(store_approval_shown(store, id, &bytes), expected);
    assert_int_equal(bytes.len, expected == ERR_OK ? 5 : 0);
    buf_wipe(&bytes);
}

static void what_has_ended_stays_ended(void **state)
{
    (void)state;
    const char *const ends[] = {STORE_APPROVAL_CONSUMED, STORE_APPROVAL_REJECTED, STORE_APPROVAL_EXPIRED};
    const char *const all[] = {STORE_APPROVAL_PENDING, STORE_APPROVAL_APPROVED, STORE_APPROVAL_CONSUMED,
                               STORE_APPROVAL_REJECTED, STORE_APPROVAL_EXPIRED};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        char id[IDS_PREFIXED_BYTES];
        struct store_approval a;
        snprintf(id, sizeof id, "apr-%032zu", i);
        insert(id);
        expect_sealed(id, ERR_OK);
        assert_int_equal(store_approval_set_state(store, id, STORE_APPROVAL_APPROVED, 5), ERR_OK);
        expect_sealed(id, ERR_OK);
        assert_int_equal(store_approval_set_state(store, id, ends[i], 0), ERR_OK);
        expect_sealed(id, ERR_NOT_FOUND);
        for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
            assert_int_equal(store_approval_set_state(store, id, all[k], 0), ERR_LEDGER);
        assert_int_equal(store_approval_get(store, id, &a), ERR_OK);
        assert_string_equal(a.state, ends[i]);
        assert_int_equal(a.answered_us, 5);
    }
    assert_int_equal(store_approval_set_state(store, "apr-0", STORE_APPROVAL_APPROVED, 0), ERR_LEDGER);
}

/* Not a byte stays in the file, neither in a free page nor in the log of changes. */
static void what_has_ended_is_overwritten(void **state)
{
    (void)state;
    char bytes[1 << 18];
    insert_large("apr-0", 5000);
    assert_int_equal(store_approval_set_state(store, "apr-0", STORE_APPROVAL_CONSUMED, 0), ERR_OK);
    store_close(store);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t len = fread(bytes, 1, sizeof bytes, f);
    assert_true(len > 0 && len < sizeof bytes);
    fclose(f);
    assert_null(memmem(bytes, len, "sealed", 6));
    assert_int_equal(store_open(path, &store, NULL), ERR_OK);
}

static void a_prefix_names_one_approval_or_none(void **state)
{
    (void)state;
    struct store_approval a;
    insert("apr-aaaa0000000000000000000000000000");
    insert("apr-aaaaf000000000000000000000000000");
    insert("apr-aaab0000000000000000000000000000");
    assert_int_equal(store_approval_find(store, "apr-aaaa", &a), ERR_AMBIGUOUS);
    assert_int_equal(store_approval_find(store, "apr-aaab", &a), ERR_OK);
    assert_string_equal(a.id, "apr-aaab0000000000000000000000000000");
    assert_int_equal(store_approval_find(store, "apr-aaaaf", &a), ERR_OK);
    assert_int_equal(store_approval_find(store, "apr-aaac", &a), ERR_NOT_FOUND);
    assert_int_equal(store_approval_find(store, "apr-aaab00000000000000000000000000000", &a), ERR_NOT_FOUND);
}

/* --- opening --- */

static enum err reopened_after(const char *sql, struct fault *fault)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    return store_open(path, &store, fault);
}

static void other_databases_are_refused(void **state)
{
    (void)state;
    struct fault fault = {""};
    store_close(store);
    assert_int_equal(reopened_after("PRAGMA user_version=2", &fault), ERR_VERSION);
    assert_int_equal(reopened_after("PRAGMA user_version=1; PRAGMA application_id=1", &fault), ERR_LEDGER);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(reopened_after("CREATE TABLE t(x)", &fault), ERR_LEDGER);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(reopened_after("", &fault), ERR_OK);
}

static int remove_file(const char *name)
{
    return unlink(name);
}

static int replace_file(const char *name)
{
    char other[SCRATCH_PATH_BYTES + 32];
    snprintf(other, sizeof other, "%s.other", name);
    FILE *f = fopen(other, "wb");
    return f != NULL && fclose(f) == 0 ? rename(other, name) : -1;
}

static int cut_file(const char *name)
{
    return truncate(name, 0);
}

/* A file without a name takes our writes without a word, and no start would find them. */
static void what_is_taken_away_takes_no_commit(void **state)
{
    int (*const ways[])(const char *name) = {remove_file, replace_file, cut_file};
    const char *const endings[] = {"", "-wal"};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0] * 2; i++) {
        char name[SCRATCH_PATH_BYTES + 32];
        snprintf(name, sizeof name, "%s%s", path, endings[i % 2]);
        for (int seq = 0; seq < 2; seq++) {
            assert_int_equal(store_begin(store), ERR_OK);
            append(seq);
            if (seq == 1)
                assert_int_equal(ways[i / 2](name), 0);
            assert_int_equal(store_commit(store), seq == 0 ? ERR_OK : ERR_STORE);
        }
        assert_non_null(strstr(store_failure(store), "while it was open"));
        assert_int_equal(store_begin(store), ERR_STORE);
        clear(state);
        make(state);
    }
}

/* While one signer has it, no other program reads or writes it. */
static void the_database_is_ours_alone(void **state)
{
    (void)state;
    sqlite3 *db = NULL;
    struct store *second = NULL;
    struct fault fault = {""};
    assert_int_equal(store_begin(store), ERR_OK);
    append(0);
    assert_int_equal(store_commit(store), ERR_OK);
    assert_int_equal(store_open(path, &second, &fault), ERR_STORE);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "SELECT * FROM meta", NULL, NULL, NULL), SQLITE_BUSY);
    sqlite3_close(db);
}

int main(void)
{
#define STORE_TEST(f) cmocka_unit_test_setup_teardown(f, make, clear)
    const struct CMUnitTest tests[] = {
        STORE_TEST(records_come_one_after_the_other), STORE_TEST(records_and_notes_are_never_changed),
        STORE_TEST(a_transaction_is_all_or_nothing),  STORE_TEST(what_has_ended_stays_ended),
        STORE_TEST(what_has_ended_is_overwritten),    STORE_TEST(a_prefix_names_one_approval_or_none),
        STORE_TEST(other_databases_are_refused),      STORE_TEST(what_is_taken_away_takes_no_commit),
        STORE_TEST(the_database_is_ours_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
