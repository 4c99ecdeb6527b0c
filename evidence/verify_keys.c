#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/base64.h"
#include "evidence/verify_internal.h"

enum { FIRST_KEYS = 8, KID_SHOWN = 80 };

static struct verify_key *find(const struct verify_keys *keys, const char *kid)
{
    for (size_t i = 0; i < keys->count; i++) {
        if (strcmp(keys->list[i].kid, kid) == 0)
            return &keys->list[i];
    }
    return NULL;
}

const struct verify_key *verify_keys_at(const struct verify_keys *keys, const char *kid, int64_t seq,
                                        const struct verify_key **retired)
{
    const struct verify_key *key = find(keys, kid);
    if (retired != NULL)
        *retired = key != NULL && key->until != -1 && key->until < seq ? key : NULL;
    bool valid = key != NULL && key->from <= seq && (key->until == -1 || seq <= key->until);
    return valid ? key : NULL;
}

/* A key declared again begins anew. */
static enum err put(struct verify_keys *keys, const struct verify_key *key, struct fault *fault)
{
    struct verify_key *same = find(keys, key->kid);
    if (same != NULL) {
        *same = *key;
        return ERR_OK;
    }
    if (keys->count == VERIFY_MAX_KEYS)
        return fault_set(fault, ERR_VERSION, "needs a verifier that takes more than %d record keys", VERIFY_MAX_KEYS);
    if (keys->count == keys->cap) {
        size_t cap = keys->cap == 0 ? FIRST_KEYS : 2 * keys->cap;
        struct verify_key *list = realloc(keys->list, cap * sizeof *list);
        if (list == NULL)
            return ERR_NOMEM;
        keys->list = list;
        keys->cap = cap;
    }
    keys->list[keys->count++] = *key;
    return ERR_OK;
}

/* --- signer.epoch --- */

/* Reads one declared key; false with a problem when it may not be used. */
static bool read_declared(struct verify *v, const struct verify_record *r, const struct json *k, struct verify_key *out)
{
    uint8_t spki[ED25519_SPKI_BYTES];
    size_t len = 0, text_len = 0;
    struct verify_text kid = verify_text(json_get(k, "kid"), KID_SHOWN);
    const char *text = json_text(json_get(k, "spki"), &text_len);
    if (text == NULL || base64_decode(text, text_len, spki, sizeof spki, &len) != ERR_OK ||
        ed25519_spki_parse(spki, len, out->pub) != ERR_OK) {
        report_problems_add(&v->keys.problems, "seq %" PRId64 ": key %s has no Ed25519 SPKI", r->seq, kid.s);
        return false;
    }
    ed25519_kid(out->pub, out->kid);
    if (!json_equal_cstr(json_get(k, "kid"), out->kid) || !json_equal_cstr(json_get(k, "alg"), "ed25519")) {
        report_problems_add(&v->keys.problems, "seq %" PRId64 ": key %s is not what its SPKI says", r->seq, kid.s);
        return false;
    }
    out->from = r->seq;
    out->until = -1;
    return true;
}

/* Issuers: without pinned ones no certificate can be by one of them; with them, a key needs a certificate (a key that
 * continues a v1 ledger does not), and checking it is beyond this verifier. */
static enum err check_issuer(struct verify *v, const struct verify_record *r, const struct json *k, bool *usable,
                             struct fault *fault)
{
    struct verify_text kid = verify_text(json_get(k, "kid"), KID_SHOWN);
    bool certified = json_get(k, "cert") != NULL;
    const struct json *bridge = json_get(r->data, "bridge");
    *usable = true;
    if (certified && v->trust->pins_issuers)
        return fault_set(fault, ERR_VERSION, "needs a verifier that checks certificates of record keys");
    if (certified) {
        report_problems_add(&v->keys.problems,
                            "seq %" PRId64 ": key %s has a certificate, and the trust file pins no issuer for it",
                            r->seq, kid.s);
        *usable = false;
    } else if (v->trust->pins_issuers && json_count(bridge) > 0) {
        verify_text_count(&v->info.unread, "record keys without a certificate (they continue a v1 ledger)");
    } else if (v->trust->pins_issuers) {
        report_problems_add(&v->keys.problems,
                            "seq %" PRId64 ": key %s has no certificate, and the trust file pins issuers", r->seq,
                            kid.s);
        *usable = false;
    }
    return ERR_OK;
}

