/* A ledger whose end was written by somebody else: each record behind the newest checkpoint is checked as a third party
 * would, also when it bears a good signature of our own key. */
#define _GNU_SOURCE
#include "tests/unit/service_rig.h"

#include <fcntl.h>
#include <sodium.h>
#include <sqlite3.h>
#include <unistd.h>

#include "evidence/ed25519.h"
#include "signer/keyfile.h"
#include "tests/tools/log_maker.h"

enum { LINE_BYTES = 4096 };

/* The signer's own record key. */
static void take_key(const struct rig *w, struct log_maker *m)
{
    char path[128];
    uint8_t seed[KEYFILE_BYTES];
    snprintf(path, sizeof path, "%s/keys", w->dir);
    int keys = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(keys >= 0);
    assert_int_equal(keyfile_read(keys, "record.key", seed, NULL), ERR_OK);
    close(keys);
    log_maker_init(m);
    crypto_sign_seed_keypair(m->keys[0].pub, m->keys[0].secret, seed);
    ed25519_kid(m->keys[0].pub, m->keys[0].kid);
}

/* The newest record's event, as text. */
static void read_event(sqlite3 *db, char event[static LINE_BYTES])
{
    sqlite3_stmt *stmt = NULL;
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT line FROM records ORDER BY seq DESC LIMIT 1", -1, &stmt, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    const char *line = (const char *)sqlite3_column_text(stmt, 0);
    const char *from = strstr(line, "\"event\":"), *to = strstr(line, ",\"hash\":\"sha256:");
    assert_true(from != NULL && to != NULL);
    snprintf(event, LINE_BYTES, "%.*s", (int)(to - from - 8), from + 8);
    sqlite3_finalize(stmt);
}

/* Puts a line in the place of the newest record, and lets the rows beside it say the same. */
static void put_line(sqlite3 *db, const char *line)
{
    sqlite3_stmt *stmt = NULL;
    uint8_t hash[DIGEST_BYTES];
    const char *text = strstr(line, "\"hash\":\"sha256:");
    assert_int_equal(digest_parse(text + 8, DIGEST_TEXT_BYTES - 1, hash), ERR_OK);
    const char *const changes[] = {"UPDATE records SET line = ?1, hash = ?2 WHERE seq = (SELECT max(seq) FROM records)",
                                   "UPDATE runs SET head = ?2 WHERE id = (SELECT run FROM records ORDER BY seq DESC"
                                   " LIMIT 1) AND ?1 IS NOT NULL"};
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        assert_int_equal(sqlite3_prepare_v2(db, changes[i], -1, &stmt, NULL), SQLITE_OK);
        sqlite3_bind_text(stmt, 1, line, -1, SQLITE_STATIC);
        sqlite3_bind_blob(stmt, 2, hash, sizeof hash, SQLITE_STATIC);
        assert_int_equal(sqlite3_step(stmt), SQLITE_DONE);
        sqlite3_finalize(stmt);
    }
}

/* Replaces the text behind `member` by as many bytes of `by`. */
static void replace(char *text, const char *member, const char *by)
{
    char *at = strstr(text, member);
    assert_non_null(at);
    memcpy(at + strlen(member), by, strlen(by));
}

struct forgery {
    const char *member, *by; /* in the event, before it is signed */
    bool is_unsigned;        /* the signature is another one */
    const char *why;         /* NULL: taken */
};

static void forge(struct rig *w, const struct log_maker *m, const struct forgery *f)
{
    char event[LINE_BYTES], path[128];
    sqlite3 *db = NULL;
    snprintf(path, sizeof path, "%s/ledger.db", w->dir);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    read_event(db, event);
    if (f->member != NULL)
        replace(event, f->member, f->by);
    char *line = log_maker_sign(m, 0, event);
    if (f->is_unsigned)
        replace(line, "\"sig\":\"", "AAAA");
    put_line(db, line);
    free(line);
    sqlite3_close(db);
}

static void forged_ends_are_refused(void **state)
{
    struct rig *w = *state;
    struct log_maker m;
    const struct forgery forgeries[] = {
        {NULL, NULL, false, NULL},
        {NULL, NULL, true, "the signature does not verify"},
        {"\"prev_hash\":\"", DIGEST_ZERO_TEXT, false, "does not continue the chain"},
        {"\"log_id\":\"", "00000000000000000000000000000000", false, "belongs to another log"},
        {"\"seq\":", "9", false, "its row says something else"},
        {"\"run_seq\":", "9", false, "its row says something else"},
        {"\"type\":\"", "policy.decisioN", false, "its row says something else"},
    };
    rig_call(w, "BeforeTool", RIG_SHELL RIG_PLAIN);
    service_close(w->service);
    take_key(w, &m);
    rig_sql(w, "DROP TRIGGER records_no_update; DROP TRIGGER notes_no_delete; DELETE FROM notes WHERE size > 1");
    rig_copy(w, "ledger.db", "good.db");
    for (size_t i = 0; i < sizeof forgeries / sizeof forgeries[0]; i++) {
        struct service *service = NULL;
        struct fault fault = {""};
        forge(w, &m, &forgeries[i]);
        enum err e = service_open(&w->config, &w->now, &service, &fault);
        if (forgeries[i].why == NULL && e == ERR_OK)
            service_close(service);
        else if (e != ERR_LEDGER || strstr(fault.text, forgeries[i].why) == NULL)
            fail_msg("forgery %zu: %s (%s)", i, err_name(e), fault.text);
        rig_remove(w, "ledger.db-wal");
        rig_copy(w, "good.db", "ledger.db");
    }
    log_maker_wipe(&m);
    rig_open(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {RIG_TEST(forged_ends_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
