#include "evidence/commit.h"

#include <string.h>

#include "evidence/buf.h"
#include "evidence/jcs.h"

static const char PREFIX[] = "hmac-sha256:";
enum { PREFIX_CHARS = sizeof PREFIX - 1 };

static void digest_of(const struct buf *canonical, char out[static DIGEST_TEXT_BYTES])
{
    uint8_t hash[DIGEST_BYTES];
    digest_sha256(canonical->data, canonical->len, hash);
    digest_text(hash, out);
}

enum err commit_args_digest(const char *tool, const struct json *args, char out[static DIGEST_TEXT_BYTES])
{
    struct buf canonical;
    buf_init(&canonical, COMMIT_MAX_BYTES);
    buf_puts(&canonical, "{\"args\":");
    enum err e = jcs_write(&canonical, args);
    buf_puts(&canonical, ",\"tool\":");
    jcs_string(&canonical, tool, strlen(tool));
    buf_putc(&canonical, '}');
    if (e == ERR_OK)
        e = buf_err(&canonical);
    if (e == ERR_OK)
        digest_of(&canonical, out);
    buf_wipe(&canonical);
    return e;
}

enum err commit_value_digest(const struct json *value, char out[static DIGEST_TEXT_BYTES], uint64_t *size)
{
    struct buf canonical;
    buf_init(&canonical, COMMIT_MAX_BYTES);
    enum err e = jcs_write(&canonical, value);
    if (e == ERR_OK) {
        digest_of(&canonical, out);
        if (size != NULL)
            *size = canonical.len;
    }
    buf_wipe(&canonical);
    return e;
}

void commit_salt(const uint8_t key[static COMMIT_KEY_BYTES], const char *label, uint8_t out[static COMMIT_SALT_BYTES])
{
    digest_hmac(key, COMMIT_KEY_BYTES, label, strlen(label), out);
}

void commit_write(const uint8_t salt[static COMMIT_SALT_BYTES], const char *digest_text,
                  char out[static DIGEST_HMAC_TEXT_BYTES])
{
    uint8_t mac[DIGEST_BYTES];
    digest_hmac(salt, COMMIT_SALT_BYTES, digest_text, strlen(digest_text), mac);
    memcpy(out, PREFIX, PREFIX_CHARS);
    digest_hex(mac, sizeof mac, out + PREFIX_CHARS);
}
