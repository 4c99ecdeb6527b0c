/* Runs: registered by their first event, closed by SessionEnd or by idling, ended by run.final (docs/evidence.md). */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "signer/ids.h"
#include "signer/service_internal.h"

#define US_PER_S INT64_C(1000000)

enum err run_append(struct service *s, struct store_run *run, const struct ledger_event *event, struct arena *arena)
{
    return ledger_append(s->ledger, run, event, &s->now, arena);
}

enum err run_gap(struct service *s, struct store_run *run, const char *kind, const char *tool_call_id,
                 const char *reason)
{
    struct arena *arena = arena_new(SERVICE_RECORD_ARENA_BYTES);
    struct json *data = json_new_object(arena);
    json_set_string(arena, data, "kind", kind);
    json_set_string(arena, data, "reason", reason);
    if (tool_call_id != NULL)
        json_set_string(arena, data, "tool_use_id", tool_call_id);
    const struct ledger_event event = {
        .type = "capture.gap", .source = "signer", .tool_call_id = tool_call_id, .data = data};
    enum err e = run_append(s, run, &event, arena);
    arena_free(arena);
    return e;
}

static struct json *registration(struct service *s, const struct service_call *call, struct arena *arena)
{
    char subject[24];
    snprintf(subject, sizeof subject, "%lu", (unsigned long)call->hook->peer.uid);
    struct json *agent = json_new_object(arena), *identity = json_new_object(arena), *data = json_new_object(arena);
    json_set_string(arena, agent, "name", call->harness->agent);
    json_set_string(arena, identity, "scheme", "uid");
    json_set_string(arena, identity, "subject", subject);
    json_set_bool(arena, identity, "attested", true);
    json_set(arena, data, "agent", agent);
    json_set(arena, data, "identity", identity);
    json_set_string(arena, data, "signer_isolation",
                    s->config.dev || call->hook->peer.uid == geteuid() ? "same-user" : "separate-user");
    return data;
}

static enum err start_run(struct service *s, struct service_call *call)
{
    struct store_run *run = &call->run;
    memset(run, 0, sizeof *run);
    enum err e = ids_hex(run->run_id);
    if (e != ERR_OK)
        return e;
    snprintf(run->tenant, sizeof run->tenant, "%s", s->config.tenant);
    snprintf(run->harness, sizeof run->harness, "%s", call->harness->name);
    snprintf(run->session, sizeof run->session, "%s", call->message.session);
    snprintf(run->socket, sizeof run->socket, "%s", SERVICE_SOCKET_AGENT);
    snprintf(run->state, sizeof run->state, "%s", STORE_RUN_OPEN);
    run->uid = call->hook->peer.uid;
    run->started_us = run->active_us = s->now.wall_us;
    e = store_run_insert(s->store, run);
    if (e != ERR_OK)
        return e;

    struct arena *arena = arena_new(SERVICE_RECORD_ARENA_BYTES);
    const struct ledger_event event = {
        .type = "run.registered", .source = "hook", .tier = "T1", .data = registration(s, call, arena)};
    e = run_append(s, run, &event, arena);
    arena_free(arena);
    return e;
}

/* A live run takes this event: an open one any, a closing one only results that come late. */
static bool takes(const struct service_call *call, const struct store_run *run)
{
    return strcmp(run->state, STORE_RUN_OPEN) == 0 || call->message.event == HARNESS_AFTER_TOOL;
}

static enum err set_state(struct service *s, struct store_run *run, const char *state)
{
    snprintf(run->state, sizeof run->state, "%s", state);
    run->ended_us = s->now.wall_us;
    return store_run_set_state(s->store, run);
}

static enum err close_run(struct service *s, struct store_run *run, const char *reason)
{
    struct arena *arena = arena_new(SERVICE_RECORD_ARENA_BYTES);
    struct json *data = json_new_object(arena);
    json_set_string(arena, data, "reason", reason);
    const struct ledger_event event = {.type = "run.closing", .source = "signer", .data = data};
    enum err e = run_append(s, run, &event, arena);
    arena_free(arena);
    return e == ERR_OK ? set_state(s, run, STORE_RUN_CLOSING) : e;
}

