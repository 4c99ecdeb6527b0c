#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tools/bundle_cases.h"
#include "tests/tools/run_maker.h"

/* The run of run_maker_two_runs: lines 0 to 4 are run.registered, policy.decision, tool.result, run.closing, run.final. */
static void export(struct bundle_work *w, unsigned witnesses)
{
    bundle_maker_export(&w->bundle, &w->log, "default", "run-a", w->log.count, witnesses);
}

static void base(struct bundle_work *w)
{
    run_maker_two_runs(&w->log);
    export(w, 1);
}

static void edit(struct bundle_work *w, size_t line, const char *old, const char *new_text, int key)
{
    bundle_maker_edit_line(&w->bundle, &w->log, line, old, new_text, key);
}

/* --- records --- */

static void record_edited(struct bundle_work *w)
{
    base(w);
    edit(w, 2, "\"ok\":true", "\"ok\":false", -1);
}

static void record_deleted(struct bundle_work *w)
{
    base(w);
    bundle_maker_set_line(&w->bundle, w->bundle.run_name, 2, NULL);
}

static void record_swapped(struct bundle_work *w)
{
    base(w);
    char *line = bundle_maker_line(&w->bundle, w->bundle.run_name, 1);
    bundle_maker_insert_line(&w->bundle, w->bundle.run_name, 3, line);
    bundle_maker_set_line(&w->bundle, w->bundle.run_name, 1, NULL);
    free(line);
}

static void record_spliced(struct bundle_work *w)
{
    base(w);
    bundle_maker_set_line(&w->bundle, w->bundle.run_name, 2, w->log.records[4].line);
}

static void record_truncated(struct bundle_work *w)
{
    base(w);
    bundle_maker_set_line(&w->bundle, w->bundle.run_name, 4, NULL);
}

static void alg_confusion(struct bundle_work *w)
{
    base(w);
    edit(w, 2, "\"alg\":\"ed25519\"", "\"alg\":\"rsa\"", -1);
}

static void bad_signature(struct bundle_work *w)
{
    base(w);
    const char *other = strstr(w->log.records[5].line, "\"sig\":\""),
               *own = strstr(w->log.records[3].line, "\"sig\":\"");
    char from[128], to[128];
    snprintf(from, sizeof from, "%.95s", own);
    snprintf(to, sizeof to, "%.95s", other);
    edit(w, 1, from, to, -1);
}

static void run_rebuilt(struct bundle_work *w)
{
    base(w);
    edit(w, 2, "\"ok\":true", "\"ok\":false", 0);
}

static void first_replaced(struct bundle_work *w)
{
    base(w);
    edit(w, 0, "same-user", "separate-user", 0);
}

static void after_final(struct bundle_work *w)
{
    run_maker_two_runs(&w->log);
    run_maker_gap(&w->log, "run-a", "late_activity", "example");
    export(w, 1);
}

/* A record of another run, in the chain of this one. */
static void other_run(struct bundle_work *w)
{
    log_maker_epoch(&w->log, 0, NULL);
    run_maker_register(&w->log, "run-a", NULL, NULL);
    log_maker_add(&w->log, &(struct log_maker_event){.run_id = "run-x",
                                                     .follows = "run-a",
                                                     .type = "run.closing",
                                                     .data = "{\"reason\":\"close_run\"}"});
    log_maker_add(&w->log, &(struct log_maker_event){
                               .follows = "run-x", .type = "run.closing", .data = "{\"reason\":\"close_run\"}"});
    export(w, 1);
    bundle_maker_insert_line(&w->bundle, w->bundle.run_name, 1, w->log.records[2].line);
}

static void seq_not_growing(struct bundle_work *w)
{
    log_maker_epoch(&w->log, 0, NULL);
    run_maker_register(&w->log, "run-a", NULL, NULL);
    log_maker_add(&w->log,
                  &(struct log_maker_event){.seq = 1, .type = "run.closing", .data = "{\"reason\":\"close_run\"}"});
    run_maker_final(&w->log, "run-a", NULL);
    export(w, 1);
}

static void closing_without_final(struct bundle_work *w)
{
    run_maker_two_runs(&w->log);
    bundle_maker_export(&w->bundle, &w->log, "default", "run-a", 7, 1);
}

static void schema_invalid(struct bundle_work *w)
{
    log_maker_epoch(&w->log, 0, NULL);
    run_maker_register(&w->log, "run-a", NULL, NULL);
    log_maker_add(&w->log, &(struct log_maker_event){.type = "run.closing", .data = "{\"reason\":\"because\"}"});
    run_maker_final(&w->log, "run-a", NULL);
    export(w, 1);
}

