#include <inttypes.h>
#include <string.h>

#include "evidence/verify_internal.h"

enum { RUN_ID_SHOWN = 200, TENANT_SHOWN = 64, NUMBER_BYTES = 24 };

/* --- the chain --- */

/* The bytes of a text that names a run, so that equal texts are equal bytes; whatever is no string is like nothing. */
static void remember(struct buf *out, const struct json *v)
{
    size_t len = 0;
    const char *text = json_text(v, &len);
    buf_init(out, RECORD_MAX_BYTES);
    if (text != NULL)
        buf_put(out, text, len);
}

static bool same(const struct buf *known, const struct json *v)
{
    size_t len = 0;
    const char *text = json_text(v, &len);
    return known->len == len && (len == 0 || memcmp(known->data, text, len) == 0);
}

/* Why a record does not continue the run, or NULL. */
static const char *break_in_chain(const struct verify_run *run, const struct verify_record *r)
{
    int64_t run_seq = -1;
    const char *before = run->count == 0 ? DIGEST_ZERO_TEXT : run->last_hash;
    if (run->count > 0 && run->final)
        return "it stands behind run.final";
    if (!json_int(json_get(r->event, "run_seq"), &run_seq) || run_seq < 0 || (uint64_t)run_seq != run->count)
        return "its run_seq is another one";
    if (before[0] == '\0' || !json_equal_cstr(json_get(r->event, "run_prev_hash"), before))
        return "its run_prev_hash is not the hash of the record before it";
    if (!same(&run->tenant, json_get(r->event, "tenant")) || !same(&run->run_id, json_get(r->event, "run_id")))
        return "it belongs to another run";
    if (run->count > 0 && r->seq <= run->last_seq)
        return "its seq is not above that of the record before it";
    return NULL;
}

static void check_chain(struct verify_run *run, const struct verify_record *r)
{
    const char *why = break_in_chain(run, r);
    if (why != NULL)
        report_problems_add(&run->chain, "run '%s' run_seq %" PRIu64 " (seq %" PRId64 "): %s", run->show_run_id.s,
                            run->count, r->seq, why);
}

/* --- one record --- */

static void begin(struct verify_run *run, const struct verify_record *r)
{
    const struct json *tenant = json_get(r->event, "tenant"), *run_id = json_get(r->event, "run_id");
    remember(&run->tenant, tenant);
    remember(&run->run_id, run_id);
    run->show_tenant = verify_text(tenant, TENANT_SHOWN);
    run->show_run_id = verify_text(run_id, RUN_ID_SHOWN);
}

static void end(struct verify_run *run, const struct verify_record *r)
{
    int64_t run_seq = -1;
    const struct json *number = json_get(r->event, "run_seq");
    size_t len = strlen(r->hash);
    run->last_seq = r->seq;
    run->final = strcmp(r->type, "run.final") == 0;
    run->last_hash[0] = '\0';
    if (len < sizeof run->last_hash)
        memcpy(run->last_hash, r->hash, len + 1);
    if (json_int(number, &run_seq))
        snprintf(run->last_run_seq.s, NUMBER_BYTES, "%" PRId64, run_seq);
    else
        run->last_run_seq = verify_text(number, RUN_ID_SHOWN);
    run->count++;
}

static enum err run_line(struct verify *v, const uint8_t *line, size_t len, struct fault *fault)
{
    struct verify_run *run = &v->run;
    struct verify_record r;
    struct arena *arena = arena_new(VERIFY_LINE_ARENA_BYTES);
    enum err e = verify_record_parse(arena, line, len, &r, fault);
    if (e == ERR_OK)
        e = verify_record_check(v, &r, NULL, 0, &run->signatures);
    if (e != ERR_OK)
        goto out;
    if (run->count == 0) {
        begin(run, &r);
        e = buf_err(&run->tenant) == ERR_OK ? buf_err(&run->run_id) : buf_err(&run->tenant);
    }
    if (e == ERR_OK && run->count == 0)
        e = verify_checkpoint_includes(v, r.seq, r.hash, &run->first_included, fault);
    if (e == ERR_OK)
        e = verify_info_record(v, &r);
    if (e != ERR_OK)
        goto out;
    check_chain(run, &r);
    end(run, &r);
out:
    arena_free(arena);
    return e;
}

/* --- several runs --- */

