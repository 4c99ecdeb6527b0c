#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/tools/run_maker.h"
#include "tests/unit/verify_rig.h"

/* --- the cases --- */

static void check_case(const struct bundle_case *c)
{
    bundle_cases_write(c, verify_rig_bundle, verify_rig_trust);
    struct report *r = verify_rig_verify();
    const char *failure = verify_rig_first(r, REPORT_FAIL);
    char *text = verify_rig_text(r);
    bool same_failure =
        c->first_failure == NULL ? failure == NULL : failure != NULL && strcmp(failure, c->first_failure) == 0;
    bool same = report_exit_code(r, false) == c->exit_code && strcmp(report_integrity_text(r), c->integrity) == 0;
    if (!same || !same_failure)
        fail_msg("%s: exit %d, first failure %s\n%s", c->name, report_exit_code(r, false),
                 failure == NULL ? "none" : failure, text);
    if (c->warning != NULL && !verify_rig_has(r, c->warning, REPORT_WARN))
        fail_msg("%s: no warning '%s'\n%s", c->name, c->warning, text);
    if (c->exit_code == 0 && c->warning == NULL && report_warnings(r) > 0)
        fail_msg("%s: a warning\n%s", c->name, text);
    if (c->exit_code == 0)
        assert_int_equal(report_exit_code(r, true), report_warnings(r) > 0 ? 3 : 0);
    if (c->assurance != NULL && strncmp(report_assurance_text(r), c->assurance, strlen(c->assurance)) != 0)
        fail_msg("%s: assurance\n%s", c->name, text);
    free(text);
    report_free(r);
}

static void check_table(const struct bundle_case *table)
{
    for (size_t i = 0; table[i].name != NULL; i++)
        check_case(&table[i]);
}

static void test_good(void **state)
{
    (void)state;
    check_table(bundle_cases_good);
}

static void test_broken(void **state)
{
    (void)state;
    check_table(bundle_cases_broken);
}

static void test_forged(void **state)
{
    (void)state;
    check_table(bundle_cases_forged);
}

/* --- what a failed line names --- */

