#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "cli/bundle_writer.h"
#include "evidence/bundle.h"
#include "evidence/digest.h"
#include "evidence/json.h"
#include "evidence/zip.h"
#include "tests/unit/scratch.h"

static char scratch[SCRATCH_PATH_BYTES];
static char path[SCRATCH_PATH_BYTES + 16];
static FILE *out;
static struct bundle_writer *writer;

static int setup(void **state)
{
    (void)state;
    scratch_make(scratch);
    snprintf(path, sizeof path, "%s/run.tkb", scratch);
    out = fopen(path, "w+");
    return out == NULL || bundle_writer_new(out, &writer) != ERR_OK;
}

static int teardown(void **state)
{
    (void)state;
    bundle_writer_free(writer);
    fclose(out);
    scratch_remove(scratch);
    return 0;
}

static const struct json *read_manifest(struct zip *z, struct arena *arena)
{
    struct buf text;
    const struct json *v = NULL;
    buf_init(&text, 1 << 20);
    assert_non_null(zip_find(z, "manifest.json"));
    assert_int_equal(zip_read(z, zip_find(z, "manifest.json"), &text, NULL), ERR_OK);
    assert_int_equal(json_parse(arena, text.data, text.len, &v, NULL), ERR_OK);
    buf_wipe(&text);
    return v;
}

static void the_manifest_names_every_file(void **state)
{
    (void)state;
    struct zip *z = NULL;
    struct fault fault = {""};
    char hex[DIGEST_HEX_BYTES];
    uint8_t hash[DIGEST_BYTES];
    assert_int_equal(bundle_writer_begin(writer, "runs/a.jsonl"), ERR_OK);
    assert_int_equal(bundle_writer_write(writer, "on", 2), ERR_OK);
    assert_int_equal(bundle_writer_write(writer, "e\n", 2), ERR_OK);
    assert_int_equal(bundle_writer_end(writer), ERR_OK);
    assert_int_equal(bundle_writer_file(writer, "keys/records.jsonl", "", 0), ERR_OK);
    assert_int_equal(bundle_writer_finish(writer), ERR_OK);
    assert_int_equal(fflush(out), 0);

    struct arena *arena = arena_new(1 << 20);
    assert_int_equal(zip_open(path, &z, &fault), ERR_OK);
    assert_int_equal(zip_count(z), 3);
    assert_string_equal(zip_at(z, 2)->name, "manifest.json");
    const struct json *m = read_manifest(z, arena), *files = json_get(m, "files");
    assert_int_equal(json_count(m), 4);
    assert_string_equal(json_get_cstr(m, "format"), BUNDLE_FORMAT);
    assert_string_equal(json_get_cstr(m, "verifier_min_version"), BUNDLE_VERIFIER_MIN_VERSION);
    assert_non_null(json_get_cstr(m, "verifier_version"));
    assert_int_equal(json_count(files), 2);
    digest_sha256("one\n", 4, hash);
    digest_hex(hash, sizeof hash, hex);
    assert_string_equal(json_get_cstr(files, "runs/a.jsonl"), hex);
    digest_sha256("", 0, hash);
    digest_hex(hash, sizeof hash, hex);
    assert_string_equal(json_get_cstr(files, "keys/records.jsonl"), hex);
    zip_close(z);
    arena_free(arena);
}

static void a_name_comes_once(void **state)
{
    (void)state;
    assert_int_equal(bundle_writer_file(writer, "policies/a.json", "{}", 2), ERR_OK);
    assert_int_equal(bundle_writer_begin(writer, "policies/a.json"), ERR_BUNDLE);
}

static void a_bad_name_is_refused(void **state)
{
    (void)state;
    assert_int_equal(bundle_writer_begin(writer, "../evil"), ERR_ZIP);
}

static void a_file_has_a_limit(void **state)
{
    (void)state;
    static const uint8_t mib[1 << 20];
    enum err e = bundle_writer_begin(writer, "runs/a.jsonl");
    int written = 0;
    while (e == ERR_OK && written <= 70) {
        e = bundle_writer_write(writer, mib, sizeof mib);
        written++;
    }
    assert_int_equal(e, ERR_TOO_LARGE);
    assert_int_equal(written, (ZIP_MAX_ENTRY_BYTES >> 20) + 1);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_manifest_names_every_file),
        CASE(a_name_comes_once),
        CASE(a_bad_name_is_refused),
        CASE(a_file_has_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
