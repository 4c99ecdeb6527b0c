/* export.*: what a bundle is made of, in pieces, so that an export of any size holds nobody up (docs/wire.md). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/base64.h"
#include "evidence/tree.h"
#include "signer/service_internal.h"
#include "signer/store_record.h"

enum { PAGE_BYTES = 1 << 20, PROOFS_MAX = 256, SNAPSHOT_MAX_BYTES = 2 << 20, KEY_RECORDS_MAX_BYTES = 2 << 20 };

struct lines {
    struct arena *arena;
    struct json *list, *seqs;
    size_t bytes, max_bytes;
    int64_t next; /* the first run_seq that did not fit, -1 when all did */
};

static enum err add_line(void *ctx, const struct store_record *r)
{
    struct lines *l = ctx;
    if (l->bytes > 0 && l->bytes + r->line_len > l->max_bytes) {
        if (l->next < 0)
            l->next = r->run_seq;
        return ERR_STATE; /* stops the visit */
    }
    l->bytes += r->line_len;
    json_add(l->arena, l->list, json_new_text(l->arena, r->line, r->line_len));
    if (l->seqs != NULL)
        json_add(l->arena, l->seqs, json_new_int(l->arena, r->seq));
    return ERR_OK;
}

struct policies {
    struct arena *arena;
    struct json *list;
};

static enum err add_policy(void *ctx, const char *hash)
{
    struct policies *p = ctx;
    json_add(p->arena, p->list, json_new_string(p->arena, hash));
    return ERR_OK;
}

static enum err checkpoint_note(struct service *s, struct arena *arena, struct json *reply)
{
    struct buf note;
    uint64_t size = 0;
    buf_init(&note, NOTE_MAX_BYTES);
    enum err e = ledger_checkpoint(s->ledger, &s->now);
    if (e == ERR_OK)
        e = store_record_note_last(s->store, &size, &note);
    if (e == ERR_OK) {
        json_set_int(arena, reply, "size", (int64_t)size);
        json_set(arena, reply, "note", json_new_text(arena, (const char *)note.data, note.len));
    }
    buf_wipe(&note);
    return e;
}

static enum err begin(struct service *s, const struct json *request, struct arena *arena, struct json *reply,
                      struct fault *fault)
{
    struct store_run run;
    int64_t first = 0, last = 0, count = 0;
    const char *words = json_get_cstr(request, "run");
    if (words == NULL)
        return fault_set(fault, ERR_PROTOCOL, "run is missing");
    enum err e = store_run_find(s->store, words, &run);
    if (e == ERR_NOT_FOUND)
        return fault_set(fault, e, "there is no such run: `tracekit runs list` shows them");
    if (e == ERR_AMBIGUOUS)
        return fault_set(fault, e, "more than one run begins like that: give more digits");
    if (e == ERR_OK)
        e = checkpoint_note(s, arena, reply);
    if (e == ERR_OK)
        e = store_record_span(s->store, run.id, ledger_covered(s->ledger), &first, &last, &count);
    if (e != ERR_OK)
        return e;

    struct lines keys = {.arena = arena,
                         .list = json_new_array(arena),
                         .seqs = json_new_array(arena),
                         .max_bytes = KEY_RECORDS_MAX_BYTES,
                         .next = -1};
    e = store_record_keys(s->store, ledger_covered(s->ledger), add_line, &keys);
    if (keys.next >= 0)
        return fault_set(fault, ERR_TOO_LARGE, "the log has more key records than one bundle can carry");
    if (e != ERR_OK)
        return e;
    json_add(arena, keys.seqs, json_new_int(arena, first));
    if (last != first)
        json_add(arena, keys.seqs, json_new_int(arena, last));
    struct policies policies = {.arena = arena, .list = json_new_array(arena)};
    e = store_record_policies_of_run(s->store, run.id, add_policy, &policies);
    if (e != ERR_OK)
        return e;
    json_set_string(arena, reply, "run", run.run_id);
    json_set_string(arena, reply, "tenant", run.tenant);
    json_set_string(arena, reply, "state", run.state);
    json_set_int(arena, reply, "records", count);
    json_set_string(arena, reply, "origin", ledger_origin(s->ledger));
    json_set(arena, reply, "key_records", keys.list);
    json_set(arena, reply, "proof_seqs", keys.seqs);
    json_set(arena, reply, "policies", policies.list);
    return ERR_OK;
}

