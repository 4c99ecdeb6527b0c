#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "evidence/base64.h"
#include "evidence/jcs.h"
#include "evidence/record.h"
#include "tests/unit/lines.h"

enum { ARENA_BYTES = 16 << 20, MAX_BYTES = 16 << 20 };

static const char VECTORS[] = "tests/vectors/upstream/sig_v2.jsonl";
static const char LOG[] = "tests/vectors/example_log.jsonl";

static const struct json *parse(struct arena *arena, const char *text)
{
    const struct json *v = NULL;
    assert_int_equal(json_parse(arena, text, strlen(text), &v, NULL), ERR_OK);
    return v;
}

static void key_of(const struct json *line, uint8_t pub[static ED25519_PUBLIC_BYTES])
{
    const char *text = json_get_cstr(line, "public");
    assert_non_null(text);
    assert_int_equal(digest_unhex(text, strlen(text), pub, ED25519_PUBLIC_BYTES), ERR_OK);
}

static void check_vector(const struct json *line, void *context)
{
    size_t *count = context;
    uint8_t pub[ED25519_PUBLIC_BYTES];
    struct record r;
    struct buf message;
    size_t want_len = 0;
    if (json_get(line, "record") == NULL)
        return;
    key_of(line, pub);
    assert_int_equal(record_open(json_get(line, "record"), &r), ERR_OK);
    assert_int_equal(record_verify(&r, pub), ERR_OK);
    buf_init(&message, MAX_BYTES);
    assert_int_equal(record_message(&message, json_get(line, "event"), r.hash, r.alg, r.kid), ERR_OK);
    const char *want = json_text(json_get(line, "message"), &want_len);
    assert_int_equal(message.len, want_len);
    assert_memory_equal(message.data, want, want_len);
    buf_wipe(&message);
    ++*count;
}

static void upstream_vectors(void **state)
{
    (void)state;
    size_t count = 0;
    assert_int_equal(lines_each(VECTORS, check_vector, &count), 15);
    assert_int_equal(count, 3);
}

struct log {
    uint8_t pub[ED25519_PUBLIC_BYTES];
    int64_t next_seq;
    char head[DIGEST_TEXT_BYTES];
};

static void read_epoch(const struct record *r, uint8_t pub[static ED25519_PUBLIC_BYTES])
{
    uint8_t der[ED25519_SPKI_BYTES];
    size_t len = 0;
    const char *spki = json_get_cstr(json_at(json_get(r->data, "keys"), 0), "spki");
    assert_string_equal(r->type, "signer.epoch");
    assert_non_null(spki);
    assert_int_equal(base64_decode(spki, strlen(spki), der, sizeof der, &len), ERR_OK);
    assert_int_equal(ed25519_spki_parse(der, len, pub), ERR_OK);
}

static void check_log_line(const struct json *line, void *context)
{
    struct log *log = context;
    struct record r;
    assert_int_equal(record_open(line, &r), ERR_OK);
    if (log->next_seq == 0)
        read_epoch(&r, log->pub);
    assert_int_equal(record_verify(&r, log->pub), ERR_OK);
    assert_int_equal(r.seq, log->next_seq++);
    assert_string_equal(r.prev_hash, log->head);
    assert_string_equal(r.log_id, "0123456789abcdef0123456789abcdef");
    assert_string_equal(r.schema_version, "tracekit.event.v2");
    assert_non_null(r.tenant);
    assert_non_null(r.run_id);
    assert_non_null(r.run_prev_hash);
    assert_non_null(r.ts);
    assert_non_null(r.source);
    assert_true(r.run_seq >= 0);
    digest_text(r.hash_bytes, log->head);
    assert_string_equal(r.hash, log->head);
}

static void the_example_log_verifies(void **state)
{
    (void)state;
    struct log log = {.head = DIGEST_ZERO_TEXT};
    assert_int_equal(lines_each(LOG, check_log_line, &log), 58);
}

/* The first record of the vectors, as text, with its key. The caller frees it. */
static char *sample(uint8_t pub[static ED25519_PUBLIC_BYTES])
{
    char *copy = NULL;
    static char line[LINES_MAX];
    struct arena *arena = arena_new(ARENA_BYTES);
    struct buf b;
    FILE *f = fopen(VECTORS, "r");
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    fclose(f);
    const struct json *v = parse(arena, line);
    key_of(v, pub);
    buf_init(&b, MAX_BYTES);
    assert_int_equal(jcs_write(&b, json_get(v, "record")), ERR_OK);
    buf_putc(&b, '\0');
    copy = strdup((const char *)b.data);
    assert_non_null(copy);
    buf_wipe(&b);
    arena_free(arena);
    return copy;
}

/* `text` with the first `from` in it replaced. */
static const struct json *edited(struct arena *arena, const char *text, const char *from, const char *to)
{
    const struct json *v = NULL;
    const char *at = strstr(text, from);
    struct buf b;
    assert_non_null(at);
    buf_init(&b, MAX_BYTES);
    buf_put(&b, text, (size_t)(at - text));
    buf_puts(&b, to);
    buf_puts(&b, at + strlen(from));
    assert_int_equal(json_parse(arena, b.data, b.len, &v, NULL), ERR_OK);
    buf_wipe(&b);
    return v;
}

