#include "evidence/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "evidence/arena.h"
#include "evidence/buf.h"
#include "evidence/json.h"

enum {
    READ_BYTES = 16 << 10,
    ARENA_BYTES = 64 << 20, /* more than a file of TRUST_MAX_BYTES can take as JSON values */
    PLACE_BYTES = 48,       /* "witnesses[255].class" */
    SHOWN_KEY_BYTES = 40,
};

/* The file being read. */
struct reading {
    const struct json *file;
    struct trust *trust;
    struct fault *fault;
};

const char *trust_class_name(enum trust_class class)
{
    switch (class) {
    case TRUST_PUBLIC:
        return "public";
    case TRUST_CUSTOMER:
        return "customer";
    case TRUST_TRACEKIT:
        return "tracekit";
    case TRUST_OPERATOR:
        return "operator";
    }
    return "unknown";
}

static bool parse_class(const struct json *v, enum trust_class *out)
{
    for (enum trust_class c = TRUST_PUBLIC; c <= TRUST_OPERATOR; c++) {
        if (json_equal_cstr(v, trust_class_name(c))) {
            *out = c;
            return true;
        }
    }
    return false;
}

/* A vkey of one type; `place` says where it stands. */
static enum err parse_vkey(const struct json *v, uint8_t type, const char *place, struct note_vkey *out,
                           struct fault *fault)
{
    struct fault inner = {""};

    const char *text = json_cstr(v);
    if (text == NULL)
        return fault_set(fault, ERR_TRUST, "%s: not a string", place);
    if (note_vkey_parse(text, out, &inner) != ERR_OK)
        return fault_set(fault, ERR_TRUST, "%s: %.240s", place, inner.text);
    if (out->type != type)
        return fault_set(fault, ERR_TRUST, "%s: a key of type 0x%02x; only type 0x%02x may stand here", place,
                         out->type, type);
    return ERR_OK;
}

/* The array at `key`; *count is 0 when it is absent and may be. */
static enum err read_keys(const struct reading *r, const char *key, bool required, const struct json **out,
                          size_t *count)
{
    const struct json *v = json_get(r->file, key);
    if (v == NULL && !required) {
        *out = NULL;
        *count = 0;
        return ERR_OK;
    }
    if (!json_is(v, JSON_ARRAY) || (required && json_count(v) == 0))
        return fault_set(r->fault, ERR_TRUST, "%s: %s", key,
                         v == NULL  ? "missing"
                         : required ? "not an array with at least one element"
                                    : "not an array");
    if (json_count(v) > TRUST_MAX_KEYS)
        return fault_set(r->fault, ERR_TOO_LARGE, "%s: %zu elements, at most %d are allowed", key, json_count(v),
                         TRUST_MAX_KEYS);
    *out = v;
    *count = json_count(v);
    return ERR_OK;
}

static enum err read_logs(const struct reading *r)
{
    struct trust *t = r->trust;
    const struct json *list = NULL;
    size_t count = 0;

    enum err e = read_keys(r, "logs", true, &list, &count);
    if (e != ERR_OK)
        return e;
    t->logs = calloc(count, sizeof *t->logs);
    if (t->logs == NULL)
        return ERR_NOMEM;
    for (; t->log_count < count; t->log_count++) {
        char place[PLACE_BYTES];
        snprintf(place, sizeof place, "logs[%zu]", t->log_count);
        e = parse_vkey(json_at(list, t->log_count), NOTE_TYPE_ED25519, place, &t->logs[t->log_count], r->fault);
        if (e != ERR_OK)
            return e;
    }
    return ERR_OK;
}

static enum err read_witness(const struct reading *r, const struct json *v, size_t i)
{
    struct trust *t = r->trust;
    char place[PLACE_BYTES];

    if (!json_is(v, JSON_OBJECT) || json_count(v) != 2 || json_get(v, "vkey") == NULL || json_get(v, "class") == NULL)
        return fault_set(r->fault, ERR_TRUST, "witnesses[%zu]: not an object of exactly \"vkey\" and \"class\"", i);
    snprintf(place, sizeof place, "witnesses[%zu].vkey", i);
    enum err e = parse_vkey(json_get(v, "vkey"), NOTE_TYPE_COSIGNATURE, place, &t->witnesses[i], r->fault);
    if (e != ERR_OK)
        return e;
    if (!parse_class(json_get(v, "class"), &t->witness_classes[i]))
        return fault_set(r->fault, ERR_TRUST, "witnesses[%zu].class: not public, customer, tracekit or operator", i);
    return ERR_OK;
}

static enum err read_witnesses(const struct reading *r)
{
    struct trust *t = r->trust;
    const struct json *list = NULL;
    int64_t required = 0;
    size_t count = 0;

    enum err e = read_keys(r, "witnesses", false, &list, &count);
    if (e != ERR_OK)
        return e;
    t->witnesses = calloc(count + 1, sizeof *t->witnesses);
    t->witness_classes = calloc(count + 1, sizeof *t->witness_classes);
    if (t->witnesses == NULL || t->witness_classes == NULL)
        return ERR_NOMEM;
    for (; t->witness_count < count; t->witness_count++) {
        e = read_witness(r, json_at(list, t->witness_count), t->witness_count);
        if (e != ERR_OK)
            return e;
    }
    const struct json *v = json_get(r->file, "witnesses_required");
    if (v != NULL && (!json_int(v, &required) || required < 0))
        return fault_set(r->fault, ERR_TRUST, "witnesses_required: not an integer of 0 or more");
    t->witnesses_required = (uint64_t)required;
    return ERR_OK;
}

static enum err read_algs(const struct reading *r)
{
    const struct json *list = NULL;
    size_t count = 0;

