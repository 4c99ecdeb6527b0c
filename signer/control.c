/* The control socket's requests (docs/wire.md), apart from export.*. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "evidence/jcs.h"
#include "signer/service_internal.h"

#define US_PER_S INT64_C(1000000)

enum {
    LIST_MAX = SERVICE_OPEN_APPROVALS,
    LIST_MAX_BYTES = 3 << 20, /* a list ends here, and says that there is more */
    REASON_MAX_BYTES = 1024,  /* the format's limit for an approval's reason */
    PREFIX_MIN_DIGITS = 4,
    RUNS_DEFAULT = 50,
    RUNS_MAX = 500,
};

struct control {
    struct service *s;
    const struct peer *peer;
    const struct json *request;
    struct arena *arena;
    struct json *reply;
    struct fault *fault;
};

static void set_time(struct arena *arena, struct json *object, const char *key, int64_t us)
{
    char text[CLOCK_TEXT_BYTES];
    clock_text(us, text);
    json_set_string(arena, object, key, text);
}

/* --- approvals ------------------------------------------------------------------------------------------------------ */

static enum err set_facts(struct arena *arena, struct json *out, const struct store_approval *a)
{
    const struct json *facts = NULL;
    enum err e = json_parse(arena, a->facts, strlen(a->facts), &facts, NULL);
    if (e != ERR_OK)
        return ERR_LEDGER;
    json_set(arena, out, "rule_ids", json_get(facts, "rule_ids"));
    json_set(arena, out, "reasons", json_get(facts, "reasons"));
    return ERR_OK;
}

static void set_wait(struct service *s, struct arena *arena, struct json *out, const char *id)
{
    const struct waiter *w = waiters_by_approval(&s->waiters, id);
    int64_t left_ms = w != NULL ? w->deadline_ms - SERVICE_HOOK_MARGIN_MS - s->now.mono_ms : 0;
    json_set_bool(arena, out, "waiting", w != NULL);
    if (w == NULL)
        json_set(arena, out, "wait_left_s", json_new_null());
    else
        json_set_int(arena, out, "wait_left_s", left_ms > 0 ? left_ms / 1000 : 0);
}

/* One approval as the command line shows it, but for its arguments. */
static enum err describe(struct service *s, const struct store_approval *a, struct arena *arena, struct json **out)
{
    char requester[32];
    struct store_run run;
    struct json *o = json_new_object(arena);
    enum err e = store_run_by_id(s->store, a->run, &run);
    if (e != ERR_OK)
        return e;
    snprintf(requester, sizeof requester, "uid:%" PRId64, a->uid);
    json_set_string(arena, o, "id", a->id);
    json_set_string(arena, o, "state", a->state);
    json_set_string(arena, o, "run", run.run_id);
    json_set_string(arena, o, "session", run.session);
    json_set_string(arena, o, "tool", a->tool);
    json_set_string(arena, o, "cwd", a->cwd);
    json_set_string(arena, o, "requester", requester);
    set_time(arena, o, "created_at", a->created_us);
    set_time(arena, o, "expires_at", a->expires_us);
    int64_t left = a->expires_us - s->now.wall_us;
    json_set_int(arena, o, "expires_in_s", left > 0 ? left / US_PER_S : 0);
    set_wait(s, arena, o, a->id);
    e = set_facts(arena, o, a);
    if (e == ERR_OK)
        e = shown_read(s, a->id, arena, o);
    *out = o;
    return e;
}

struct listing {
    struct control *c;
    struct json *list;
    size_t count, bytes;
    bool more;
};

/* The list ends before the first one that does not fit; there is room for one of any size. */
static enum err list_one(void *ctx, const struct store_approval *a)
{
    struct listing *l = ctx;
    struct json *o = NULL;
    struct buf text;
    if (l->more || l->count == LIST_MAX) {
        l->more = true;
        return ERR_OK;
    }
    enum err e = describe(l->c->s, a, l->c->arena, &o);
    if (e != ERR_OK)
        return e;
    buf_init(&text, FRAME_MAX_REPLY);
    e = jcs_write(&text, o);
    l->bytes += text.len;
    buf_wipe(&text);
    if (e != ERR_OK)
        return e;
    l->more = l->bytes > LIST_MAX_BYTES;
    if (!l->more) {
        json_add(l->c->arena, l->list, o);
        l->count++;
    }
    return ERR_OK;
}

