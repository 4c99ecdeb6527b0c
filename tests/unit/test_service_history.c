/* Random histories of sessions, people, time and restarts; afterwards the records must tell a story that keeps the rules
 * of docs/approvals.md: what was consumed had been approved, once, within five minutes, for its own run, and as many
 * held calls were let go as approvals were consumed. */
#include "tests/unit/service_rig.h"

#include <time.h>

#include "evidence/record.h"
#include "signer/store_record.h"

enum { STEPS = 400, MAX_APPROVALS = 1024, HOOKS = 64, LATE_US = 300 * 1000000 };

static unsigned seed;

static unsigned below(unsigned n)
{
    seed = seed * 1664525U + 1013904223U;
    return (seed >> 8) % n;
}

/* --- what happens --- */

struct history {
    struct rig *w;
    struct rig_hook parked[HOOKS];
    size_t parked_count;
    size_t allowed; /* answers that let a held call go */
};

static void forget(struct history *h, uint64_t token)
{
    for (size_t i = 0; i < h->parked_count; i++)
        if (h->parked[i].token == token)
            h->parked[i--] = h->parked[--h->parked_count];
}

static void take_answers(struct history *h)
{
    struct rig_hook got;
    while (rig_next_answer(h->w, &got)) {
        forget(h, got.token);
        h->allowed += got.allow;
        if (!got.allow || below(8) > 0) {
            service_delivered(h->w->service, got.token);
            continue;
        }
        assert_int_equal(service_begin(h->w->service, &h->w->now), ERR_OK);
        assert_int_equal(service_undelivered(h->w->service, got.token), ERR_OK);
        assert_int_equal(service_commit(h->w->service), ERR_OK);
    }
}

static void call(struct history *h, const char *event)
{
    static const char *const inputs[] = {RIG_PLAIN, RIG_NETWORK, RIG_NETWORK, RIG_MORE,
                                         "{\"additional_permissions\":{\"network\":1}}"};
    char payload[1024];
    unsigned input = below(5);
    h->w->wait_ms = below(4) > 0 ? 60000 : below(5000);
    h->w->uid = 1000 + below(2);
    int n = snprintf(payload, sizeof payload,
                     "{\"session_id\":\"s-%u\",\"cwd\":\"/%u\",\"hook_event_name\":\"%s\"," RIG_SHELL
                     "%s,\"tool_response\":{}}",
                     below(2), below(2), event, inputs[input]);
    struct rig_hook got = rig_payload(h->w, event, payload, (size_t)n);
    if (got.parked && h->parked_count < HOOKS)
        h->parked[h->parked_count++] = got;
    else if (!got.parked && got.allow && input > 0 && strcmp(event, "BeforeTool") == 0)
        h->allowed++;
}

static void answer(struct history *h)
{
    char id[RIG_ID_BYTES];
    int count = rig_pending_count(h->w);
    h->w->uid = 1000;
    if (count == 0)
        return;
    rig_pending_id(h->w, (int)below((unsigned)count), id);
    rig_answer(h->w, id, below(4) > 0 ? "approve" : "reject");
}

static void leave(struct history *h)
{
    if (h->parked_count == 0)
        return;
    uint64_t token = h->parked[below((unsigned)h->parked_count)].token;
    assert_int_equal(service_begin(h->w->service, &h->w->now), ERR_OK);
    assert_int_equal(service_hook_gone(h->w->service, token), ERR_OK);
    assert_int_equal(service_commit(h->w->service), ERR_OK);
    forget(h, token);
}

static void step(struct history *h)
{
    static const int64_t passes[] = {1, 1000, 2000, 5000, 58000, 60000, 299000, 301000, 3600000};
    unsigned what = below(100);
    if (what < 45)
        call(h, "BeforeTool");
    else if (what < 55)
        call(h, "AfterTool");
    else if (what < 58)
        call(h, "SessionEnd");
    else if (what < 80)
        answer(h);
    else if (what < 84)
        leave(h);
    else if (what < 98)
        rig_pass(h->w, passes[below(what < 90 ? 4 : 9)]);
    else
        (service_close(h->w->service), rig_open(h->w), h->parked_count = 0);
    rig_tick(h->w);
    take_answers(h);
}

