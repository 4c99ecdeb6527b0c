#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "evidence/base64.h"
#include "evidence/tree.h"
#include "evidence/verify_internal.h"

enum { TIME_BYTES = 24, HASH_TEXT_BYTES = 256 };

/* "checkpoints/<something>.note". */
static bool is_note_name(const char *name)
{
    size_t len = strlen(name), head = strlen("checkpoints/"), tail = strlen(".note");
    return len >= head + tail && strncmp(name, "checkpoints/", head) == 0 && strcmp(name + len - tail, ".note") == 0;
}

static enum err read_proofs(struct verify *v, const struct json **proofs, struct fault *fault)
{
    static const char name[] = "proofs/records.json";
    struct buf text;
    struct json_fault where = {0};
    size_t index = 0;
    buf_init(&text, VERIFY_MAX_PROOFS_BYTES);

    enum err e = ERR_OK;
    if (!verify_entry_find(v, name, &index))
        e = fault_set(fault, ERR_BUNDLE, "the bundle has no %s", name);
    if (e == ERR_OK)
        e = verify_entry_read(v, index, &text, fault);
    if (e != ERR_OK)
        goto out;
    e = json_parse(v->arena, text.data == NULL ? (const uint8_t *)"" : text.data, text.len, proofs, &where);
    if (e != ERR_OK && e != ERR_NOMEM)
        e = fault_set(fault, ERR_BUNDLE, "%s line %zu column %zu: %s", name, where.line, where.column, err_text(e));
out:
    buf_wipe(&text);
    return e;
}

/* Opens the note and writes what there is to say against it into `fault` (NOTE). */
static enum err open_note(struct verify *v, const char *name, struct fault *fault)
{
    struct buf text;
    size_t index = 0;
    if (!verify_entry_find(v, name, &index))
        return fault_set(fault, ERR_BUNDLE, "the bundle has no %.100s, which its proofs name", name);
    v->note_index = index;
    buf_init(&text, NOTE_MAX_BYTES);
    enum err e = verify_entry_read(v, index, &text, fault);
    if (e == ERR_VERSION)
        e = fault_set(fault, ERR_NOTE, "the note is larger than 1 MiB");
    if (e == ERR_OK)
        e = note_open(text.data == NULL ? (const uint8_t *)"" : text.data, text.len, v->trust->logs,
                      v->trust->log_count, v->trust->witnesses, v->trust->witness_count, &v->note, fault);
    buf_wipe(&text);
    return e;
}

static void quorum_line(const struct verify *v)
{
    bool enough = v->note.cosignature_count >= v->trust->witnesses_required;
    report_line(v->lines, enough ? REPORT_PASS : REPORT_FAIL, "witness quorum",
                "cosigned by %zu pinned witness(es), the trust file asks for %" PRIu64, v->note.cosignature_count,
                v->trust->witnesses_required);
}

enum err verify_checkpoint_read(struct verify *v, bool *opened, struct fault *fault)
{
    const struct json *proofs = NULL;
    struct fault why = {""};
    *opened = false;
    enum err e = read_proofs(v, &proofs, fault);
    if (e != ERR_OK)
        return e;
    const char *name = json_get_cstr(proofs, "checkpoint");
    if (name == NULL || !is_note_name(name))
        return fault_set(fault, ERR_BUNDLE, "proofs/records.json names no checkpoint note");
    e = open_note(v, name, &why);
    if (e == ERR_NOTE) {
        report_line(v->lines, REPORT_FAIL, "checkpoint", "%.100s: %s", name, why.text);
        return ERR_OK;
    }
    if (e != ERR_OK)
        return fault_set(fault, e, "%s", why.text);

    const struct json *size = json_get(proofs, "tree_size");
    int64_t told = -1;
    if (size == NULL)
        return fault_set(fault, ERR_BUNDLE, "proofs/records.json has no tree_size");
    bool same = json_int(size, &told) && told >= 0 && (uint64_t)told == v->note.size;
    report_line(v->lines, same ? REPORT_PASS : REPORT_FAIL, "checkpoint",
                same ? "%s, tree size %" PRIu64 ", signed by a pinned log key"
                     : "%s, tree size %" PRIu64 ": the proofs are for another size",
                v->note.origin, v->note.size);
    quorum_line(v);
    v->inclusion = json_get(proofs, "inclusion");
    *opened = true;
    return ERR_OK;
}

/* --- inclusion --- */

/* Reads one hash of a proof. *usable false: some base64, but not of a hash. */
static enum err read_hash(const struct json *v, uint8_t out[static DIGEST_BYTES], bool *usable)
{
    uint8_t bytes[HASH_TEXT_BYTES];
    size_t len = 0, text_len = 0;
    const char *text = json_text(v, &text_len);
    *usable = false;
    if (text == NULL)
        return ERR_BUNDLE;
    if (text_len > sizeof bytes)
        return ERR_OK;
    if (base64_decode(text, text_len, bytes, sizeof bytes, &len) != ERR_OK)
        return ERR_BUNDLE;
    *usable = len == DIGEST_BYTES;
    if (*usable)
        memcpy(out, bytes, DIGEST_BYTES);
    return ERR_OK;
}