static enum err read_epoch(struct verify *v, const struct verify_record *r,
                           struct verify_key out[static VERIFY_MAX_EPOCH_KEYS], size_t *count, struct fault *fault)
{
    const struct json *list = json_get(r->data, "keys");
    size_t n = json_count(list);
    if (n > VERIFY_MAX_EPOCH_KEYS)
        n = VERIFY_MAX_EPOCH_KEYS; /* the schema refuses the record */
    for (size_t i = 0; i < n && json_is(list, JSON_ARRAY); i++) {
        const struct json *k = json_at(list, i);
        bool usable = false;
        if (!read_declared(v, r, k, &out[*count]))
            continue;
        enum err e = check_issuer(v, r, k, &usable, fault);
        if (e != ERR_OK)
            return e;
        *count += usable;
    }
    if (json_count(json_get(r->data, "bridge")) > 0)
        report_note(v->lines,
                    "this log continues a ledger of format v1; the way from that ledger into this log is not checked");
    return ERR_OK;
}

/* --- key.retire --- */

static void retire(struct verify *v, const struct verify_record *r)
{
    const char *kid = json_get_cstr(r->data, "kid");
    struct verify_key *key = kid == NULL ? NULL : find(&v->keys, kid);
    int64_t last = -1;
    if (key == NULL)
        report_problems_add(&v->keys.problems, "seq %" PRId64 ": retires a key that the log did not declare", r->seq);
    else if (!json_int(json_get(r->data, "last_seq"), &last) || last < 0)
        report_problems_add(&v->keys.problems, "seq %" PRId64 ": retires a key at no seq", r->seq);
    else
        key->until = last;
}

/* --- the key records --- */

static enum err take_record(struct verify *v, const struct verify_record *r, struct fault *fault)
{
    struct verify_key declared[VERIFY_MAX_EPOCH_KEYS] = {0};
    size_t count = 0;
    bool epoch = strcmp(r->type, "signer.epoch") == 0;
    enum err e = ERR_OK;
    v->keys.last_seq = r->seq;
    if (epoch)
        e = read_epoch(v, r, declared, &count, fault);
    if (e == ERR_OK)
        e = verify_record_check(v, r, declared, count, &v->keys.problems);
    if (e == ERR_OK && !epoch)
        retire(v, r);
    for (size_t i = 0; i < count && e == ERR_OK; i++)
        e = put(&v->keys, &declared[i], fault);
    return e;
}

static void remember_log(struct verify_keys *keys, const struct verify_record *r)
{
    const char *log_id = json_get_cstr(r->event, "log_id");
    if (log_id != NULL && strlen(log_id) < sizeof keys->log_id)
        memcpy(keys->log_id, log_id, strlen(log_id) + 1);
}

static enum err key_line(struct verify *v, const uint8_t *line, size_t len, struct fault *fault)
{
    struct verify_keys *keys = &v->keys;
    struct verify_record r;
    bool included = false;
    struct arena *arena = arena_new(VERIFY_LINE_ARENA_BYTES);
    enum err e = verify_record_parse(arena, line, len, &r, fault);
    if (e != ERR_OK)
        goto out;
    if (keys->record_count++ == 0)
        remember_log(keys, &r);
    verify_info_any(v, &r);
    bool retires = strcmp(r.type, "key.retire") == 0;
    keys->retired |= retires;
    e = verify_checkpoint_includes(v, r.seq, r.hash, &included, fault);
    if (e != ERR_OK)
        goto out;
    if ((retires || strcmp(r.type, "signer.epoch") == 0) && r.seq > keys->last_seq && included)
        e = take_record(v, &r, fault);
    else
        report_problems_add(&keys->problems, "seq %" PRId64 ": %s", r.seq,
                            !included ? "the checkpointed tree does not include this record"
                                      : "no key record, or not in the log's order");
out:
    arena_free(arena);
    return e;
}

enum err verify_keys_read(struct verify *v, struct fault *fault)
{
    static const char name[] = "keys/records.jsonl";
    size_t index = 0;
    v->keys.last_seq = -1;
    if (!verify_entry_find(v, name, &index))
        return fault_set(fault, ERR_BUNDLE, "the bundle has no %s", name);
    return verify_entry_lines(v, index, key_line, fault);
}

void verify_keys_lines(struct verify *v)
{
    struct verify_keys *keys = &v->keys;
    bool good = keys->count > 0 && keys->problems.count == 0;
    report_line(v->lines, good ? REPORT_PASS : REPORT_FAIL, "keys", "%zu key(s), out of %zu key record(s)", keys->count,
                keys->record_count);
    report_problem_list(v->lines, &keys->problems);
    if (keys->count > 1 || keys->retired) {
        report_line(v->lines, REPORT_WARN, "keys", "not proven that every retirement is here");
        report_problem(v->lines, "the keys of this log have changed, and only a run-set from registry size 0 on would "
                                 "show a key.retire that was left out");
    }
}

void verify_keys_wipe(struct verify_keys *keys)
{
    free(keys->list);
    report_problems_wipe(&keys->problems);
    *keys = (struct verify_keys){0};
}