/* Looks only at what the first record of a run says the run is about; v->run stands for this one file. */
static enum err peek_line(struct verify *v, const uint8_t *line, size_t len, struct fault *fault)
{
    struct verify_record r;
    if (v->run.count++ > 0)
        return ERR_OK;
    struct arena *arena = arena_new(VERIFY_LINE_ARENA_BYTES);
    enum err e = verify_record_parse(arena, line, len, &r, fault);
    if (e == ERR_OK) {
        bool registered = strcmp(r.type, "run.registered") == 0;
        v->run.about_another = registered && (json_is(json_get(r.data, "analyzes"), JSON_STRING) ||
                                              json_is(json_get(r.data, "replay_of"), JSON_STRING));
    }
    arena_free(arena);
    return e;
}

/* One run with the runs about it is a bundle for another verifier; any other set of runs is no bundle at all. Whether
 * those runs really are about that one is left to the other verifier. */
static enum err several_runs(struct verify *v, struct fault *fault)
{
    size_t mains = 0;
    for (size_t i = 0; i < zip_count(v->zip); i++) {
        if (strncmp(zip_at(v->zip, i)->name, "runs/", 5) != 0)
            continue;
        v->run = (struct verify_run){0};
        enum err e = verify_entry_lines(v, i, peek_line, fault);
        if (e != ERR_OK)
            return e;
        if (v->run.count == 0)
            return fault_set(fault, ERR_BUNDLE, "%s has no records", zip_at(v->zip, i)->name);
        mains += !v->run.about_another;
    }
    if (mains != 1)
        return fault_set(fault, ERR_BUNDLE, "the bundle holds several runs without a run-set");
    return fault_set(fault, ERR_VERSION, "needs a verifier that reads findings and replay runs");
}

/* --- the run --- */

enum err verify_run_read(struct verify *v, struct fault *fault)
{
    size_t runs = 0, index = 0;
    for (size_t i = 0; i < zip_count(v->zip); i++) {
        if (strncmp(zip_at(v->zip, i)->name, "runs/", 5) != 0)
            continue;
        index = i;
        runs++;
    }
    if (runs == 0)
        return fault_set(fault, ERR_BUNDLE, "the bundle holds no run");
    if (runs > 1)
        return several_runs(v, fault);
    enum err e = verify_entry_lines(v, index, run_line, fault);
    if (e == ERR_OK && v->run.count == 0)
        e = fault_set(fault, ERR_BUNDLE, "%s has no records", zip_at(v->zip, index)->name);
    if (e == ERR_OK)
        e = verify_checkpoint_includes(v, v->run.last_seq, v->run.last_hash, &v->run.last_included, fault);
    return e;
}

static void signatures_line(struct verify *v)
{
    struct report_problems *bad = &v->run.signatures;
    if (bad->count == 0)
        report_line(v->lines, REPORT_PASS, "signatures",
                    "%" PRIu64 " record(s), each signed by a key that the log allowed at its place", v->run.count);
    else
        report_line(v->lines, REPORT_FAIL, "signatures", "%zu of %" PRIu64 " record(s) do not verify", bad->count,
                    v->run.count);
    report_problem_list(v->lines, bad);
}

static void chain_line(struct verify *v)
{
    struct verify_run *run = &v->run;
    if (run->chain.count == 0)
        report_line(v->lines, REPORT_PASS, "run chain", "run '%s' of tenant '%s', unbroken from run_seq 0 to %" PRIu64,
                    run->show_run_id.s, run->show_tenant.s, run->count - 1);
    else
        report_line(v->lines, REPORT_FAIL, "run chain", "run '%s' of tenant '%s' is broken in %zu place(s)",
                    run->show_run_id.s, run->show_tenant.s, run->chain.count);
    report_problem_list(v->lines, &run->chain);
}

static void inclusion_line(struct verify *v)
{
    const struct verify_run *run = &v->run;
    bool good = run->first_included && run->last_included;
    report_line(v->lines, good ? REPORT_PASS : REPORT_FAIL, "inclusion",
                good ? "first and last record are in the tree of size %" PRIu64
                     : "not proven for the tree of size %" PRIu64,
                v->note.size);
    if (!run->first_included)
        report_problem(v->lines, "run '%s': no valid proof for its first record", run->show_run_id.s);
    if (!run->last_included)
        report_problem(v->lines, "run '%s': no valid proof for its last record here, seq %" PRId64, run->show_run_id.s,
                       run->last_seq);
}

void verify_run_lines(struct verify *v)
{
    signatures_line(v);
    chain_line(v);
    inclusion_line(v);
    if (v->run.final)
        report_integrity(v->lines, "VERIFIED");
    else
        report_integrity(v->lines, "VERIFIED TO HEAD %s (open)", v->run.last_run_seq.s);
}

void verify_run_wipe(struct verify_run *run)
{
    buf_wipe(&run->tenant);
    buf_wipe(&run->run_id);
    report_problems_wipe(&run->signatures);
    report_problems_wipe(&run->chain);
}