/* --- what the records say --- */

struct approval {
    char id[RIG_ID_BYTES], run[RIG_ID_BYTES], ts[32];
    bool approved, consumed, ended;
};

struct story {
    size_t count, consumed;
    struct approval list[MAX_APPROVALS];
};

static struct approval *of(struct story *story, const struct record *r)
{
    const char *id = json_get_cstr(r->data, "approval_id");
    assert_non_null(id);
    for (size_t i = 0; i < story->count; i++)
        if (strcmp(story->list[i].id, id) == 0)
            return &story->list[i];
    assert_string_equal(r->type, "approval.request");
    assert_true(story->count < MAX_APPROVALS);
    struct approval *a = &story->list[story->count++];
    snprintf(a->id, sizeof a->id, "%s", id);
    snprintf(a->run, sizeof a->run, "%s", r->run_id);
    return a;
}

static int64_t digits(const char *text, int count)
{
    int64_t v = 0;
    for (int i = 0; i < count; i++)
        v = 10 * v + (text[i] - '0');
    return v;
}

/* Microseconds since the month began, which is longer than a history: "2027-01-15T08:00:00.000000Z". */
static int64_t moment(const char *ts)
{
    int64_t hours = digits(ts + 8, 2) * 24 + digits(ts + 11, 2);
    return ((hours * 60 + digits(ts + 14, 2)) * 60 + digits(ts + 17, 2)) * 1000000 + digits(ts + 20, 6);
}

static void consume(struct story *story, struct approval *a, const struct record *r)
{
    assert_true(a->approved);
    assert_false(a->consumed);
    assert_true(moment(r->ts) - moment(a->ts) < LATE_US);
    a->consumed = a->ended = true;
    story->consumed++;
}

static enum err tell(void *ctx, const struct store_record *row)
{
    struct story *story = ctx;
    struct arena *arena = arena_new(1 << 20);
    const struct json *value = NULL;
    struct record r;
    assert_int_equal(json_parse(arena, row->line, row->line_len, &value, NULL), ERR_OK);
    assert_int_equal(record_open(value, &r), ERR_OK);
    if (strncmp(r.type, "approval", 8) == 0) {
        struct approval *a = of(story, &r);
        assert_string_equal(a->run, r.run_id);
        if (strcmp(r.type, "approval.binding_mismatch") != 0)
            assert_false(a->ended);
        if (strcmp(r.type, "approval") == 0 && json_equal_cstr(json_get(r.data, "decision"), "approve")) {
            assert_false(a->approved);
            a->approved = true;
            snprintf(a->ts, sizeof a->ts, "%s", r.ts);
        } else if (strcmp(r.type, "approval.consumed") == 0) {
            consume(story, a, &r);
        } else if (strcmp(r.type, "approval") == 0 || strcmp(r.type, "approval.expired") == 0) {
            a->ended = true;
        }
    }
    arena_free(arena);
    return ERR_OK;
}

static void every_history_keeps_the_rules(void **state)
{
    struct history h = {.w = *state};
    struct store *store = NULL;
    char path[128];
    struct story *story = calloc(1, sizeof *story);
    const char *given = getenv("TEST_SEED");
    seed = given != NULL ? (unsigned)strtoul(given, NULL, 10) : (unsigned)time(NULL);
    print_message("# TEST_SEED=%u\n", seed);
    assert_non_null(story);
    for (int i = 0; i < STEPS; i++)
        step(&h);
    service_close(h.w->service);
    snprintf(path, sizeof path, "%s/ledger.db", h.w->dir);
    assert_int_equal(store_open(path, &store, NULL), ERR_OK);
    assert_int_equal(store_record_from(store, 0, tell, story), ERR_OK);
    store_close(store);
    assert_true(story->consumed > 0);
    assert_int_equal(story->consumed, h.allowed);
    free(story);
    rig_open(h.w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {RIG_TEST(every_history_keeps_the_rules)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
