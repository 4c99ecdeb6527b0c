/* Checkpoint notes: the vector that other implementations share, and every way in which a note can be wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/base64.h"
#include "evidence/buf.h"
#include "evidence/json.h"
#include "evidence/note.h"

enum { TEXT_BYTES = 2048, VECTOR_TIME_S = 1760000000 };

#define DASH "\xe2\x80\x94 "

/* A key pair of ours: signs what the vector does not have. */
struct signer {
    struct note_vkey vkey;
    uint8_t secret[64];
};

static struct {
    char text[TEXT_BYTES], note[TEXT_BYTES];
    struct note_vkey log, witness;
} vector;

static void copy_member(const struct json *v, const char *key, char out[static TEXT_BYTES])
{
    const char *text = json_get_cstr(v, key);
    assert_non_null(text);
    assert_true(strlen(text) < TEXT_BYTES);
    memcpy(out, text, strlen(text) + 1);
}

static int set_up(void **state)
{
    static char file[64 << 10];
    struct fault fault;
    const struct json *v = NULL;
    struct arena *arena = arena_new(1 << 20);
    (void)state;
    FILE *f = fopen("tests/vectors/upstream/c2sp_checkpoint.json", "r");
    assert_non_null(f);
    size_t len = fread(file, 1, sizeof file, f);
    fclose(f);
    assert_int_equal(json_parse(arena, file, len, &v, NULL), ERR_OK);
    copy_member(v, "text", vector.text);
    copy_member(v, "note", vector.note);
    assert_int_equal(note_vkey_parse(json_get_cstr(v, "log_vkey"), &vector.log, &fault), ERR_OK);
    assert_int_equal(note_vkey_parse(json_get_cstr(v, "wit_vkey"), &vector.witness, &fault), ERR_OK);

    char written[NOTE_VKEY_BYTES];
    note_vkey_write(&vector.log, written);
    assert_string_equal(written, json_get_cstr(v, "log_vkey"));
    note_vkey_write(&vector.witness, written);
    assert_string_equal(written, json_get_cstr(v, "wit_vkey"));
    arena_free(arena);
    return sodium_init() < 0 ? -1 : 0;
}

static enum err open_text(const void *text, size_t len, struct note *out, struct fault *fault)
{
    return note_open(text, len, &vector.log, 1, &vector.witness, 1, out, fault);
}

static void the_vector_opens(void **state)
{
    struct note note;
    struct fault fault = {""};
    uint8_t root[DIGEST_BYTES];
    size_t len = 0;
    (void)state;
    assert_int_equal(open_text(vector.note, strlen(vector.note), &note, &fault), ERR_OK);
    assert_string_equal(note.origin, "tracekit.example.org/log/0190f3a0-test");
    assert_int_equal(note.size, 13);
    assert_int_equal(base64_decode("Mi7CJiZLruMIePTlzHPx4mYt0B1o8dZ+0VjPECnCnOY=", 44, root, sizeof root, &len),
                     ERR_OK);
    assert_memory_equal(note.root, root, sizeof root);
    assert_int_equal(note.cosignature_count, 1);
    assert_int_equal(note.cosignatures[0].witness, 0);
    assert_int_equal(note.cosignatures[0].time_s, VECTOR_TIME_S);
    assert_string_equal(fault.text, "");
}

static void body_and_line_are_written_as_in_the_vector(void **state)
{
    struct note note;
    struct buf out;
    uint8_t raw[4 + ED25519_SIGNATURE_BYTES];
    size_t len = 0;
    (void)state;
    buf_init(&out, TEXT_BYTES);
    assert_int_equal(open_text(vector.note, strlen(vector.note), &note, NULL), ERR_OK);
    assert_int_equal(note_body(&out, note.origin, note.size, note.root), ERR_OK);
    assert_int_equal(out.len, strlen(vector.text));
    assert_memory_equal(out.data, vector.text, out.len);

    const char *line = vector.note + strlen(vector.text) + 1, *end = strchr(line, '\n');
    const char *signature = strchr(line + strlen(DASH), ' ') + 1;
    assert_int_equal(base64_decode(signature, (size_t)(end - signature), raw, sizeof raw, &len), ERR_OK);
    buf_reset(&out);
    note_signature_line(&out, &vector.log, raw + 4);
    assert_int_equal(buf_err(&out), ERR_OK);
    assert_int_equal(out.len, end + 1 - line);
    assert_memory_equal(out.data, line, out.len);

    buf_reset(&out);
    assert_int_equal(note_body(&out, "two words", 1, note.root), ERR_NOTE);
    assert_int_equal(out.len, 0);
    buf_wipe(&out);
}

