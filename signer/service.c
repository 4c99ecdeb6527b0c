/* The service: batches, and what time brings. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/jcs.h"
#include "signer/service_internal.h"

enum { REQUEST_ARENA_BYTES = 128 << 20, TICK_MS = 1000, UNREADABLE_EVERY_MS = 10 * 1000 };

bool service_fatal(enum err e)
{
    return err_kind(e) == ERR_KIND_SYSTEM || e == ERR_CHAIN || e == ERR_LEDGER;
}

/* --- batches -------------------------------------------------------------------------------------------------------- */

/* Passes an error through; it ends this service. */
static enum err settle(struct service *s, enum err e)
{
    if (e != ERR_OK) {
        s->broken = true;
        store_abandon(s->store);
    }
    return e;
}

enum err service_begin(struct service *s, const struct clock *now)
{
    if (s->broken)
        return ERR_STORE;
    s->now = *now;
    return store_begin(s->store);
}

const char *service_failure(const struct service *s)
{
    return store_failure(s->store);
}

enum err service_commit(struct service *s)
{
    if (s->broken)
        return ERR_STORE;
    enum err e = ledger_checkpoint_due(s->ledger, &s->now) ? ledger_checkpoint(s->ledger, &s->now) : ERR_OK;
    if (e == ERR_OK)
        e = store_commit(s->store);
    return settle(s, e);
}

/* --- hooks ---------------------------------------------------------------------------------------------------------- */

/* Acknowledges an event that is not asked about. */
static void note(const struct service_call *call, struct service_answer *answer)
{
    answer->allow = true;
    call->harness->noted(&answer->out);
}

/* A payload that tells nobody apart: counted, and recorded in sum (refusal.summary). */
static void refuse_unreadable(struct service *s, const struct service_call *call, enum harness_event event,
                              const char *why, struct service_answer *answer)
{
    char reason[HARNESS_MAX_REASON];
    if (s->unreadable_count++ == 0) {
        s->unreadable_from_us = s->now.wall_us;
        s->unreadable_since_ms = s->now.mono_ms;
    }
    s->unreadable_to_us = s->now.wall_us;
    if (event != HARNESS_BEFORE_TOOL) {
        note(call, answer);
        return;
    }
    snprintf(
        reason, sizeof reason,
        "tracekit: denied by rule TK-ARGS-INVALID (the hook's payload cannot be read: %s). Send the call again with"
        " plain, valid JSON arguments.",
        why);
    call_deny(call->harness, reason, answer);
}

static enum err serve(struct service *s, struct service_call *call, bool *parked, struct service_answer *answer)
{
    enum err e = ERR_OK;
    switch (call->message.event) {
    case HARNESS_BEFORE_TOOL:
        return call_before_tool(s, call, parked, answer);
    case HARNESS_AFTER_TOOL:
        e = result_take(s, call);
        break;
    case HARNESS_PROMPT:
        e = heard_prompt(s, call);
        break;
    case HARNESS_NOTICE:
        e = heard_notice(s, call);
        break;
    case HARNESS_SESSION_END:
        e = run_session_end(s, call);
        break;
    case HARNESS_SESSION_START:
        e = run_session_start(s, call);
        break;
    case HARNESS_OTHER:
        e = run_of_call(s, call);
        break;
    }
    if (e == ERR_OK)
        note(call, answer);
    return e;
}

static enum err serve_payload(struct service *s, struct service_call *call, bool *parked, struct service_answer *answer)
{
    struct fault fault = {""};
    enum harness_event event = HARNESS_BEFORE_TOOL;
    const struct service_hook *hook = call->hook;

    if (call->harness == NULL || !call->harness->event(hook->meta->event, &event)) {
        call->harness = &gemini_harness; /* of all answers, its deny is understood best */
        refuse_unreadable(s, call, HARNESS_BEFORE_TOOL, "unknown harness or event", answer);
        return ERR_OK;
    }
    if (hook->oversize) {
        refuse_unreadable(s, call, event, "it is larger than 16 MiB", answer);
        return ERR_OK;
    }
    enum err e =
        call->harness->read(call->arena, hook->meta->event, hook->payload, hook->payload_len, &call->message, &fault);
    if (e != ERR_OK) {
        refuse_unreadable(s, call, event, fault.text, answer);
        return ERR_OK;
    }
    return serve(s, call, parked, answer);
}

enum err service_hook(struct service *s, const struct service_hook *hook, bool *parked, struct service_answer *answer)
{
    struct service_call *call = calloc(1, sizeof *call);
    if (call == NULL)
        return settle(s, ERR_NOMEM);
    call->hook = hook;
    call->harness = harness_find(hook->meta->harness);
    call->arena = arena_new(SERVICE_PAYLOAD_ARENA_BYTES);
    *parked = false;
    answer->allow = false;
    buf_init(&answer->out, FRAME_MAX_OUT);
    buf_init(&answer->err, FRAME_MAX_OUT);
    enum err e = call->arena == NULL ? ERR_NOMEM : serve_payload(s, call, parked, answer);
    if (e != ERR_OK) {
        buf_wipe(&answer->out);
        buf_wipe(&answer->err);
    }
    arena_free(call->arena);
    free(call);
    return settle(s, e);
}

bool service_next_answer(struct service *s, uint64_t *token, struct service_answer *answer)
{
    return !s->broken && waiters_next(&s->waiters, token, answer);
}

void service_delivered(struct service *s, uint64_t token)
{
    waiters_remove(&s->waiters, token);
}