static enum err judge(const struct json *value, const uint8_t pub[static ED25519_PUBLIC_BYTES])
{
    struct record r;
    enum err e = record_open(value, &r);
    return e == ERR_OK ? record_verify(&r, pub) : e;
}

static void every_edit_is_found(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to;
        enum err want;
    } EDITS[] = {
        {"{", "{", ERR_OK},
        {"\"v\":2", "\"v\":2.0", ERR_OK}, /* the same number */
        {"\"v\":2", "\"v\":1", ERR_RECORD},
        {"\"v\":2", "\"v\":3", ERR_RECORD},
        {"\"v\":2", "\"v\":\"2\"", ERR_RECORD},
        {"\"v\":2", "\"v\":true", ERR_RECORD},
        {"\"v\":2", "\"v\":null", ERR_RECORD},
        {"\"v\":2", "\"w\":2", ERR_RECORD},
        {"\"v\":2", "\"v\":2,\"w\":2", ERR_RECORD},
        {"\"alg\":\"ed25519\",", "", ERR_RECORD},
        {"\"alg\":\"ed25519\"", "\"alg\":1", ERR_RECORD},
        {"\"event\":{", "\"event\":0,\"old\":{", ERR_RECORD},
        {"\"tenant\":\"acme\"", "\"tenant\":\"acmf\"", ERR_HASH},
        {"\"tenant\":\"acme\"", "\"tenant\":\"acme\",\"u\":0", ERR_HASH},
        {"\"hash\":\"sha256:db", "\"hash\":\"sha256:dc", ERR_HASH},
        {"\"hash\":\"sha256:db", "\"hash\":\"sha256:DB", ERR_HASH},
        {"\"hash\":\"sha256:db", "\"hash\":\"db", ERR_HASH},
        {"\"hash\":\"sha256:db", "\"hash\":\"\\u0000", ERR_RECORD},
        {"\"alg\":\"ed25519\"", "\"alg\":\"Ed25519\"", ERR_ALG},
        {"\"alg\":\"ed25519\"", "\"alg\":\"\"", ERR_ALG},
        {"\"alg\":\"ed25519\"", "\"alg\":\"slh-dsa-sha2-128s\"", ERR_ALG},
    };
    struct arena *arena = arena_new(ARENA_BYTES);
    uint8_t pub[ED25519_PUBLIC_BYTES];
    char *text = sample(pub);
    for (size_t i = 0; i < sizeof EDITS / sizeof EDITS[0]; i++) {
        const struct json *v = edited(arena, text, EDITS[i].from, EDITS[i].to);
        if (judge(v, pub) != EDITS[i].want)
            fail_msg("%s -> %s: %s", EDITS[i].from, EDITS[i].to, err_name(judge(v, pub)));
    }
    free(text);
    arena_free(arena);
}

/* Replaces one string of the record by another. */
static const struct json *with(struct arena *arena, const char *text, const char *key, const char *value)
{
    static const char *const KEYS[] = {"alg", "hash", "kid", "sig", "event", "v"};
    const struct json *old = parse(arena, text);
    struct json *record = json_new_object(arena);
    for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0]; i++)
        json_set(arena, record, KEYS[i],
                 strcmp(KEYS[i], key) == 0 ? json_new_string(arena, value) : json_get(old, KEYS[i]));
    return record;
}