static void without_its_witness_the_vector_opens_bare(void **state)
{
    struct note note;
    (void)state;
    assert_int_equal(note_open(vector.note, strlen(vector.note), &vector.log, 1, NULL, 0, &note, NULL), ERR_OK);
    assert_int_equal(note.cosignature_count, 0);
}

/* Changed to any other byte, every byte of the note makes it fail, except where the change only makes the witness another
 * one that nobody pinned: its name, and the id at the front of its signature. Then it counts for nothing. */
static void every_changed_byte_is_refused_or_takes_the_cosignature(void **state)
{
    char text[TEXT_BYTES];
    size_t len = strlen(vector.note), free_count = 0;
    (void)state;
    const char *last = strstr(vector.note, DASH "witness");
    assert_non_null(last);
    size_t name = (size_t)(last - vector.note) + strlen(DASH);
    size_t name_end = name + strlen(vector.witness.name), id_end = name_end + 1 + 6;

    memcpy(text, vector.note, len);
    for (size_t i = 0; i < len; i++)
        for (unsigned change = 1; change < 256; change++) {
            struct note note;
            text[i] = (char)((unsigned char)vector.note[i] ^ change);
            enum err e = open_text(text, len, &note, NULL);
            if (e == ERR_OK) {
                assert_true(i >= name && i < id_end && i != name_end);
                assert_int_equal(note.cosignature_count, 0);
                assert_int_equal(note.size, 13);
                free_count++;
            } else {
                assert_int_equal(e, ERR_NOTE);
            }
            text[i] = vector.note[i];
        }
    assert_true(free_count > 0);
}

static void every_cut_is_refused_or_takes_the_cosignature(void **state)
{
    size_t len = strlen(vector.note);
    size_t log_only = (size_t)(strstr(vector.note, DASH "witness") - vector.note);
    (void)state;
    for (size_t i = 0; i < len; i++) {
        struct note note;
        char *exact = malloc(i + 1);
        assert_non_null(exact);
        memcpy(exact, vector.note, i);
        assert_int_equal(open_text(exact, i, &note, NULL), i == log_only ? ERR_OK : ERR_NOTE);
        free(exact);
    }
}

static void make_signer(const char *name, uint8_t type, uint8_t seed_byte, struct signer *out)
{
    uint8_t seed[32], pub[32];
    memset(seed, seed_byte, sizeof seed);
    crypto_sign_seed_keypair(pub, out->secret, seed);
    assert_int_equal(note_vkey_make(name, type, pub, &out->vkey), ERR_OK);
}

/* Appends a signature line by `s` over `body`, to any name and with a time when it is a witness. */
static void sign(struct buf *note, const char *body, const struct signer *s, uint64_t time_s)
{
    uint8_t raw[4 + 8 + 64];
    char message[TEXT_BYTES], text[BASE64_TEXT_BYTES(sizeof raw)];
    size_t at = 4;
    snprintf(message, sizeof message, "%s", body);
    memcpy(raw, s->vkey.id, 4);
    if (s->vkey.type == NOTE_TYPE_COSIGNATURE) {
        snprintf(message, sizeof message, "cosignature/v1\ntime %llu\n%s", (unsigned long long)time_s, body);
        for (unsigned i = 0; i < 8; i++)
            raw[at++] = (uint8_t)(time_s >> (56 - 8 * i));
    }
    crypto_sign_detached(raw + at, NULL, (const uint8_t *)message, strlen(message), s->secret);
    base64_encode(raw, at + 64, text);
    buf_printf(note, DASH "%s %s\n", s->vkey.name, text);
}

