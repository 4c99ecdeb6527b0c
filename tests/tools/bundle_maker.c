#include "tests/tools/bundle_maker.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/digest.h"
#include "evidence/zip.h"

#define MUST LOG_MAKER_MUST

enum { ENTRY_BYTES = 128 << 20 };

/* --- export --- */

static bool is_of(const struct log_maker_record *r, const char *tenant, const char *run_id)
{
    return strcmp(r->tenant, tenant) == 0 && strcmp(r->run_id, run_id) == 0;
}

static struct buf *add(struct bundle_maker *b, const char *name)
{
    MUST(b->count < BUNDLE_MAKER_ENTRIES && strlen(name) < BUNDLE_MAKER_NAME_BYTES);
    snprintf(b->entries[b->count].name, BUNDLE_MAKER_NAME_BYTES, "%s", name);
    buf_init(&b->entries[b->count].bytes, ENTRY_BYTES);
    return &b->entries[b->count++].bytes;
}

static void put_line(struct buf *out, const char *line)
{
    buf_puts(out, line);
    buf_putc(out, '\n');
}

static void put_proofs(struct bundle_maker *b, const struct log_maker *log, uint64_t size, uint64_t first,
                       uint64_t last)
{
    struct buf *out = add(b, "proofs/records.json");
    const char *separator = "";
    buf_printf(out, "{\"checkpoint\":\"%s\",\"tree_size\":%" PRIu64 ",\"inclusion\":{", b->note_name, size);
    for (uint64_t seq = 0; seq < size; seq++) {
        if (seq != first && seq != last && !log->records[seq].is_key_record)
            continue;
        buf_printf(out, "%s\"%" PRIu64 "\":", separator, seq);
        log_maker_proof(log, seq, size, out);
        separator = ",";
    }
    buf_puts(out, "}}");
}

void bundle_maker_export(struct bundle_maker *b, const struct log_maker *log, const char *tenant, const char *run_id,
                         uint64_t size, unsigned witnesses)
{
    uint64_t first = UINT64_MAX, last = 0;
    *b = (struct bundle_maker){.count = 0};
    MUST(bundle_run_name(tenant, run_id, b->run_name) == ERR_OK);
    snprintf(b->note_name, sizeof b->note_name, "checkpoints/%" PRIu64 ".note", size);
    struct buf *run = add(b, b->run_name), *keys = add(b, "keys/records.jsonl");
    for (uint64_t seq = 0; seq < size; seq++) {
        const struct log_maker_record *r = &log->records[seq];
        if (r->is_key_record)
            put_line(keys, r->line);
        if (!is_of(r, tenant, run_id))
            continue;
        put_line(run, r->line);
        first = first == UINT64_MAX ? seq : first;
        last = seq;
    }
    put_proofs(b, log, size, first, last);
    log_maker_note(log, LOG_MAKER_ORIGIN, size, witnesses, add(b, b->note_name));
}

void bundle_maker_wipe(struct bundle_maker *b)
{
    for (size_t i = 0; i < b->count; i++)
        buf_wipe(&b->entries[i].bytes);
    *b = (struct bundle_maker){.count = 0};
}

/* --- entries --- */

static size_t find(const struct bundle_maker *b, const char *name)
{
    size_t i = 0;
    while (i < b->count && strcmp(b->entries[i].name, name) != 0)
        i++;
    return i;
}

struct buf *bundle_maker_entry(struct bundle_maker *b, const char *name)
{
    size_t i = find(b, name);
    MUST(i < b->count);
    return &b->entries[i].bytes;
}

void bundle_maker_put(struct bundle_maker *b, const char *name, const void *bytes, size_t len)
{
    size_t i = find(b, name);
    struct buf *out = i < b->count ? &b->entries[i].bytes : add(b, name);
    buf_reset(out);
    buf_put(out, bytes, len);
    MUST(buf_err(out) == ERR_OK);
}

void bundle_maker_drop(struct bundle_maker *b, const char *name)
{
    size_t i = find(b, name);
    MUST(i < b->count);
    buf_wipe(&b->entries[i].bytes);
    memmove(&b->entries[i], &b->entries[i + 1], (b->count - i - 1) * sizeof b->entries[0]);
    b->count--;
}

static const uint8_t *find_bytes(const uint8_t *bytes, size_t len, const void *old, size_t old_len)
{
    for (size_t i = 0; i + old_len <= len; i++) {
        if (memcmp(bytes + i, old, old_len) == 0)
            return bytes + i;
    }
    return NULL;
}

static void splice(struct buf *in, size_t at, size_t old_len, const char *new_text)
{
    struct buf out;
    buf_init(&out, ENTRY_BYTES);
    buf_put(&out, in->data, at);
    buf_puts(&out, new_text);
    buf_put(&out, in->data + at + old_len, in->len - at - old_len);
    MUST(buf_err(&out) == ERR_OK);
    buf_wipe(in);
    *in = out;
}

void bundle_maker_replace(struct bundle_maker *b, const char *name, const char *old, const char *new_text)
{
    struct buf *entry = bundle_maker_entry(b, name);
    const uint8_t *at = find_bytes(entry->data, entry->len, old, strlen(old));
    MUST(at != NULL);
    splice(entry, (size_t)(at - entry->data), strlen(old), new_text);
}

