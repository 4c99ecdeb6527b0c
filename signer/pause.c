/* The gate switched off for a while: docs/pause.md. */
#include "signer/pause.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/rules.h"
#include "signer/service_internal.h"

#define META "pause"
#define KIND "signer_unavailable"
#define US_PER_S INT64_C(1000000)

enum { META_BYTES = 64, GAP_BYTES = PAUSE_REASON_BYTES + 256 };

bool pause_holds(const struct service *s)
{
    const struct pause *p = &s->pause;
    return p->until_ms != 0 && s->now.mono_ms < p->until_ms && s->now.wall_us < p->until_us;
}

/* A gap of the signer's own run. Clocks are set back: nothing ends before it began. */
static enum err record(struct service *s, const char *reason, int64_t from_us, int64_t to_us)
{
    char from[CLOCK_TEXT_BYTES], to[CLOCK_TEXT_BYTES];
    struct arena *arena = arena_new(SERVICE_RECORD_ARENA_BYTES);
    struct json *data = json_new_object(arena);
    clock_text(from_us, from);
    clock_text(to_us > from_us ? to_us : from_us, to);
    json_set_string(arena, data, "kind", KIND);
    json_set_string(arena, data, "reason", reason);
    json_set_string(arena, data, "from_ts", from);
    json_set_string(arena, data, "to_ts", to);
    json_set_bool(arena, data, "tenant_level", true);
    const struct ledger_event event = {.type = "capture.gap", .source = "signer", .data = data};
    enum err e = run_append(s, ledger_signer_run(s->ledger), &event, arena);
    arena_free(arena);
    return e;
}

enum err pause_begin(struct service *s, const struct peer *peer, int64_t seconds, const char *reason,
                     struct fault *fault)
{
    struct pause p = {.from_us = s->now.wall_us, .uid = peer->uid};
    char meta[META_BYTES], text[GAP_BYTES];
    if (pause_holds(s))
        return fault_set(fault, ERR_STATE, "the gate is paused already: `tracekit resume` ends that");
    enum err e = pause_sweep(s);
    if (e != ERR_OK)
        return e;
    p.until_ms = s->now.mono_ms + seconds * 1000;
    p.until_us = s->now.wall_us + seconds * US_PER_S;
    harness_ascii(reason, sizeof p.reason - 1, p.reason);
    snprintf(text, sizeof text,
             "uid %lu (process %ld) paused the gate for %" PRId64
             " s: calls that the policy holds or denies run, flagged."
             " Reason given: %s",
             (unsigned long)peer->uid, (long)peer->pid, seconds, p.reason);
    snprintf(meta, sizeof meta, "%" PRId64 " %" PRId64, p.from_us, p.until_us);
    e = record(s, text, p.from_us, p.until_us);
    if (e == ERR_OK)
        e = store_meta_set(s->store, META, meta);
    if (e == ERR_OK)
        s->pause = p;
    return e;
}

/* `how` says who or what ended it. */
static enum err finish(struct service *s, const char *how)
{
    char text[GAP_BYTES];
    const struct pause *p = &s->pause;
    snprintf(text, sizeof text,
             "the gate works again: %s. %" PRIu64 " calls ran in the pause that the policy would have held or denied",
             how, p->lifted);
    enum err e = record(s, text, p->from_us, s->now.wall_us);
    if (e == ERR_OK)
        e = store_meta_set(s->store, META, "");
    if (e == ERR_OK)
        s->pause = (struct pause){0};
    return e;
}

enum err pause_end(struct service *s, const struct peer *peer, struct fault *fault)
{
    char how[80];
    if (!pause_holds(s))
        return fault_set(fault, ERR_STATE, "the gate is not paused");
    snprintf(how, sizeof how, "uid %lu (process %ld) ended the pause", (unsigned long)peer->uid, (long)peer->pid);
    return finish(s, how);
}

