/*
 * bundle_edit - what a forger does: changes a text in one record of a bundle and makes everything around it fit again.
 *
 *   bundle_edit IN OUT TYPE OLD NEW
 *
 * In the first record of this type that holds OLD, its first occurrence becomes NEW (of the same length). The manifest's hash of the run's
 * file is recomputed, so that the only things left that can tell are the signatures. Prints the record's seq.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/arena.h"
#include "evidence/digest.h"
#include "evidence/jcs.h"
#include "evidence/json.h"
#include "evidence/zip.h"

enum { ARENA_BYTES = 256 << 20 };

struct edit {
    const char *type, *old, *new;
    int64_t seq; /* of the edited record, -1 while there is none */
};

static void die(const char *what)
{
    fprintf(stderr, "bundle_edit: %s\n", what);
    exit(1);
}

static bool is_run(const char *name)
{
    return strncmp(name, "runs/", 5) == 0;
}

/* Edits one line in place if it is of the right type and holds the text. */
static void edit_line(struct edit *e, char *line, size_t len)
{
    struct arena *arena = arena_new(ARENA_BYTES);
    const struct json *record = NULL;
    char *at = strstr(line, e->old);
    if (at != NULL && json_parse(arena, line, len, &record, NULL) == ERR_OK &&
        json_equal_cstr(json_get(json_get(record, "event"), "type"), e->type)) {
        if (!json_int(json_get(json_get(record, "event"), "seq"), &e->seq))
            die("a record without seq");
        memcpy(at, e->new, strlen(e->new));
    }
    arena_free(arena);
}

static void edit_run(struct edit *e, struct buf *file)
{
    char *line = (char *)file->data, *end = line + file->len;
    while (line < end && e->seq < 0) {
        char *newline = memchr(line, '\n', (size_t)(end - line));
        if (newline == NULL)
            die("a run's file does not end in a newline");
        *newline = '\0';
        edit_line(e, line, (size_t)(newline - line));
        *newline = '\n';
        line = newline + 1;
    }
}

/* The manifest with the hash of `name` replaced. */
static void edit_manifest(struct buf *manifest, const char *name, const char *hash)
{
    struct arena *arena = arena_new(ARENA_BYTES);
    const struct json *old = NULL, *files;
    struct json *new = json_new_object(arena), *new_files = json_new_object(arena);
    if (json_parse(arena, manifest->data, manifest->len, &old, NULL) != ERR_OK)
        die("the manifest is not strict JSON");
    files = json_get(old, "files");
    for (size_t i = 0; i < json_count(files); i++) {
        const char *key = json_key(files, i, NULL);
        json_set(arena, new_files, key, strcmp(key, name) == 0 ? json_new_string(arena, hash) : json_at(files, i));
    }
    for (size_t i = 0; i < json_count(old); i++) {
        const char *key = json_key(old, i, NULL);
        json_set(arena, new, key, strcmp(key, "files") == 0 ? new_files : json_at(old, i));
    }
    buf_reset(manifest);
    if (jcs_write(manifest, new) != ERR_OK)
        die("cannot write the manifest");
    arena_free(arena);
}

static void read_entry(struct zip *z, const struct zip_entry *entry, struct buf *out)
{
    buf_init(out, ZIP_MAX_ENTRY_BYTES);
    if (entry == NULL || zip_read(z, entry, out, NULL) != ERR_OK)
        die("cannot read an entry");
}

static void write_entry(struct zip_writer *w, const char *name, const struct buf *b)
{
    if (zip_writer_begin(w, name) != ERR_OK || zip_writer_write(w, b->data, b->len) != ERR_OK ||
        zip_writer_end(w) != ERR_OK)
        die("cannot write an entry");
}

int main(int argc, char **argv)
{
    struct zip *z = NULL;
    struct zip_writer *w = NULL;
    struct fault fault = {""};
    struct buf manifest, run;
    const char *run_name = NULL;
    char hash[DIGEST_HEX_BYTES];
    uint8_t digest[DIGEST_BYTES];

    if (argc != 6 || strlen(argv[4]) != strlen(argv[5]))
        die("usage: bundle_edit IN OUT TYPE OLD NEW");
    struct edit e = {.type = argv[3], .old = argv[4], .new = argv[5], .seq = -1};
    if (zip_open(argv[1], &z, &fault) != ERR_OK)
        die(fault.text);
    for (size_t i = 0; i < zip_count(z); i++)
        if (is_run(zip_at(z, i)->name))
            run_name = zip_at(z, i)->name;
    if (run_name == NULL)
        die("there is no run");
    read_entry(z, zip_find(z, run_name), &run);
    read_entry(z, zip_find(z, "manifest.json"), &manifest);
    edit_run(&e, &run);
    if (e.seq < 0)
        die("no such record");
    digest_sha256(run.data, run.len, digest);
    digest_hex(digest, sizeof digest, hash);
    edit_manifest(&manifest, run_name, hash);

    FILE *out = fopen(argv[2], "wb");
    if (out == NULL || zip_writer_new(out, &w) != ERR_OK)
        die("cannot write the copy");
    for (size_t i = 0; i < zip_count(z); i++) {
        const struct zip_entry *entry = zip_at(z, i);
        struct buf other;
        if (strcmp(entry->name, run_name) == 0) {
            write_entry(w, entry->name, &run);
        } else if (strcmp(entry->name, "manifest.json") == 0) {
            write_entry(w, entry->name, &manifest);
        } else {
            read_entry(z, entry, &other);
            write_entry(w, entry->name, &other);
            buf_wipe(&other);
        }
    }
    if (zip_writer_finish(w) != ERR_OK || fclose(out) != 0)
        die("cannot write the copy");
    printf("%" PRId64 "\n", e.seq);
    zip_writer_free(w);
    zip_close(z);
    buf_wipe(&manifest);
    buf_wipe(&run);
    return 0;
}
