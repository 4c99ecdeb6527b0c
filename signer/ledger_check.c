#include "signer/ledger_check.h"

#include <inttypes.h>
#include <string.h>

#include "evidence/buf.h"
#include "evidence/note.h"
#include "evidence/record.h"
#include "signer/ledger.h"
#include "signer/store_record.h"
#include "signer/store_run.h"

enum { RECORD_ARENA_BYTES = 32 << 20 };

struct walk {
    const struct ledger_expected *expected;
    struct ledger_state *state;
    struct fault *fault;
    struct arena *arena;
};

static enum err misfit(struct walk *w, int64_t seq, const char *what)
{
    return fault_set(w->fault, ERR_LEDGER, "record seq %" PRId64 ": %s", seq, what);
}

/* One record as a third party would check it, against its row and the record before. */
static enum err check_row(struct walk *w, const struct store_record *row, struct record *r)
{
    const struct json *value = NULL;
    enum err e = json_parse(w->arena, row->line, row->line_len, &value, NULL);
    if (e == ERR_OK)
        e = record_open(value, r);
    if (e == ERR_OK)
        e = record_verify(r, holder_public(w->expected->holder));
    if (e != ERR_OK)
        return e == ERR_NOMEM ? e : misfit(w, row->seq, err_text(e));
    if (r->seq != row->seq || r->run_seq != row->run_seq || r->type == NULL || strcmp(r->type, row->type) != 0 ||
        memcmp(r->hash_bytes, row->hash, DIGEST_BYTES) != 0)
        return misfit(w, row->seq, "its row says something else");
    if (r->log_id == NULL || strcmp(r->log_id, w->expected->log_id) != 0)
        return misfit(w, row->seq, "belongs to another log");
    return ERR_OK;
}

static enum err visit(void *ctx, const struct store_record *row)
{
    struct walk *w = ctx;
    struct ledger_state *state = w->state;
    struct record r;
    uint8_t prev[DIGEST_BYTES], leaf[DIGEST_BYTES];

    arena_free(w->arena);
    w->arena = arena_new(RECORD_ARENA_BYTES);
    enum err e = check_row(w, row, &r);
    if (e != ERR_OK)
        return e;
    /* The walk begins with the checkpoint's last record: it is in the tree already and gives the head. */
    if (state->tree.size > 0 && (uint64_t)row->seq == state->tree.size - 1) {
        memcpy(state->head, r.hash_bytes, DIGEST_BYTES);
        return ERR_OK;
    }
    if ((uint64_t)row->seq != state->tree.size)
        return misfit(w, row->seq, "a record before it is missing");
    if (r.prev_hash == NULL || digest_parse(r.prev_hash, strlen(r.prev_hash), prev) != ERR_OK ||
        !digest_equal(prev, state->head))
        return misfit(w, row->seq, "does not continue the chain");
    tree_leaf(r.hash_bytes, DIGEST_BYTES, leaf);
    e = tree_append(&state->tree, leaf, NULL, NULL);
    if (e == ERR_OK)
        memcpy(state->head, r.hash_bytes, DIGEST_BYTES);
    return e;
}

static enum err open_note(struct walk *w, const struct buf *text, uint64_t size, struct note *out)
{
    struct note_vkey key;
    struct fault why = {""};
    enum err e = holder_log_vkey(w->expected->holder, w->expected->origin, &key);
    if (e == ERR_OK)
        e = note_open(text->data, text->len, &key, 1, NULL, 0, out, &why);
    if (e == ERR_NOTE || e == ERR_VKEY)
        return fault_set(w->fault, ERR_LEDGER, "the newest checkpoint does not open: %s", why.text);
    if (e == ERR_OK && out->size != size)
        return fault_set(w->fault, ERR_LEDGER, "the newest checkpoint is of another size than its row");
    return e;
}

static enum err check_checkpoint(struct walk *w, struct store *store)
{
    struct note note;
    struct buf text;
    uint64_t size = 0, count = 0;
    uint8_t root[DIGEST_BYTES];

