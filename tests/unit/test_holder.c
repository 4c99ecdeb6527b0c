/* The key holder: it signs what continues its log, and nothing else. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <string.h>

#include "evidence/record.h"
#include "signer/holder.h"
#include "tests/unit/scratch.h"

#define LOG_ID "0123456789abcdef0123456789abcdef"
#define ORIGIN "tracekit.local/" LOG_ID

struct world {
    char dir[SCRATCH_PATH_BYTES];
    int keys;
    struct holder *holder;
    struct arena *arena;
};

static struct world w;

static void start_holder(void)
{
    const uint8_t no_head[DIGEST_BYTES] = {0};
    struct tree empty;
    tree_init(&empty);
    assert_int_equal(holder_start(w.holder, LOG_ID, ORIGIN, &empty, no_head), ERR_OK);
}

static int make(void **state)
{
    (void)state;
    scratch_make(w.dir);
    w.keys = open(w.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    w.arena = arena_new(1 << 20);
    return holder_open(w.keys, 1, &w.holder, NULL) == ERR_OK ? 0 : -1;
}

static int clear(void **state)
{
    (void)state;
    holder_close(w.holder);
    arena_free(w.arena);
    close(w.keys);
    scratch_remove(w.dir);
    return 0;
}

/* An event that stands at `seq` behind `prev`, in `log`. */
static const struct json *event(const char *log, int64_t seq, const char *prev)
{
    struct json *e = json_new_object(w.arena);
    json_set_string(w.arena, e, "log_id", log);
    json_set_int(w.arena, e, "seq", seq);
    json_set_string(w.arena, e, "prev_hash", prev);
    json_set_string(w.arena, e, "run_id", "r");
    return e;
}

static enum err sign(const struct json *e, struct holder_signature *out)
{
    return holder_sign_record(w.holder, e, NULL, NULL, out);
}

static void expect_refused(const struct json *e)
{
    uint64_t size = holder_size(w.holder);
    struct holder_signature s;
    memset(&s, 0xa5, sizeof s);
    assert_int_equal(sign(e, &s), ERR_CHAIN);
    assert_int_equal(s.sig[0], 0xa5);
    assert_int_equal(holder_size(w.holder), size);
}

static void it_signs_what_continues_the_log(void **state)
{
    (void)state;
    struct holder_signature first, second;
    start_holder();
    const struct json *e = event(LOG_ID, 0, DIGEST_ZERO_TEXT);
    assert_int_equal(sign(e, &first), ERR_OK);
    /* A third party takes it. */
    struct buf line;
    const struct json *value = NULL;
    struct record r;
    buf_init(&line, RECORD_MAX_BYTES);
    assert_int_equal(record_write(&line, w.arena, e, first.hash_text, holder_kid(w.holder), first.sig), ERR_OK);
    assert_int_equal(json_parse(w.arena, line.data, line.len, &value, NULL), ERR_OK);
    assert_int_equal(record_open(value, &r), ERR_OK);
    assert_int_equal(record_verify(&r, holder_public(w.holder)), ERR_OK);
    buf_wipe(&line);
    assert_int_equal(sign(event(LOG_ID, 1, first.hash_text), &second), ERR_OK);
    assert_int_equal(holder_size(w.holder), 2);
    assert_memory_equal(holder_head(w.holder), second.hash, DIGEST_BYTES);
}

static void it_signs_nothing_before_it_knows_where_the_log_stands(void **state)
{
    (void)state;
    struct buf note;
    expect_refused(event("", 0, DIGEST_ZERO_TEXT));
    expect_refused(event(LOG_ID, 0, DIGEST_ZERO_TEXT));
    buf_init(&note, NOTE_MAX_BYTES);
    assert_int_equal(holder_sign_checkpoint(w.holder, &note), ERR_STATE);
    start_holder();
    assert_int_equal(holder_sign_checkpoint(w.holder, &note), ERR_STATE); /* of an empty log */
    const uint8_t no_head[DIGEST_BYTES] = {0};
    struct tree empty;
    tree_init(&empty);
    assert_int_equal(holder_start(w.holder, LOG_ID, ORIGIN, &empty, no_head), ERR_STATE);
}

static void it_refuses_a_second_record_in_one_place(void **state)
{
    (void)state;
    struct holder_signature first;
    start_holder();
    assert_int_equal(sign(event(LOG_ID, 0, DIGEST_ZERO_TEXT), &first), ERR_OK);
    expect_refused(event(LOG_ID, 0, first.hash_text));
    expect_refused(event(LOG_ID, 2, first.hash_text));
    expect_refused(event(LOG_ID, -1, first.hash_text));
    assert_int_equal(sign(event(LOG_ID, 1, first.hash_text), &first), ERR_OK);
}

static void it_refuses_another_record_before(void **state)
{
    (void)state;
    struct holder_signature first;
    start_holder();
    assert_int_equal(sign(event(LOG_ID, 0, DIGEST_ZERO_TEXT), &first), ERR_OK);
    expect_refused(event(LOG_ID, 1, DIGEST_ZERO_TEXT));
    expect_refused(event(LOG_ID, 1, ""));
    first.hash_text[DIGEST_TEXT_BYTES - 2] ^= 1;
    expect_refused(event(LOG_ID, 1, first.hash_text));
}

static void it_refuses_another_log(void **state)
{
    (void)state;
    start_holder();
    expect_refused(event("0123456789abcdef0123456789abcdee", 0, DIGEST_ZERO_TEXT));
    expect_refused(event("", 0, DIGEST_ZERO_TEXT));
    expect_refused(json_new_object(w.arena));
    expect_refused(json_new_null());
}

static void records_and_checkpoints_have_keys_of_their_own(void **state)
{
    (void)state;
    struct fault fault = {""};
    struct holder *h = NULL;
    assert_int_equal(unlinkat(w.keys, "log.key", 0), 0);
    assert_int_equal(holder_open(w.keys, 0, &h, &fault), ERR_NOT_FOUND);
    assert_non_null(strstr(fault.text, "log.key"));
    assert_int_equal(linkat(w.keys, "record.key", w.keys, "log.key", 0), 0);
    assert_int_equal(holder_open(w.keys, 0, &h, &fault), ERR_CONFIG);
    assert_non_null(strstr(fault.text, "same key"));
}

int main(void)
{
#define HOLDER_TEST(f) cmocka_unit_test_setup_teardown(f, make, clear)
    const struct CMUnitTest tests[] = {
        HOLDER_TEST(it_signs_what_continues_the_log),
        HOLDER_TEST(it_signs_nothing_before_it_knows_where_the_log_stands),
        HOLDER_TEST(it_refuses_a_second_record_in_one_place),
        HOLDER_TEST(it_refuses_another_record_before),
        HOLDER_TEST(it_refuses_another_log),
        HOLDER_TEST(records_and_checkpoints_have_keys_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
