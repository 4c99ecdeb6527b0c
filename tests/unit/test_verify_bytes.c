#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "evidence/zip.h"
#include "tests/unit/verify_rig.h"

/* Whether the byte belongs to what an entry holds. */
static bool is_data(const struct zip *z, size_t at)
{
    for (size_t i = 0; i < zip_count(z); i++) {
        const struct zip_entry *e = zip_at(z, i);
        if (at >= e->offset && at - e->offset < e->packed_bytes)
            return true;
    }
    return false;
}

/* The file, every seventh byte (tests/unit/test_zip.c has more): a changed byte may pass only where no reader looks
 * (versions and dates in headers). */
static void test_bytes_of_the_file(void **state)
{
    static uint8_t bytes[1 << 16];
    struct zip *z = NULL;
    size_t passed = 0;
    (void)state;
    bundle_cases_write(verify_rig_case(bundle_cases_good, "one-record"), verify_rig_bundle, verify_rig_trust);
    size_t len = verify_rig_read(verify_rig_bundle, bytes, sizeof bytes);
    assert_int_equal(zip_open(verify_rig_bundle, &z, NULL), ERR_OK);
    for (size_t i = 0; i < len; i += 7) {
        bytes[i] ^= 0x41;
        verify_rig_write(verify_rig_bundle, bytes, len);
        bytes[i] ^= 0x41;
        struct report *r = verify_rig_verify();
        if (report_exit_code(r, false) == 0) {
            passed++;
            assert_false(is_data(z, i));
        }
        report_free(r);
    }
    assert_in_range(passed, 0, zip_count(z) * 24);
    zip_close(z);
}

/* The evidence: with the zip and the manifest made to fit, so that only the evidence itself can show the change. */
static void test_every_byte_of_the_evidence(void **state)
{
    struct bundle_work w = {.pinned = 1};
    (void)state;
    log_maker_init(&w.log);
    verify_rig_case(bundle_cases_good, "one-record")->make(&w);
    bundle_maker_list(&w.bundle, "1.0.0");
    verify_rig_write_trust(&w.log, 1);
    for (size_t e = 0; e < w.bundle.count; e++) {
        struct buf *bytes = &w.bundle.entries[e].bytes;
        for (size_t i = 0; i < bytes->len && strcmp(w.bundle.entries[e].name, "manifest.json") != 0; i++) {
            bytes->data[i] ^= 1;
            bundle_maker_list(&w.bundle, "1.0.0");
            bundle_maker_save(&w.bundle, verify_rig_bundle);
            struct report *r = verify_rig_verify();
            if (report_exit_code(r, false) == 0)
                fail_msg("%s byte %zu", w.bundle.entries[e].name, i);
            report_free(r);
            bytes->data[i] ^= 1;
        }
    }
    bundle_maker_list(&w.bundle, "1.0.0");
    bundle_maker_save(&w.bundle, verify_rig_bundle);
    struct report *r = verify_rig_verify();
    assert_int_equal(report_exit_code(r, false), 0);
    report_free(r);
    bundle_maker_wipe(&w.bundle);
    log_maker_wipe(&w.log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_of_the_file),
        cmocka_unit_test(test_every_byte_of_the_evidence),
    };
    return cmocka_run_group_tests(tests, verify_rig_make, verify_rig_drop);
}