/* A note over `body` by the signers. */
static void make_note(struct buf *note, const char *body, const struct signer *const *signers, size_t count)
{
    buf_init(note, NOTE_MAX_BYTES + 4096);
    buf_printf(note, "%s\n", body);
    for (size_t i = 0; i < count; i++)
        sign(note, body, signers[i], 1700000000 + i);
    assert_int_equal(buf_err(note), ERR_OK);
}

#define ROOT "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"

static void bodies_are_strict(void **state)
{
    static const struct {
        const char *body, *why; /* NULL: it opens */
    } cases[] = {
        {"log\n0\n" ROOT, NULL},
        {"log\n7\n" ROOT, NULL},
        {"log\n18446744073709551615\n" ROOT, NULL},
        {"log\n18446744073709551616\n" ROOT, "line 2: not a tree size"},
        {"log\n99999999999999999999\n" ROOT, "line 2: not a tree size"},
        {"log\n184467440737095516150\n" ROOT, "line 2: not a tree size"},
        {"log\n000000000000000000007\n" ROOT, "line 2: not a tree size"},
        {"log\n07\n" ROOT, "line 2: not a tree size"},
        {"log\n00\n" ROOT, "line 2: not a tree size"},
        {"log\n+7\n" ROOT, "line 2: not a tree size"},
        {"log\n-7\n" ROOT, "line 2: not a tree size"},
        {"log\n7 \n" ROOT, "line 2: not a tree size"},
        {"log\n7e1\n" ROOT, "line 2: not a tree size"},
        {"log\n\xef\xbc\x97\n" ROOT, "line 2: not a tree size"},
        {"log\n" ROOT, "three lines"},
        {"log\n7\n", "three lines"},
        {"log\n7\n" ROOT "more\n", "more than the three lines"},
        {"lo g\n7\n" ROOT, "line 1: not a usable origin"},
        {"lo+g\n7\n" ROOT, "line 1: not a usable origin"},
        {"lo\xc2\xa0g\n7\n" ROOT, "line 1: not a usable origin"},
        {"lo\xe3\x80\x80g\n7\n" ROOT, "line 1: not a usable origin"},
        {"lo\tg\n7\n" ROOT, "control character"},
        {"lo\rg\n7\n" ROOT, "control character"},
        {"lo\xff\n7\n" ROOT, "not valid UTF-8"},
        {"log\n7\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n", "line 3: not a root hash"},
        {"log\n7\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n", "line 3: not a root hash"},
        {"log\n7\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB=\n", "line 3: not a root hash"},
        {"log\n7\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==\n", "line 3: not a root hash"},
        {"log\n7\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= \n", "line 3: not a root hash"},
    };
    struct signer log;
    (void)state;
    make_signer("log", NOTE_TYPE_ED25519, 1, &log);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct signer *signers[] = {&log};
        struct note note;
        struct fault fault = {""};
        struct buf text;
        make_note(&text, cases[i].body, signers, 1);
        memset(&note, 0x55, sizeof note);
        enum err e = note_open(text.data, text.len, &log.vkey, 1, NULL, 0, &note, &fault);
        if (cases[i].why == NULL) {
            assert_int_equal(e, ERR_OK);
            assert_string_equal(note.origin, "log");
        } else {
            assert_int_equal(e, ERR_NOTE);
            if (strstr(fault.text, cases[i].why) == NULL)
                fail_msg("%s: \"%s\", not \"%s\"", cases[i].body, fault.text, cases[i].why);
            assert_int_equal(note.origin[0], 0x55); /* untouched */
        }
        buf_wipe(&text);
    }
}

