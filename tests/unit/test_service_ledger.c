/* The ledger and the keys behind it: what they hold, and what is refused. */
#include "tests/unit/service_rig.h"

#include <sys/stat.h>
#include <unistd.h>

static void records_hold_no_path_and_no_command(void **state)
{
    struct rig *w = *state;
    rig_call(
        w, "BeforeTool",
        RIG_SHELL
        "{\"command\":\"SECRETCOMMAND\",\"additional_permissions\":{\"fileSystem\":{\"read\":[\"/SECRETPATH\"]}}}");
    rig_call(w, "AfterTool", RIG_SHELL "{\"command\":\"x\"},\"tool_response\":{\"llmContent\":\"SECRETRESULT\"}");
    service_close(w->service);
    assert_false(rig_files_hold(w, "SECRET"));
    rig_open(w);
}

/* Changes the closed database behind the signer's back. */
static void attack(struct rig *w, const char *sql)
{
    rig_sql(w, "DROP TRIGGER records_no_update; DROP TRIGGER records_no_delete; DROP TRIGGER notes_no_update;");
    rig_sql(w, sql);
}

static void a_ledger_that_was_changed_is_refused(void **state)
{
    struct rig *w = *state;
    struct fault fault = {""};
    const char *const attacks[] = {
        "UPDATE records SET line = replace(line, '\"allow\"', '\"deny\"') WHERE type = 'policy.decision'",
        "DELETE FROM records WHERE seq = (SELECT max(seq) FROM records)",
        "UPDATE records SET hash = zeroblob(32) WHERE seq = 0",
        "UPDATE records SET hash = zeroblob(32) WHERE seq = 1",
        "UPDATE runs SET next_run_seq = next_run_seq + 1",
        "UPDATE notes SET note = replace(note, 'tracekit.local', 'tracekit.other')",
    };
    rig_call(w, "BeforeTool", RIG_SHELL RIG_PLAIN);
    service_close(w->service);
    w->service = NULL;
    for (size_t i = 0; i < sizeof attacks / sizeof attacks[0]; i++) {
        struct service *service = NULL;
        rig_copy(w, "ledger.db", "good.db");
        attack(w, attacks[i]);
        fault.text[0] = '\0';
        enum err e = service_open(&w->config, &w->now, &service, &fault);
        if (e != ERR_LEDGER)
            fail_msg("%s: %s (%s)", attacks[i], err_name(e), fault.text);
        assert_true(fault.text[0] != '\0');
        rig_remove(w, "ledger.db-wal");
        rig_copy(w, "good.db", "ledger.db");
    }
    rig_open(w);
}

static void keys_that_others_can_read_are_refused(void **state)
{
    struct rig *w = *state;
    struct fault fault = {""};
    struct service *service = NULL;
    char path[128];
    service_close(w->service);
    snprintf(path, sizeof path, "%s/keys/record.key", w->dir);
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(service_open(&w->config, &w->now, &service, &fault), ERR_CONFIG);
    assert_non_null(strstr(fault.text, "chmod 600"));
    assert_int_equal(chmod(path, 0600), 0);
    assert_int_equal(truncate(path, 31), 0);
    assert_int_equal(service_open(&w->config, &w->now, &service, &fault), ERR_CONFIG);
    assert_int_equal(truncate(path, 32), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(service_open(&w->config, &w->now, &service, &fault), ERR_NOT_FOUND);
    /* teardown wants a service: a new data directory */
    rig_remove(w, "keys");
    rig_remove(w, "ledger.db");
    rig_remove(w, "ledger.db-wal");
    rig_open(w);
}

/* A first start that was cut short between making a key's file and writing it is begun again. */
static void a_key_that_was_half_made_is_made_anew(void **state)
{
    struct rig *w = *state;
    const char *const names[] = {"record.key", "log.key", "seal.key", "args_salt.key"};
    service_close(w->service);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[128];
        rig_remove(w, "ledger.db");
        rig_remove(w, "ledger.db-wal");
        snprintf(path, sizeof path, "%s/keys/%s", w->dir, names[i]);
        assert_int_equal(unlink(path), 0);
        snprintf(path, sizeof path, "%s/keys/%s.new", w->dir, names[i]);
        FILE *f = fopen(path, "wb");
        assert_non_null(f);
        assert_int_equal(fclose(f), 0);
        rig_open(w);
        assert_int_equal(access(path, F_OK), -1);
        service_close(w->service);
    }
    rig_open(w);
}

/* Pending arguments are sealed under a key that is gone: they cannot be shown, so they cannot be approved. */
static void what_cannot_be_shown_cannot_be_approved(void **state)
{
    struct rig *w = *state;
    char id[RIG_ID_BYTES], request[128];
    rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK);
    rig_pending_id(w, 0, id);
    service_close(w->service);
    rig_copy(w, "keys/args_salt.key", "keys/seal.key");
    rig_open(w);
    assert_int_equal(rig_pending_count(w), 1);
    snprintf(request, sizeof request, "{\"op\":\"approvals.show\",\"id\":\"%s\"}", id);
    assert_true(rig_ask(w, request));
    assert_null(strstr(w->reply, "\"args\":"));
    assert_false(rig_answer(w, id, "approve"));
    assert_non_null(strstr(w->reply, "\"error\":\"STATE\""));
    assert_true(rig_answer(w, id, "reject"));
    rig_assert_record(w, "approval", "\"decision\":\"reject\"");
}

/* Between two ticks, too: a start never has to read more than that. */
static void there_is_a_checkpoint_at_every_500_records(void **state)
{
    struct rig *w = *state;
    for (int i = 0; i < 1200; i++)
        rig_call(w, "BeforeTool", RIG_SHELL RIG_PLAIN);
    rig_change(w, "CREATE TEMP TABLE gaps(records CHECK(records <= 500));"
                  "INSERT INTO gaps SELECT size - lag(size, 1, 0) OVER (ORDER BY size) FROM notes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(records_hold_no_path_and_no_command),     RIG_TEST(a_ledger_that_was_changed_is_refused),
        RIG_TEST(keys_that_others_can_read_are_refused),   RIG_TEST(a_key_that_was_half_made_is_made_anew),
        RIG_TEST(what_cannot_be_shown_cannot_be_approved), RIG_TEST(there_is_a_checkpoint_at_every_500_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