enum err pause_sweep(struct service *s)
{
    return s->pause.until_ms == 0 || pause_holds(s) ? ERR_OK : finish(s, "the time of the pause is over");
}

enum err pause_stop(struct service *s)
{
    return s->pause.until_ms == 0 ? ERR_OK : finish(s, "the signer stopped, which ends a pause");
}

enum err pause_recover(struct service *s)
{
    char meta[META_BYTES];
    int64_t from_us = 0, until_us = 0;
    enum err e = store_meta_get(s->store, META, meta, sizeof meta);
    if (e == ERR_NOT_FOUND || (e == ERR_OK && meta[0] == '\0'))
        return ERR_OK;
    if (e == ERR_OK) {
        char *end = NULL;
        from_us = strtoll(meta, &end, 10);
        until_us = strtoll(end, NULL, 10);
        if (from_us < 0 || from_us > s->now.wall_us)
            from_us = s->now.wall_us;
    }
    if (e == ERR_OK)
        e = store_begin(s->store);
    if (e != ERR_OK)
        return e;
    e = record(s, "the gate works again: the signer ended while it was paused, and a start ends a pause", from_us,
               until_us < s->now.wall_us ? until_us : s->now.wall_us);
    if (e == ERR_OK)
        e = store_meta_set(s->store, META, "");
    if (e == ERR_OK)
        return store_commit(s->store);
    store_abandon(s->store);
    return e;
}

/* --- calls ---------------------------------------------------------------------------------------------------------- */

/* The engine's own denials are about calls that nobody could judge, or record: no person can wave them through. */
static bool is_judged(const struct decision *d)
{
    static const char *const engine[] = {RULES_ARGS_INVALID, RULES_OVERSIZE, RULES_ENGINE_ERROR};
    for (size_t i = 0; i < d->hit_count; i++)
        for (size_t k = 0; k < sizeof engine / sizeof engine[0]; k++)
            if (strcmp(d->hits[i].rule_id, engine[k]) == 0)
                return false;
    return true;
}

bool pause_lift(struct service *s, struct decision *d)
{
    if (d->verdict < VERDICT_ASK || !pause_holds(s) || !is_judged(d))
        return false;
    size_t kept = d->hit_count < POLICY_MAX_RULES_HIT ? d->hit_count : POLICY_MAX_RULES_HIT - 1;
    memmove(&d->hits[1], &d->hits[0], kept * sizeof d->hits[0]);
    d->hits[0] = (struct policy_hit){.rule_id = PAUSE_RULE, .reason = "a person paused the gate"};
    d->hit_count = kept + 1;
    d->verdict = VERDICT_FLAG;
    s->pause.lifted++;
    return true;
}

enum err pause_mark(struct service *s, struct store_run *run)
{
    struct pause *p = &s->pause;
    for (size_t i = 0; i < p->marked_count && i < PAUSE_MARKED; i++)
        if (p->marked[i] == run->id)
            return ERR_OK;
    enum err e =
        run_gap(s, run, KIND, NULL,
                "the gate was paused: from here on calls ran that the policy would have held or denied; each is"
                " recorded as flagged");
    if (e == ERR_OK)
        p->marked[p->marked_count++ % PAUSE_MARKED] = run->id;
    return e;
}

const struct json *pause_view(const struct service *s, struct arena *arena)
{
    char until[CLOCK_TEXT_BYTES];
    const struct pause *p = &s->pause;
    if (!pause_holds(s))
        return json_new_null();
    struct json *view = json_new_object(arena);
    clock_text(p->until_us, until);
    json_set_string(arena, view, "until", until);
    json_set_int(arena, view, "left_s", (p->until_ms - s->now.mono_ms + 999) / 1000);
    json_set_int(arena, view, "uid", (int64_t)p->uid);
    json_set_string(arena, view, "reason", p->reason);
    json_set_int(arena, view, "lifted", (int64_t)p->lifted);
    return view;
}