    buf_init(&text, NOTE_MAX_BYTES);
    tree_init(&w->state->tree);
    enum err e = store_record_note_last(store, &size, &text);
    if (e == ERR_NOT_FOUND) {
        e = ERR_OK;
        goto out;
    }
    if (e == ERR_OK)
        e = open_note(w, &text, size, &note);
    if (e == ERR_OK)
        e = store_record_count(store, &count);
    if (e == ERR_OK && count < size)
        e = fault_set(w->fault, ERR_LEDGER,
                      "the newest checkpoint covers %" PRIu64 " records, there are %" PRIu64
                      ": the ledger was cut back",
                      size, count);
    if (e == ERR_OK)
        e = tree_load(&w->state->tree, size, store_record_node_read, store);
    if (e != ERR_OK)
        goto out;
    tree_root(&w->state->tree, root);
    if (!digest_equal(root, note.root))
        e = fault_set(w->fault, ERR_LEDGER, "the stored tree does not have the root of the checkpoint at size %" PRIu64,
                      size);
    else
        w->state->covered = size;
out:
    buf_wipe(&text);
    return e;
}

struct run_end {
    int64_t run_seq;
    uint8_t hash[DIGEST_BYTES];
};

static enum err last_of_run(void *ctx, const struct store_record *row)
{
    struct run_end *end = ctx;
    end->run_seq = row->run_seq;
    memcpy(end->hash, row->hash, DIGEST_BYTES);
    return ERR_OK;
}

static enum err check_run(struct walk *w, struct store *store, const struct store_run *run)
{
    struct run_end end = {.run_seq = -1};
    int64_t from = run->next_run_seq > 0 ? run->next_run_seq - 1 : 0;
    enum err e = store_record_of_run(store, run->id, from, INT64_MAX, last_of_run, &end);
    if (e == ERR_OK && (end.run_seq + 1 != run->next_run_seq || !digest_equal(end.hash, run->head)))
        return fault_set(w->fault, ERR_LEDGER, "run %s does not end where its row says", run->run_id);
    return e;
}

struct unfinished {
    struct walk *walk;
    struct store *store;
};

static enum err check_unfinished(void *ctx, const struct store_run *run)
{
    struct unfinished *u = ctx;
    return check_run(u->walk, u->store, run);
}

static enum err check_state(struct walk *w, struct store *store, const char *state)
{
    struct unfinished u = {.walk = w, .store = store};
    const struct store_run_range all = {.state = state, .limit = INT64_MAX};
    return store_run_in_state(store, &all, check_unfinished, &u);
}

static enum err check_runs(struct walk *w, struct store *store)
{
    struct store_run run;
    enum err e = store_run_by_run_id(store, LEDGER_SIGNER_RUN, &run);
    if (e == ERR_NOT_FOUND)
        return fault_set(w->fault, ERR_LEDGER, "the signer's own run is missing");
    if (e == ERR_OK)
        e = check_run(w, store, &run);
    if (e == ERR_OK)
        e = check_state(w, store, STORE_RUN_OPEN);
    return e == ERR_OK ? check_state(w, store, STORE_RUN_CLOSING) : e;
}

enum err ledger_check(struct store *store, const struct ledger_expected *expected, struct ledger_state *out,
                      struct fault *fault)
{
    struct ledger_state state;
    struct walk w = {.expected = expected, .state = &state, .fault = fault};
    memset(&state, 0, sizeof state);
    enum err e = check_checkpoint(&w, store);
    if (e == ERR_OK)
        e = store_record_from(store, state.tree.size > 0 ? state.tree.size - 1 : 0, visit, &w);
    arena_free(w.arena);
    if (e == ERR_OK && state.tree.size == 0)
        e = fault_set(fault, ERR_LEDGER, "there is no record");
    if (e == ERR_OK)
        e = check_runs(&w, store);
    if (e == ERR_LEDGER && fault != NULL && fault->text[0] == '\0')
        fault_set(fault, e, "a row of the database is malformed");
    if (e == ERR_OK)
        *out = state;
    return e;
}