static void test_places(void **state)
{
    static const struct {
        const char *name, *words;
    } places[] = {
        {"record-edited", "seq 5: the hash does not match the event"},
        {"record-bad-signature", "seq 3: the signature does not verify"},
        {"record-alg-confusion", "seq 5: the signature algorithm is not allowed"},
        {"record-schema-invalid", "seq 2: "},
        {"record-other-log", "seq 5: a record of another log"},
        {"record-deleted", "run_seq 2 (seq 6): its run_seq is another one"},
        {"record-spliced", "run_seq 2 (seq 4): "},
        {"run-rebuilt", "run_seq 3 (seq 6): its run_prev_hash is not the hash of the record before it"},
        {"run-record-of-another", "run_seq 1 (seq 2): it belongs to another run"},
        {"run-seq-not-growing", "run_seq 1 (seq 1): its seq is not above that of the record before it"},
        {"run-record-after-final", "run_seq 5 (seq 9): it stands behind run.final"},
        {"record-truncated", "no valid proof for its last record here, seq 6"},
        {"key-used-after-retire", "seq 4: signed by a key that was retired before it"},
        {"key-used-before-epoch", "seq 2: no such key at this position"},
        {"key-not-included", "seq 0: the checkpointed tree does not include this record"},
        {"key-unknown-retired", "seq 1: retires a key that the log did not declare"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        struct report *r = verify_rig_verify_case(bundle_cases_forged, places[i].name);
        verify_rig_assert_says(r, places[i].words);
        report_free(r);
    }
}

static void test_places_in_files(void **state)
{
    static const struct {
        const char *name, *words;
    } places[] = {
        {"json-record-duplicate-key", " line 2: byte "},
        {"json-no-final-newline", " line 5: does not end in a newline"},
        {"line-short", " line 2: shorter than any signed record"},
        {"line-long", " line 2: longer than 1 MiB"},
        {"manifest-unlisted-file", "extra.txt is not listed"},
        {"manifest-wrong-hash", "keys/records.jsonl has another SHA-256 than listed"},
        {"manifest-missing-file", "gone.txt is listed and not in the bundle"},
        {"proofs-inclusion-no-base64", "the proof for seq 7"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        struct report *r = verify_rig_verify_case(bundle_cases_broken, places[i].name);
        verify_rig_assert_says(r, places[i].words);
        report_free(r);
    }
}

/* --- what a line counts --- */

static void test_counts(void **state)
{
    static const struct {
        const char *name, *words;
    } counts[] = {
        {"many-calls", "of 350 tool call(s), T1 350, T2 0, T3 0, untiered 0"},
        {"many-calls", "of 350 record(s), raw 0, parsed 350, coerced 0"},
        {"split-call", "of 2 tool call(s), T1 1, T2 0, T3 0, untiered 1"},
        {"split-call", "run_seq 1 by hook (T1), run_seq 2 by sdk (untiered)"},
        {"loud-gaps", "client_counter_gap 1, signer_unavailable 31, trace.tamper 1"},
        {"loud-gaps", "        and 13 more\n"},
        {"unreconciled", "layers L2+L3; reconciled calls: 4; unreconciled: hook_missing 1"},
        {"external", "1 from other systems (other 1), 1 with a signature"},
        {"vault", "read 1 time(s) and erased 1 time(s)"},
        {"origin", "alice (attested)"},
        {"origin", "as the signer attests it: gemini"},
        {"origin", "[WARN] fail-open classes \xe2\x80\x94 read\n"},
        {"rotated", "2 key(s), out of 3 key record(s)"},
        {"rekor-file", "the file rekor/9.json"},
        {"reviewed", "reviews: 1 of them"},
        {"extended", "ext.example on 1 record(s)"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        struct report *r = verify_rig_verify_case(bundle_cases_good, counts[i].name);
        verify_rig_assert_says(r, counts[i].words);
        report_free(r);
    }
}

/* --- single rules --- */

static void test_algorithm_not_trusted(void **state)
{
    (void)state;
    bundle_cases_write(verify_rig_case(bundle_cases_good, "closed"), verify_rig_bundle, verify_rig_trust);
    assert_int_equal(bundle_maker_patch(verify_rig_trust, "[\"ed25519\"]", "[\"ed25518\"]", 11), 1);
    struct report *r = verify_rig_verify();
    assert_int_equal(report_exit_code(r, false), 1);
    assert_true(verify_rig_has(r, "keys", REPORT_FAIL));
    assert_true(verify_rig_has(r, "signatures", REPORT_FAIL));
    report_free(r);
}

static void test_bad_trust(void **state)
{
    (void)state;
    bundle_cases_write(verify_rig_case(bundle_cases_good, "closed"), verify_rig_bundle, verify_rig_trust);
    verify_rig_write(verify_rig_trust, "{}", 2);
    struct report *r = verify_rig_verify();
    assert_int_equal(report_exit_code(r, false), 2);
    assert_string_equal(report_integrity_text(r), "UNUSABLE BUNDLE");
    assert_true(verify_rig_has(r, "trust config", REPORT_FAIL));
    report_free(r);
    unlink(verify_rig_trust);
    r = verify_rig_verify();
    assert_int_equal(report_exit_code(r, false), 2);
    verify_rig_assert_says(r, verify_rig_trust);
    report_free(r);
}

static void test_no_zip(void **state)
{
    (void)state;
    bundle_cases_write(verify_rig_case(bundle_cases_good, "closed"), verify_rig_bundle, verify_rig_trust);
    verify_rig_write(verify_rig_bundle, "not a zip file, though long enough for one", 42);
    struct report *r = verify_rig_verify();
    assert_int_equal(report_exit_code(r, false), 2);
    assert_true(verify_rig_has(r, "bundle readable", REPORT_FAIL));
    report_free(r);
    unlink(verify_rig_bundle);
    r = verify_rig_verify();
    assert_int_equal(report_exit_code(r, false), 2);
    verify_rig_assert_says(r, verify_rig_bundle);
    report_free(r);
}

/* --- text that attacks a terminal --- */

static void test_terminal(void **state)
{
    (void)state;
    struct bundle_work w = {.pinned = 1};
    log_maker_init(&w.log);
    log_maker_epoch(&w.log, 0, NULL);
    run_maker_register(&w.log, "run\\u001b[2J\\u202e-a", NULL, "\"principal\":\"al\\u0007ice\\u200b\"");
    bundle_maker_export(&w.bundle, &w.log, "default", "run\\u001b[2J\\u202e-a", 2, 1);
    bundle_maker_list(&w.bundle, "1.0.0");
    bundle_maker_save(&w.bundle, verify_rig_bundle);
    verify_rig_write_trust(&w.log, 0);
    bundle_maker_wipe(&w.bundle);
    log_maker_wipe(&w.log);
    struct report *r = verify_rig_verify();
    assert_int_equal(report_exit_code(r, false), 0);
    char *text = verify_rig_text(r);
    assert_null(strstr(text, "\x1b"));
    assert_null(strstr(text, "\xe2\x80\xae"));
    assert_non_null(strstr(text, "run[2J-a"));
    assert_non_null(strstr(text, "alice (as the application says)"));
    free(text);
    report_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_broken),
        cmocka_unit_test(test_forged),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_places_in_files),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_algorithm_not_trusted),
        cmocka_unit_test(test_bad_trust),
        cmocka_unit_test(test_no_zip),
        cmocka_unit_test(test_terminal),
    };
    return cmocka_run_group_tests(tests, verify_rig_make, verify_rig_drop);
}
