#include "evidence/record.h"

#include <string.h>

#include "evidence/base64.h"
#include "evidence/jcs.h"

/* Canonical form can be longer than the text it came from: "1e20" is the worst, and grows by less than six. */
enum { CANONICAL_MAX_BYTES = 6 * RECORD_MAX_BYTES, MESSAGE_MAX_BYTES = CANONICAL_MAX_BYTES };

static const char ALG[] = "ed25519";
enum { KEYS = 6, VERSION = 2 };

static int64_t int_field(const struct json *event, const char *key)
{
    int64_t v = -1;
    return json_int(json_get(event, key), &v) && v >= 0 ? v : -1;
}

static void read_event(struct record *r, const struct json *event)
{
    const struct json *data = json_get(event, "data");
    r->event = event;
    r->data = json_is(data, JSON_OBJECT) ? data : NULL;
    r->type = json_get_cstr(event, "type");
    r->tenant = json_get_cstr(event, "tenant");
    r->run_id = json_get_cstr(event, "run_id");
    r->log_id = json_get_cstr(event, "log_id");
    r->prev_hash = json_get_cstr(event, "prev_hash");
    r->run_prev_hash = json_get_cstr(event, "run_prev_hash");
    r->schema_version = json_get_cstr(event, "schema_version");
    r->ts = json_get_cstr(event, "ts");
    r->source = json_get_cstr(event, "source");
    r->seq = int_field(event, "seq");
    r->run_seq = int_field(event, "run_seq");
}

enum err record_open(const struct json *value, struct record *out)
{
    struct record r = {.event = NULL};
    const struct json *event = json_get(value, "event");
    double version = 0;
    r.hash = json_get_cstr(value, "hash");
    r.alg = json_get_cstr(value, "alg");
    r.kid = json_get_cstr(value, "kid");
    r.sig = json_get_cstr(value, "sig");
    /* 2.0 is the same JSON number as 2, and canonical form writes both alike. */
    if (json_count(value) != KEYS || !json_number(json_get(value, "v"), &version) || version != VERSION ||
        !json_is(event, JSON_OBJECT) || r.hash == NULL || r.alg == NULL || r.kid == NULL || r.sig == NULL)
        return ERR_RECORD;
    enum err e = record_event_hash(event, r.hash_bytes);
    if (e != ERR_OK)
        return e;
    uint8_t said[DIGEST_BYTES];
    if (digest_parse(r.hash, strlen(r.hash), said) != ERR_OK || !digest_equal(said, r.hash_bytes))
        return ERR_HASH;
    read_event(&r, event);
    *out = r;
    return ERR_OK;
}

/* `key` of the event, canonical; null when it is missing. */
static void put_field(struct buf *out, const struct json *event, const char *key)
{
    const struct json *v = json_get(event, key);
    buf_printf(out, "\"%s\":", key);
    /* A failure stays in the buffer, where record_message finds it. */
    enum err e = jcs_write(out, v == NULL ? json_new_null() : v);
    (void)e;
    buf_putc(out, ',');
}

static void put_text(struct buf *out, const char *key, const char *text)
{
    buf_printf(out, "\"%s\":", key);
    jcs_string(out, text, strlen(text));
    buf_putc(out, ',');
}

/* The keys stand in canonical order. */
enum err record_message(struct buf *out, const struct json *event, const char *hash, const char *alg, const char *kid)
{
    buf_putc(out, '{');
    put_text(out, "alg", alg);
    put_text(out, "hash", hash);
    put_text(out, "kid", kid);
    put_field(out, event, "log_id");
    put_field(out, event, "prev_hash");
    put_field(out, event, "run_id");
    put_field(out, event, "run_prev_hash");
    put_field(out, event, "run_seq");
    put_field(out, event, "seq");
    put_text(out, "t", "tracekit.record.v2");
    buf_puts(out, "\"tenant\":");
    const struct json *tenant = json_get(event, "tenant");
    enum err e = jcs_write(out, tenant == NULL ? json_new_null() : tenant);
    buf_putc(out, '}');
    return e == ERR_OK ? buf_err(out) : e;
}

enum err record_verify(const struct record *r, const uint8_t pub[static ED25519_PUBLIC_BYTES])
{
    struct buf message;
    char kid[DIGEST_TEXT_BYTES];
    uint8_t sig[ED25519_SIGNATURE_BYTES];
    size_t sig_len = 0;
    if (strcmp(r->alg, ALG) != 0)
        return ERR_ALG;
    ed25519_kid(pub, kid);
    if (strcmp(r->kid, kid) != 0)
        return ERR_UNKNOWN_KID;
    enum err e = base64_decode(r->sig, strlen(r->sig), sig, sizeof sig, &sig_len);
    if (e != ERR_OK)
        return e;
    if (sig_len != sizeof sig)
        return ERR_SIGNATURE;
    buf_init(&message, MESSAGE_MAX_BYTES);
    e = record_message(&message, r->event, r->hash, r->alg, r->kid);
    if (e == ERR_OK)
        e = ed25519_verify(pub, message.data, message.len, sig);
    buf_wipe(&message);
    return e;
}

enum err record_event_hash(const struct json *event, uint8_t out[static DIGEST_BYTES])
{
    struct buf canonical;
    buf_init(&canonical, CANONICAL_MAX_BYTES);
    enum err e = jcs_write(&canonical, event);
    if (e == ERR_OK)
        digest_sha256(canonical.data, canonical.len, out);
    buf_wipe(&canonical);
    return e;
}

enum err record_write(struct buf *out, struct arena *arena, const struct json *event, const char *hash, const char *kid,
                      const uint8_t sig[static ED25519_SIGNATURE_BYTES])
{
    char sig_text[BASE64_TEXT_BYTES(ED25519_SIGNATURE_BYTES)];
    base64_encode(sig, ED25519_SIGNATURE_BYTES, sig_text);
    struct json *record = json_new_object(arena);
    json_set(arena, record, "event", event);
    json_set_int(arena, record, "v", VERSION);
    json_set_string(arena, record, "hash", hash);
    json_set_string(arena, record, "alg", ALG);
    json_set_string(arena, record, "kid", kid);
    json_set_string(arena, record, "sig", sig_text);
    return jcs_write(out, record);
}
