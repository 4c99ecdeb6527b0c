#include "tests/tools/log_maker.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "evidence/arena.h"
#include "evidence/ed25519.h"
#include "evidence/json.h"
#include "evidence/note.h"
#include "evidence/record.h"
#include "evidence/tree.h"

#define MUST LOG_MAKER_MUST

enum { ARENA_BYTES = 64 << 20, TEXT_BYTES = 4 << 20 };

static const char *const witness_names[LOG_MAKER_WITNESSES] = {"witness.example.org/w1", "witness.example.org/own",
                                                               "witness.example.org/w3"};
static const char *const witness_classes[LOG_MAKER_WITNESSES] = {"customer", "operator", "public"};

_Noreturn void log_maker_die(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: %s\n", file, line, what);
    abort();
}

static char *copy(const char *text)
{
    char *out = strdup(text);
    MUST(out != NULL);
    return out;
}

static void make_key(struct log_maker_key *key, const char *name, int number)
{
    uint8_t seed[crypto_sign_SEEDBYTES];
    char text[64];
    int len = snprintf(text, sizeof text, "log_maker %s %d", name, number);
    crypto_hash_sha256(seed, (const uint8_t *)text, (unsigned long long)len);
    crypto_sign_seed_keypair(key->pub, key->secret, seed);
    ed25519_kid(key->pub, key->kid);
}

void log_maker_init(struct log_maker *m)
{
    *m = (struct log_maker){.key = 0};
    MUST(sodium_init() >= 0);
    for (int i = 0; i < LOG_MAKER_KEYS; i++)
        make_key(&m->keys[i], "record", i);
    for (int i = 0; i < LOG_MAKER_WITNESSES; i++)
        make_key(&m->witnesses[i], "witness", i);
    make_key(&m->log, "log", 0);
}

void log_maker_wipe(struct log_maker *m)
{
    for (size_t i = 0; i < m->count; i++) {
        free(m->records[i].line);
        free(m->records[i].tenant);
        free(m->records[i].run_id);
    }
    free(m->records);
    *m = (struct log_maker){.key = 0};
}

/* --- records --- */

static char *sign_event(const struct log_maker_key *key, struct arena *arena, const struct json *event,
                        char hash_text[static DIGEST_TEXT_BYTES])
{
    uint8_t hash[DIGEST_BYTES], sig[ED25519_SIGNATURE_BYTES];
    struct buf message, line;
    buf_init(&message, TEXT_BYTES);
    buf_init(&line, TEXT_BYTES);
    MUST(record_event_hash(event, hash) == ERR_OK);
    digest_text(hash, hash_text);
    MUST(record_message(&message, event, hash_text, "ed25519", key->kid) == ERR_OK);
    crypto_sign_detached(sig, NULL, message.data, message.len, key->secret);
    MUST(record_write(&line, arena, event, hash_text, key->kid, sig) == ERR_OK);
    buf_putc(&line, '\0');
    MUST(buf_err(&line) == ERR_OK);
    buf_wipe(&message);
    return (char *)line.data;
}

static const struct json *parse(struct arena *arena, const char *text)
{
    const struct json *v = NULL;
    enum err e = json_parse(arena, text, strlen(text), &v, NULL);
    if (e != ERR_OK)
        fprintf(stderr, "%s\n", text);
    MUST(e == ERR_OK);
    return v;
}

char *log_maker_sign(const struct log_maker *m, int key, const char *event)
{
    char hash[DIGEST_TEXT_BYTES];
    struct arena *arena = arena_new(ARENA_BYTES);
    char *line = sign_event(&m->keys[key], arena, parse(arena, event), hash);
    arena_free(arena);
    return line;
}

char *log_maker_resign(const struct log_maker *m, int key, const char *line)
{
    char hash[DIGEST_TEXT_BYTES];
    struct arena *arena = arena_new(ARENA_BYTES);
    char *out = sign_event(&m->keys[key], arena, json_get(parse(arena, line), "event"), hash);
    arena_free(arena);
    return out;
}

/* The newest record of a run, or NULL. */
static const struct log_maker_record *last_of(const struct log_maker *m, const char *tenant, const char *run_id)
{
    for (size_t i = m->count; i > 0; i--) {
        const struct log_maker_record *r = &m->records[i - 1];
        if (strcmp(r->tenant, tenant) == 0 && strcmp(r->run_id, run_id) == 0)
            return r;
    }
    return NULL;
}