static void signatures_and_kids_are_checked(void **state)
{
    (void)state;
    struct arena *arena = arena_new(ARENA_BYTES);
    uint8_t pub[ED25519_PUBLIC_BYTES], sig[ED25519_SIGNATURE_BYTES];
    char sig_text[BASE64_TEXT_BYTES(ED25519_SIGNATURE_BYTES)], longer[BASE64_TEXT_BYTES(ED25519_SIGNATURE_BYTES) + 4];
    size_t len = 0;
    char *text = sample(pub);
    const char *good = json_get_cstr(parse(arena, text), "sig");
    assert_int_equal(base64_decode(good, strlen(good), sig, sizeof sig, &len), ERR_OK);
    assert_int_equal(judge(with(arena, text, "sig", good), pub), ERR_OK);
    for (size_t bit = 0; bit < 8 * sizeof sig; bit++) {
        sig[bit / 8] ^= (uint8_t)(1u << bit % 8);
        base64_encode(sig, sizeof sig, sig_text);
        assert_int_equal(judge(with(arena, text, "sig", sig_text), pub), ERR_SIGNATURE);
        sig[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    base64_encode(sig, sizeof sig - 1, sig_text);
    assert_int_equal(judge(with(arena, text, "sig", sig_text), pub), ERR_SIGNATURE);
    assert_int_equal(judge(with(arena, text, "sig", ""), pub), ERR_SIGNATURE);
    (void)snprintf(longer, sizeof longer, "AAAA%s", good);
    assert_int_equal(judge(with(arena, text, "sig", longer), pub), ERR_BASE64);
    assert_int_equal(judge(with(arena, text, "sig", "not base64"), pub), ERR_BASE64);
    assert_int_equal(judge(with(arena, text, "kid", DIGEST_ZERO_TEXT), pub), ERR_UNKNOWN_KID);
    assert_int_equal(judge(with(arena, text, "kid", ""), pub), ERR_UNKNOWN_KID);
    pub[0] ^= 1;
    assert_int_equal(judge(parse(arena, text), pub), ERR_UNKNOWN_KID);
    free(text);
    arena_free(arena);
}

static void refuses_what_is_no_object(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {"null", "1", "\"v\"", "[]", "{}", "[1,2,3,4,5,6]"};
    struct arena *arena = arena_new(ARENA_BYTES);
    struct record r;
    assert_int_equal(record_open(NULL, &r), ERR_RECORD);
    for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++)
        assert_int_equal(record_open(parse(arena, TEXTS[i]), &r), ERR_RECORD);
    arena_free(arena);
}

/* An event that says nothing still has a hash and a message. */
static void missing_fields_are_null(void **state)
{
    (void)state;
    static const char WANT[] = "{\"alg\":\"a\\\"\",\"hash\":\"h\",\"kid\":\"k\",\"log_id\":null,\"prev_hash\":null,"
                               "\"run_id\":[1],\"run_prev_hash\":null,\"run_seq\":null,\"seq\":1.5,"
                               "\"t\":\"tracekit.record.v2\",\"tenant\":null}";
    struct arena *arena = arena_new(ARENA_BYTES);
    struct buf b;
    buf_init(&b, MAX_BYTES);
    const struct json *event = parse(arena, "{\"seq\":1.5,\"run_id\":[1],\"other\":2}");
    assert_int_equal(record_message(&b, event, "h", "a\"", "k"), ERR_OK);
    assert_int_equal(b.len, sizeof WANT - 1);
    assert_memory_equal(b.data, WANT, sizeof WANT - 1);
    buf_wipe(&b);
    buf_init(&b, sizeof WANT - 2);
    assert_int_equal(record_message(&b, event, "h", "a\"", "k"), ERR_TOO_LARGE);
    buf_wipe(&b);
    arena_free(arena);
}

static void fields_of_a_wrong_type_are_absent(void **state)
{
    (void)state;
    struct arena *arena = arena_new(ARENA_BYTES);
    uint8_t hash[DIGEST_BYTES];
    char hash_text[DIGEST_TEXT_BYTES];
    struct record r;
    const struct json *event =
        parse(arena, "{\"seq\":-1,\"run_seq\":1.0,\"tenant\":1,\"run_id\":\"a\\u0000b\",\"ts\":null,\"data\":[]}");
    struct json *record = json_new_object(arena);
    assert_int_equal(record_event_hash(event, hash), ERR_OK);
    digest_text(hash, hash_text);
    json_set(arena, record, "event", event);
    json_set_string(arena, record, "hash", hash_text);
    json_set_string(arena, record, "alg", "");
    json_set_string(arena, record, "kid", "");
    json_set_string(arena, record, "sig", "");
    json_set_int(arena, record, "v", 2);
    assert_int_equal(record_open(record, &r), ERR_OK);
    assert_int_equal(r.seq, -1);
    assert_int_equal(r.run_seq, -1);
    assert_null(r.tenant);
    assert_null(r.run_id);
    assert_null(r.ts);
    assert_null(r.type);
    assert_null(r.data);
    assert_ptr_equal(r.event, json_get(record, "event"));
    arena_free(arena);
}

static void writes_what_it_reads(void **state)
{
    (void)state;
    struct arena *arena = arena_new(ARENA_BYTES);
    uint8_t pub[ED25519_PUBLIC_BYTES], sig[ED25519_SIGNATURE_BYTES];
    size_t len = 0;
    struct record r;
    struct buf b;
    char *text = sample(pub);
    assert_int_equal(record_open(parse(arena, text), &r), ERR_OK);
    assert_int_equal(base64_decode(r.sig, strlen(r.sig), sig, sizeof sig, &len), ERR_OK);
    buf_init(&b, MAX_BYTES);
    assert_int_equal(record_write(&b, arena, r.event, r.hash, r.kid, sig), ERR_OK);
    assert_int_equal(b.len, strlen(text));
    assert_memory_equal(b.data, text, b.len);
    buf_reset(&b);
    assert_int_equal(record_write(&b, arena, NULL, r.hash, r.kid, sig), ERR_NOMEM);
    buf_wipe(&b);
    free(text);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(upstream_vectors),
        cmocka_unit_test(the_example_log_verifies),
        cmocka_unit_test(every_edit_is_found),
        cmocka_unit_test(signatures_and_kids_are_checked),
        cmocka_unit_test(refuses_what_is_no_object),
        cmocka_unit_test(missing_fields_are_null),
        cmocka_unit_test(fields_of_a_wrong_type_are_absent),
        cmocka_unit_test(writes_what_it_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
