/*
 * fuzz_record.c - the input is one line of a JSON lines file.
 *
 * Property: a record that opens has the hash of its event; it verifies with the one known key only if it is one of the
 * records that key signed, whatever white space and order of members it comes in; and it is written back to a line that
 * opens to the same hash, unless a large real in it makes that line unreadable (evidence/jcs.h).
 */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "evidence/base64.h"
#include "evidence/record.h"

enum { ARENA_BYTES = 64 << 20, LINE_BYTES = 8 * RECORD_MAX_BYTES };

/* RFC 8032, section 7.1, test 1: the key of tests/vectors/upstream/sig_v2.jsonl. */
static const uint8_t PUB[ED25519_PUBLIC_BYTES] = {
    0xd7, 0x5a, 0x98, 0x01, 0x82, 0xb1, 0x0a, 0xb7, 0xd5, 0x4b, 0xfe, 0xd3, 0xc9, 0x64, 0x07, 0x3a,
    0x0e, 0xe1, 0x72, 0xf3, 0xda, 0xa6, 0x23, 0x25, 0xaf, 0x02, 0x1a, 0x68, 0xf7, 0x07, 0x51, 0x1a,
};

static const char *const SIGNED[] = {
    "sha256:db5045e1f08ce84b3f4af68706546c4db460adbef48568a7206ba5cc73f73dc6",
    "sha256:95b477a00d8b33b30329de45413cc36eff06df4b1394391825b63991647156c5",
    "sha256:c817212e4be95ef7179d61b6d44bb58937c445963e78bb703e881ace543d04fc",
};

static bool is_signed(const char *hash)
{
    for (size_t i = 0; i < sizeof SIGNED / sizeof SIGNED[0]; i++) {
        if (strcmp(SIGNED[i], hash) == 0)
            return true;
    }
    return false;
}

static void check_written(struct arena *arena, const struct record *r)
{
    uint8_t sig[ED25519_SIGNATURE_BYTES] = {0};
    size_t len = 0;
    struct buf line;
    struct record again;
    const struct json *v = NULL;
    if (base64_decode(r->sig, strlen(r->sig), sig, sizeof sig, &len) != ERR_OK)
        return;
    buf_init(&line, LINE_BYTES);
    FUZZ_CHECK(record_write(&line, arena, r->event, r->hash, r->kid, sig) == ERR_OK);
    enum err e = json_parse(arena, line.data, line.len, &v, NULL);
    FUZZ_CHECK(e == ERR_OK || e == ERR_INT_RANGE || e == ERR_TOO_LARGE);
    if (e == ERR_OK) {
        FUZZ_CHECK(record_open(v, &again) == ERR_OK);
        FUZZ_CHECK(digest_equal(r->hash_bytes, again.hash_bytes));
    }
    buf_wipe(&line);
}

static void check_record(struct arena *arena, const struct record *r)
{
    char text[DIGEST_TEXT_BYTES];
    digest_text(r->hash_bytes, text);
    FUZZ_CHECK(strcmp(text, r->hash) == 0);
    FUZZ_CHECK(json_is(r->event, JSON_OBJECT) && r->seq >= -1 && r->run_seq >= -1);
    enum err e = record_verify(r, PUB);
    FUZZ_CHECK(e != ERR_OK || is_signed(r->hash));
    FUZZ_CHECK(e != ERR_KEY);
    check_written(arena, r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > RECORD_MAX_BYTES)
        return 0;
    struct arena *arena = arena_new(ARENA_BYTES);
    const struct json *v = NULL;
    struct record r;
    if (json_parse(arena, data, size, &v, NULL) == ERR_OK && record_open(v, &r) == ERR_OK)
        check_record(arena, &r);
    arena_free(arena);
    return 0;
}
