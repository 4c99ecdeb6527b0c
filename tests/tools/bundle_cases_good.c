#include <stdio.h>
#include <string.h>

#include "evidence/digest.h"
#include "tests/tools/bundle_cases.h"
#include "tests/tools/run_maker.h"

static void export(struct bundle_work *w, unsigned witnesses)
{
    bundle_maker_export(&w->bundle, &w->log, "default", "run-a", w->log.count, witnesses);
}

static void add(struct bundle_work *w, const char *type, const char *source, const char *data, const char *more)
{
    log_maker_add(&w->log, &(struct log_maker_event){.type = type, .source = source, .data = data, .more = more});
}

static void begin(struct bundle_work *w)
{
    log_maker_epoch(&w->log, 0, NULL);
    run_maker_register(&w->log, "run-a", NULL, NULL);
}

static void end(struct bundle_work *w)
{
    run_maker_close(&w->log, "run-a");
    run_maker_final(&w->log, "run-a", NULL);
    export(w, 1);
}

/* --- witnesses --- */

static void closed(struct bundle_work *w)
{
    run_maker_two_runs(&w->log);
    export(w, 1);
}

static void quorum(struct bundle_work *w)
{
    run_maker_two_runs(&w->log);
    export(w, 7);
    w->pinned = 7;
    w->required = 2;
}

static void no_witness(struct bundle_work *w)
{
    run_maker_two_runs(&w->log);
    export(w, 0);
}

static void own_witness(struct bundle_work *w)
{
    run_maker_two_runs(&w->log);
    export(w, 2);
}

static void too_few_independent(struct bundle_work *w)
{
    run_maker_two_runs(&w->log);
    export(w, 3);
    w->required = 2;
}

static void open_run(struct bundle_work *w)
{
    run_maker_two_runs(&w->log);
    bundle_maker_export(&w->bundle, &w->log, "default", "run-a", 6, 1);
}

static void one_record(struct bundle_work *w)
{
    begin(w);
    export(w, 1);
}

/* --- approvals --- */

static void held_call(struct bundle_work *w, const char *decision, const char *data)
{
    begin(w);
    run_maker_decide(&w->log, "run-a", "t1", "ask");
    run_maker_ask(&w->log, "run-a", "t1");
    run_maker_answer(&w->log, "run-a", "t1", decision, data);
    run_maker_consume(&w->log, "run-a", "t1");
    run_maker_result(&w->log, "run-a", "t1");
    end(w);
}

static void approved(struct bundle_work *w)
{
    held_call(w, "approve", "\"self_approved\":false");
}

static void self_approved(struct bundle_work *w)
{
    held_call(w, "approve", "\"self_approved\":true");
}

static void break_glass(struct bundle_work *w)
{
    held_call(w, "approve", "\"break_glass\":true,\"reason\":\"on call\"");
}

static void rejected(struct bundle_work *w)
{
    held_call(w, "reject", "\"reason\":\"no\"");
}

/* --- gaps --- */

static void gap(struct bundle_work *w, const char *kind)
{
    begin(w);
    run_maker_gap(&w->log, "run-a", kind, "example");
    end(w);
}

static void quiet_gap(struct bundle_work *w)
{
    gap(w, "witness_late");
}

static void loud_gaps(struct bundle_work *w)
{
    begin(w);
    run_maker_gap(&w->log, "run-a", "signer_unavailable", "example");
    run_maker_gap(&w->log, "run-a", "client_counter_gap", "example");
    for (int i = 0; i < 30; i++)
        run_maker_gap(&w->log, "run-a", "signer_unavailable", "again");
    add(w, "trace.tamper", "signer",
        "{\"path\":\"/tmp/x\",\"before\":{\"hash\":\"" DIGEST_ZERO_TEXT
        "\",\"length\":1},\"after\":{\"hash\":null,\"length\":null}}",
        NULL);
    end(w);
}

static void against_policy(struct bundle_work *w)
{
    gap(w, "executed_against_policy");
}

static void held_without_end(struct bundle_work *w)
{
    gap(w, "held_call_unresolved");
}

static void observer_lost(struct bundle_work *w)
{
    gap(w, "observer_lost");
}

static void mismatched(struct bundle_work *w)
{
    gap(w, "decision_mismatch");
}

