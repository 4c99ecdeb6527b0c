#include "cli/export_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/base64.h"
#include "evidence/bundle.h"
#include "evidence/digest.h"
#include "evidence/note.h"
#include "evidence/record.h"
#include "evidence/tree.h"
#include "evidence/zip.h"
#include "wire/peer.h"

enum {
    SEQS_PER_PAGE = 256,
    PROGRESS_AFTER_MS = 1000,
    PROGRESS_COLUMNS = 60,
    NAME_BYTES = 96,
};

int export_parts_fail(const struct export_parts *x, enum err e)
{
    char what[160];
    if (e == ERR_TOO_LARGE) {
        snprintf(what, sizeof what,
                 "the run does not fit into a bundle: the format allows %d MiB a file and %d MiB in all",
                 ZIP_MAX_ENTRY_BYTES >> 20, ZIP_MAX_TOTAL_BYTES >> 20);
        return cli_fail(x->link->cli, e, what, "Nothing was written");
    }
    snprintf(what, sizeof what, "the bundle cannot be written: %s", err_text(e));
    return cli_fail(x->link->cli, e, what, "Is there room on the disk? Nothing was written");
}

/* --- begin ------------------------------------------------------------------------------------------------------ */

static bool is_count(const struct json *v, int64_t *out)
{
    return json_int(v, out) && *out >= 0;
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Takes over the list of records that need a proof: sorted, each once. False when something in it is no sequence number
 * below the tree's size, or when memory ran out. */
static bool read_seqs(struct export_parts *x, const struct json *list)
{
    size_t count = json_count(list), kept = 0;
    if (!json_is(list, JSON_ARRAY) || count == 0)
        return false;
    x->seqs = calloc(count, sizeof *x->seqs);
    if (x->seqs == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!json_int(json_at(list, i), &x->seqs[i]) || x->seqs[i] < 0 || x->seqs[i] >= x->size)
            return false;
    qsort(x->seqs, count, sizeof *x->seqs, compare);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || x->seqs[i] != x->seqs[kept - 1])
            x->seqs[kept++] = x->seqs[i];
    x->seq_count = kept;
    return true;
}

/* Whether the note is one over `size` records of the log that the reply names. Its signature is for the verifier. */
static bool is_note(const struct export_parts *x, const char *note, size_t len)
{
    char head[NOTE_NAME_BYTES + 32];
    int n = snprintf(head, sizeof head, "%s\n%" PRId64 "\n", x->origin, x->size);
    return n > 0 && (size_t)n < sizeof head && len > (size_t)n && len <= NOTE_MAX_BYTES &&
           memcmp(note, head, (size_t)n) == 0;
}

static int read_begin(struct export_parts *x)
{
    size_t len = 0;
    x->run = json_get_cstr(x->begin, "run");
    x->tenant = json_get_cstr(x->begin, "tenant");
    x->origin = json_get_cstr(x->begin, "origin");
    if (x->run == NULL || x->tenant == NULL || x->origin == NULL)
        return link_garbled(x->link, "no run, tenant or origin");
    if (!is_count(json_get(x->begin, "records"), &x->records) || !is_count(json_get(x->begin, "size"), &x->size))
        return link_garbled(x->link, "no number of records or tree size");
    const char *note = json_text(json_get(x->begin, "note"), &len);
    if (note == NULL || !is_note(x, note, len))
        return link_garbled(x->link, "no checkpoint note of this log and size");
    if (!read_seqs(x, json_get(x->begin, "proof_seqs")))
        return link_garbled(x->link, "no list of records that need a proof");
    if (!json_is(json_get(x->begin, "key_records"), JSON_ARRAY) || !json_is(json_get(x->begin, "policies"), JSON_ARRAY))
        return link_garbled(x->link, "no key records or policies");
    return CLI_DONE;
}

int export_parts_begin(struct export_parts *x, const char *run)
{
    struct json *request = link_request(x->link, "export.begin");
    json_set_string(x->link->arena, request, "run", run);
    int code = link_call(x->link, request, false, NULL, &x->begin);
    if (code != CLI_DONE)
        return code;
    x->arena = link_keep(x->link);
    x->started_ms = peer_now_ms();
    return read_begin(x);
}

void export_parts_wipe(struct export_parts *x)
{
    free(x->seqs);
    arena_free(x->arena);
    x->seqs = NULL;
    x->arena = NULL;
}

/* --- progress --------------------------------------------------------------------------------------------------- */

static void show_progress(struct export_parts *x, int64_t done)
{
    const struct term *t = &x->link->cli->err;
    if (!t->is_tty || peer_now_ms() - x->started_ms < PROGRESS_AFTER_MS)
        return;
    fprintf(t->out, "\r%" PRId64 " of %" PRId64 " records", done, x->records);
    fflush(t->out);
    x->shown = true;
}

