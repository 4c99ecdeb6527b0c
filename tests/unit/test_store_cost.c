/* What a call, an answer, a list and a tick cost does not grow with the ledger: SQLite's own count of steps is the same with
 * a few rows and with tens of thousands. */
#include "tests/unit/service_rig.h"

#include <sqlite3.h>

enum { FILL_CALLS = 2000, SLACK_PERCENT = 20 };

static sqlite3 *db; /* the newest connection: the signer's */

static int remember(sqlite3 *opened, char **error, const void *api)
{
    (void)error;
    (void)api;
    db = opened;
    return SQLITE_OK;
}

static int64_t take_steps(void)
{
    int64_t steps = 0;
    for (sqlite3_stmt *s = NULL; (s = sqlite3_next_stmt(db, s)) != NULL;)
        steps += sqlite3_stmt_status(s, SQLITE_STMTSTATUS_VM_STEP, 1);
    return steps;
}

enum { COSTS = 10 };

struct cost {
    const char *what;
    int64_t steps;
};

static void put(struct cost **at, const char *what)
{
    *(*at)++ = (struct cost){what, take_steps()};
}

static void measure(struct rig *w, struct cost costs[static COSTS])
{
    char id[RIG_ID_BYTES];
    struct cost *at = costs;
    take_steps();
    rig_call(w, "BeforeTool", RIG_SHELL RIG_PLAIN);
    put(&at, "a plain call");
    rig_call(w, "AfterTool", RIG_SHELL RIG_PLAIN ",\"tool_response\":{}");
    put(&at, "its result");
    struct rig_hook held = rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK);
    assert_true(held.parked);
    put(&at, "a held call");
    rig_pending_id(w, 0, id);
    put(&at, "a list of approvals");
    rig_tick(w);
    put(&at, "a tick");
    assert_true(rig_answer(w, id, "approve"));
    assert_true(rig_answered(w, &held));
    put(&at, "an answer");
    rig_call(w, "AfterTool", RIG_SHELL RIG_NETWORK ",\"tool_response\":{}");
    put(&at, "the result of a held call");
    assert_true(rig_ask(w, "{\"op\":\"runs.list\",\"limit\":1}"));
    put(&at, "a list of runs");
    assert_true(rig_ask(w, "{\"op\":\"hello\"}"));
    put(&at, "a greeting");
    assert_true(rig_ask(w, "{\"op\":\"export.begin\",\"run\":\"latest\"}"));
    put(&at, "the beginning of an export");
    assert_int_equal(at - costs, COSTS);
}

#define MANY "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 30000) "

/* Ended runs of the same session, ended approvals of the same call, denied calls like the ones that come. */
static void fill(struct rig *w)
{
    for (int i = 0; i < FILL_CALLS; i++)
        rig_call(w, "BeforeTool", RIG_SHELL "{\"command\":\"other\"}");
    rig_change(
        w,
        "BEGIN;" MANY
        "INSERT INTO runs SELECT -x, printf('%032x', x), 'local', 'gemini', 's-1', 'agent', 1000, 'final', 3,"
        "  zeroblob(32), 100, 1, 1, 1 FROM n;" MANY
        "INSERT INTO approvals SELECT printf('apr-%032x', x), run, tool_call_id, decision_id, tool, digest,"
        "  base_digest, cwd, policy_hash, binding_digest, facts, socket, uid, state, created_us, expires_us,"
        "  answered_us, NULL, NULL FROM (SELECT * FROM approvals LIMIT 1), n;" MANY
        "INSERT INTO calls SELECT NULL, run, printf('call-%032x', x), tool, digest, bare, cwd, decision_id, 'denied', 1"
        "  FROM (SELECT * FROM calls LIMIT 1), n;"
        "COMMIT");
}

static void costs_do_not_grow_with_the_ledger(void **state)
{
    struct rig *w = *state;
    struct cost before[COSTS], after[COSTS];
    measure(w, before); /* the first time prepares statements, registers the run, and leaves an ended approval */
    service_close(w->service);
    rig_open(w);
    measure(w, before);
    rig_call(w, "BeforeTool", RIG_SHELL RIG_PLAIN);
    fill(w);
    measure(w, after);
    for (size_t i = 0; i < COSTS; i++) {
        print_message("# %s: %lld steps, then %lld\n", before[i].what, (long long)before[i].steps,
                      (long long)after[i].steps);
        if (after[i].steps > before[i].steps + before[i].steps * SLACK_PERCENT / 100 + 10)
            fail_msg("%s took %lld steps, and takes %lld now", before[i].what, (long long)before[i].steps,
                     (long long)after[i].steps);
    }
}

#define OPEN_RUNS(count, active) \
    "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < " #count ")" \
    "INSERT INTO runs SELECT NULL, printf('%032x', x), 'local', 'gemini', 's-' || x, 'agent', 1000, 'open', 0," \
    "  zeroblob(32), 0, 1, " #active ", NULL FROM n"

/* Whoever opens sessions without end makes no tick longer, and each of them ends in its turn. */
static void a_tick_looks_at_a_part_of_what_is_open(void **state)
{
    struct rig *w = *state;
    rig_change(w, OPEN_RUNS(30000, 1800000000000000));
    take_steps();
    for (int i = 0; i < 200; i++) {
        rig_tick(w);
        assert_true(take_steps() < 20000);
    }
    rig_change(w, "UPDATE runs SET state = 'final' WHERE session LIKE 's-%'");
    rig_change(w, "DELETE FROM runs WHERE session LIKE 's-%';" OPEN_RUNS(600, 1));
    for (int i = 0; i < 3; i++)
        rig_tick(w);
    rig_change(w, "CREATE TEMP TABLE unfinished(count CHECK(count = 0));"
                  "INSERT INTO unfinished SELECT count(*) FROM runs WHERE session LIKE 's-%' AND state <> 'final'");
}

int main(void)
{
    if (sqlite3_auto_extension((void (*)(void))remember) != SQLITE_OK)
        return 1;
    const struct CMUnitTest tests[] = {RIG_TEST(costs_do_not_grow_with_the_ledger),
                                       RIG_TEST(a_tick_looks_at_a_part_of_what_is_open)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