static void external(struct bundle_work *w)
{
    begin(w);
    add(w, "policy.external", "import",
        "{\"system\":\"other\",\"decision\":\"allow\",\"tool_use_id\":\"t1\",\"tool\":\"x\",\"rule_ids\":[],"
        "\"signature\":\"verified\",\"record\":{\"hash\":\"hmac-sha256:"
        "abababababababababababababababababababababababababababababababab\",\"size\":3},\"identity\":{\"scheme\":"
        "\"uid\","
        "\"subject\":\"1\",\"attested\":true},\"salt_id\":\"s1\"}",
        "\"tier\":\"T3\"");
    end(w);
}

/* --- capture --- */

static void unreconciled(struct bundle_work *w)
{
    begin(w);
    add(w, "reconcile.hook_missing", "signer", "{\"layers\":[\"L2\",\"L3\"],\"detail\":\"example\"}",
        "\"tool_call_id\":\"t9\"");
    run_maker_close(&w->log, "run-a");
    run_maker_final(&w->log, "run-a",
                    "{\"layers\":[\"L3\",\"L2\"],\"reconciled\":4,\"unreconciled\":{\"hook_missing\":1}}");
    export(w, 1);
}

static void split_call(struct bundle_work *w)
{
    begin(w);
    run_maker_decide(&w->log, "run-a", "t1", "allow");
    add(w, "tool.result", "sdk", "{\"tool_use_id\":\"t1\",\"ok\":true,\"output\":{\"value\":\"x\",\"redacted\":false}}",
        "\"tool_call_id\":\"t1\",\"args_source\":\"raw\"");
    run_maker_decide(&w->log, "run-a", "t2", "deny");
    end(w);
}

static void many_calls(struct bundle_work *w)
{
    char call[16];
    begin(w);
    for (int i = 0; i < 700; i++) {
        snprintf(call, sizeof call, "t%d", i % 350);
        if (i % 2 == 0)
            run_maker_decide(&w->log, "run-a", call, "allow");
        else
            run_maker_result(&w->log, "run-a", call);
    }
    end(w);
}

static void origin(struct bundle_work *w)
{
    log_maker_epoch(&w->log, 0, NULL);
    run_maker_register(&w->log, "run-a",
                       "\"harness\":{\"name\":\"gemini\",\"exe\":\"/usr/bin/node\",\"pid\":7,\"start_time\":null,"
                       "\"attested\":true},\"fail_modes\":{\"read\":\"open\",\"write\":\"closed\"}",
                       "\"principal\":\"alice\",\"principal_attested\":true");
    end(w);
}

static void vault(struct bundle_work *w)
{
    begin(w);
    run_maker_decide(&w->log, "run-a", "t1", "flag");
    add(w, "content.accessed", "signer",
        "{\"principal\":\"p\",\"run_id\":\"run-a\",\"seqs\":[1],\"purpose\":\"audit\"}", NULL);
    add(w, "content.erased", "signer", "{\"run_id\":\"run-a\",\"reason\":\"old\",\"by\":\"p\"}", NULL);
    end(w);
}

static void snapshot(struct bundle_work *w)
{
    uint8_t hash[DIGEST_BYTES];
    char hex[DIGEST_HEX_BYTES], name[96];
    static const char policy[] = "{\"ask\":[]}";
    closed(w);
    digest_sha256(policy, strlen(policy), hash);
    digest_hex(hash, sizeof hash, hex);
    snprintf(name, sizeof name, "policies/%s.json", hex);
    bundle_maker_put(&w->bundle, name, policy, strlen(policy));
}

/* --- keys --- */

static void rotated(struct bundle_work *w)
{
    begin(w);
    uint64_t at = log_maker_epoch(&w->log, 1, NULL);
    log_maker_retire(&w->log, 0, at - 1);
    run_maker_decide(&w->log, "run-a", "t1", "allow");
    end(w);
}

/* --- things that only another verifier reads --- */

static void rekor_file(struct bundle_work *w)
{
    closed(w);
    bundle_maker_put(&w->bundle, "rekor/9.json", "{}", 2);
    bundle_maker_put(&w->bundle, "tsa/9.tsr", "x", 1);
}

static void pinned_monitor(struct bundle_work *w)
{
    closed(w);
    struct buf vkey;
    buf_init(&vkey, 1024);
    log_maker_vkey(&w->log.log, "monitor.example.org", 1, &vkey);
    snprintf(w->trust, sizeof w->trust, ",\"monitors\":[{\"vkey\":\"%.*s\",\"class\":\"public\",\"max_age_s\":60}]",
             (int)vkey.len, (const char *)vkey.data);
    buf_wipe(&vkey);
}