static enum err approvals_list(struct control *c)
{
    struct listing l = {.c = c, .list = json_new_array(c->arena)};
    enum err e = store_approval_in_state(c->s->store, STORE_APPROVAL_PENDING, LIST_MAX + 1, list_one, &l);
    json_set(c->arena, c->reply, "approvals", l.list);
    json_set_bool(c->arena, c->reply, "more", l.more);
    return e;
}

/* The approval that the request's `id` names: whole, or a unique prefix with at least PREFIX_MIN_DIGITS digits. */
static enum err find(struct control *c, struct store_approval *out)
{
    char id[IDS_PREFIXED_BYTES];
    const char *words = json_get_cstr(c->request, "id");
    if (words == NULL)
        return fault_set(c->fault, ERR_PROTOCOL, "id is missing");
    if (strncmp(words, "apr-", 4) == 0)
        words += 4;
    size_t len = strlen(words);
    if (len < PREFIX_MIN_DIGITS || len > IDS_HEX_BYTES - 1 || strspn(words, "0123456789abcdef") != len)
        return fault_set(c->fault, ERR_NOT_FOUND, "an approval id is apr- and at least %d hexadecimal digits",
                         PREFIX_MIN_DIGITS);
    snprintf(id, sizeof id, "apr-%s", words);
    enum err e = store_approval_find(c->s->store, id, out);
    if (e == ERR_NOT_FOUND)
        return fault_set(c->fault, e, "there is no approval %s", id);
    if (e == ERR_AMBIGUOUS)
        return fault_set(c->fault, e, "more than one approval begins with %s: give more digits", id);
    return e;
}

static enum err approvals_show(struct control *c)
{
    struct store_approval a;
    struct json *o = NULL;
    const struct json *args = NULL;
    enum err e = find(c, &a);
    if (e == ERR_OK)
        e = describe(c->s, &a, c->arena, &o);
    if (e == ERR_OK)
        e = shown_args(c->s, a.id, c->arena, &args);
    if (e != ERR_OK)
        return e;
    if (args != NULL)
        json_set(c->arena, o, "args", args);
    json_set_string(c->arena, o, "tool_call_id", a.tool_call_id);
    json_set_string(c->arena, o, "policy_hash", a.policy_hash);
    json_set_string(c->arena, o, "binding_digest", a.binding_digest);
    json_set(c->arena, c->reply, "approval", o);
    return ERR_OK;
}

/* What nobody can be shown nobody can approve: its arguments were sealed under a key that is gone. */
static enum err check_shown(struct control *c, const struct store_approval *a)
{
    const struct json *args = NULL;
    enum err e = shown_args(c->s, a->id, c->arena, &args);
    if (e == ERR_OK && args == NULL && strcmp(a->state, STORE_APPROVAL_PENDING) == 0)
        return fault_set(c->fault, ERR_STATE, "the arguments of %s cannot be shown any more: reject it", a->id);
    return e;
}

static enum err approvals_answer(struct control *c)
{
    struct store_approval a;
    struct approval_outcome outcome;
    const struct json *reason = json_get(c->request, "reason"), *digest = json_get(c->request, "binding_digest");
    const char *decision = json_get_cstr(c->request, "decision");
    bool approve = decision != NULL && strcmp(decision, "approve") == 0;