enum err service_undelivered(struct service *s, uint64_t token)
{
    struct store_run run;
    struct waiter *w = waiters_by_token(&s->waiters, token);
    if (w == NULL)
        return ERR_OK;
    enum err e = store_run_by_id(s->store, w->run, &run);
    if (e == ERR_OK)
        e = run_gap(s, strcmp(run.state, STORE_RUN_FINAL) != 0 ? &run : ledger_signer_run(s->ledger), "policy_timeout",
                    w->tool_call_id, "the call was allowed, and the hook was gone before the answer reached it");
    waiters_remove(&s->waiters, token);
    return settle(s, e);
}

enum err service_hook_gone(struct service *s, uint64_t token)
{
    const struct waiter *w = waiters_by_token(&s->waiters, token);
    /* Its approval may have been consumed in this very batch. */
    if (w != NULL && w->state == WAITER_ANSWERED && w->answer.allow)
        return service_undelivered(s, token);
    waiters_remove(&s->waiters, token);
    return ERR_OK;
}

/* --- requests ------------------------------------------------------------------------------------------------------- */

static struct json *refusal(struct arena *arena, enum err e, const struct fault *fault)
{
    char message[FAULT_TEXT_BYTES]; /* a fault may have cut the peer's own words in the middle of a character */
    struct json *reply = json_new_object(arena);
    harness_ascii(fault->text[0] != '\0' ? fault->text : err_text(e), sizeof message - 1, message);
    json_set_string(arena, reply, "error", err_name(e));
    json_set_string(arena, reply, "message", message);
    return reply;
}

static enum err answer_request(struct service *s, const struct peer *peer, const struct json *request,
                               struct arena *arena, struct buf *reply)
{
    struct fault fault = {""};
    struct json *value = NULL;
    enum err e = control_serve(s, peer, request, arena, &value, &fault);
    if (e == ERR_OK)
        e = jcs_write(reply, value);
    /* What the arena's maximum or the reply's refused is the request's fault, not the machine's. */
    if (e == ERR_TOO_LARGE || (e == ERR_NOMEM && arena_err(arena) == ERR_TOO_LARGE)) {
        e = ERR_TOO_LARGE;
        fault_set(&fault, e, "the reply would be larger than 4 MiB");
    }
    if (e == ERR_OK || service_fatal(e))
        return e;
    buf_reset(reply);
    enum err written = jcs_write(reply, refusal(arena, e, &fault));
    return written == ERR_OK ? e : ERR_NOMEM;
}

enum err service_request(struct service *s, const struct peer *peer, const uint8_t *text, size_t len, struct buf *reply,
                         bool *refused)
{
    const struct json *request = NULL;
    struct json_fault bad;
    struct arena *arena = arena_new(REQUEST_ARENA_BYTES);
    if (arena == NULL)
        return settle(s, ERR_NOMEM);
    enum err e = json_parse(arena, text, len, &request, &bad);
    if (e == ERR_OK) {
        e = answer_request(s, peer, request, arena, reply);
    } else {
        struct fault fault = {""};
        fault_set(&fault, ERR_PROTOCOL, "the request is not strict JSON: %s at byte %zu", err_text(e), bad.offset);
        e = jcs_write(reply, refusal(arena, ERR_PROTOCOL, &fault));
        e = e == ERR_OK ? ERR_PROTOCOL : ERR_NOMEM;
    }
    arena_free(arena);
    *refused = e != ERR_OK;
    return service_fatal(e) ? settle(s, e) : ERR_OK;
}

/* --- time ----------------------------------------------------------------------------------------------------------- */

static enum err record_unreadable(struct service *s, bool now)
{
    char from[CLOCK_TEXT_BYTES], to[CLOCK_TEXT_BYTES];
    if (s->unreadable_count == 0 || (!now && s->now.mono_ms - s->unreadable_since_ms < UNREADABLE_EVERY_MS))
        return ERR_OK;
    clock_text(s->unreadable_from_us, from);
    clock_text(s->unreadable_to_us, to);
    struct arena *arena = arena_new(SERVICE_RECORD_ARENA_BYTES);
    struct json *data = json_new_object(arena);
    json_set_string(arena, data, "code", "TK-ARGS-INVALID");
    json_set_int(arena, data, "count", (int64_t)s->unreadable_count);
    json_set_string(arena, data, "from_ts", from);
    json_set_string(arena, data, "to_ts", to);
    const struct ledger_event event = {.type = "refusal.summary", .source = "signer", .data = data};
    enum err e = run_append(s, ledger_signer_run(s->ledger), &event, arena);
    arena_free(arena);
    s->unreadable_count = 0;
    return e;
}

enum err service_tick(struct service *s, int64_t *next_ms)
{
    enum err e = approval_sweep(s);
    if (e == ERR_OK)
        e = run_sweep(s);
    if (e == ERR_OK)
        e = pause_sweep(s);
    if (e == ERR_OK)
        e = record_unreadable(s, false);
    *next_ms = s->now.mono_ms + TICK_MS;
    return settle(s, e);
}

enum err service_stop(struct service *s)
{
    enum err e = ERR_OK;
    for (size_t i = 0; e == ERR_OK && i < s->waiters.count; i++) {
        struct waiter *w = &s->waiters.list[i];
        struct service_answer answer;
        if (w->state != WAITER_WAITING)
            continue;
        e = store_call_set_state(s->store, w->tool_call_id, STORE_CALL_DENIED);
        if (e != ERR_OK)
            break;
        call_deny(
            w->harness,
            "tracekit: the signer is stopping, so the call is denied. Its approval stays open: repeat exactly this"
            " call when the signer runs again. Another way to the same effect is refused too.",
            &answer);
        waiters_answer(w, &answer);
    }
    if (e == ERR_OK)
        e = pause_stop(s);
    if (e == ERR_OK)
        e = record_unreadable(s, true);
    return settle(s, e);
}