static void extended(struct bundle_work *w)
{
    begin(w);
    add(w, "capture.gap", "signer", "{\"kind\":\"clock_skew\",\"reason\":\"x\"}", "\"ext\":{\"example\":1}");
    end(w);
}

static void reviewed(struct bundle_work *w)
{
    begin(w);
    add(w, "review", "import", "{\"reviewer\":\"v1\",\"verdict\":{}}", NULL);
    end(w);
}

#define WITNESSED "witnessed; records ed25519; checkpoint Ed25519 only (" LOG_MAKER_ORIGIN "); cosigned ed25519 by "
#define VERIFIED 0, "VERIFIED", NULL

const struct bundle_case bundle_cases_good[] = {
    {"closed", closed, VERIFIED, NULL,
     WITNESSED "witness.example.org/w1 (customer) at 2026-10-10T00:19:23Z; earliest independent anchor "
               "2026-10-10T00:19:23Z; key retirements not proven complete"},
    {"quorum", quorum, VERIFIED, NULL,
     WITNESSED "witness.example.org/w1 (customer) at 2026-10-10T00:19:23Z, witness.example.org/own (operator) at "
               "2026-10-10T00:19:24Z, witness.example.org/w3 (public) at 2026-10-10T00:19:25Z; earliest independent "
               "anchor 2026-10-10T00:19:23Z"},
    {"no-witness", no_witness, VERIFIED, NULL,
     "dev; records ed25519; checkpoint Ed25519 only (" LOG_MAKER_ORIGIN "); no witness cosignature; key retirements"},
    {"own-witness", own_witness, VERIFIED, NULL, "local; records ed25519"},
    {"too-few-independent", too_few_independent, VERIFIED, NULL, "local; records ed25519"},
    {"open", open_run, 0, "VERIFIED TO HEAD 2 (open)", NULL, NULL, "witnessed"},
    {"one-record", one_record, 0, "VERIFIED TO HEAD 0 (open)", NULL, NULL, "witnessed"},
    {"approved", approved, VERIFIED, NULL, "witnessed"},
    {"self-approved", self_approved, VERIFIED, NULL,
     "dev; records ed25519; checkpoint Ed25519 only (" LOG_MAKER_ORIGIN
     "); cosigned ed25519 by witness.example.org/w1 (customer) at 2026-10-10T00:19:23Z; earliest independent anchor "
     "2026-10-10T00:19:23Z; approvals: self; key retirements not proven complete"},
    {"break-glass", break_glass, VERIFIED, "break-glass approvals", "witnessed"},
    {"rejected", rejected, VERIFIED, NULL, "witnessed"},
    {"quiet-gap", quiet_gap, VERIFIED, NULL, "witnessed"},
    {"loud-gaps", loud_gaps, VERIFIED, "gaps", "witnessed"},
    {"against-policy", against_policy, VERIFIED, "policy", "witnessed"},
    {"held-without-end", held_without_end, VERIFIED, "held calls", "witnessed"},
    {"observer-lost", observer_lost, VERIFIED, "observers", "witnessed"},
    {"mismatched", mismatched, VERIFIED, "external decisions", "witnessed"},
    {"external", external, VERIFIED, NULL, "witnessed"},
    {"unreconciled", unreconciled, VERIFIED, "coverage", "witnessed"},
    {"split-call", split_call, VERIFIED, "tiers", "witnessed"},
    {"many-calls", many_calls, VERIFIED, NULL, "witnessed"},
    {"origin", origin, VERIFIED, "fail-open classes", "witnessed"},
    {"vault", vault, VERIFIED, NULL, "witnessed"},
    {"snapshot", snapshot, VERIFIED, NULL, "witnessed"},
    {"rotated", rotated, VERIFIED, "keys", "witnessed"},
    {"rekor-file", rekor_file, VERIFIED, "not checked", "witnessed"},
    {"pinned-monitor", pinned_monitor, VERIFIED, "not checked", "witnessed"},
    {"extended", extended, VERIFIED, "not interpreted", "witnessed"},
    {"reviewed", reviewed, VERIFIED, "not checked", "witnessed"},
    {NULL, NULL, 0, NULL, NULL, NULL, NULL},
};
