#include "cli/bundle_writer.h"

#include <stdlib.h>

#include "evidence/arena.h"
#include "evidence/buf.h"
#include "evidence/bundle.h"
#include "evidence/digest.h"
#include "evidence/jcs.h"
#include "evidence/json.h"
#include "evidence/zip.h"

enum { NAMES_MEMORY_BYTES = 16 << 20, MANIFEST_BYTES = 4 << 20 };

struct bundle_writer {
    struct zip_writer *zip;
    struct arena *arena;
    struct json *files; /* name to hash, for the manifest */
    const char *name;   /* of the file being written; lives in the arena */
    struct digest_state hash;
};

enum err bundle_writer_new(FILE *out, struct bundle_writer **w)
{
    struct bundle_writer *n = calloc(1, sizeof *n);
    if (n == NULL)
        return ERR_NOMEM;
    n->arena = arena_new(NAMES_MEMORY_BYTES);
    n->files = json_new_object(n->arena);
    enum err e = n->files != NULL ? zip_writer_new(out, &n->zip) : ERR_NOMEM;
    if (e != ERR_OK) {
        bundle_writer_free(n);
        return e;
    }
    *w = n;
    return ERR_OK;
}

void bundle_writer_free(struct bundle_writer *w)
{
    if (w == NULL)
        return;
    zip_writer_free(w->zip);
    arena_free(w->arena);
    free(w);
}

enum err bundle_writer_begin(struct bundle_writer *w, const char *name)
{
    if (json_get(w->files, name) != NULL)
        return ERR_BUNDLE;
    const struct json *copy = json_new_string(w->arena, name);
    if (copy == NULL)
        return ERR_NOMEM;
    w->name = json_cstr(copy);
    digest_init(&w->hash);
    return zip_writer_begin(w->zip, name);
}

enum err bundle_writer_write(struct bundle_writer *w, const void *bytes, size_t len)
{
    digest_update(&w->hash, bytes, len);
    return zip_writer_write(w->zip, bytes, len);
}

enum err bundle_writer_end(struct bundle_writer *w)
{
    uint8_t hash[DIGEST_BYTES];
    char hex[DIGEST_HEX_BYTES];
    digest_final(&w->hash, hash);
    digest_hex(hash, sizeof hash, hex);
    json_set_string(w->arena, w->files, w->name, hex);
    return zip_writer_end(w->zip);
}

enum err bundle_writer_file(struct bundle_writer *w, const char *name, const void *bytes, size_t len)
{
    enum err e = bundle_writer_begin(w, name);
    if (e == ERR_OK)
        e = bundle_writer_write(w, bytes, len);
    return e == ERR_OK ? bundle_writer_end(w) : e;
}

enum err bundle_writer_finish(struct bundle_writer *w)
{
    struct buf text;
    struct json *manifest = json_new_object(w->arena);
    buf_init(&text, MANIFEST_BYTES);
    if (manifest != NULL) {
        json_set_string(w->arena, manifest, "format", BUNDLE_FORMAT);
        json_set_string(w->arena, manifest, "verifier_min_version", BUNDLE_VERIFIER_MIN_VERSION);
        json_set_string(w->arena, manifest, "verifier_version", BUNDLE_VERIFIER_MIN_VERSION);
        json_set(w->arena, manifest, "files", w->files);
    }
    enum err e = jcs_write(&text, manifest);
    if (e != ERR_OK)
        goto out;
    /* The manifest names every file but itself. */
    if ((e = zip_writer_begin(w->zip, "manifest.json")) != ERR_OK)
        goto out;
    if ((e = zip_writer_write(w->zip, text.data, text.len)) != ERR_OK)
        goto out;
    if ((e = zip_writer_end(w->zip)) != ERR_OK)
        goto out;
    e = zip_writer_finish(w->zip);
out:
    buf_wipe(&text);
    return e;
}
