#include "signer/seal.h"

#include <sodium.h>
#include <stdlib.h>

#include "evidence/commit.h"
#include "signer/keyfile.h"

struct seal {
    /* In sodium_malloc. */
    struct {
        uint8_t seal[crypto_secretbox_KEYBYTES];
        uint8_t salt[COMMIT_KEY_BYTES];
    } * keys;
};

_Static_assert(crypto_secretbox_KEYBYTES == KEYFILE_BYTES && (int)COMMIT_KEY_BYTES == (int)KEYFILE_BYTES,
               "key files hold keys");

static enum err load(int directory, const char *name, int create, uint8_t key[static KEYFILE_BYTES],
                     struct fault *fault)
{
    struct fault why = {""};
    enum err e = keyfile_read(directory, name, key, &why);
    if (e == ERR_NOT_FOUND && create) {
        randombytes_buf(key, KEYFILE_BYTES);
        e = keyfile_create(directory, name, key, &why);
    }
    return e == ERR_OK ? e : fault_set(fault, e, "%s", why.text);
}

enum err seal_open(int directory, int create, struct seal **out, struct fault *fault)
{
    enum err e = ERR_NOMEM;
    struct seal *s = calloc(1, sizeof *s);
    if (s == NULL || sodium_init() < 0)
        goto out;
    s->keys = sodium_malloc(sizeof *s->keys);
    if (s->keys == NULL)
        goto out;
    e = load(directory, "seal.key", create, s->keys->seal, fault);
    if (e != ERR_OK)
        goto out;
    e = load(directory, "args_salt.key", create, s->keys->salt, fault);
    if (e != ERR_OK)
        goto out;
    sodium_mprotect_readonly(s->keys);
    *out = s;
    return ERR_OK;
out:
    seal_close(s);
    return e;
}

void seal_close(struct seal *s)
{
    if (s == NULL)
        return;
    sodium_free(s->keys);
    free(s);
}

enum err seal_write(const struct seal *s, const void *bytes, size_t len, struct buf *out)
{
    uint8_t nonce[crypto_secretbox_NONCEBYTES];
    randombytes_buf(nonce, sizeof nonce);
    buf_put(out, nonce, sizeof nonce);
    uint8_t *to = buf_reserve(out, len + crypto_secretbox_MACBYTES);
    if (to == NULL)
        return buf_err(out);
    crypto_secretbox_easy(to, bytes, len, nonce, s->keys->seal);
    buf_commit(out, len + crypto_secretbox_MACBYTES);
    return buf_err(out);
}

enum err seal_read(const struct seal *s, const void *bytes, size_t len, struct buf *out)
{
    const uint8_t *in = bytes;
    const size_t head = crypto_secretbox_NONCEBYTES + crypto_secretbox_MACBYTES;
    if (len < head)
        return ERR_LEDGER;
    size_t plain = len - head;
    uint8_t *to = buf_reserve(out, plain + 1);
    if (to == NULL)
        return buf_err(out);
    if (crypto_secretbox_open_easy(to, in + crypto_secretbox_NONCEBYTES, len - crypto_secretbox_NONCEBYTES, in,
                                   s->keys->seal) != 0)
        return ERR_LEDGER;
    buf_commit(out, plain);
    return buf_err(out);
}

void seal_commit(const struct seal *s, const char *label, const char *digest_text,
                 char out[static DIGEST_HMAC_TEXT_BYTES])
{
    uint8_t salt[COMMIT_SALT_BYTES];
    commit_salt(s->keys->salt, label, salt);
    commit_write(salt, digest_text, out);
    sodium_memzero(salt, sizeof salt);
}
