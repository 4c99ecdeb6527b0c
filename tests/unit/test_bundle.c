/* The names of a bundle's files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "evidence/bundle.h"
#include "evidence/zip_layout.h"

/* printf 'default/run-a' | sha256sum */
static void run_files_are_named_after_tenant_and_run(void **state)
{
    char name[BUNDLE_RUN_NAME_BYTES];
    (void)state;
    assert_int_equal(bundle_run_name("default", "run-a", name), ERR_OK);
    assert_string_equal(name, "runs/8f7cb5cc49721e0b70d6b89fb23749eb.jsonl");
    assert_int_equal(bundle_run_name("tracekit", "tracekit/signer", name), ERR_OK);
    assert_string_equal(name, "runs/6f6b516b801c405ebff5439ce28d8820.jsonl");
    assert_true(zip_layout_is_name(name, strlen(name)));
}

/* The separator is one byte between two texts of which only the second may hold it. */
static void other_runs_have_other_names(void **state)
{
    char a[BUNDLE_RUN_NAME_BYTES], b[BUNDLE_RUN_NAME_BYTES];
    (void)state;
    assert_int_equal(bundle_run_name("t", "a", a), ERR_OK);
    assert_int_equal(bundle_run_name("t", "b", b), ERR_OK);
    assert_string_not_equal(a, b);
    assert_int_equal(bundle_run_name("u", "a", b), ERR_OK);
    assert_string_not_equal(a, b);
    assert_int_equal(bundle_run_name("ta", "", b), ERR_OK);
    assert_string_not_equal(a, b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(run_files_are_named_after_tenant_and_run),
        cmocka_unit_test(other_runs_have_other_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