static void the_largest_size_does_not_wrap(void **state)
{
    struct signer log;
    const struct signer *signers[] = {&log};
    struct note note;
    struct buf text;
    (void)state;
    make_signer("log", NOTE_TYPE_ED25519, 1, &log);
    make_note(&text, "log\n18446744073709551615\n" ROOT, signers, 1);
    assert_int_equal(note_open(text.data, text.len, &log.vkey, 1, NULL, 0, &note, NULL), ERR_OK);
    assert_true(note.size == UINT64_MAX);
    buf_wipe(&text);
}

/* A signature line that stands behind a good one of the log. */
static void lines_are_strict(void **state)
{
    static const struct {
        const char *line, *why;
    } cases[] = {
        {DASH "other AAAAAAA=\n", NULL}, /* five bytes: nobody's */
        {DASH "other AAAA\n", "too short"},
        {DASH "other AAAAAA==\n", "too short"}, /* an id alone */
        {DASH "other \n", "too short"},
        {DASH "other\n", "not a name and a signature"},
        {DASH "\n", "not a name and a signature"},
        {DASH " AAAAAAA=\n", "bad key name"},
        {DASH "ot+her AAAAAAA=\n", "bad key name"},
        {DASH "ot\xe2\x80\x83her AAAAAAA=\n", "bad key name"},
        {DASH "other  AAAAAAA=\n", "not canonical base64"},
        {DASH "other AAAAAAA= \n", "not canonical base64"},
        {DASH "other AAAAAAA\n", "not canonical base64"},
        {DASH "other AAAAAAB=\n", "not canonical base64"},
        {DASH "other AA-_AAA=\n", "not canonical base64"},
        {DASH "other AA\xc2\xa0"
              "AAA=\n",
         "not canonical base64"},
        {"- other AAAAAAA=\n", "does not begin with a dash"},
        {"\xe2\x80\x94other AAAAAAA=\n", "does not begin with a dash"},
        {"\n", "does not begin with a dash"},
        {DASH "other AAAAAAA=\n\n", "does not begin with a dash"},
        {DASH "other AAAAAAA=", "does not end in a newline"},
        {DASH "other AAAAAAA=\n" DASH "other AAAAAAA=\n", "a second signature of one key"},
        {DASH "other AAAAAAA=\n" DASH "other AAAAAAE=\n", "a second signature of one key"},
        {DASH "other AAAAAAA=\n" DASH "othes AAAAAAA=\n" DASH "other AQAAAAA=\n", NULL},
    };
    struct signer log;
    const struct signer *signers[] = {&log};
    (void)state;
    make_signer("log", NOTE_TYPE_ED25519, 1, &log);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct note note;
        struct fault fault = {""};
        struct buf text;
        make_note(&text, "log\n7\n" ROOT, signers, 1);
        buf_puts(&text, cases[i].line);
        enum err e = note_open(text.data, text.len, &log.vkey, 1, NULL, 0, &note, &fault);
        assert_int_equal(e, cases[i].why == NULL ? ERR_OK : ERR_NOTE);
        if (cases[i].why != NULL && strstr(fault.text, cases[i].why) == NULL)
            fail_msg("%s: \"%s\", not \"%s\"", cases[i].line, fault.text, cases[i].why);
        buf_wipe(&text);
    }
}

/* Opens the body "log\n7\n..." signed by `signers`, with the given pins. */
static enum err open_signed(const struct signer *const *signers, size_t count, const struct note_vkey *logs,
                            size_t log_count, const struct note_vkey *witnesses, size_t witness_count,
                            struct note *note, struct fault *fault)
{
    struct buf text;
    make_note(&text, "log\n7\n" ROOT, signers, count);
    enum err e = note_open(text.data, text.len, logs, log_count, witnesses, witness_count, note, fault);
    buf_wipe(&text);
    return e;
}

