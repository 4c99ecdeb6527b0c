#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tools/bundle_cases.h"
#include "tests/tools/run_maker.h"

#define MUST LOG_MAKER_MUST

/* The run of run_maker_two_runs: lines 0 to 4 are run.registered, policy.decision, tool.result, run.closing, run.final. */
static void export(struct bundle_work *w, unsigned witnesses)
{
    bundle_maker_export(&w->bundle, &w->log, "default", "run-a", w->log.count, witnesses);
}

static void base(struct bundle_work *w)
{
    run_maker_two_runs(&w->log);
    export(w, 1);
}

static void edit(struct bundle_work *w, size_t line, const char *old, const char *new_text, int key)
{
    bundle_maker_edit_line(&w->bundle, &w->log, line, old, new_text, key);
}

/* Writes the manifest now, so that what changes afterwards is not listed. */
static void list(struct bundle_work *w)
{
    bundle_maker_list(&w->bundle, "1.0.0");
    w->min_version = NULL;
}

/* --- the zip --- */

static void patch_traversal(const char *path)
{
    MUST(bundle_maker_patch(path, "aa/evil.txt", "../evil.txt", 11) == 2);
}

static void zip_traversal(struct bundle_work *w)
{
    base(w);
    bundle_maker_put(&w->bundle, "aa/evil.txt", "x", 1);
    w->patch = patch_traversal;
}

static void patch_absolute(const char *path)
{
    MUST(bundle_maker_patch(path, "aevil.txt", "/evil.txt", 9) == 2);
}

static void zip_absolute(struct bundle_work *w)
{
    base(w);
    bundle_maker_put(&w->bundle, "aevil.txt", "x", 1);
    w->patch = patch_absolute;
}

static void patch_duplicate(const char *path)
{
    MUST(bundle_maker_patch(path, "twin-2.txt", "twin-1.txt", 10) == 2);
}

static void zip_duplicate(struct bundle_work *w)
{
    base(w);
    bundle_maker_put(&w->bundle, "twin-1.txt", "x", 1);
    bundle_maker_put(&w->bundle, "twin-2.txt", "x", 1);
    w->patch = patch_duplicate;
}

/* Writes bytes into a header of the entry `name`, at an offset in the header: the local one of 30 bytes, or the central
 * one of 46, after which the name stands. */
static void patch_header(const char *path, const char *name, size_t header_len, size_t offset, const char bytes[4])
{
    static char file_bytes[1 << 20];
    const char *magic = header_len == 30 ? "PK\3\4" : "PK\1\2";
    FILE *file = fopen(path, "r+b");
    MUST(file != NULL);
    size_t size = fread(file_bytes, 1, sizeof file_bytes, file), done = 0;
    for (size_t at = 0; at + header_len + strlen(name) <= size; at++) {
        if (memcmp(file_bytes + at, magic, 4) != 0 || memcmp(file_bytes + at + header_len, name, strlen(name)) != 0)
            continue;
        memcpy(file_bytes + at + offset, bytes, 4);
        done++;
    }
    rewind(file);
    MUST(done == 1 && fwrite(file_bytes, 1, size, file) == size && fclose(file) == 0);
}

static void patch_symlink(const char *path)
{
    patch_header(path, "link.txt", 46, 38, "\0\0\xff\xa1");
}

static void zip_symlink(struct bundle_work *w)
{
    base(w);
    bundle_maker_put(&w->bundle, "link.txt", "/etc/passwd", 11);
    w->patch = patch_symlink;
}

/* The headers say 64 MiB and one byte. */
static void patch_oversized(const char *path)
{
    patch_header(path, "large.txt", 30, 22, "\1\0\0\4");
    patch_header(path, "large.txt", 46, 24, "\1\0\0\4");
}

static void zip_oversized(struct bundle_work *w)
{
    base(w);
    bundle_maker_put(&w->bundle, "large.txt", "x", 1);
    w->patch = patch_oversized;
}

static void zip_no_manifest(struct bundle_work *w)
{
    base(w);
    w->min_version = NULL;
}

/* Of an entry that nobody parses. */
static void patch_crc(const char *path)
{
    patch_header(path, "notes.txt", 30, 14, "crc!");
    patch_header(path, "notes.txt", 46, 16, "crc!");
}