static void write_event(const struct log_maker *m, const struct log_maker_event *e, struct log_maker_record *r,
                        struct buf *out)
{
    const struct log_maker_record *before = last_of(m, r->tenant, e->follows == NULL ? r->run_id : e->follows);
    uint64_t seq = e->seq == 0 ? m->count : e->seq;
    char when[40];
    time_t t = LOG_MAKER_TIME - 100000 + (time_t)m->count;
    struct tm tm;
    MUST(gmtime_r(&t, &tm) != NULL && strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%S.000000Z", &tm) > 0);
    r->run_seq = before == NULL ? 0 : before->run_seq + 1;
    buf_printf(out,
               "{\"schema_version\":\"tracekit.event.v2\",\"id\":\"%032zx\",\"seq\":%" PRIu64 ",\"prev_hash\":\"%s\","
               "\"ts\":\"%s\",\"agent_id\":\"main\",\"parent_id\":null,\"log_id\":\"%032d\",\"run_seq\":%" PRIu64
               ",\"run_prev_hash\":\"%s\",\"tenant\":\"%s\",\"run_id\":\"%s\",",
               m->count + 1, seq, m->count == 0 ? DIGEST_ZERO_TEXT : m->records[m->count - 1].hash, when, 7, r->run_seq,
               before == NULL ? DIGEST_ZERO_TEXT : before->hash, r->tenant, r->run_id);
    buf_printf(out, "\"source\":\"%s\",\"type\":\"%s\"%s%s,\"data\":", e->source == NULL ? "signer" : e->source,
               e->type, e->more == NULL ? "" : ",", e->more == NULL ? "" : e->more);
    buf_puts(out, e->data == NULL ? "{}" : e->data);
    buf_puts(out, "}");
    buf_putc(out, '\0');
    MUST(buf_err(out) == ERR_OK);
}

uint64_t log_maker_add(struct log_maker *m, const struct log_maker_event *e)
{
    struct buf text;
    struct log_maker_record r = {.tenant = copy(e->tenant == NULL ? "default" : e->tenant),
                                 .run_id = copy(e->run_id == NULL ? "run-a" : e->run_id)};
    struct arena *arena = arena_new(ARENA_BYTES);
    buf_init(&text, TEXT_BYTES);
    write_event(m, e, &r, &text);
    r.line = sign_event(&m->keys[m->key], arena, parse(arena, (const char *)text.data), r.hash);
    r.is_key_record = strcmp(e->type, "signer.epoch") == 0 || strcmp(e->type, "key.retire") == 0;
    if (m->count == m->cap) {
        m->cap = m->cap == 0 ? 64 : 2 * m->cap;
        m->records = realloc(m->records, m->cap * sizeof *m->records);
        MUST(m->records != NULL);
    }
    m->records[m->count++] = r;
    arena_free(arena);
    buf_wipe(&text);
    return m->count - 1;
}

void log_maker_declare(const struct log_maker *m, int key, const char *more, char *out, size_t size)
{
    uint8_t spki[ED25519_SPKI_BYTES];
    char base64[sodium_base64_ENCODED_LEN(ED25519_SPKI_BYTES, sodium_base64_VARIANT_ORIGINAL)];
    ed25519_spki(m->keys[key].pub, spki);
    sodium_bin2base64(base64, sizeof base64, spki, sizeof spki, sodium_base64_VARIANT_ORIGINAL);
    int n = snprintf(out, size, "{\"keys\":[{\"kid\":\"%s\",\"alg\":\"ed25519\",\"spki\":\"%s\"%s%s}]}",
                     m->keys[key].kid, base64, more == NULL ? "" : ",", more == NULL ? "" : more);
    MUST(n > 0 && (size_t)n < size);
}

uint64_t log_maker_epoch(struct log_maker *m, int key, const char *more)
{
    char data[4096];
    log_maker_declare(m, key, more, data, sizeof data);
    m->key = key;
    return log_maker_add(m,
                         &(struct log_maker_event){
                             .tenant = "tracekit", .run_id = "tracekit/signer", .type = "signer.epoch", .data = data});
}

uint64_t log_maker_retire(struct log_maker *m, int key, uint64_t last_seq)
{
    char data[256];
    snprintf(data, sizeof data, "{\"kid\":\"%s\",\"last_seq\":%" PRIu64 "}", m->keys[key].kid, last_seq);
    return log_maker_add(m, &(struct log_maker_event){
                                .tenant = "tracekit", .run_id = "tracekit/signer", .type = "key.retire", .data = data});
}

/* --- the tree --- */

static void leaf_at(const struct log_maker *m, uint64_t index, uint8_t out[static DIGEST_BYTES])
{
    uint8_t hash[DIGEST_BYTES];
    MUST(index < m->count);
    MUST(digest_parse(m->records[index].hash, strlen(m->records[index].hash), hash) == ERR_OK);
    tree_leaf(hash, sizeof hash, out);
}

/* Recomputes a subtree from its leaves: slow, and right. */
static enum err read_subtree(void *ctx, unsigned level, uint64_t index, uint8_t out[static DIGEST_BYTES])
{
    const struct log_maker *m = ctx;
    struct tree t;
    tree_init(&t);
    for (uint64_t i = 0; i < UINT64_C(1) << level; i++) {
        uint8_t leaf[DIGEST_BYTES];
        leaf_at(m, (index << level) + i, leaf);
        MUST(tree_append(&t, leaf, NULL, NULL) == ERR_OK);
    }
    tree_root(&t, out);
    return ERR_OK;
}

void log_maker_proof(const struct log_maker *m, uint64_t index, uint64_t size, struct buf *out)
{
    uint8_t proof[TREE_MAX_PROOF][DIGEST_BYTES];
    size_t count = 0;
    struct log_maker view = *m;
    MUST(tree_inclusion_prove(index, size, read_subtree, &view, proof, &count) == ERR_OK);
    buf_puts(out, "[");
    for (size_t i = 0; i < count; i++) {
        char base64[sodium_base64_ENCODED_LEN(DIGEST_BYTES, sodium_base64_VARIANT_ORIGINAL)];
        sodium_bin2base64(base64, sizeof base64, proof[i], DIGEST_BYTES, sodium_base64_VARIANT_ORIGINAL);
        buf_printf(out, "%s\"%s\"", i == 0 ? "" : ",", base64);
    }
    buf_puts(out, "]");
}

/* --- notes and trust --- */

static void vkey_of(const struct log_maker_key *key, const char *name, uint8_t type, struct note_vkey *out)
{
    MUST(note_vkey_make(name, type, key->pub, out) == ERR_OK);
}

/* A cosignature line: key id, 8 bytes of time, signature over the time and the note's text. */
static void cosign(const struct log_maker *m, int witness, const struct buf *text, struct buf *out)
{
    uint64_t t = (uint64_t)LOG_MAKER_TIME + (uint64_t)witness;
    uint8_t blob[4 + 8 + 64];
    char base64[sodium_base64_ENCODED_LEN(sizeof blob, sodium_base64_VARIANT_ORIGINAL)];
    struct note_vkey vkey;
    struct buf message;
    vkey_of(&m->witnesses[witness], witness_names[witness], NOTE_TYPE_COSIGNATURE, &vkey);
    buf_init(&message, TEXT_BYTES);
    buf_printf(&message, "cosignature/v1\ntime %" PRIu64 "\n", t);
    buf_put(&message, text->data, text->len);
    memcpy(blob, vkey.id, 4);
    for (int i = 0; i < 8; i++)
        blob[4 + i] = (uint8_t)(t >> (56 - 8 * i));
    crypto_sign_detached(blob + 12, NULL, message.data, message.len, m->witnesses[witness].secret);
    sodium_bin2base64(base64, sizeof base64, blob, sizeof blob, sodium_base64_VARIANT_ORIGINAL);
    buf_printf(out, "\xe2\x80\x94 %s %s\n", vkey.name, base64);
    buf_wipe(&message);
}

void log_maker_note(const struct log_maker *m, const char *origin, uint64_t size, unsigned witnesses, struct buf *out)
{
    struct tree t;
    struct note_vkey vkey;
    struct buf text;
    uint8_t root[DIGEST_BYTES], leaf[DIGEST_BYTES], sig[ED25519_SIGNATURE_BYTES];
    tree_init(&t);
    for (uint64_t i = 0; i < size; i++) {
        leaf_at(m, i, leaf);
        MUST(tree_append(&t, leaf, NULL, NULL) == ERR_OK);
    }
    tree_root(&t, root);
    buf_init(&text, TEXT_BYTES);
    MUST(note_body(&text, origin, size, root) == ERR_OK);
    vkey_of(&m->log, origin, NOTE_TYPE_ED25519, &vkey);
    crypto_sign_detached(sig, NULL, text.data, text.len, m->log.secret);
    buf_put(out, text.data, text.len);
    buf_putc(out, '\n');
    note_signature_line(out, &vkey, sig);
    for (int i = 0; i < LOG_MAKER_WITNESSES; i++) {
        if (witnesses & 1u << i)
            cosign(m, i, &text, out);
    }
    buf_wipe(&text);
}

void log_maker_vkey(const struct log_maker_key *key, const char *name, uint8_t type, struct buf *out)
{
    struct note_vkey vkey;
    char text[NOTE_VKEY_BYTES];
    vkey_of(key, name, type, &vkey);
    note_vkey_write(&vkey, text);
    buf_puts(out, text);
}

void log_maker_trust(const struct log_maker *m, unsigned witnesses, unsigned required, const char *more,
                     struct buf *out)
{
    const char *separator = "";
    buf_puts(out, "{\"logs\":[\"");
    log_maker_vkey(&m->log, LOG_MAKER_ORIGIN, NOTE_TYPE_ED25519, out);
    buf_puts(out, "\"],\"witnesses\":[");
    for (int i = 0; i < LOG_MAKER_WITNESSES; i++) {
        if ((witnesses & 1u << i) == 0)
            continue;
        buf_printf(out, "%s{\"vkey\":\"", separator);
        log_maker_vkey(&m->witnesses[i], witness_names[i], NOTE_TYPE_COSIGNATURE, out);
        buf_printf(out, "\",\"class\":\"%s\"}", witness_classes[i]);
        separator = ",";
    }
    buf_printf(out, "],\"algs\":[\"ed25519\"],\"witnesses_required\":%u%s}\n", required, more == NULL ? "" : more);
}
