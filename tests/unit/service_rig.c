#define _GNU_SOURCE
#include "tests/unit/service_rig.h"

#include <ftw.h>
#include <sqlite3.h>
#include <unistd.h>

#include "evidence/base64.h"
#include "evidence/record.h"
#include "signer/store_record.h"

#define START_US (INT64_C(1800000000) * 1000000)

enum { WAIT_MS = 60000, UID = 1000, RECORD_ARENA = 4 << 20, FILES_AT_ONCE = 16 };

void rig_open(struct rig *w)
{
    struct fault fault = {""};
    if (service_open(&w->config, &w->now, &w->service, &fault) != ERR_OK)
        fail_msg("the service does not open: %s", fault.text);
}

int rig_setup(void **state)
{
    struct rig *w = calloc(1, sizeof *w);
    assert_non_null(w);
    snprintf(w->dir, sizeof w->dir, "/tmp/test_service.XXXXXX");
    assert_non_null(mkdtemp(w->dir));
    w->config.dev = true;
    snprintf(w->config.data_dir, sizeof w->config.data_dir, "%s", w->dir);
    snprintf(w->config.tenant, sizeof w->config.tenant, "local");
    w->now = (struct clock){.wall_us = START_US, .mono_ms = 1000000};
    w->uid = UID;
    w->wait_ms = WAIT_MS;
    assert_int_equal(schema_new(&w->schema), ERR_OK);
    rig_open(w);
    *state = w;
    return 0;
}

void rig_pass(struct rig *w, int64_t ms)
{
    w->now.wall_us += ms * 1000;
    w->now.mono_ms += ms;
}

void rig_tick(struct rig *w)
{
    int64_t next = 0;
    assert_int_equal(service_begin(w->service, &w->now), ERR_OK);
    assert_int_equal(service_tick(w->service, &next), ERR_OK);
    assert_int_equal(service_commit(w->service), ERR_OK);
    assert_true(next > w->now.mono_ms);
}

/* --- hooks --- */

static void take(struct rig_hook *hook, struct service_answer *answer)
{
    hook->allow = answer->allow;
    assert_true(answer->out.len < sizeof hook->out);
    if (answer->out.len > 0)
        memcpy(hook->out, answer->out.data, answer->out.len);
    hook->out[answer->out.len] = '\0';
    buf_wipe(&answer->out);
    buf_wipe(&answer->err);
}

struct rig_hook rig_payload(struct rig *w, const char *event, const char *payload, size_t len)
{
    struct rig_hook hook = {.token = ++w->token};
    struct frame_meta meta = {.wait_ms = w->wait_ms, .harness = "gemini"};
    struct service_answer answer;
    snprintf(meta.event, sizeof meta.event, "%s", event);
    const struct service_hook in = {.token = hook.token,
                                    .peer = {.pid = 4242, .uid = w->uid, .gid = UID},
                                    .meta = &meta,
                                    .deadline_ms = w->now.mono_ms + w->wait_ms,
                                    .payload = (const uint8_t *)payload,
                                    .payload_len = len};
    assert_int_equal(service_begin(w->service, &w->now), ERR_OK);
    assert_int_equal(service_hook(w->service, &in, &hook.parked, &answer), ERR_OK);
    assert_int_equal(service_commit(w->service), ERR_OK);
    if (!hook.parked) {
        take(&hook, &answer);
        service_delivered(w->service, hook.token);
    }
    return hook;
}

struct rig_hook rig_call_in(struct rig *w, const char *event, const char *rest, const char *cwd)
{
    char payload[4096];
    int n = snprintf(payload, sizeof payload,
                     "{\"session_id\":\"s-1\",\"cwd\":\"%s\",\"hook_event_name\":\"%s\",\"timestamp\":\"t\"%s%s}", cwd,
                     event, rest[0] != '\0' ? "," : "", rest);
    assert_true((size_t)n < sizeof payload);
    return rig_payload(w, event, payload, (size_t)n);
}

struct rig_hook rig_call(struct rig *w, const char *event, const char *rest)
{
    return rig_call_in(w, event, rest, "/w");
}

bool rig_next_answer(struct rig *w, struct rig_hook *hook)
{
    struct service_answer answer;
    uint64_t token = 0;
    if (!service_next_answer(w->service, &token, &answer))
        return false;
    hook->token = token;
    take(hook, &answer);
    return true;
}

bool rig_answered(struct rig *w, struct rig_hook *hook)
{
    uint64_t token = hook->token;
    if (!rig_next_answer(w, hook))
        return false;
    assert_int_equal(hook->token, token);
    service_delivered(w->service, token);
    return true;
}

