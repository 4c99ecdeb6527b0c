#include "tests/unit/verify_rig.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "evidence/verify.h"

static char dir[] = "/tmp/tracekit-verify-XXXXXX";
static char bundle[64], trust[64];
const char *const verify_rig_bundle = bundle, *const verify_rig_trust = trust;

int verify_rig_make(void **state)
{
    (void)state;
    if (mkdtemp(dir) == NULL)
        return -1;
    snprintf(bundle, sizeof bundle, "%s/bundle.tkb", dir);
    snprintf(trust, sizeof trust, "%s/trust.json", dir);
    return 0;
}

int verify_rig_drop(void **state)
{
    (void)state;
    unlink(bundle);
    unlink(trust);
    return rmdir(dir);
}

struct report *verify_rig_verify(void)
{
    struct report *report = report_new();
    assert_non_null(report);
    assert_int_equal(verify_bundle(bundle, trust, report), ERR_OK);
    return report;
}

const struct bundle_case *verify_rig_case(const struct bundle_case *table, const char *name)
{
    while (table->name != NULL && strcmp(table->name, name) != 0)
        table++;
    assert_non_null(table->name);
    return table;
}

struct report *verify_rig_verify_case(const struct bundle_case *table, const char *name)
{
    bundle_cases_write(verify_rig_case(table, name), bundle, trust);
    return verify_rig_verify();
}

void verify_rig_write(const char *path, const void *bytes, size_t len)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

size_t verify_rig_read(const char *path, uint8_t *bytes, size_t max)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t len = fread(bytes, 1, max, file);
    assert_true(len < max);
    assert_int_equal(fclose(file), 0);
    return len;
}

void verify_rig_write_trust(const struct log_maker *log, unsigned required)
{
    struct buf text;
    buf_init(&text, 1 << 16);
    log_maker_trust(log, 1, required, NULL, &text);
    verify_rig_write(trust, text.data, text.len);
    buf_wipe(&text);
}

const char *verify_rig_first(const struct report *r, enum report_status wanted)
{
    enum report_status status = REPORT_PASS;
    const char *check = NULL;
    for (size_t i = 0; (check = report_check(r, i, &status)) != NULL; i++) {
        if (status == wanted)
            return check;
    }
    return NULL;
}

bool verify_rig_has(const struct report *r, const char *name, enum report_status wanted)
{
    enum report_status status = REPORT_PASS;
    const char *check = NULL;
    for (size_t i = 0; (check = report_check(r, i, &status)) != NULL; i++) {
        if (status == wanted && strcmp(check, name) == 0)
            return true;
    }
    return false;
}

char *verify_rig_text(const struct report *r)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    report_print(r, out, false);
    assert_int_equal(fclose(out), 0);
    return text;
}

void verify_rig_assert_says(const struct report *r, const char *words)
{
    char *text = verify_rig_text(r);
    if (strstr(text, words) == NULL)
        fail_msg("'%s' is not in:\n%s", words, text);
    free(text);
}
