/* A disk that fails, stops, or loses its power at any write, sync or truncation: whoever got an answer finds it in the
 * ledger, nobody is served after a failure, and the next start goes on from what is really there. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "evidence/record.h"
#include "signer/service.h"
#include "signer/store_record.h"
#include "tests/unit/faulty_vfs.h"
#include "tests/unit/scratch.h"

enum { MAX_OPERATIONS = 2000, TOLD_MAX = 64 };

/* What was answered, in memory that a process that is killed leaves behind. */
struct told {
    int count;  /* of calls that got an answer or were held: tool-0 and so on */
    int let_go; /* held calls that were let go */
};

struct world {
    char dir[SCRATCH_PATH_BYTES];
    struct service *service;
    struct clock now;
    struct told *told;
    int calls;
    uint64_t token;
};

static enum err open_service(struct world *w)
{
    struct config config = {.dev = true, .tenant = "local"};
    struct fault fault = {""};
    snprintf(config.data_dir, sizeof config.data_dir, "%s", w->dir);
    return service_open(&config, &w->now, &w->service, &fault);
}

/* --- a signer's life, until something fails --- */

static enum err hook(struct world *w, const char *event, int tool, const char *input)
{
    char payload[512];
    struct service_answer answer;
    bool parked = false;
    struct frame_meta meta = {.wait_ms = 60000, .harness = "gemini"};
    snprintf(meta.event, sizeof meta.event, "%s", event);
    int n = snprintf(payload, sizeof payload,
                     "{\"session_id\":\"s\",\"cwd\":\"/w\",\"hook_event_name\":\"%s\",\"tool_name\":\"tool-%d\","
                     "\"tool_input\":%s,\"tool_response\":{}}",
                     event, tool, input);
    const struct service_hook in = {.token = ++w->token,
                                    .peer = {.pid = 1, .uid = 1000, .gid = 1000},
                                    .meta = &meta,
                                    .deadline_ms = w->now.mono_ms + 60000,
                                    .payload = (const uint8_t *)payload,
                                    .payload_len = (size_t)n};
    enum err e = service_begin(w->service, &w->now);
    if (e == ERR_OK)
        e = service_hook(w->service, &in, &parked, &answer);
    if (e != ERR_OK)
        return e;
    e = service_commit(w->service);
    if (!parked) {
        buf_wipe(&answer.out);
        buf_wipe(&answer.err);
    }
    if (e == ERR_OK && tool == w->told->count)
        w->told->count++;
    if (e == ERR_OK && !parked)
        service_delivered(w->service, w->token);
    return e;
}

static enum err request(struct world *w, const char *text, struct buf *reply)
{
    struct peer peer = {.pid = 1, .uid = 1000, .gid = 1000};
    bool refused = false;
    buf_init(reply, FRAME_MAX_REPLY);
    enum err e = service_begin(w->service, &w->now);
    if (e == ERR_OK)
        e = service_request(w->service, &peer, (const uint8_t *)text, strlen(text), reply, &refused);
    return e == ERR_OK ? service_commit(w->service) : e;
}

static enum err approve(struct world *w)
{
    char text[128] = "";
    struct buf reply;
    struct service_answer answer;
    uint64_t token = 0;
    enum err e = request(w, "{\"op\":\"approvals.list\"}", &reply);
    if (e == ERR_OK) {
        buf_putc(&reply, '\0');
        const char *id = strstr((const char *)reply.data, "\"id\":\"apr-");
        assert_non_null(id);
        snprintf(text, sizeof text, "{\"op\":\"approvals.answer\",\"id\":\"%.36s\",\"decision\":\"approve\"}", id + 6);
    }
    buf_wipe(&reply);
    if (e == ERR_OK) {
        e = request(w, text, &reply);
        buf_wipe(&reply);
    }
    while (e == ERR_OK && service_next_answer(w->service, &token, &answer)) {
        assert_true(answer.allow);
        w->told->let_go++;
        buf_wipe(&answer.out);
        buf_wipe(&answer.err);
        service_delivered(w->service, token);
    }
    return e;
}

static enum err tick(struct world *w, int64_t ms)
{
    int64_t next = 0;
    w->now.wall_us += ms * 1000;
    w->now.mono_ms += ms;
    enum err e = service_begin(w->service, &w->now);
    if (e == ERR_OK)
        e = service_tick(w->service, &next);
    return e == ERR_OK ? service_commit(w->service) : e;
}

#define PLAIN "{\"command\":\"x\"}"
#define NETWORK "{\"command\":\"x\",\"additional_permissions\":{\"network\":true}}"

static enum err live(struct world *w)
{
    struct buf reply;
    enum err e = hook(w, "SessionStart", -1, PLAIN);
    for (int i = 0; e == ERR_OK && i < 3; i++)
        e = hook(w, "BeforeTool", w->told->count, PLAIN);
    if (e == ERR_OK)
        e = hook(w, "BeforeTool", w->told->count, NETWORK);
    if (e == ERR_OK)
        e = approve(w);
    if (e == ERR_OK)
        e = hook(w, "AfterTool", w->told->count - 1, NETWORK);
    if (e == ERR_OK)
        e = hook(w, "BeforeTool", w->told->count, NETWORK);
    if (e == ERR_OK)
        e = hook(w, "SessionEnd", -1, PLAIN);
    if (e == ERR_OK)
        e = tick(w, 5000);
    if (e == ERR_OK) {
        e = request(w, "{\"op\":\"export.begin\",\"run\":\"latest\"}", &reply);
        buf_wipe(&reply);
    }
    return e;
}