/* --- requests --- */

bool rig_ask_as(struct rig *w, uid_t uid, const char *request)
{
    struct peer peer = {.pid = 1, .uid = uid, .gid = UID};
    struct buf reply;
    bool refused = false;
    buf_init(&reply, FRAME_MAX_REPLY);
    assert_int_equal(service_begin(w->service, &w->now), ERR_OK);
    assert_int_equal(service_request(w->service, &peer, (const uint8_t *)request, strlen(request), &reply, &refused),
                     ERR_OK);
    assert_int_equal(service_commit(w->service), ERR_OK);
    assert_true(reply.len < sizeof w->reply);
    memcpy(w->reply, reply.data, reply.len);
    w->reply[reply.len] = '\0';
    buf_wipe(&reply);
    return !refused;
}

bool rig_ask(struct rig *w, const char *request)
{
    return rig_ask_as(w, w->uid, request);
}

bool rig_answer(struct rig *w, const char *id, const char *decision)
{
    char request[256];
    snprintf(request, sizeof request, "{\"op\":\"approvals.answer\",\"id\":\"%s\",\"decision\":\"%s\"}", id, decision);
    return rig_ask(w, request);
}

void rig_pending_id(struct rig *w, int n, char id[static RIG_ID_BYTES])
{
    assert_true(rig_ask(w, "{\"op\":\"approvals.list\"}"));
    const char *at = w->reply;
    for (int i = 0; i <= n; i++) {
        at = strstr(at, "\"id\":\"apr-");
        if (at == NULL)
            fail_msg("there are not %d pending approvals: %s", n + 1, w->reply);
        at += 6;
    }
    snprintf(id, RIG_ID_BYTES, "%.36s", at);
}

int rig_pending_count(struct rig *w)
{
    int n = 0;
    assert_true(rig_ask(w, "{\"op\":\"approvals.list\"}"));
    for (const char *at = w->reply; (at = strstr(at, "\"id\":\"apr-")) != NULL; at++)
        n++;
    return n;
}

void rig_hold_and_approve(struct rig *w, const char *rest)
{
    char id[RIG_ID_BYTES];
    struct rig_hook hook = rig_call(w, "BeforeTool", rest);
    assert_true(hook.parked);
    rig_pending_id(w, 0, id);
    assert_true(rig_answer(w, id, "approve"));
    assert_true(rig_answered(w, &hook) && hook.allow);
    service_delivered(w->service, hook.token);
}

void rig_hold_and_miss(struct rig *w, char id[static RIG_ID_BYTES])
{
    struct rig_hook hook = rig_call(w, "BeforeTool", RIG_SHELL RIG_NETWORK);
    assert_true(hook.parked);
    rig_pending_id(w, 0, id);
    rig_pass(w, (int64_t)w->wait_ms - 2000);
    rig_tick(w);
    assert_true(rig_answered(w, &hook));
    assert_false(hook.allow);
    assert_non_null(strstr(hook.out, id));
    assert_non_null(strstr(hook.out, "no answer yet"));
}

/* --- the ledger --- */

struct audit {
    struct rig *w;
    int64_t seq;
    uint8_t pub[ED25519_PUBLIC_BYTES];
    char head[DIGEST_TEXT_BYTES];
    char types[8192];
    const char *want;
    char found[8192]; /* the newest line of the wanted type */
};

static void read_key(struct audit *a, const struct record *r)
{
    uint8_t der[64];
    size_t len = 0, text_len = 0;
    const char *spki = json_text(json_get(json_at(json_get(r->data, "keys"), 0), "spki"), &text_len);
    assert_int_equal(base64_decode(spki, text_len, der, sizeof der, &len), ERR_OK);
    assert_int_equal(ed25519_spki_parse(der, len, a->pub), ERR_OK);
}

static enum err audit_row(void *ctx, const struct store_record *row)
{
    struct audit *a = ctx;
    struct arena *arena = arena_new(RECORD_ARENA);
    const struct json *value = NULL;
    struct record r;
    struct fault fault = {""};
    assert_int_equal(json_parse(arena, row->line, row->line_len, &value, NULL), ERR_OK);
    assert_int_equal(record_open(value, &r), ERR_OK);
    if (row->seq == 0)
        read_key(a, &r);
    assert_int_equal(record_verify(&r, a->pub), ERR_OK);
    if (schema_check(a->w->schema, r.event, &fault) != ERR_OK)
        fail_msg("%s: %s", fault.text, row->line);
    assert_int_equal(r.seq, a->seq++);
    assert_string_equal(r.prev_hash, a->head);
    snprintf(a->head, sizeof a->head, "%s", r.hash);
    size_t used = strlen(a->types);
    snprintf(a->types + used, sizeof a->types - used, " %s", r.type);
    if (a->want != NULL && strcmp(a->want, r.type) == 0)
        snprintf(a->found, sizeof a->found, "%s", row->line);
    arena_free(arena);
    return ERR_OK;
}