    enum err e = read_keys(r, "algs", true, &list, &count);
    for (size_t i = 0; e == ERR_OK && i < count; i++) {
        if (!json_is(json_at(list, i), JSON_STRING))
            e = fault_set(r->fault, ERR_TRUST, "algs[%zu]: not a string", i);
        if (json_equal_cstr(json_at(list, i), "ed25519"))
            r->trust->ed25519_allowed = 1;
    }
    return e;
}

/* An array that this verifier does not check: only that it holds values of one type. */
static enum err read_unchecked(const struct reading *r, const char *key, enum json_type type, int *pins)
{
    const struct json *list = NULL;
    size_t count = 0;

    enum err e = read_keys(r, key, false, &list, &count);
    for (size_t i = 0; e == ERR_OK && i < count; i++)
        if (!json_is(json_at(list, i), type))
            e = fault_set(r->fault, ERR_TRUST, "%s[%zu]: not %s", key, i,
                          type == JSON_OBJECT ? "an object" : "a string");
    *pins = count > 0;
    return e;
}

static enum err read_rekor(const struct reading *r)
{
    const struct json *v = json_get(r->file, "rekor");
    if (v != NULL && !json_is(v, JSON_OBJECT))
        return fault_set(r->fault, ERR_TRUST, "rekor: not an object");
    r->trust->pins_rekor = json_count(v) > 0;
    return ERR_OK;
}

static enum err check_names(const struct reading *r)
{
    static const char *const known[] = {"logs",  "witnesses", "algs",    "witnesses_required",
                                        "rekor", "monitors",  "issuers", "analyzers"};

    if (!json_is(r->file, JSON_OBJECT))
        return fault_set(r->fault, ERR_TRUST, "not a JSON object");
    for (size_t i = 0; i < json_count(r->file); i++) {
        size_t len = 0, k = 0;
        const char *key = json_key(r->file, i, &len);
        while (k < sizeof known / sizeof known[0] && (strlen(known[k]) != len || memcmp(known[k], key, len) != 0))
            k++;
        if (k == sizeof known / sizeof known[0])
            return fault_set(r->fault, ERR_TRUST, "\"%.*s\": unknown key",
                             len < SHOWN_KEY_BYTES ? (int)len : SHOWN_KEY_BYTES, key);
    }
    return ERR_OK;
}

static enum err read_all(const struct reading *r)
{
    enum err e = check_names(r);
    if (e == ERR_OK)
        e = read_logs(r);
    if (e == ERR_OK)
        e = read_witnesses(r);
    if (e == ERR_OK)
        e = read_algs(r);
    if (e == ERR_OK)
        e = read_rekor(r);
    if (e == ERR_OK)
        e = read_unchecked(r, "monitors", JSON_OBJECT, &r->trust->pins_monitors);
    if (e == ERR_OK)
        e = read_unchecked(r, "issuers", JSON_OBJECT, &r->trust->pins_issuers);
    if (e == ERR_OK)
        e = read_unchecked(r, "analyzers", JSON_STRING, &r->trust->pins_analyzers);
    return e;
}

enum err trust_parse(const void *bytes, size_t len, struct trust **out, struct fault *fault)
{
    struct json_fault where;
    struct arena *arena = NULL;
    struct trust *trust = NULL;
    const struct json *file = NULL;
    enum err e = ERR_NOMEM;

    if (len > TRUST_MAX_BYTES)
        return fault_set(fault, ERR_TOO_LARGE, "over %d bytes", TRUST_MAX_BYTES);
    arena = arena_new(ARENA_BYTES);
    trust = calloc(1, sizeof *trust);
    if (arena == NULL || trust == NULL)
        goto out;
    e = json_parse(arena, bytes, len, &file, &where);
    if (e == ERR_NOMEM)
        goto out;
    if (e != ERR_OK) {
        e = fault_set(fault, ERR_TRUST, "line %zu, column %zu: %s", where.line, where.column, err_text(e));
        goto out;
    }
    struct reading r = {.file = file, .trust = trust, .fault = fault};
    e = read_all(&r);
    if (e != ERR_OK)
        goto out;
    *out = trust;
    trust = NULL;
out:
    trust_free(trust);
    arena_free(arena);
    return e;
}

/* Reads the whole file, and one byte more than the maximum when there is one, so that trust_parse sees it. */
static enum err read_file(int fd, struct buf *out, struct fault *fault)
{
    while (out->len < out->max) {
        size_t room = out->max - out->len < READ_BYTES ? out->max - out->len : READ_BYTES;
        uint8_t *at = buf_reserve(out, room);
        if (at == NULL)
            return ERR_NOMEM;
        ssize_t n = read(fd, at, room);
        if (n < 0 && errno != EINTR)
            return fault_set(fault, ERR_IO, "cannot read: %s", strerror(errno));
        if (n == 0)
            break;
        buf_commit(out, n < 0 ? 0 : (size_t)n);
    }
    return ERR_OK;
}

enum err trust_load(const char *path, struct trust **out, struct fault *fault)
{
    struct buf bytes;

    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return fault_set(fault, ERR_IO, "cannot open: %s", strerror(errno));
    buf_init(&bytes, TRUST_MAX_BYTES + 1);
    enum err e = read_file(fd, &bytes, fault);
    close(fd);
    if (e == ERR_OK)
        e = trust_parse(bytes.data, bytes.len, out, fault);
    buf_wipe(&bytes);
    return e;
}

void trust_free(struct trust *t)
{
    if (t == NULL)
        return;
    free(t->logs);
    free(t->witnesses);
    free(t->witness_classes);
    free(t);
}