static void zip_crc(struct bundle_work *w)
{
    base(w);
    bundle_maker_put(&w->bundle, "notes.txt", "x", 1);
    w->patch = patch_crc;
}

/* --- JSON --- */

static void manifest_duplicate_key(struct bundle_work *w)
{
    base(w);
    list(w);
    bundle_maker_replace(&w->bundle, "manifest.json", "{", "{\"format\":\"x\",");
}

static void record_duplicate_key(struct bundle_work *w)
{
    base(w);
    edit(w, 1, "\"v\":2", "\"v\":2,\"v\":2", -1);
}

static void no_final_newline(struct bundle_work *w)
{
    base(w);
    bundle_maker_entry(&w->bundle, w->bundle.run_name)->len--;
}

static void run_empty(struct bundle_work *w)
{
    base(w);
    bundle_maker_put(&w->bundle, w->bundle.run_name, "", 0);
}

static void line_short(struct bundle_work *w)
{
    base(w);
    bundle_maker_insert_line(&w->bundle, w->bundle.run_name, 1, "{\"event\":{\"seq\":2}}");
}

static void line_long(struct bundle_work *w)
{
    static char spaces[(1 << 20) + 1];
    base(w);
    memset(spaces, ' ', sizeof spaces - 1);
    edit(w, 1, "\"v\":2", spaces, -1);
}

static void seq_not_integer(struct bundle_work *w)
{
    base(w);
    edit(w, 1, "\"seq\":3,", "\"seq\":\"3\",", -1);
}

static void event_missing(struct bundle_work *w)
{
    base(w);
    edit(w, 1, "\"event\":", "\"invent\":", -1);
}

/* --- the manifest --- */

static void format_v1(struct bundle_work *w)
{
    base(w);
    list(w);
    bundle_maker_replace(&w->bundle, "manifest.json", "tracekit.bundle.v2", "tracekit.bundle.v1");
}

static void newer_verifier(struct bundle_work *w)
{
    base(w);
    w->min_version = "99.0";
}

static void odd_version(struct bundle_work *w)
{
    base(w);
    w->min_version = "1.0.0rc1";
}

static void unlisted_file(struct bundle_work *w)
{
    base(w);
    list(w);
    bundle_maker_put(&w->bundle, "policies/extra.txt", "x", 1);
    bundle_maker_drop(&w->bundle, "policies/extra.txt");
    bundle_maker_put(&w->bundle, "extra.txt", "x", 1);
}

static void wrong_hash(struct bundle_work *w)
{
    base(w);
    list(w);
    bundle_maker_replace(&w->bundle, "manifest.json", "\"keys/records.jsonl\":\"", "\"keys/records.jsonl\":\"0");
}

static void missing_file(struct bundle_work *w)
{
    base(w);
    list(w);
    bundle_maker_replace(&w->bundle, "manifest.json", "\"files\":{", "\"files\":{\"gone.txt\":\"00\",");
}

/* --- checkpoint and proofs --- */

static void note_edited(struct bundle_work *w)
{
    base(w);
    bundle_maker_replace(&w->bundle, w->bundle.note_name, "\n9\n", "\n8\n");
}

static void proofs_tree_size(struct bundle_work *w)
{
    base(w);
    bundle_maker_replace(&w->bundle, "proofs/records.json", "\"tree_size\":9", "\"tree_size\":8");
}

/* Another first hash in the proof for a seq. */
static void alter_proof(struct bundle_work *w, const char *key)
{
    base(w);
    struct buf *proofs = bundle_maker_entry(&w->bundle, "proofs/records.json");
    buf_putc(proofs, '\0');
    char *at = strstr((char *)proofs->data, key);
    MUST(at != NULL);
    at += strlen(key);
    *at = *at == 'A' ? 'B' : 'A';
    proofs->len--;
}

static void inclusion_altered(struct bundle_work *w)
{
    alter_proof(w, "\"7\":[\"");
}

static void first_inclusion_altered(struct bundle_work *w)
{
    alter_proof(w, "\"1\":[\"");
}

static void inclusion_no_base64(struct bundle_work *w)
{
    base(w);
    bundle_maker_replace(&w->bundle, "proofs/records.json", "\"7\":[\"", "\"7\":[\"*");
}

static void inclusion_missing(struct bundle_work *w)
{
    base(w);
    bundle_maker_replace(&w->bundle, "proofs/records.json", "\"inclusion\"", "\"exclusion\"");
}

