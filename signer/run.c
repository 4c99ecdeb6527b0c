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

static enum err close_run(struct service *s, struct store_run *run, const char *reason)
{
    struct arena *arena = arena_new(SERVICE_RECORD_ARENA_BYTES);
    struct json *data = json_new_object(arena);
    json_set_string(arena, data, "reason", reason);
    const struct ledger_event event = {.type = "run.closing", .source = "signer", .data = data};
    snprintf(run->state, sizeof run->state, "%s", STORE_RUN_CLOSING);
    run->ended_us = s->now.wall_us;
    enum err e = run_append(s, run, &event, arena);
    arena_free(arena);
    return e;
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
        e = store_approval_pending(s->store, run->id, &pending);
    *out = !in_flight && pending == 0;
    return e;
}

enum err run_of_call(struct service *s, struct service_call *call)
{
    bool full = false;
    enum err e =
        store_run_live(s->store, SERVICE_SOCKET_AGENT, call->hook->peer.uid, call->message.session, &call->run);
    if (e == ERR_NOT_FOUND || (e == ERR_OK && !takes(call, &call->run)))
        return start_run(s, call);
    if (e == ERR_OK)
        e = is_full(s, &call->run, &full);
    if (e != ERR_OK || !full)
        return e;
    if (strcmp(call->run.state, STORE_RUN_OPEN) == 0)
        e = close_run(s, &call->run, "close_run");
    if (e == ERR_OK)
        e = run_finish(s, &call->run);
    return e == ERR_OK ? start_run(s, call) : e;
}

enum err run_session_end(struct service *s, struct service_call *call)
{
    enum err e =
        store_run_live(s->store, SERVICE_SOCKET_AGENT, call->hook->peer.uid, call->message.session, &call->run);
    if (e == ERR_NOT_FOUND || (e == ERR_OK && strcmp(call->run.state, STORE_RUN_OPEN) != 0))
        return ERR_OK;
    return e == ERR_OK ? close_run(s, &call->run, "close_run") : e;
}

enum err run_finish(struct service *s, struct store_run *run)
{
    char head[DIGEST_TEXT_BYTES];
    enum err e = approval_expire_run(s, run);
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
    snprintf(run->state, sizeof run->state, "%s", STORE_RUN_FINAL);
    run->ended_us = s->now.wall_us;
    e = run_append(s, run, &event, arena);
    arena_free(arena);
    return e == ERR_OK ? ledger_checkpoint(s->ledger, &s->now) : e;
}

struct due {
    const struct service *s;
    size_t count;
    int64_t ids[SERVICE_SWEEP_LIMIT];
};

static bool is_due(const struct service *s, const struct store_run *run)
{
    if (strcmp(run->state, STORE_RUN_CLOSING) == 0)
        return s->now.wall_us - run->ended_us >= SERVICE_GRACE_MS * INT64_C(1000);
    return s->now.wall_us - run->active_us >= SERVICE_IDLE_S * US_PER_S;
}

static enum err collect_due(void *ctx, const struct store_run *run)
{
    struct due *due = ctx;
    if (due->count < SERVICE_SWEEP_LIMIT && is_due(due->s, run))
        due->ids[due->count++] = run->id;
    return ERR_OK;
}

static enum err finish_due(struct service *s, int64_t id)
{
    struct store_run run;
    int64_t pending = 0;
    enum err e = store_run_by_id(s->store, id, &run);
    if (e == ERR_OK && strcmp(run.state, STORE_RUN_OPEN) == 0) {
        e = store_approval_pending(s->store, id, &pending);
        if (e != ERR_OK || pending > 0)
            return e;
        e = close_run(s, &run, "idle_timeout");
    }
    return e == ERR_OK ? run_finish(s, &run) : e;
}

enum err run_sweep(struct service *s)
{
    struct due due = {.s = s};
    enum err e = store_run_unfinished(s->store, collect_due, &due);
    for (size_t i = 0; e == ERR_OK && i < due.count; i++)
        e = finish_due(s, due.ids[i]);
    return e;
}
