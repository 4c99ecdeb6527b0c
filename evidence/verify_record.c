#include <inttypes.h>
#include <string.h>

#include "evidence/verify_internal.h"

enum err verify_record_parse(struct arena *arena, const uint8_t *line, size_t len, struct verify_record *out,
                             struct fault *fault)
{
    struct json_fault where = {0};
    struct verify_record r = {0};
    enum err e = json_parse(arena, line, len, &r.value, &where);
    if (e == ERR_NOMEM)
        return e;
    if (e != ERR_OK)
        return fault_set(fault, ERR_BUNDLE, "byte %zu: %s", where.offset, err_text(e));
    r.event = json_get(r.value, "event");
    if (!json_is(r.event, JSON_OBJECT))
        return fault_set(fault, ERR_BUNDLE, "a record without an event");
    if (!json_int(json_get(r.event, "seq"), &r.seq))
        return fault_set(fault, ERR_BUNDLE, "an event whose seq is no integer");
    const struct json *data = json_get(r.event, "data");
    r.data = json_is(data, JSON_OBJECT) ? data : NULL;
    r.type = json_get_cstr(r.event, "type");
    r.hash = json_get_cstr(r.value, "hash");
    if (r.type == NULL)
        r.type = "";
    if (r.hash == NULL)
        r.hash = "";
    *out = r;
    return ERR_OK;
}

/* The key for an opened record, out of what it declares itself or of what the log declared before it. */
static const struct verify_key *find_key(const struct verify *v, const struct verify_record *r, const char *kid,
                                         const struct verify_key *declared, size_t declared_count,
                                         const struct verify_key **retired)
{
    *retired = NULL;
    for (size_t i = 0; i < declared_count; i++) {
        if (strcmp(declared[i].kid, kid) == 0)
            return &declared[i];
    }
    return verify_keys_at(&v->keys, kid, r->seq, retired);
}

/* Errors: those of a record that does not verify, and NOMEM. *after_retire: it verifies only under a key that was
 * retired before. */
static enum err check_signature(const struct verify *v, const struct verify_record *r,
                                const struct verify_key *declared, size_t declared_count, bool *after_retire)
{
    struct record opened;
    const struct verify_key *retired = NULL;
    *after_retire = false;
    enum err e = record_open(r->value, &opened);
    if (e != ERR_OK)
        return e;
    if (!v->trust->ed25519_allowed || strcmp(opened.alg, "ed25519") != 0)
        return ERR_ALG;
    const struct verify_key *key = find_key(v, r, opened.kid, declared, declared_count, &retired);
    if (key != NULL)
        return record_verify(&opened, key->pub);
    if (retired == NULL)
        return ERR_UNKNOWN_KID;
    e = record_verify(&opened, retired->pub);
    if (e == ERR_NOMEM)
        return e;
    *after_retire = e == ERR_OK;
    return ERR_UNKNOWN_KID;
}

enum err verify_record_check(struct verify *v, const struct verify_record *r, const struct verify_key *declared,
                             size_t declared_count, struct report_problems *problems)
{
    bool after_retire = false;
    struct fault fault = {""};
    enum err e = check_signature(v, r, declared, declared_count, &after_retire);
    if (e == ERR_NOMEM)
        return e;
    if (e != ERR_OK) {
        report_problems_add(problems, "seq %" PRId64 ": %s", r->seq,
                            after_retire ? "signed by a key that was retired before it" : err_text(e));
        return ERR_OK;
    }
    if (v->schema == NULL) /* not before it is needed: it takes a millisecond, as much as many records do */
        e = schema_new(&v->schema);
    if (e == ERR_OK)
        e = schema_check(v->schema, r->event, &fault);
    if (e == ERR_NOMEM)
        return e;
    if (e != ERR_OK)
        report_problems_add(problems, "seq %" PRId64 ": %s", r->seq, fault.text[0] != '\0' ? fault.text : err_text(e));
    else if (!json_equal_cstr(json_get(r->event, "log_id"), v->keys.log_id))
        report_problems_add(problems, "seq %" PRId64 ": a record of another log", r->seq);
    return ERR_OK;
}