/* --- lines --- */

/* Where line `at` begins, and its length without the newline; one behind the last is empty. */
static size_t place(const struct buf *entry, size_t at, size_t *len)
{
    size_t begin = 0;
    for (; at > 0; at--) {
        const uint8_t *end = memchr(entry->data + begin, '\n', entry->len - begin);
        MUST(end != NULL);
        begin = (size_t)(end - entry->data) + 1;
    }
    const uint8_t *end = begin < entry->len ? memchr(entry->data + begin, '\n', entry->len - begin) : NULL;
    *len = end == NULL ? entry->len - begin : (size_t)(end - entry->data) - begin;
    return begin;
}

size_t bundle_maker_lines(struct bundle_maker *b, const char *name)
{
    const struct buf *entry = bundle_maker_entry(b, name);
    size_t n = 0;
    for (size_t i = 0; i < entry->len; i++)
        n += entry->data[i] == '\n';
    return n;
}

char *bundle_maker_line(struct bundle_maker *b, const char *name, size_t at)
{
    const struct buf *entry = bundle_maker_entry(b, name);
    size_t len = 0, begin = place(entry, at, &len);
    char *line = strndup((const char *)entry->data + begin, len);
    MUST(line != NULL && len > 0);
    return line;
}

void bundle_maker_set_line(struct bundle_maker *b, const char *name, size_t at, const char *line)
{
    struct buf *entry = bundle_maker_entry(b, name);
    size_t len = 0, begin = place(entry, at, &len);
    MUST(begin < entry->len);
    splice(entry, begin, line == NULL ? len + 1 : len, line == NULL ? "" : line);
}

void bundle_maker_insert_line(struct bundle_maker *b, const char *name, size_t at, const char *line)
{
    struct buf *entry = bundle_maker_entry(b, name);
    size_t len = 0, begin = place(entry, at, &len);
    splice(entry, begin, 0, "\n");
    splice(entry, begin, 0, line);
}

void bundle_maker_edit_line(struct bundle_maker *b, const struct log_maker *log, size_t at, const char *old,
                            const char *new_text, int key)
{
    char *line = bundle_maker_line(b, b->run_name, at);
    const char *found = strstr(line, old);
    struct buf out;
    MUST(found != NULL);
    buf_init(&out, ENTRY_BYTES);
    buf_put(&out, line, (size_t)(found - line));
    buf_puts(&out, new_text);
    buf_puts(&out, found + strlen(old));
    buf_putc(&out, '\0');
    MUST(buf_err(&out) == ERR_OK);
    char *signed_line = key < 0 ? NULL : log_maker_resign(log, key, (const char *)out.data);
    bundle_maker_set_line(b, b->run_name, at, key < 0 ? (const char *)out.data : signed_line);
    free(signed_line);
    free(line);
    buf_wipe(&out);
}

/* --- the zip --- */

void bundle_maker_list(struct bundle_maker *b, const char *min_version)
{
    struct buf out;
    const char *separator = "";
    buf_init(&out, ENTRY_BYTES);
    buf_printf(&out, "{\"format\":\"" BUNDLE_FORMAT "\",\"verifier_min_version\":\"%s\",\"files\":{", min_version);
    for (size_t i = 0; i < b->count; i++) {
        uint8_t hash[DIGEST_BYTES];
        char hex[DIGEST_HEX_BYTES];
        if (strcmp(b->entries[i].name, "manifest.json") == 0)
            continue;
        digest_sha256(b->entries[i].bytes.data, b->entries[i].bytes.len, hash);
        digest_hex(hash, sizeof hash, hex);
        buf_printf(&out, "%s\"%s\":\"%s\"", separator, b->entries[i].name, hex);
        separator = ",";
    }
    buf_puts(&out, "}}");
    bundle_maker_put(b, "manifest.json", out.data, out.len);
    buf_wipe(&out);
}

void bundle_maker_save(struct bundle_maker *b, const char *path)
{
    struct zip_writer *w = NULL;
    FILE *file = fopen(path, "wb");
    MUST(file != NULL);
    MUST(zip_writer_new(file, &w) == ERR_OK);
    for (size_t i = 0; i < b->count; i++) {
        const struct buf *bytes = &b->entries[i].bytes;
        MUST(zip_writer_begin(w, b->entries[i].name) == ERR_OK);
        MUST(bytes->len == 0 || zip_writer_write(w, bytes->data, bytes->len) == ERR_OK);
        MUST(zip_writer_end(w) == ERR_OK);
    }
    MUST(zip_writer_finish(w) == ERR_OK);
    zip_writer_free(w);
    MUST(fclose(file) == 0);
}

size_t bundle_maker_patch(const char *path, const void *old, const void *new_bytes, size_t len)
{
    static uint8_t bytes[1 << 20];
    size_t n = 0;
    FILE *file = fopen(path, "r+b");
    MUST(file != NULL);
    size_t size = fread(bytes, 1, sizeof bytes, file);
    MUST(size < sizeof bytes);
    for (size_t i = 0; i + len <= size; i++) {
        if (memcmp(bytes + i, old, len) == 0) {
            memcpy(bytes + i, new_bytes, len);
            n++;
        }
    }
    rewind(file);
    MUST(fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
    return n;
}
