/* The control request `status` (docs/wire.md): how the signer stands, for a page that a person reads. */
#include <string.h>
#include <unistd.h>

#include "signer/service_internal.h"

static void set_process(const struct service *s, struct arena *arena, struct json *reply)
{
    char started[CLOCK_TEXT_BYTES];
    clock_text(s->started_us, started);
    json_set_string(arena, reply, "version", TRACEKIT_VERSION);
    json_set_int(arena, reply, "pid", (int64_t)getpid());
    json_set_string(arena, reply, "started_at", started);
    json_set_string(arena, reply, "mode", s->config.dev ? "dev" : "system");
    json_set_string(arena, reply, "isolation", s->config.dev ? "same-user" : "separate-user");
}

/* A path may hold bytes that no JSON text can hold; then the reply says null. */
static void set_places(const struct service *s, struct arena *arena, struct json *reply)
{
    const struct json *path = json_new_string(arena, s->config.data_dir);
    json_set(arena, reply, "data_dir", path != NULL ? path : json_new_null());
    json_set_string(arena, reply, "log_id", ledger_log_id(s->ledger));
    json_set_string(arena, reply, "origin", ledger_origin(s->ledger));
    json_set_int(arena, reply, "records", (int64_t)ledger_size(s->ledger));
    json_set_int(arena, reply, "covered", (int64_t)ledger_covered(s->ledger));
}

static int64_t hooks_waiting(const struct service *s)
{
    int64_t count = 0;
    for (size_t i = 0; i < s->waiters.count; i++)
        count += s->waiters.list[i].state == WAITER_WAITING;
    return count;
}

/* Sessions of an agent that run and have never asked. */
static void set_unasked(const struct service *s, struct arena *arena, struct json *reply)
{
    (void)s;
    json_set(arena, reply, "unasked", json_new_array(arena));
}

enum err control_status(struct service *s, struct arena *arena, struct json *reply)
{
    int64_t pending = 0, runs = 0;
    enum err e = store_approval_pending(s->store, &pending);
    if (e == ERR_OK)
        e = store_run_open_count(s->store, &runs);
    if (e != ERR_OK)
        return e;
    set_process(s, arena, reply);
    set_places(s, arena, reply);
    json_set_int(arena, reply, "runs_open", runs);
    json_set_int(arena, reply, "pending", pending);
    json_set_int(arena, reply, "hooks_waiting", hooks_waiting(s));
    json_set(arena, reply, "paused", pause_view(s, arena));
    set_unasked(s, arena, reply);
    return ERR_OK;
}