static void only_a_pinned_key_of_the_origin_counts(void **state)
{
    struct signer log, second, other, stranger;
    struct note note;
    struct fault fault = {""};
    (void)state;
    make_signer("log", NOTE_TYPE_ED25519, 1, &log);
    make_signer("log", NOTE_TYPE_ED25519, 2, &second);
    make_signer("other", NOTE_TYPE_ED25519, 3, &other);
    make_signer("log", NOTE_TYPE_ED25519, 4, &stranger);
    const struct note_vkey pins[] = {other.vkey, log.vkey, second.vkey};

    assert_int_equal(open_signed((const struct signer *[]){&second}, 1, pins, 3, NULL, 0, &note, &fault), ERR_OK);
    assert_int_equal(open_signed((const struct signer *[]){&second, &log}, 2, pins, 3, NULL, 0, &note, &fault), ERR_OK);
    assert_int_equal(open_signed((const struct signer *[]){&other, &log}, 2, pins, 3, NULL, 0, &note, &fault), ERR_OK);
    assert_int_equal(open_signed((const struct signer *[]){&stranger, &log}, 2, pins, 3, NULL, 0, &note, &fault),
                     ERR_OK);
    assert_string_equal(fault.text, "");
    assert_int_equal(open_signed((const struct signer *[]){&other}, 1, pins, 3, NULL, 0, &note, &fault), ERR_NOTE);
    assert_non_null(strstr(fault.text, "not signed by a pinned log key of its origin log"));
    assert_int_equal(open_signed((const struct signer *[]){&stranger}, 1, pins, 3, NULL, 0, &note, &fault), ERR_NOTE);
    assert_int_equal(open_signed((const struct signer *[]){&log}, 1, NULL, 0, NULL, 0, &note, &fault), ERR_NOTE);
    assert_int_equal(open_signed(NULL, 0, pins, 3, NULL, 0, &note, &fault), ERR_NOTE);
    assert_non_null(strstr(fault.text, "no signatures"));
}

/* A signature of another text by the same key stands in for a forged one. */
static void a_wrong_signature_of_any_pinned_key_is_refused(void **state)
{
    struct signer log, other, witness;
    (void)state;
    make_signer("log", NOTE_TYPE_ED25519, 1, &log);
    make_signer("other", NOTE_TYPE_ED25519, 2, &other);
    make_signer("w", NOTE_TYPE_COSIGNATURE, 3, &witness);
    const struct signer *const wrong[] = {&log, &other, &witness};
    const struct note_vkey logs[] = {log.vkey, other.vkey};
    for (size_t i = 0; i < 3; i++) {
        struct note note;
        struct fault fault = {""};
        struct buf text;
        make_note(&text, "log\n7\n" ROOT, (const struct signer *[]){&log}, i == 0 ? 0 : 1);
        sign(&text, "log\n8\n" ROOT, wrong[i], 5);
        assert_int_equal(note_open(text.data, text.len, logs, 2, &witness.vkey, 1, &note, &fault), ERR_NOTE);
        assert_non_null(strstr(fault.text, "does not verify"));
        assert_non_null(strstr(fault.text, i == 0 ? "signature line 1: " : "signature line 2: "));
        buf_wipe(&text);
    }
}

static void cosignatures_say_who_and_when(void **state)
{
    struct signer log, witnesses[3];
    struct note note;
    (void)state;
    make_signer("log", NOTE_TYPE_ED25519, 1, &log);
    for (uint8_t i = 0; i < 3; i++) {
        char name[] = "w0";
        name[1] = (char)('0' + i);
        make_signer(name, NOTE_TYPE_COSIGNATURE, (uint8_t)(10 + i), &witnesses[i]);
    }
    const struct note_vkey pins[] = {witnesses[0].vkey, witnesses[1].vkey, witnesses[2].vkey, witnesses[1].vkey};
    const struct signer *signers[] = {&witnesses[2], &log, &witnesses[1]};
    assert_int_equal(open_signed(signers, 3, &log.vkey, 1, pins, 4, &note, NULL), ERR_OK);
    assert_int_equal(note.cosignature_count, 2);
    assert_int_equal(note.cosignatures[0].witness, 2);
    assert_int_equal(note.cosignatures[0].time_s, 1700000000);
    assert_int_equal(note.cosignatures[1].witness, 3); /* pinned twice: the last one */
    assert_int_equal(note.cosignatures[1].time_s, 1700000002);
}