static struct store_run_key key_of(const struct service_call *call)
{
    return (struct store_run_key){
        .socket = SERVICE_SOCKET_AGENT, .uid = call->hook->peer.uid, .session = call->message.session};
}

/* The session goes on in another run, and so do calls that are in flight: they were decided. */
static enum err go_on(struct service *s, struct service_call *call)
{
    struct store_run full = call->run;
    enum err e = strcmp(full.state, STORE_RUN_OPEN) == 0 ? close_run(s, &full, "close_run") : ERR_OK;
    if (e == ERR_OK)
        e = start_run(s, call);
    if (e == ERR_OK)
        e = store_call_move(s->store, full.id, call->run.id);
    return e == ERR_OK ? run_finish(s, &full) : e;
}

/* One run's file in a bundle has a limit. A run that comes near it ends when nothing of it is in flight: neither a call
 * whose result is to come, nor an approval that somebody may still answer. */
static enum err is_full(struct service *s, const struct store_run *run, bool *out)
{
    bool in_flight = false;
    int64_t pending = 0;
    *out = run->bytes >= SERVICE_RUN_HARD_BYTES;
    if (*out || run->bytes < SERVICE_RUN_MAX_BYTES)
        return ERR_OK;
    enum err e = store_call_in_flight(s->store, run->id, &in_flight);
    if (e == ERR_OK)
        e = store_approval_pending_of_run(s->store, run->id, &pending);
    *out = !in_flight && pending == 0;
    return e;
}

enum err run_of_call(struct service *s, struct service_call *call)
{
    const struct store_run_key key = key_of(call);
    bool full = false;
    enum err e = store_run_live(s->store, &key, &call->run);
    if (e == ERR_NOT_FOUND || (e == ERR_OK && !takes(call, &call->run)))
        return start_run(s, call);
    if (e == ERR_OK)
        e = is_full(s, &call->run, &full);
    return e == ERR_OK && full ? go_on(s, call) : e;
}

enum err run_closing_of_call(struct service *s, const struct service_call *call, struct store_run *out)
{
    const struct store_run_key key = key_of(call);
    return store_run_live_in(s->store, &key, STORE_RUN_CLOSING, out);
}

/* A session that begins in a run of its own id goes on with an earlier one that nobody ended: its program was killed, say.
 * Not so in the run's first moments, for a prompt given with the program's start may be told before the start is. */
static bool is_begun(const struct service *s, const struct store_run *run)
{
    int64_t age_us = s->now.wall_us - run->started_us;
    return strcmp(run->state, STORE_RUN_OPEN) == 0 && (age_us >= SERVICE_START_MS * INT64_C(1000) || age_us < 0);
}

enum err run_session_start(struct service *s, struct service_call *call)
{
    const struct store_run_key key = key_of(call);
    enum err e = store_run_live(s->store, &key, &call->run);
    if (e == ERR_OK && is_begun(s, &call->run))
        e = close_run(s, &call->run, "close_run");
    return e == ERR_OK || e == ERR_NOT_FOUND ? run_of_call(s, call) : e;
}

enum err run_session_end(struct service *s, struct service_call *call)
{
    const struct store_run_key key = key_of(call);
    enum err e = store_run_live(s->store, &key, &call->run);
    if (e == ERR_NOT_FOUND || (e == ERR_OK && strcmp(call->run.state, STORE_RUN_OPEN) != 0))
        return ERR_OK;
    return e == ERR_OK ? close_run(s, &call->run, "close_run") : e;
}

enum err run_finish(struct service *s, struct store_run *run)
{
    char head[DIGEST_TEXT_BYTES];
    enum err e = approval_expire_run(s, run);
    if (e == ERR_OK)
        e = result_missing(s, run);
    if (e == ERR_OK)
        e = store_call_delete_run(s->store, run->id);
    if (e != ERR_OK)
        return e;