    if (!approve && (decision == NULL || strcmp(decision, "reject") != 0))
        return fault_set(c->fault, ERR_PROTOCOL, "decision is neither approve nor reject");
    if ((reason != NULL && json_cstr(reason) == NULL) || (digest != NULL && json_cstr(digest) == NULL))
        return fault_set(c->fault, ERR_PROTOCOL, "reason and binding_digest are texts without NUL");
    struct approval_answer answer = {.approve = approve,
                                     .reason = reason != NULL ? json_cstr(reason) : "",
                                     .binding_digest = digest != NULL ? json_cstr(digest) : "",
                                     .peer = *c->peer};
    if (strlen(answer.reason) > REASON_MAX_BYTES)
        return fault_set(c->fault, ERR_TOO_LARGE, "the reason is longer than %d bytes", REASON_MAX_BYTES);
    enum err e = find(c, &a);
    if (e == ERR_OK && approve)
        e = check_shown(c, &a);
    if (e == ERR_OK)
        e = approval_answer(c->s, &a, &answer, &outcome, c->fault);
    if (e != ERR_OK)
        return e;
    json_set_string(c->arena, c->reply, "id", a.id);
    json_set_string(c->arena, c->reply, "decision", approve ? "approve" : "reject");
    json_set_string(c->arena, c->reply, "delivery", outcome.delivered ? "waiting" : "kept");
    json_set_bool(c->arena, c->reply, "self_approved", outcome.self_approved);
    return ERR_OK;
}

/* --- the rest ------------------------------------------------------------------------------------------------------- */

static enum err hello(struct control *c)
{
    int64_t pending = 0;
    enum err e = store_approval_pending(c->s->store, &pending);
    if (e != ERR_OK)
        return e;
    json_set_string(c->arena, c->reply, "version", TRACEKIT_VERSION);
    json_set_string(c->arena, c->reply, "mode", c->s->config.dev ? "dev" : "system");
    json_set_string(c->arena, c->reply, "log_id", ledger_log_id(c->s->ledger));
    json_set_string(c->arena, c->reply, "origin", ledger_origin(c->s->ledger));
    json_set_int(c->arena, c->reply, "records", (int64_t)ledger_size(c->s->ledger));
    json_set_int(c->arena, c->reply, "pending", pending);
    return ERR_OK;
}

static enum err status(struct control *c)
{
    return control_status(c->s, c->arena, c->reply);
}

static enum err pause_start(struct control *c)
{
    int64_t seconds = 0;
    size_t len = 0;
    const struct json *reason = json_get(c->request, "reason");
    const char *text = json_cstr(reason);
    if (!json_int(json_get(c->request, "seconds"), &seconds) || seconds < 1 || seconds > PAUSE_MAX_S)
        return fault_set(c->fault, ERR_PROTOCOL, "pause.begin needs \"seconds\", 1 to %d", PAUSE_MAX_S);
    if (text == NULL || json_text(reason, &len) == NULL || len == 0 || len > REASON_MAX_BYTES)
        return fault_set(c->fault, ERR_PROTOCOL, "pause.begin needs a \"reason\" of 1 to %d bytes", REASON_MAX_BYTES);
    enum err e = pause_begin(c->s, c->peer, seconds, text, c->fault);
    if (e == ERR_OK)
        json_set(c->arena, c->reply, "paused", pause_view(c->s, c->arena));
    return e;
}

static enum err pause_finish(struct control *c)
{
    const struct json *was = pause_view(c->s, c->arena);
    enum err e = pause_end(c->s, c->peer, c->fault);
    if (e == ERR_OK)
        json_set(c->arena, c->reply, "was", was);
    return e;
}

struct run_listing {
    struct control *c;
    struct json *list;
};

static enum err list_run(void *ctx, const struct store_run *run)
{
    struct run_listing *l = ctx;
    struct arena *arena = l->c->arena;
    struct json *o = json_new_object(arena);
    int64_t pending = 0;
    enum err e = store_approval_pending_of_run(l->c->s->store, run->id, &pending);
    json_set_string(arena, o, "run", run->run_id);
    json_set_string(arena, o, "tenant", run->tenant);
    json_set_string(arena, o, "session", run->session);
    json_set_string(arena, o, "harness", run->harness);
    json_set_string(arena, o, "state", run->state);
    json_set_int(arena, o, "records", run->next_run_seq);
    set_time(arena, o, "started_at", run->started_us);
    if (strcmp(run->state, STORE_RUN_FINAL) == 0)
        set_time(arena, o, "ended_at", run->ended_us);
    json_set_int(arena, o, "pending", pending);
    json_add(arena, l->list, o);
    return e;
}

