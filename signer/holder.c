#include "signer/holder.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/record.h"
#include "signer/ids.h"
#include "signer/keyfile.h"

/* Lives in sodium_malloc: locked, guarded, wiped when freed. */
struct secrets {
    uint8_t record[crypto_sign_SECRETKEYBYTES];
    uint8_t log[crypto_sign_SECRETKEYBYTES];
};

struct holder {
    struct secrets *secrets;
    uint8_t record_public[ED25519_PUBLIC_BYTES];
    uint8_t log_public[ED25519_PUBLIC_BYTES];
    char kid[DIGEST_TEXT_BYTES];
    int started;
    char log_id[IDS_HEX_BYTES];
    char origin[NOTE_NAME_BYTES];
    struct tree tree;
    uint8_t head[DIGEST_BYTES];
};

static enum err load_key(int directory, const char *name, int create, uint8_t secret[static crypto_sign_SECRETKEYBYTES],
                         uint8_t pub[static ED25519_PUBLIC_BYTES], struct fault *fault)
{
    uint8_t seed[KEYFILE_BYTES];
    struct fault why = {""};
    enum err e = keyfile_read(directory, name, seed, &why);
    if (e == ERR_NOT_FOUND && create) {
        randombytes_buf(seed, sizeof seed);
        e = keyfile_create(directory, name, seed, &why);
    }
    if (e != ERR_OK)
        fault_set(fault, e, "%s", why.text);
    else
        crypto_sign_seed_keypair(pub, secret, seed);
    sodium_memzero(seed, sizeof seed);
    return e;
}

enum err holder_open(int directory, int create, struct holder **out, struct fault *fault)
{
    struct holder *h = NULL;
    enum err e = ERR_NOMEM;

    if (sodium_init() < 0)
        return fault_set(fault, ERR_RANDOM, "libsodium cannot start");
    h = calloc(1, sizeof *h);
    if (h == NULL)
        goto out;
    h->secrets = sodium_malloc(sizeof *h->secrets);
    if (h->secrets == NULL)
        goto out;
    e = load_key(directory, "record.key", create, h->secrets->record, h->record_public, fault);
    if (e != ERR_OK)
        goto out;
    e = load_key(directory, "log.key", create, h->secrets->log, h->log_public, fault);
    if (e != ERR_OK)
        goto out;
    if (sodium_memcmp(h->record_public, h->log_public, sizeof h->record_public) == 0) {
        e = fault_set(fault, ERR_CONFIG, "keys/record.key and keys/log.key are the same key");
        goto out;
    }
    ed25519_kid(h->record_public, h->kid);
    sodium_mprotect_readonly(h->secrets);
    *out = h;
    return ERR_OK;
out:
    holder_close(h);
    return e;
}

void holder_close(struct holder *h)
{
    if (h == NULL)
        return;
    sodium_free(h->secrets);
    free(h);
}

const uint8_t *holder_public(const struct holder *h)
{
    return h->record_public;
}

const char *holder_kid(const struct holder *h)
{
    return h->kid;
}

enum err holder_log_vkey(const struct holder *h, const char *origin, struct note_vkey *out)
{
    return note_vkey_make(origin, NOTE_TYPE_ED25519, h->log_public, out);
}

enum err holder_start(struct holder *h, const char *log_id, const char *origin, const struct tree *tree,
                      const uint8_t head[static DIGEST_BYTES])
{
    if (h->started)
        return ERR_STATE;
    snprintf(h->log_id, sizeof h->log_id, "%s", log_id);
    snprintf(h->origin, sizeof h->origin, "%s", origin);
    h->tree = *tree;
    memcpy(h->head, head, DIGEST_BYTES);
    h->started = 1;
    return ERR_OK;
}

/* The heart of it: this event is the next of this log, and nothing else. */
static enum err check_continues(const struct holder *h, const struct json *event)
{
    char head[DIGEST_TEXT_BYTES];
    int64_t seq = -1;
    digest_text(h->head, head);
    if (!h->started || !json_equal_cstr(json_get(event, "log_id"), h->log_id) ||
        !json_int(json_get(event, "seq"), &seq) || seq < 0 || (uint64_t)seq != h->tree.size ||
        !json_equal_cstr(json_get(event, "prev_hash"), head))
        return ERR_CHAIN;
    return ERR_OK;
}

enum err holder_sign_record(struct holder *h, const struct json *event, tree_completed *completed, void *ctx,
                            struct holder_signature *out)
{
    struct holder_signature s;
    struct buf message;
    uint8_t leaf[DIGEST_BYTES];

    buf_init(&message, RECORD_MAX_BYTES);
    enum err e = check_continues(h, event);
    if (e != ERR_OK)
        goto out;
    e = record_event_hash(event, s.hash);
    if (e != ERR_OK)
        goto out;
    digest_text(s.hash, s.hash_text);
    e = record_message(&message, event, s.hash_text, "ed25519", h->kid);
    if (e != ERR_OK)
        goto out;
    crypto_sign_detached(s.sig, NULL, message.data, message.len, h->secrets->record);
    tree_leaf(s.hash, sizeof s.hash, leaf);
    e = tree_append(&h->tree, leaf, completed, ctx);
    if (e != ERR_OK)
        goto out;
    memcpy(h->head, s.hash, DIGEST_BYTES);
    *out = s;
out:
    buf_wipe(&message);
    return e;
}

enum err holder_sign_checkpoint(struct holder *h, struct buf *note)
{
    struct note_vkey key;
    uint8_t root[DIGEST_BYTES], sig[ED25519_SIGNATURE_BYTES];
    size_t start = note->len;

    if (!h->started || h->tree.size == 0)
        return ERR_STATE;
    enum err e = holder_log_vkey(h, h->origin, &key);
    if (e != ERR_OK)
        return e;
    tree_root(&h->tree, root);
    e = note_body(note, h->origin, h->tree.size, root);
    if (e != ERR_OK)
        return e;
    crypto_sign_detached(sig, NULL, note->data + start, note->len - start, h->secrets->log);
    buf_putc(note, '\n');
    note_signature_line(note, &key, sig);
    return buf_err(note);
}

uint64_t holder_size(const struct holder *h)
{
    return h->tree.size;
}

const uint8_t *holder_head(const struct holder *h)
{
    return h->head;
}