/* A tree size that our newest checkpoint covers. */
static enum err read_size(struct service *s, const struct json *request, uint64_t *size, struct fault *fault)
{
    int64_t n = 0;
    if (!json_int(json_get(request, "size"), &n) || n < 1 || (uint64_t)n > ledger_covered(s->ledger))
        return fault_set(fault, ERR_PROTOCOL, "size is not the size of a checkpoint");
    *size = (uint64_t)n;
    return ERR_OK;
}

static enum err records(struct service *s, const struct json *request, struct arena *arena, struct json *reply,
                        struct fault *fault)
{
    struct store_run run;
    uint64_t size = 0;
    int64_t from = 0;
    struct lines page = {.arena = arena, .list = json_new_array(arena), .max_bytes = PAGE_BYTES, .next = -1};
    const char *id = json_get_cstr(request, "run");
    if (id == NULL || !json_int(json_get(request, "from"), &from) || from < 0)
        return fault_set(fault, ERR_PROTOCOL, "run and from are needed");
    enum err e = read_size(s, request, &size, fault);
    if (e == ERR_OK)
        e = store_run_by_run_id(s->store, id, &run);
    if (e == ERR_OK)
        e = store_record_of_run(s->store, run.id, from, size, add_line, &page);
    if (e == ERR_STATE && page.next >= 0)
        e = ERR_OK;
    if (e != ERR_OK)
        return e;
    json_set(arena, reply, "lines", page.list);
    json_set(arena, reply, "next", page.next >= 0 ? json_new_int(arena, page.next) : json_new_null());
    return ERR_OK;
}

static enum err prove(struct service *s, uint64_t size, int64_t seq, struct arena *arena, struct json *inclusion)
{
    uint8_t proof[TREE_MAX_PROOF][DIGEST_BYTES];
    char text[BASE64_TEXT_BYTES(DIGEST_BYTES)], key[24];
    size_t count = 0;
    struct json *list = json_new_array(arena);
    snprintf(key, sizeof key, "%" PRId64, seq);
    if (json_get(inclusion, key) != NULL)
        return ERR_OK;
    enum err e = tree_inclusion_prove((uint64_t)seq, size, store_record_node_read, s->store, proof, &count);
    if (e != ERR_OK)
        return e;
    for (size_t i = 0; i < count; i++) {
        base64_encode(proof[i], DIGEST_BYTES, text);
        json_add(arena, list, json_new_string(arena, text));
    }
    json_set(arena, inclusion, key, list);
    return ERR_OK;
}

static enum err proofs(struct service *s, const struct json *request, struct arena *arena, struct json *reply,
                       struct fault *fault)
{
    const struct json *seqs = json_get(request, "seqs");
    struct json *inclusion = json_new_object(arena);
    uint64_t size = 0;
    enum err e = read_size(s, request, &size, fault);
    if (e != ERR_OK)
        return e;
    if (!json_is(seqs, JSON_ARRAY) || json_count(seqs) > PROOFS_MAX)
        return fault_set(fault, ERR_PROTOCOL, "seqs is a list of at most %d numbers", PROOFS_MAX);
    for (size_t i = 0; e == ERR_OK && i < json_count(seqs); i++) {
        int64_t seq = -1;
        if (!json_int(json_at(seqs, i), &seq) || seq < 0 || (uint64_t)seq >= size)
            return fault_set(fault, ERR_PROTOCOL, "seqs[%zu] is not a record under this checkpoint", i);
        e = prove(s, size, seq, arena, inclusion);
    }
    json_set(arena, reply, "inclusion", inclusion);
    return e;
}

static enum err policy(struct service *s, const struct json *request, struct arena *arena, struct json *reply,
                       struct fault *fault)
{
    struct buf snapshot;
    const char *hash = json_get_cstr(request, "hash");
    if (hash == NULL)
        return fault_set(fault, ERR_PROTOCOL, "hash is missing");
    buf_init(&snapshot, SNAPSHOT_MAX_BYTES);
    enum err e = store_record_policy_get(s->store, hash, &snapshot);
    if (e == ERR_OK)
        json_set(arena, reply, "policy", json_new_text(arena, (const char *)snapshot.data, snapshot.len));
    buf_wipe(&snapshot);
    return e == ERR_NOT_FOUND ? fault_set(fault, e, "no policy with this hash was ever in force here") : e;
}

enum err control_export(struct service *s, const char *op, const struct json *request, struct arena *arena,
                        struct json *reply, struct fault *fault)
{
    if (strcmp(op, "export.begin") == 0)
        return begin(s, request, arena, reply, fault);
    if (strcmp(op, "export.records") == 0)
        return records(s, request, arena, reply, fault);
    if (strcmp(op, "export.proofs") == 0)
        return proofs(s, request, arena, reply, fault);
    return policy(s, request, arena, reply, fault);
}