static enum err runs_list(struct control *c)
{
    struct run_listing l = {.c = c, .list = json_new_array(c->arena)};
    const struct json *limit = json_get(c->request, "limit");
    int64_t n = RUNS_DEFAULT;
    if (limit != NULL && (!json_int(limit, &n) || n < 1 || n > RUNS_MAX))
        return fault_set(c->fault, ERR_PROTOCOL, "limit is a whole number from 1 to %d", RUNS_MAX);
    enum err e = store_run_newest(c->s->store, n, list_run, &l);
    json_set(c->arena, c->reply, "runs", l.list);
    return e;
}

static enum err trust(struct control *c)
{
    struct note_vkey vkey;
    char text[NOTE_VKEY_BYTES];
    struct json *logs = json_new_array(c->arena);
    enum err e = ledger_vkey(c->s->ledger, &vkey);
    if (e != ERR_OK)
        return e;
    note_vkey_write(&vkey, text);
    json_add(c->arena, logs, json_new_string(c->arena, text));
    json_set(c->arena, c->reply, "logs", logs);
    return ERR_OK;
}

static enum err export(struct control *c) {
    return control_export(c->s, json_get_cstr(c->request, "op"), c->request, c->arena, c->reply, c->fault);
}

/* Each op and the keys that it knows besides `op`. */
static const struct {
    const char *op;
    const char *keys[5];
    enum err (*serve)(struct control *c);
} ops[] = {
    {"hello", {NULL}, hello},
    {"status", {NULL}, status},
    {"approvals.list", {NULL}, approvals_list},
    {"approvals.show", {"id"}, approvals_show},
    {"approvals.answer", {"id", "decision", "reason", "binding_digest"}, approvals_answer},
    {"pause.begin", {"seconds", "reason"}, pause_start},
    {"pause.end", {NULL}, pause_finish},
    {"runs.list", {"limit"}, runs_list},
    {"trust", {NULL}, trust},
    {"export.begin", {"run"}, export},
    {"export.records", {"run", "size", "from"}, export},
    {"export.proofs", {"size", "seqs"}, export},
    {"export.policy", {"hash"}, export},
};

/* Keys may hold a NUL, so their lengths count. */
static bool knows(const char *const keys[5], const char *key, size_t len)
{
    for (size_t i = 0; i < 5 && keys[i] != NULL; i++)
        if (strlen(keys[i]) == len && memcmp(keys[i], key, len) == 0)
            return true;
    return len == 2 && memcmp(key, "op", len) == 0;
}

static enum err check_keys(const struct control *c, const char *op, const char *const keys[5])
{
    for (size_t i = 0; i < json_count(c->request); i++) {
        size_t len = 0;
        const char *key = json_key(c->request, i, &len);
        if (!knows(keys, key, len))
            return fault_set(c->fault, ERR_PROTOCOL, "%s does not know the key %.40s", op, key);
    }
    return ERR_OK;
}

enum err control_serve(struct service *s, const struct peer *peer, const struct json *request, struct arena *arena,
                       struct json **reply, struct fault *fault)
{
    struct control c = {.s = s, .peer = peer, .request = request, .arena = arena, .fault = fault};
    const char *op = json_get_cstr(request, "op");
    if (op == NULL)
        return fault_set(fault, ERR_PROTOCOL, "a request is an object with an op");
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        if (strcmp(ops[i].op, op) != 0)
            continue;
        c.reply = json_new_object(arena);
        enum err e = check_keys(&c, op, ops[i].keys);
        if (e == ERR_OK)
            e = ops[i].serve(&c);
        if (e == ERR_OK)
            *reply = c.reply;
        return e;
    }
    return fault_set(fault, ERR_PROTOCOL, "there is no request %.40s", op);
}
