#include "signer/ledger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/base64.h"
#include "evidence/record.h"
#include "evidence/tree.h"
#include "signer/holder.h"
#include "signer/ids.h"
#include "signer/ledger_check.h"
#include "signer/store_record.h"

enum { EPOCH_ARENA_BYTES = 64 << 10 };

struct ledger {
    struct store *store;
    struct holder *holder;
    char log_id[IDS_HEX_BYTES];
    char origin[NOTE_NAME_BYTES];
    struct store_run signer_run;
    uint64_t covered;
    int64_t uncovered_since_ms; /* when the first record after the newest checkpoint was appended */
};

static enum err make_identity(struct ledger *l)
{
    enum err e = ids_hex(l->log_id);
    if (e != ERR_OK)
        return e;
    snprintf(l->origin, sizeof l->origin, "tracekit.local/%s", l->log_id);
    e = store_meta_set(l->store, "log_id", l->log_id);
    return e == ERR_OK ? store_meta_set(l->store, "origin", l->origin) : e;
}

static enum err make_signer_run(struct ledger *l, const struct clock *now)
{
    struct store_run *run = &l->signer_run;
    memset(run, 0, sizeof *run);
    snprintf(run->run_id, sizeof run->run_id, "%s", LEDGER_SIGNER_RUN);
    snprintf(run->tenant, sizeof run->tenant, "%s", LEDGER_SIGNER_TENANT);
    snprintf(run->state, sizeof run->state, "%s", STORE_RUN_OPEN);
    run->started_us = run->active_us = now->wall_us;
    return store_run_insert(l->store, run);
}

/* signer.epoch: which key signs from here on. */
static enum err write_epoch(struct ledger *l, const struct clock *now)
{
    uint8_t spki[ED25519_SPKI_BYTES];
    char spki_text[BASE64_TEXT_BYTES(ED25519_SPKI_BYTES)];
    struct arena *arena = arena_new(EPOCH_ARENA_BYTES);

    ed25519_spki(holder_public(l->holder), spki);
    base64_encode(spki, sizeof spki, spki_text);
    struct json *key = json_new_object(arena), *keys = json_new_array(arena), *data = json_new_object(arena);
    json_set_string(arena, key, "kid", holder_kid(l->holder));
    json_set_string(arena, key, "alg", "ed25519");
    json_set_string(arena, key, "spki", spki_text);
    json_add(arena, keys, key);
    json_set(arena, data, "keys", keys);
    const struct ledger_event event = {.type = "signer.epoch", .source = "signer", .data = data};
    enum err e = ledger_append(l, &l->signer_run, &event, now, arena);
    arena_free(arena);
    return e;
}

static enum err create(struct ledger *l, const struct clock *now)
{
    const uint8_t no_head[DIGEST_BYTES] = {0};
    struct tree empty;
    tree_init(&empty);
    enum err e = store_begin(l->store);
    if (e == ERR_OK)
        e = make_identity(l);
    if (e == ERR_OK)
        e = holder_start(l->holder, l->log_id, l->origin, &empty, no_head);
    if (e == ERR_OK)
        e = make_signer_run(l, now);
    if (e == ERR_OK)
        e = write_epoch(l, now);
    if (e == ERR_OK)
        e = ledger_checkpoint(l, now);
    if (e == ERR_OK)
        return store_commit(l->store);
    store_abandon(l->store);
    return e;
}

static enum err resume(struct ledger *l, const struct clock *now, struct fault *fault)
{
    struct ledger_state state;
    enum err e = store_meta_get(l->store, "log_id", l->log_id, sizeof l->log_id);
    if (e == ERR_OK)
        e = store_meta_get(l->store, "origin", l->origin, sizeof l->origin);
    if (e == ERR_NOT_FOUND || e == ERR_LEDGER)
        e = fault_set(fault, ERR_LEDGER, "the database names no log");
    if (e != ERR_OK)
        return e;
    const struct ledger_expected expected = {.log_id = l->log_id, .origin = l->origin, .holder = l->holder};
    e = ledger_check(l->store, &expected, &state, fault);
    if (e == ERR_OK)
        e = holder_start(l->holder, l->log_id, l->origin, &state.tree, state.head);
    if (e == ERR_OK)
        e = store_run_by_run_id(l->store, LEDGER_SIGNER_RUN, &l->signer_run);
    if (e != ERR_OK)
        return e;
    l->covered = state.covered;
    l->uncovered_since_ms = now->mono_ms;
    return ERR_OK;
}

enum err ledger_open(struct store *store, int keys, bool fresh, const struct clock *now, struct ledger **out,
                     struct fault *fault)
{
    struct ledger *l = calloc(1, sizeof *l);
    if (l == NULL)
        return ERR_NOMEM;
    l->store = store;
    enum err e = holder_open(keys, fresh, &l->holder, fault);
    if (e == ERR_OK)
        e = fresh ? create(l, now) : resume(l, now, fault);
    if (e != ERR_OK) {
        ledger_close(l);
        return e;
    }
    *out = l;
    return ERR_OK;
}

void ledger_close(struct ledger *l)
{
    if (l == NULL)
        return;
    holder_close(l->holder);
    free(l);
}

const char *ledger_log_id(const struct ledger *l)
{
    return l->log_id;
}

const char *ledger_origin(const struct ledger *l)
{
    return l->origin;
}