static void clear_progress(struct export_parts *x)
{
    if (x->shown)
        fprintf(x->link->cli->err.out, "\r%*s\r", PROGRESS_COLUMNS, "");
    x->shown = false;
}

/* --- records ---------------------------------------------------------------------------------------------------- */

/* Writes record lines. A line with a newline in it would be two records. */
static int put_lines(struct export_parts *x, const struct json *lines)
{
    for (size_t i = 0; i < json_count(lines); i++) {
        size_t len = 0;
        const char *line = json_text(json_at(lines, i), &len);
        if (line == NULL || len == 0 || len > RECORD_MAX_BYTES || memchr(line, '\n', len) != NULL)
            return link_garbled(x->link, "something among the records is no record");
        enum err e = bundle_writer_write(x->bundle, line, len);
        if (e == ERR_OK)
            e = bundle_writer_write(x->bundle, "\n", 1);
        if (e != ERR_OK)
            return export_parts_fail(x, e);
    }
    return CLI_DONE;
}

/* Writes the page of records from *from on, and moves *from to the next one. *more says whether there is one. */
static int put_page(struct export_parts *x, int64_t *from, bool *more)
{
    const struct json *reply = NULL;
    struct json *request = link_request(x->link, "export.records");
    json_set_string(x->link->arena, request, "run", x->run);
    json_set_int(x->link->arena, request, "size", x->size);
    json_set_int(x->link->arena, request, "from", *from);
    int code = link_call(x->link, request, false, NULL, &reply);
    if (code != CLI_DONE)
        return code;
    const struct json *lines = json_get(reply, "lines"), *next = json_get(reply, "next");
    int64_t count = (int64_t)json_count(lines), at = *from + count;
    *more = next != NULL && !json_is(next, JSON_NULL);
    /* A run's records are numbered without a gap: so the next page begins behind this one, and each page advances. */
    if (*more && (count == 0 || !json_int(next, &at) || at != *from + count))
        return link_garbled(x->link, "the pages of records do not follow each other");
    if (at > x->records)
        return link_garbled(x->link, "more records than it announced");
    code = put_lines(x, lines);
    *from = at;
    return code;
}

static int put_records(struct export_parts *x)
{
    char name[BUNDLE_RUN_NAME_BYTES];
    int64_t from = 0;
    bool more = true;
    enum err e = bundle_run_name(x->tenant, x->run, name);
    if (e == ERR_OK)
        e = bundle_writer_begin(x->bundle, name);
    if (e != ERR_OK)
        return export_parts_fail(x, e);
    while (more) {
        int code = put_page(x, &from, &more);
        if (code != CLI_DONE)
            return code;
        show_progress(x, from);
    }
    if (from != x->records)
        return link_garbled(x->link, "fewer records than it announced");
    e = bundle_writer_end(x->bundle);
    return e == ERR_OK ? CLI_DONE : export_parts_fail(x, e);
}

static int put_keys(struct export_parts *x)
{
    enum err e = bundle_writer_begin(x->bundle, "keys/records.jsonl");
    if (e != ERR_OK)
        return export_parts_fail(x, e);
    int code = put_lines(x, json_get(x->begin, "key_records"));
    if (code != CLI_DONE)
        return code;
    e = bundle_writer_end(x->bundle);
    return e == ERR_OK ? CLI_DONE : export_parts_fail(x, e);
}

static int put_note(struct export_parts *x)
{
    char name[NAME_BYTES];
    size_t len = 0;
    const char *note = json_text(json_get(x->begin, "note"), &len);
    snprintf(name, sizeof name, "checkpoints/%" PRId64 ".note", x->size);
    enum err e = bundle_writer_file(x->bundle, name, note, len);
    return e == ERR_OK ? CLI_DONE : export_parts_fail(x, e);
}

/* --- proofs ----------------------------------------------------------------------------------------------------- */

static bool is_proof(const struct json *hashes)
{
    if (!json_is(hashes, JSON_ARRAY) || json_count(hashes) > TREE_MAX_PROOF)
        return false;
    for (size_t i = 0; i < json_count(hashes); i++) {
        uint8_t hash[DIGEST_BYTES];
        size_t text_len = 0, len = 0;
        const char *text = json_text(json_at(hashes, i), &text_len);
        if (text == NULL || base64_decode(text, text_len, hash, sizeof hash, &len) != ERR_OK || len != sizeof hash)
            return false;
    }
    return true;
}

/* Appends one member of the inclusion object. */
static void put_proof(struct buf *out, const char *seq, const struct json *hashes, bool first)
{
    buf_printf(out, "%s\"%s\":[", first ? "" : ",", seq);
    for (size_t i = 0; i < json_count(hashes); i++)
        buf_printf(out, "%s\"%s\"", i == 0 ? "" : ",", json_cstr(json_at(hashes, i)));
    buf_puts(out, "]");
}