static void expect_nothing_more(struct world *w)
{
    struct service_answer answer;
    uint64_t token = 0;
    assert_int_not_equal(service_begin(w->service, &w->now), ERR_OK);
    assert_int_not_equal(hook(w, "BeforeTool", -1, PLAIN), ERR_OK);
    assert_int_not_equal(service_commit(w->service), ERR_OK);
    assert_int_not_equal(tick(w, 1), ERR_OK);
    assert_false(service_next_answer(w->service, &token, &answer));
}

/* --- afterwards --- */

struct found {
    bool tools[TOLD_MAX];
    int consumed;
};

static enum err find(void *ctx, const struct store_record *row)
{
    static const char before[] = "\"tool\":\"tool-";
    struct found *found = ctx;
    const char *at = strstr(row->line, before);
    if (strcmp(row->type, "policy.decision") == 0 && at != NULL) {
        unsigned long tool = strtoul(at + sizeof before - 1, NULL, 10);
        if (tool < TOLD_MAX)
            found->tools[tool] = true;
    }
    found->consumed += strcmp(row->type, "approval.consumed") == 0;
    return ERR_OK;
}

/* The next start takes the ledger, finds all that was told, and goes on. */
static void expect_all_told(struct world *w)
{
    struct found found = {{false}, 0};
    struct store *store = NULL;
    char path[SCRATCH_PATH_BYTES + 16];
    struct fault fault = {""};
    faulty_vfs_arm(&(struct faulty_plan){FAULTY_NONE, 0, false});
    enum err e = open_service(w);
    if (e != ERR_OK)
        fail_msg("it does not start again: %s %s", err_name(e), fault.text);
    assert_int_equal(hook(w, "BeforeTool", w->told->count, PLAIN), ERR_OK);
    service_close(w->service);
    snprintf(path, sizeof path, "%s/ledger.db", w->dir);
    assert_int_equal(store_open(path, &store, NULL), ERR_OK);
    assert_int_equal(store_record_from(store, 0, find, &found), ERR_OK);
    store_close(store);
    for (int i = 0; i < w->told->count; i++)
        if (!found.tools[i])
            fail_msg("the call of tool-%d was answered and is not in the ledger", i);
    assert_true(found.consumed >= w->told->let_go);
}

static void make_world(struct world *w, struct told *told)
{
    memset(told, 0, sizeof *told);
    *w = (struct world){.now = {.wall_us = INT64_C(1800000000000000), .mono_ms = 1000000}, .told = told};
    /* In memory where that is possible: the keys' own syncs would take most of the time. */
    snprintf(w->dir, sizeof w->dir, "%s/tracekit-test-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    assert_non_null(mkdtemp(w->dir));
}

/* From the first start on. */
static void live_and_close(struct world *w)
{
    enum err e = open_service(w);
    if (e != ERR_OK)
        return;
    e = live(w);
    if (e != ERR_OK)
        expect_nothing_more(w);
    service_close(w->service);
}

/* Whether the operation came up at all. */
static bool fails_at(const struct faulty_plan *plan)
{
    struct world w;
    struct told told;
    make_world(&w, &told);
    faulty_vfs_arm(plan);
    live_and_close(&w);
    bool fired = faulty_vfs_fired();
    expect_all_told(&w);
    scratch_remove(w.dir);
    return fired;
}

static bool dies_at(const struct faulty_plan *plan)
{
    struct world w;
    int status = 0;
    struct told *told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(told != MAP_FAILED);
    make_world(&w, told);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        faulty_vfs_arm(plan);
        live_and_close(&w);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == FAULTY_EXIT));
    expect_all_told(&w);
    scratch_remove(w.dir);
    munmap(told, sizeof *told);
    return WEXITSTATUS(status) == FAULTY_EXIT;
}

static void sweep(bool (*once)(const struct faulty_plan *plan), struct faulty_plan plan)
{
    for (plan.at = 1; once(&plan); plan.at++)
        assert_true(plan.at < MAX_OPERATIONS);
    print_message("# %d operations\n", plan.at - 1);
    assert_true(plan.at > 40);
}

static void an_operation_that_fails_once(void **state)
{
    (void)state;
    sweep(fails_at, (struct faulty_plan){.mode = FAULTY_ONCE});
}

static void a_disk_that_fails_from_some_moment_on(void **state)
{
    (void)state;
    sweep(fails_at, (struct faulty_plan){.mode = FAULTY_FOR_EVER});
}

static void a_disk_that_is_full(void **state)
{
    (void)state;
    sweep(fails_at, (struct faulty_plan){.mode = FAULTY_FOR_EVER, .is_full = true});
}

static void a_signer_that_is_killed(void **state)
{
    (void)state;
    sweep(dies_at, (struct faulty_plan){.mode = FAULTY_KILL});
}

static void a_machine_that_loses_its_power(void **state)
{
    (void)state;
    sweep(dies_at, (struct faulty_plan){.mode = FAULTY_POWER_CUT});
}

int main(void)
{
    faulty_vfs_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_operation_that_fails_once),
        cmocka_unit_test(a_disk_that_fails_from_some_moment_on),
        cmocka_unit_test(a_disk_that_is_full),
        cmocka_unit_test(a_signer_that_is_killed),
        cmocka_unit_test(a_machine_that_loses_its_power),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