/* A cosignature is no log signature and a log signature no cosignature, even by one key pair and name. */
static void the_two_types_do_not_stand_in_for_each_other(void **state)
{
    struct signer log, witness;
    struct note note;
    struct fault fault = {""};
    (void)state;
    make_signer("log", NOTE_TYPE_ED25519, 1, &log);
    make_signer("log", NOTE_TYPE_COSIGNATURE, 1, &witness);
    assert_int_equal(open_signed((const struct signer *[]){&witness}, 1, &log.vkey, 1, &witness.vkey, 1, &note, &fault),
                     ERR_NOTE);
    assert_int_equal(open_signed((const struct signer *[]){&log}, 1, &witness.vkey, 1, NULL, 0, &note, &fault),
                     ERR_NOTE);
    assert_string_equal(fault.text, "pinned log key 0 is not of type 0x01");
    assert_int_equal(open_signed((const struct signer *[]){&log}, 1, &log.vkey, 1, &log.vkey, 1, &note, &fault),
                     ERR_NOTE);
    assert_string_equal(fault.text, "pinned witness 0 is not of type 0x04");
}

static void limits_hold(void **state)
{
    struct signer log;
    struct note note;
    struct fault fault = {""};
    struct buf text;
    const struct signer *signers[] = {&log};
    (void)state;
    make_signer("log", NOTE_TYPE_ED25519, 1, &log);
    make_note(&text, "log\n7\n" ROOT, signers, 1);
    for (unsigned i = 1; i < NOTE_MAX_SIGNATURES; i++)
        buf_printf(&text, DASH "w%u AAAAAAA=\n", i);
    assert_int_equal(note_open(text.data, text.len, &log.vkey, 1, NULL, 0, &note, &fault), ERR_OK);
    buf_puts(&text, DASH "w AAAAAAA=\n");
    assert_int_equal(note_open(text.data, text.len, &log.vkey, 1, NULL, 0, &note, &fault), ERR_NOTE);
    assert_string_equal(fault.text, "more than 64 signatures");
    buf_wipe(&text);

    /* one long signature of a key that nobody pinned: up to the limit of the whole note, and one byte over it */
    for (size_t total = NOTE_MAX_BYTES; total <= NOTE_MAX_BYTES + 4; total += 4) {
        make_note(&text, "log\n7\n" ROOT, signers, 1);
        buf_puts(&text, DASH "w");
        while ((total - text.len - 2) % 4 != 0)
            buf_putc(&text, 'w');
        buf_putc(&text, ' ');
        while (text.len < total - 1)
            buf_putc(&text, 'A');
        buf_putc(&text, '\n');
        assert_int_equal(text.len, total);
        assert_int_equal(note_open(text.data, text.len, &log.vkey, 1, NULL, 0, &note, &fault),
                         total == NOTE_MAX_BYTES ? ERR_OK : ERR_NOTE);
        buf_wipe(&text);
    }
    assert_string_equal(fault.text, "over 1048576 bytes");
    assert_int_equal(note_open(NULL, 0, &log.vkey, 1, NULL, 0, &note, &fault), ERR_NOTE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_vector_opens),
        cmocka_unit_test(body_and_line_are_written_as_in_the_vector),
        cmocka_unit_test(without_its_witness_the_vector_opens_bare),
        cmocka_unit_test(every_changed_byte_is_refused_or_takes_the_cosignature),
        cmocka_unit_test(every_cut_is_refused_or_takes_the_cosignature),
        cmocka_unit_test(bodies_are_strict),
        cmocka_unit_test(the_largest_size_does_not_wrap),
        cmocka_unit_test(lines_are_strict),
        cmocka_unit_test(only_a_pinned_key_of_the_origin_counts),
        cmocka_unit_test(a_wrong_signature_of_any_pinned_key_is_refused),
        cmocka_unit_test(cosignatures_say_who_and_when),
        cmocka_unit_test(the_two_types_do_not_stand_in_for_each_other),
        cmocka_unit_test(limits_hold),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
