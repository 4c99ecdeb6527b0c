#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "evidence/base64.h"
#include "evidence/note.h"

enum {
    TYPE_HYBRID = 0xff,
    RAW_BYTES = 1 + ED25519_PUBLIC_BYTES, /* type and public key */
    RAW_MAX_BYTES = 256,                  /* of a key of another type, decoded only to say which */
    ID_DIGITS = 8,
};

/* The key id of C2SP signed-note: the first four bytes of SHA-256(name, 0x0A, type, public key). */
static void key_id(const char *name, uint8_t type, const uint8_t pub[static ED25519_PUBLIC_BYTES],
                   uint8_t out[static 4])
{
    uint8_t separator[2] = {0x0a, type}, hash[DIGEST_BYTES];
    struct digest_state s;

    digest_init(&s);
    digest_update(&s, name, strlen(name));
    digest_update(&s, separator, sizeof separator);
    digest_update(&s, pub, ED25519_PUBLIC_BYTES);
    digest_final(&s, hash);
    memcpy(out, hash, 4);
}

enum err note_vkey_make(const char *name, uint8_t type, const uint8_t pub[static ED25519_PUBLIC_BYTES],
                        struct note_vkey *out)
{
    assert(type == NOTE_TYPE_ED25519 || type == NOTE_TYPE_COSIGNATURE);
    size_t len = strlen(name);
    if (!note_is_name(name, len))
        return ERR_VKEY;
    memset(out, 0, sizeof *out);
    memcpy(out->name, name, len + 1);
    out->type = type;
    memcpy(out->pub, pub, ED25519_PUBLIC_BYTES);
    key_id(out->name, type, pub, out->id);
    return ERR_OK;
}

/* Decodes type and public key. */
static enum err parse_key(const char *text, uint8_t raw[static RAW_BYTES], struct fault *fault)
{
    uint8_t any[RAW_MAX_BYTES];
    size_t len = 0;

    if (base64_decode(text, strlen(text), any, sizeof any, &len) != ERR_OK)
        return fault_set(fault, ERR_VKEY, "verifier key: the part behind the second '+' is not canonical base64");
    if (len > 0 && any[0] == TYPE_HYBRID)
        return fault_set(fault, ERR_VKEY, "verifier key: hybrid keys (type 0xff) are not supported by this verifier");
    if (len == 0 || (any[0] != NOTE_TYPE_ED25519 && any[0] != NOTE_TYPE_COSIGNATURE))
        return fault_set(fault, ERR_VKEY, "verifier key: not of type 0x01 (log) or 0x04 (cosignature)");
    if (len != RAW_BYTES)
        return fault_set(fault, ERR_VKEY, "verifier key: a public key of %zu bytes, not %d", len - 1,
                         ED25519_PUBLIC_BYTES);
    memcpy(raw, any, RAW_BYTES);
    return ERR_OK;
}

enum err note_vkey_parse(const char *text, struct note_vkey *out, struct fault *fault)
{
    char name[NOTE_NAME_BYTES], hex[ID_DIGITS + 1];
    uint8_t raw[RAW_BYTES];
    struct note_vkey made;

    const char *id = strchr(text, '+');
    const char *key = id == NULL ? NULL : strchr(id + 1, '+');
    if (key == NULL)
        return fault_set(fault, ERR_VKEY, "verifier key: not of the form name+id+key");
    size_t name_len = (size_t)(id - text);
    if (!note_is_name(text, name_len))
        return fault_set(fault, ERR_VKEY, "verifier key: bad name \"%.*s\"", name_len < 64 ? (int)name_len : 64, text);
    memcpy(name, text, name_len);
    name[name_len] = '\0';
    enum err e = parse_key(key + 1, raw, fault);
    if (e != ERR_OK)
        return e;
    e = note_vkey_make(name, raw[0], raw + 1, &made);
    if (e != ERR_OK)
        return e;
    digest_hex(made.id, sizeof made.id, hex);
    if (key - (id + 1) != ID_DIGITS || memcmp(id + 1, hex, ID_DIGITS) != 0)
        return fault_set(fault, ERR_VKEY, "verifier key %.64s: its id does not match its key", name);
    *out = made;
    return ERR_OK;
}

void note_vkey_write(const struct note_vkey *vkey, char out[static NOTE_VKEY_BYTES])
{
    char hex[ID_DIGITS + 1], key[BASE64_TEXT_BYTES(RAW_BYTES)];
    uint8_t raw[RAW_BYTES];

    raw[0] = vkey->type;
    memcpy(raw + 1, vkey->pub, ED25519_PUBLIC_BYTES);
    digest_hex(vkey->id, sizeof vkey->id, hex);
    base64_encode(raw, sizeof raw, key);
    snprintf(out, NOTE_VKEY_BYTES, "%s+%s+%s", vkey->name, hex, key);
}