    struct arena *arena = arena_new(SERVICE_RECORD_ARENA_BYTES);
    struct json *data = json_new_object(arena), *coverage = json_new_object(arena), *layers = json_new_array(arena);
    digest_text(run->head, head);
    json_add(arena, layers, json_new_string(arena, "L2"));
    json_set(arena, coverage, "layers", layers);
    json_set_int(arena, coverage, "reconciled", 0);
    json_set(arena, coverage, "unreconciled", json_new_object(arena));
    json_set_int(arena, data, "head_run_seq", run->next_run_seq - 1);
    json_set_string(arena, data, "head_hash", head);
    json_set(arena, data, "coverage", coverage);
    const struct ledger_event event = {.type = "run.final", .source = "signer", .data = data};
    e = run_append(s, run, &event, arena);
    arena_free(arena);
    if (e == ERR_OK)
        e = set_state(s, run, STORE_RUN_FINAL);
    return e == ERR_OK ? ledger_checkpoint(s->ledger, &s->now) : e;
}

/* --- time ----------------------------------------------------------------------------------------------------------- */

struct due {
    const struct service *s;
    size_t count, seen;
    int64_t last; /* the newest row that was seen */
    int64_t ids[SERVICE_SWEEP_LIMIT];
};

static bool is_due(const struct service *s, const struct store_run *run)
{
    int64_t idle_us = s->now.wall_us - run->active_us, closing_us = s->now.wall_us - run->ended_us;
    if (strcmp(run->state, STORE_RUN_CLOSING) != 0)
        return idle_us >= SERVICE_IDLE_S * US_PER_S;
    /* With a clock that was set back nobody knows how long ago it was closed. */
    return closing_us >= SERVICE_GRACE_MS * INT64_C(1000) || closing_us < 0;
}

static enum err collect_due(void *ctx, const struct store_run *run)
{
    struct due *due = ctx;
    due->seen++;
    due->last = run->id;
    if (is_due(due->s, run))
        due->ids[due->count++] = run->id;
    return ERR_OK;
}

static enum err finish_due(struct service *s, int64_t id)
{
    struct store_run run;
    int64_t pending = 0;
    enum err e = store_run_by_id(s->store, id, &run);
    if (e == ERR_OK && strcmp(run.state, STORE_RUN_OPEN) == 0) {
        e = store_approval_pending_of_run(s->store, id, &pending);
        if (e != ERR_OK || pending > 0)
            return e;
        e = close_run(s, &run, "idle_timeout");
    }
    return e == ERR_OK ? run_finish(s, &run) : e;
}

static enum err finish_all(struct service *s, const struct due *due)
{
    enum err e = ERR_OK;
    for (size_t i = 0; e == ERR_OK && i < due->count; i++)
        e = finish_due(s, due->ids[i]);
    return e;
}

/* However many runs are open, a sweep looks at a part of them, and the next one at the next part. */
static enum err sweep_open(struct service *s)
{
    struct due due = {.s = s};
    const struct store_run_range range = {.state = STORE_RUN_OPEN, .after = s->swept_run, .limit = SERVICE_SWEEP_LIMIT};
    enum err e = store_run_in_state(s->store, &range, collect_due, &due);
    s->swept_run = due.seen == SERVICE_SWEEP_LIMIT ? due.last : 0;
    return e == ERR_OK ? finish_all(s, &due) : e;
}

enum err run_sweep(struct service *s)
{
    struct due due = {.s = s};
    const struct store_run_range range = {.state = STORE_RUN_CLOSING, .limit = SERVICE_SWEEP_LIMIT};
    enum err e = store_run_in_state(s->store, &range, collect_due, &due);
    if (e == ERR_OK)
        e = finish_all(s, &due);
    return e == ERR_OK ? sweep_open(s) : e;
}