static void wrong_origin(struct bundle_work *w)
{
    base(w);
    struct buf *note = bundle_maker_entry(&w->bundle, w->bundle.note_name);
    buf_reset(note);
    log_maker_note(&w->log, "tracekit.example.org/log/other", 9, 1, note);
}

static void note_missing(struct bundle_work *w)
{
    base(w);
    bundle_maker_drop(&w->bundle, w->bundle.note_name);
}

static void keys_missing(struct bundle_work *w)
{
    base(w);
    bundle_maker_drop(&w->bundle, "keys/records.jsonl");
}

static void unpinned_witness(struct bundle_work *w)
{
    run_maker_two_runs(&w->log);
    export(w, 4);
    w->required = 1;
}

static void witness_none(struct bundle_work *w)
{
    run_maker_two_runs(&w->log);
    export(w, 0);
    w->required = 1;
}

#define UNUSABLE 2, "UNUSABLE BUNDLE", "bundle readable"
#define NEEDS(what) 2, "UNVERIFIABLE (needs " what ")", "bundle readable"
#define FAILED(line) 1, "FAILED", line

const struct bundle_case bundle_cases_broken[] = {
    {"zip-traversal", zip_traversal, UNUSABLE, NULL, NULL},
    {"zip-absolute", zip_absolute, UNUSABLE, NULL, NULL},
    {"zip-duplicate", zip_duplicate, UNUSABLE, NULL, NULL},
    {"zip-symlink", zip_symlink, UNUSABLE, NULL, NULL},
    {"zip-oversized", zip_oversized, UNUSABLE, NULL, NULL},
    {"zip-no-manifest", zip_no_manifest, UNUSABLE, NULL, NULL},
    {"zip-crc", zip_crc, UNUSABLE, NULL, NULL},
    {"json-manifest-duplicate-key", manifest_duplicate_key, UNUSABLE, NULL, NULL},
    {"json-record-duplicate-key", record_duplicate_key, FAILED("bundle structure"), NULL, NULL},
    {"json-no-final-newline", no_final_newline, FAILED("bundle structure"), NULL, NULL},
    {"run-empty", run_empty, FAILED("bundle structure"), NULL, NULL},
    {"line-short", line_short, FAILED("bundle structure"), NULL, NULL},
    {"line-long", line_long, FAILED("bundle structure"), NULL, NULL},
    {"seq-not-integer", seq_not_integer, FAILED("bundle structure"), NULL, NULL},
    {"event-missing", event_missing, FAILED("bundle structure"), NULL, NULL},
    {"manifest-format-v1", format_v1, UNUSABLE, NULL, NULL},
    {"manifest-newer-verifier", newer_verifier, NEEDS("tracekit >= 99.0"), NULL, NULL},
    {"manifest-odd-version", odd_version, UNUSABLE, NULL, NULL},
    {"manifest-unlisted-file", unlisted_file, FAILED("manifest"), NULL, NULL},
    {"manifest-wrong-hash", wrong_hash, FAILED("manifest"), NULL, NULL},
    {"manifest-missing-file", missing_file, FAILED("manifest"), NULL, NULL},
    {"checkpoint-body-edited", note_edited, FAILED("checkpoint"), NULL, NULL},
    {"checkpoint-wrong-origin", wrong_origin, FAILED("checkpoint"), NULL, NULL},
    {"checkpoint-missing", note_missing, FAILED("bundle structure"), NULL, NULL},
    {"proofs-tree-size", proofs_tree_size, FAILED("checkpoint"), NULL, NULL},
    {"proofs-inclusion-altered", inclusion_altered, FAILED("inclusion"), NULL, NULL},
    {"proofs-first-inclusion-altered", first_inclusion_altered, FAILED("inclusion"), NULL, NULL},
    {"proofs-inclusion-no-base64", inclusion_no_base64, FAILED("bundle structure"), NULL, NULL},
    {"proofs-inclusion-missing", inclusion_missing, FAILED("bundle structure"), NULL, NULL},
    {"keys-missing", keys_missing, FAILED("bundle structure"), NULL, NULL},
    {"witness-unpinned-only", unpinned_witness, FAILED("witness quorum"), NULL, NULL},
    {"witness-none", witness_none, FAILED("witness quorum"), NULL, NULL},
    {NULL, NULL, 0, NULL, NULL, NULL, NULL},
};