static void other_log(struct bundle_work *w)
{
    base(w);
    edit(w, 2, "\"log_id\":\"00000000000000000000000000000007\"", "\"log_id\":\"00000000000000000000000000000008\"", 0);
}

/* --- keys --- */

static void keys_dropped(struct bundle_work *w)
{
    base(w);
    bundle_maker_put(&w->bundle, "keys/records.jsonl", "", 0);
}

static void key_after_retire(struct bundle_work *w)
{
    log_maker_epoch(&w->log, 0, NULL);
    run_maker_register(&w->log, "run-a", NULL, NULL);
    uint64_t at = log_maker_epoch(&w->log, 1, NULL);
    log_maker_retire(&w->log, 0, at - 1);
    w->log.key = 0;
    run_maker_close(&w->log, "run-a");
    w->log.key = 1;
    run_maker_final(&w->log, "run-a", NULL);
    export(w, 1);
}

static void key_before_epoch(struct bundle_work *w)
{
    log_maker_epoch(&w->log, 0, NULL);
    run_maker_register(&w->log, "run-a", NULL, NULL);
    w->log.key = 1;
    run_maker_close(&w->log, "run-a");
    log_maker_epoch(&w->log, 1, NULL);
    run_maker_final(&w->log, "run-a", NULL);
    export(w, 1);
}

static void unknown_retired(struct bundle_work *w)
{
    log_maker_epoch(&w->log, 0, NULL);
    log_maker_retire(&w->log, 2, 0);
    run_maker_register(&w->log, "run-a", NULL, NULL);
    export(w, 1);
}

static void key_not_included(struct bundle_work *w)
{
    base(w);
    bundle_maker_replace(&w->bundle, "proofs/records.json", "\"0\":", "\"00\":");
}

/* A second epoch, signed by the first key, declares a key under the first one's kid. */
static void key_mismatch(struct bundle_work *w)
{
    char data[1024];
    log_maker_epoch(&w->log, 0, NULL);
    struct log_maker_key right = w->log.keys[1];
    memcpy(w->log.keys[1].kid, w->log.keys[0].kid, sizeof w->log.keys[1].kid);
    log_maker_declare(&w->log, 1, NULL, data, sizeof data);
    w->log.keys[1] = right;
    log_maker_add(&w->log,
                  &(struct log_maker_event){
                      .tenant = "tracekit", .run_id = "tracekit/signer", .type = "signer.epoch", .data = data});
    run_maker_register(&w->log, "run-a", NULL, NULL);
    export(w, 1);
}

/* Pins an issuer with some key. */
static void pin_issuer(struct bundle_work *w)
{
    struct buf vkey;
    buf_init(&vkey, 1024);
    log_maker_vkey(&w->log.log, "ca.example.org", 1, &vkey);
    snprintf(w->trust, sizeof w->trust, ",\"issuers\":[{\"vkey\":\"%.*s\",\"issuance_log_vkey\":\"%.*s\"}]",
             (int)vkey.len, (const char *)vkey.data, (int)vkey.len, (const char *)vkey.data);
    buf_wipe(&vkey);
}

static const char certificate[] =
    "\"cert\":{\"certificate\":{\"cert\":{\"kid\":\"" DIGEST_ZERO_TEXT
    "\",\"spki\":\"AAAA\",\"log_id\":\"00000000000000000000000000000007\",\"tenants\":[\"default\"],\"not_before\":1,"
    "\"not_after\":2,\"serial\":\"ab\"},\"sig\":\"AAAA\"},\"index\":0,\"inclusion\":[],\"checkpoint\":\"x\"}";

static void certified_run(struct bundle_work *w)
{
    log_maker_epoch(&w->log, 0, certificate);
    run_maker_register(&w->log, "run-a", NULL, NULL);
    export(w, 1);
}

static void certified_and_pinned(struct bundle_work *w)
{
    certified_run(w);
    pin_issuer(w);
}

static void pinned_and_not_certified(struct bundle_work *w)
{
    base(w);
    pin_issuer(w);
}

/* --- runs, policies, and what needs another verifier --- */

static void second_run(struct bundle_work *w)
{
    struct bundle_maker other;
    base(w);
    bundle_maker_export(&other, &w->log, "default", "run-b", 9, 1);
    const struct buf *run = bundle_maker_entry(&other, other.run_name);
    bundle_maker_put(&w->bundle, other.run_name, run->data, run->len);
    bundle_maker_wipe(&other);
}