static struct audit *audit(struct rig *w, const char *want)
{
    struct store *store = NULL;
    char path[128];
    struct audit *a = calloc(1, sizeof *a);
    assert_non_null(a);
    a->w = w;
    a->want = want;
    snprintf(a->head, sizeof a->head, "%s", DIGEST_ZERO_TEXT);
    service_close(w->service);
    w->service = NULL;
    snprintf(path, sizeof path, "%s/ledger.db", w->dir);
    assert_int_equal(store_open(path, &store, NULL), ERR_OK);
    assert_int_equal(store_record_from(store, 0, audit_row, a), ERR_OK);
    store_close(store);
    rig_open(w);
    return a;
}

void rig_assert_types(struct rig *w, const char *expected)
{
    struct audit *a = audit(w, NULL);
    if (strcmp(a->types, expected) != 0)
        fail_msg("records are%s, expected%s", a->types, expected);
    free(a);
}

static void assert_record(struct rig *w, const char *type, const char *text, bool is_there)
{
    struct audit *a = audit(w, type);
    if (a->found[0] == '\0' || (strstr(a->found, text) != NULL) != is_there)
        fail_msg("the newest %s %s %s: %s", type, is_there ? "does not hold" : "holds", text, a->found);
    free(a);
}

void rig_assert_record(struct rig *w, const char *type, const char *text)
{
    assert_record(w, type, text, true);
}

void rig_assert_no_record(struct rig *w, const char *type, const char *text)
{
    assert_record(w, type, text, false);
}

/* --- files --- */

void rig_sql(const struct rig *w, const char *sql)
{
    sqlite3 *db = NULL;
    char path[128];
    snprintf(path, sizeof path, "%s/ledger.db", w->dir);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    sqlite3_close(db);
}

void rig_change(struct rig *w, const char *sql)
{
    service_close(w->service);
    w->service = NULL;
    rig_sql(w, sql);
    rig_open(w);
}

static const char *wanted; /* nftw hands nothing through */

static int file_holds(const char *path, const struct stat *st, int kind, struct FTW *where)
{
    (void)st;
    (void)where;
    FILE *f = kind == FTW_F ? fopen(path, "rb") : NULL;
    if (f == NULL)
        return 0;
    fseek(f, 0, SEEK_END);
    long size = ftell(f);
    rewind(f);
    char *bytes = malloc((size_t)size + 1);
    assert_non_null(bytes);
    size_t len = fread(bytes, 1, (size_t)size, f);
    bool found = memmem(bytes, len, wanted, strlen(wanted)) != NULL;
    free(bytes);
    fclose(f);
    return found;
}

bool rig_files_hold(const struct rig *w, const char *text)
{
    wanted = text;
    return nftw(w->dir, file_holds, FILES_AT_ONCE, FTW_PHYS) != 0;
}

void rig_copy(const struct rig *w, const char *from, const char *to)
{
    char path[160], bytes[4096];
    snprintf(path, sizeof path, "%s/%s", w->dir, from);
    FILE *in = fopen(path, "rb");
    snprintf(path, sizeof path, "%s/%s", w->dir, to);
    FILE *out = fopen(path, "wb");
    assert_non_null(in);
    assert_non_null(out);
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, in)) > 0;)
        assert_int_equal(fwrite(bytes, 1, n, out), n);
    fclose(in);
    assert_int_equal(fclose(out), 0);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
    (void)st;
    (void)kind;
    (void)where;
    return remove(path);
}

void rig_remove(const struct rig *w, const char *name)
{
    char path[160];
    snprintf(path, sizeof path, "%s%s%s", w->dir, name[0] != '\0' ? "/" : "", name);
    if (access(path, F_OK) == 0)
        assert_int_equal(nftw(path, remove_one, FILES_AT_ONCE, FTW_DEPTH | FTW_PHYS), 0);
}

int rig_teardown(void **state)
{
    struct rig *w = *state;
    free(audit(w, NULL));
    service_close(w->service);
    schema_free(w->schema);
    rig_remove(w, "");
    free(w);
    return 0;
}