enum err verify_checkpoint_includes(const struct verify *v, int64_t seq, const char *hash, bool *included,
                                    struct fault *fault)
{
    char key[24];
    uint8_t record[DIGEST_BYTES], leaf[DIGEST_BYTES], proof[TREE_MAX_PROOF][DIGEST_BYTES];
    *included = false;
    if (!json_is(v->inclusion, JSON_OBJECT))
        return fault_set(fault, ERR_BUNDLE, "proofs/records.json has no object of inclusion proofs");
    snprintf(key, sizeof key, "%" PRId64, seq);
    const struct json *path = json_get(v->inclusion, key);
    size_t count = json_count(path);
    if (!json_is(path, JSON_ARRAY) || count > TREE_MAX_PROOF || seq < 0)
        return ERR_OK;
    if (digest_parse(hash, strlen(hash), record) != ERR_OK)
        return ERR_OK;
    for (size_t i = 0; i < count; i++) {
        bool usable = false;
        if (read_hash(json_at(path, i), proof[i], &usable) != ERR_OK)
            return fault_set(fault, ERR_BUNDLE,
                             "proofs/records.json: hash %zu of the proof for seq %s is not canonical base64", i, key);
        if (!usable)
            return ERR_OK;
    }
    tree_leaf(record, sizeof record, leaf);
    *included = tree_inclusion_verify((uint64_t)seq, v->note.size, leaf, (const uint8_t(*)[DIGEST_BYTES])proof, count,
                                      v->note.root) == ERR_OK;
    return ERR_OK;
}

/* --- assurance --- */

/* "2026-10-10T00:19:23Z". False when it is no date of the years up to 9999. */
static bool format_time(uint64_t time_s, char out[static TIME_BYTES])
{
    const uint64_t year_10000 = UINT64_C(253402300800);
    struct tm tm;
    if (time_s >= year_10000)
        return false;
    time_t t = (time_t)time_s;
    return gmtime_r(&t, &tm) != NULL && strftime(out, TIME_BYTES, "%Y-%m-%dT%H:%M:%SZ", &tm) > 0;
}

static bool independent(const struct verify *v, const struct note_cosignature *c)
{
    return v->trust->witness_classes[c->witness] != TRUST_OPERATOR;
}

/* dev: nobody but the signer stands for it, or the agent's own user approved; local: only the operator's witnesses. */
static const char *level(const struct verify *v)
{
    uint64_t others = 0, enough = v->trust->witnesses_required > 1 ? v->trust->witnesses_required : 1;
    for (size_t i = 0; i < v->note.cosignature_count; i++)
        others += independent(v, &v->note.cosignatures[i]);
    if (v->info.self_approved || v->note.cosignature_count == 0)
        return "dev";
    return others >= enough ? "witnessed" : "local";
}

/* Insertion sort by time; what is equally old stays in the note's order. */
static void sort_by_time(struct note_cosignature *c, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct note_cosignature x = c[i];
        size_t at = i;
        for (; at > 0 && c[at - 1].time_s > x.time_s; at--)
            c[at] = c[at - 1];
        c[at] = x;
    }
}

static enum err write_cosignatures(struct verify *v, struct buf *out, struct fault *fault)
{
    char when[TIME_BYTES] = "", earliest[TIME_BYTES] = "";
    sort_by_time(v->note.cosignatures, v->note.cosignature_count);
    for (size_t i = 0; i < v->note.cosignature_count; i++) {
        const struct note_cosignature *c = &v->note.cosignatures[i];
        if (!format_time(c->time_s, when))
            return fault_set(fault, ERR_BUNDLE, "the cosignature by %s has a time that is no date",
                             v->trust->witnesses[c->witness].name);
        buf_printf(out, "%s%s (%s) at %s", i == 0 ? "; cosigned ed25519 by " : ", ",
                   v->trust->witnesses[c->witness].name, trust_class_name(v->trust->witness_classes[c->witness]), when);
        if (earliest[0] == '\0' && independent(v, c))
            memcpy(earliest, when, sizeof earliest);
    }
    if (v->note.cosignature_count == 0)
        buf_puts(out, "; no witness cosignature");
    if (earliest[0] != '\0')
        buf_printf(out, "; earliest independent anchor %s", earliest);
    return ERR_OK;
}

enum err verify_checkpoint_assurance(struct verify *v, struct fault *fault)
{
    struct buf out;
    buf_init(&out, 64 * 1024);
    buf_printf(&out, "%s; records ", level(v));
    verify_text_names(&v->info.algs, "+", &out);
    buf_printf(&out, "; checkpoint Ed25519 only (%s)", v->note.origin);
    enum err e = write_cosignatures(v, &out, fault);
    if (e == ERR_OK) {
        buf_puts(&out, v->info.self_approved ? "; approvals: self" : "");
        buf_puts(&out, "; key retirements not proven complete");
        report_assurance(v->lines, "%s", verify_text_of(&out));
    }
    buf_wipe(&out);
    return e;
}