static void findings_run(struct bundle_work *w)
{
    struct bundle_maker other;
    run_maker_two_runs(&w->log);
    run_maker_register(&w->log, "run-f", "\"analyzes\":\"run-a\"", NULL);
    export(w, 1);
    bundle_maker_export(&other, &w->log, "default", "run-f", w->log.count, 1);
    const struct buf *run = bundle_maker_entry(&other, other.run_name);
    bundle_maker_put(&w->bundle, other.run_name, run->data, run->len);
    bundle_maker_wipe(&other);
}

static void no_run(struct bundle_work *w)
{
    base(w);
    bundle_maker_drop(&w->bundle, w->bundle.run_name);
}

static void run_set(struct bundle_work *w)
{
    base(w);
    bundle_maker_put(&w->bundle, "registry/run-set.json", "{}", 2);
}

static void run_parts(struct bundle_work *w)
{
    base(w);
    const struct buf *run = bundle_maker_entry(&w->bundle, w->bundle.run_name);
    bundle_maker_put(&w->bundle, "runs/0123.part-0001.jsonl", run->data, run->len);
    bundle_maker_drop(&w->bundle, w->bundle.run_name);
}

static void policy_misnamed(struct bundle_work *w)
{
    base(w);
    bundle_maker_put(&w->bundle, "policies/0000000000000000000000000000000000000000000000000000000000000000.json", "{}",
                     2);
}

#define NEEDS(what) 2, "UNVERIFIABLE (needs " what ")", "bundle readable"
#define FAILED(line) 1, "FAILED", line

const struct bundle_case bundle_cases_forged[] = {
    {"record-edited", record_edited, FAILED("signatures"), NULL, NULL},
    {"record-deleted", record_deleted, FAILED("run chain"), NULL, NULL},
    {"record-swapped", record_swapped, FAILED("run chain"), NULL, NULL},
    {"record-spliced", record_spliced, FAILED("run chain"), NULL, NULL},
    {"record-truncated", record_truncated, FAILED("inclusion"), NULL, NULL},
    {"record-alg-confusion", alg_confusion, FAILED("signatures"), NULL, NULL},
    {"record-bad-signature", bad_signature, FAILED("signatures"), NULL, NULL},
    {"record-other-log", other_log, FAILED("signatures"), NULL, NULL},
    {"record-schema-invalid", schema_invalid, FAILED("signatures"), NULL, NULL},
    {"run-rebuilt", run_rebuilt, FAILED("run chain"), NULL, NULL},
    {"run-first-replaced", first_replaced, FAILED("run chain"), NULL, NULL},
    {"run-record-after-final", after_final, FAILED("run chain"), NULL, NULL},
    {"run-record-of-another", other_run, FAILED("run chain"), NULL, NULL},
    {"run-seq-not-growing", seq_not_growing, FAILED("run chain"), NULL, NULL},
    {"run-closing-without-final", closing_without_final, 0, "VERIFIED TO HEAD 3 (open)", NULL, NULL, NULL},
    {"run-second-run", second_run, FAILED("bundle structure"), NULL, NULL},
    {"run-none", no_run, FAILED("bundle structure"), NULL, NULL},
    {"keys-dropped", keys_dropped, FAILED("keys"), NULL, NULL},
    {"key-used-after-retire", key_after_retire, FAILED("signatures"), NULL, NULL},
    {"key-used-before-epoch", key_before_epoch, FAILED("signatures"), NULL, NULL},
    {"key-unknown-retired", unknown_retired, FAILED("keys"), NULL, NULL},
    {"key-not-included", key_not_included, FAILED("keys"), NULL, NULL},
    {"key-mismatch", key_mismatch, FAILED("keys"), NULL, NULL},
    {"key-certified", certified_run, FAILED("keys"), NULL, NULL},
    {"key-not-certified", pinned_and_not_certified, FAILED("keys"), NULL, NULL},
    {"policy-misnamed", policy_misnamed, FAILED("policy snapshot"), NULL, NULL},
    {"beyond-run-set", run_set, NEEDS("a verifier that reads run-sets"), NULL, NULL},
    {"beyond-run-parts", run_parts, NEEDS("a verifier that reads runs in parts"), NULL, NULL},
    {"beyond-findings", findings_run, NEEDS("a verifier that reads findings and replay runs"), NULL, NULL},
    {"beyond-certificates", certified_and_pinned, NEEDS("a verifier that checks certificates of record keys"), NULL,
     NULL},
    {NULL, NULL, 0, NULL, NULL, NULL, NULL},
};