enum err ledger_vkey(const struct ledger *l, struct note_vkey *out)
{
    return holder_log_vkey(l->holder, l->origin, out);
}

uint64_t ledger_size(const struct ledger *l)
{
    return holder_size(l->holder);
}

uint64_t ledger_covered(const struct ledger *l)
{
    return l->covered;
}

struct store_run *ledger_signer_run(struct ledger *l)
{
    return &l->signer_run;
}

static enum err build_event(const struct ledger *l, const struct store_run *run, const struct ledger_event *in,
                            const struct clock *now, struct arena *arena, struct json **out)
{
    char id[IDS_HEX_BYTES], ts[CLOCK_TEXT_BYTES], prev[DIGEST_TEXT_BYTES], run_prev[DIGEST_TEXT_BYTES];
    enum err e = ids_hex(id);
    if (e != ERR_OK)
        return e;
    clock_text(now->wall_us, ts);
    digest_text(holder_head(l->holder), prev);
    digest_text(run->head, run_prev);

    struct json *event = json_new_object(arena);
    json_set_string(arena, event, "schema_version", "tracekit.event.v2");
    json_set_string(arena, event, "id", id);
    json_set_int(arena, event, "seq", (int64_t)holder_size(l->holder));
    json_set_string(arena, event, "prev_hash", prev);
    json_set_string(arena, event, "ts", ts);
    json_set_string(arena, event, "run_id", run->run_id);
    json_set_string(arena, event, "agent_id", "main");
    json_set(arena, event, "parent_id", json_new_null());
    json_set_string(arena, event, "source", in->source);
    json_set_string(arena, event, "type", in->type);
    json_set(arena, event, "data", in->data);
    json_set_string(arena, event, "log_id", l->log_id);
    json_set_string(arena, event, "tenant", run->tenant);
    json_set_int(arena, event, "run_seq", run->next_run_seq);
    json_set_string(arena, event, "run_prev_hash", run_prev);
    const char *const optional[][2] = {{"tool_call_id", in->tool_call_id},
                                       {"args_source", in->args_source},
                                       {"tier", in->tier},
                                       {"engine", in->engine}};
    for (size_t i = 0; i < sizeof optional / sizeof optional[0]; i++)
        if (optional[i][1] != NULL)
            json_set_string(arena, event, optional[i][0], optional[i][1]);
    if (in->tool_call_id != NULL)
        json_set_int(arena, event, "attempt", 0);
    if (event == NULL || arena_failed(arena))
        return ERR_NOMEM;
    *out = event;
    return ERR_OK;
}

static enum err store_line(struct ledger *l, struct store_run *run, const char *type, const struct buf *line,
                           const struct holder_signature *signature)
{
    const struct store_record row = {
        .seq = (int64_t)holder_size(l->holder) - 1,
        .run = run->id,
        .run_seq = run->next_run_seq,
        .type = type,
        .hash = signature->hash,
        .line = (const char *)line->data,
        .line_len = line->len,
    };
    return store_record_append(l->store, &row);
}

enum err ledger_append(struct ledger *l, struct store_run *run, const struct ledger_event *event,
                       const struct clock *now, struct arena *arena)
{
    struct holder_signature signature;
    struct json *value = NULL;
    struct buf line;

    buf_init(&line, RECORD_MAX_BYTES + 1);
    enum err e = build_event(l, run, event, now, arena, &value);
    if (e == ERR_OK)
        e = holder_sign_record(l->holder, value, store_record_node_completed, l->store, &signature);
    if (e == ERR_OK)
        e = record_write(&line, arena, value, signature.hash_text, holder_kid(l->holder), signature.sig);
    if (e == ERR_OK) {
        buf_putc(&line, '\0');
        e = buf_err(&line);
    }
    if (e == ERR_OK) {
        line.len--;
        e = store_line(l, run, event->type, &line, &signature);
    }
    if (e == ERR_OK) {
        if (l->covered + 1 == holder_size(l->holder))
            l->uncovered_since_ms = now->mono_ms;
        run->next_run_seq++;
        run->bytes += (int64_t)line.len + 1;
        run->active_us = now->wall_us;
        memcpy(run->head, signature.hash, sizeof run->head);
        e = store_run_advance(l->store, run);
    }
    buf_wipe(&line);
    return e;
}

enum err ledger_checkpoint(struct ledger *l, const struct clock *now)
{
    struct buf note;
    if (l->covered == holder_size(l->holder))
        return ERR_OK;
    buf_init(&note, NOTE_MAX_BYTES);
    enum err e = holder_sign_checkpoint(l->holder, &note);
    if (e == ERR_OK) {
        buf_putc(&note, '\0');
        e = buf_err(&note);
    }
    if (e == ERR_OK)
        e = store_record_note_add(l->store, holder_size(l->holder), (const char *)note.data, now->wall_us);
    if (e == ERR_OK)
        l->covered = holder_size(l->holder);
    buf_wipe(&note);
    return e;
}

bool ledger_checkpoint_due(const struct ledger *l, const struct clock *now)
{
    uint64_t uncovered = holder_size(l->holder) - l->covered;
    return uncovered >= LEDGER_CHECKPOINT_RECORDS ||
           (uncovered > 0 && now->mono_ms - l->uncovered_since_ms >= LEDGER_CHECKPOINT_MS);
}