/* Fetches and writes the proofs of the records from `from` on and before `to` in the list. */
static int put_proof_page(struct export_parts *x, size_t from, size_t to)
{
    const struct json *reply = NULL;
    struct json *request = link_request(x->link, "export.proofs"), *wanted = json_new_array(x->link->arena);
    for (size_t i = from; i < to; i++)
        json_add(x->link->arena, wanted, json_new_int(x->link->arena, x->seqs[i]));
    json_set_int(x->link->arena, request, "size", x->size);
    json_set(x->link->arena, request, "seqs", wanted);
    int code = link_call(x->link, request, false, NULL, &reply);
    if (code != CLI_DONE)
        return code;

    struct buf text;
    buf_init(&text, ZIP_MAX_ENTRY_BYTES);
    for (size_t i = from; i < to && code == CLI_DONE; i++) {
        char name[24];
        snprintf(name, sizeof name, "%" PRId64, x->seqs[i]);
        const struct json *hashes = json_get(json_get(reply, "inclusion"), name);
        if (is_proof(hashes))
            put_proof(&text, name, hashes, i == 0);
        else
            code = link_garbled(x->link, "an inclusion proof is missing or none");
    }
    enum err e = buf_err(&text);
    if (code == CLI_DONE && e == ERR_OK)
        e = bundle_writer_write(x->bundle, text.data, text.len);
    buf_wipe(&text);
    return code != CLI_DONE || e == ERR_OK ? code : export_parts_fail(x, e);
}

static int put_proofs(struct export_parts *x)
{
    size_t count = x->seq_count;
    char text[NAME_BYTES];
    enum err e = bundle_writer_begin(x->bundle, "proofs/records.json");
    int n = snprintf(text, sizeof text, "{\"checkpoint\":\"checkpoints/%" PRId64 ".note\",\"inclusion\":{", x->size);
    if (e == ERR_OK)
        e = bundle_writer_write(x->bundle, text, (size_t)n);
    if (e != ERR_OK)
        return export_parts_fail(x, e);
    for (size_t from = 0; from < count; from += SEQS_PER_PAGE) {
        int code = put_proof_page(x, from, count - from < SEQS_PER_PAGE ? count : from + SEQS_PER_PAGE);
        if (code != CLI_DONE)
            return code;
    }
    n = snprintf(text, sizeof text, "},\"tree_size\":%" PRId64 "}", x->size);
    e = bundle_writer_write(x->bundle, text, (size_t)n);
    if (e == ERR_OK)
        e = bundle_writer_end(x->bundle);
    return e == ERR_OK ? CLI_DONE : export_parts_fail(x, e);
}

/* --- policies --------------------------------------------------------------------------------------------------- */

static int put_policy(struct export_parts *x, const char *hash, size_t hash_len)
{
    const struct json *reply = NULL;
    uint8_t wanted[DIGEST_BYTES], found[DIGEST_BYTES];
    char name[NAME_BYTES], hex[DIGEST_HEX_BYTES];
    size_t len = 0;
    if (hash == NULL || digest_parse(hash, hash_len, wanted) != ERR_OK)
        return link_garbled(x->link, "the name of a policy is no hash");
    struct json *request = link_request(x->link, "export.policy");
    json_set_string(x->link->arena, request, "hash", hash);
    int code = link_call(x->link, request, false, NULL, &reply);
    if (code != CLI_DONE)
        return code;
    const char *text = json_text(json_get(reply, "policy"), &len);
    if (text == NULL)
        return link_garbled(x->link, "no policy");
    digest_sha256(text, len, found);
    if (!digest_equal(wanted, found))
        return link_garbled(x->link, "a policy is not the one of its hash");
    digest_hex(wanted, sizeof wanted, hex);
    snprintf(name, sizeof name, "policies/%s.json", hex);
    enum err e = bundle_writer_file(x->bundle, name, text, len);
    if (e == ERR_BUNDLE)
        return link_garbled(x->link, "a policy is listed twice");
    return e == ERR_OK ? CLI_DONE : export_parts_fail(x, e);
}

static int put_policies(struct export_parts *x)
{
    const struct json *list = json_get(x->begin, "policies");
    int code = CLI_DONE;
    for (size_t i = 0; i < json_count(list) && code == CLI_DONE; i++) {
        size_t len = 0;
        const char *hash = json_text(json_at(list, i), &len);
        code = put_policy(x, hash, len);
    }
    return code;
}

int export_parts_write(struct export_parts *x)
{
    int code = put_records(x);
    clear_progress(x);
    if (code == CLI_DONE)
        code = put_keys(x);
    if (code == CLI_DONE)
        code = put_note(x);
    if (code == CLI_DONE)
        code = put_proofs(x);
    return code == CLI_DONE ? put_policies(x) : code;
}
