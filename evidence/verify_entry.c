#include <inttypes.h>
#include <string.h>

#include "evidence/verify_internal.h"

bool verify_entry_find(const struct verify *v, const char *name, size_t *index)
{
    for (size_t i = 0; i < zip_count(v->zip); i++) {
        if (strcmp(zip_at(v->zip, i)->name, name) == 0) {
            *index = i;
            return true;
        }
    }
    return false;
}

/* --- whole entries --- */

struct whole {
    struct digest_state hash;
    struct buf *out; /* NULL: only hash */
};

static enum err take_bytes(void *ctx, const uint8_t *bytes, size_t len)
{
    struct whole *w = ctx;
    digest_update(&w->hash, bytes, len);
    if (w->out == NULL)
        return ERR_OK;
    buf_put(w->out, bytes, len);
    return buf_err(w->out) == ERR_NOMEM ? ERR_NOMEM : ERR_OK; /* what is too large is hashed to its end */
}

static enum err stream(struct verify *v, size_t index, struct whole *w, struct fault *fault)
{
    digest_init(&w->hash);
    enum err e = zip_stream(v->zip, zip_at(v->zip, index), take_bytes, w, fault);
    if (e != ERR_OK)
        return e;
    digest_final(&w->hash, v->hashes[index]);
    v->hashed[index] = true;
    return ERR_OK;
}

enum err verify_entry_read(struct verify *v, size_t index, struct buf *out, struct fault *fault)
{
    struct whole w = {.out = out};
    enum err e = stream(v, index, &w, fault);
    if (e == ERR_OK && buf_err(out) != ERR_OK)
        e = fault_set(fault, ERR_VERSION, "needs a verifier that reads more than %zu bytes of %s", out->max,
                      zip_at(v->zip, index)->name);
    return e;
}

enum err verify_entry_rest(struct verify *v, struct fault *fault)
{
    struct whole w = {.out = NULL};
    for (size_t i = 0; i < zip_count(v->zip); i++) {
        if (v->hashed[i])
            continue;
        enum err e = stream(v, i, &w, fault);
        if (e != ERR_OK)
            return e;
    }
    return ERR_OK;
}

/* --- lines --- */

struct lines {
    struct verify *v;
    const char *name;
    struct digest_state hash;
    struct buf part; /* the beginning of a line that goes on in the next piece */
    verify_line *line;
    uint64_t number; /* of the line, from 1 */
    enum err err;    /* the first failure; what follows it is only hashed */
    struct fault *fault;
};

static void refuse(struct lines *l, enum err e, const char *what)
{
    if (e == ERR_VERSION)
        l->err = fault_set(l->fault, e, "%s", what);
    else
        l->err = fault_set(l->fault, e, "%s line %" PRIu64 ": %s", l->name, l->number, what);
}

static void whole_line(struct lines *l, const uint8_t *line, size_t len)
{
    struct fault fault = {"out of memory"};
    if (len < VERIFY_MIN_LINE_BYTES) {
        refuse(l, ERR_BUNDLE, "shorter than any signed record");
        return;
    }
    enum err e = l->line(l->v, line, len, &fault);
    if (e != ERR_OK)
        refuse(l, e, fault.text);
}

/* One piece of a line, its end (`ends`) or not. */
static void take_piece(struct lines *l, const uint8_t *piece, size_t len, bool ends)
{
    if (l->part.len == 0 && l->number++ == VERIFY_MAX_LINES) {
        refuse(l, ERR_BUNDLE, "more lines than a bundle may have");
        return;
    }
    if (len > RECORD_MAX_BYTES - l->part.len) {
        refuse(l, ERR_BUNDLE, "longer than 1 MiB");
        return;
    }
    if (ends && l->part.len == 0) { /* the usual case: no copy */
        whole_line(l, piece, len);
        return;
    }
    buf_put(&l->part, piece, len);
    if (buf_err(&l->part) != ERR_OK) {
        l->err = buf_err(&l->part);
    } else if (ends) {
        whole_line(l, l->part.data, l->part.len);
        buf_reset(&l->part);
    }
}

static enum err take_lines(void *ctx, const uint8_t *bytes, size_t len)
{
    struct lines *l = ctx;
    digest_update(&l->hash, bytes, len);
    while (len > 0 && l->err == ERR_OK) {
        const uint8_t *end = memchr(bytes, '\n', len);
        size_t piece = end == NULL ? len : (size_t)(end - bytes);
        take_piece(l, bytes, piece, end != NULL);
        size_t used = end == NULL ? piece : piece + 1;
        bytes += used;
        len -= used;
    }
    return l->err == ERR_NOMEM ? ERR_NOMEM : ERR_OK;
}

enum err verify_entry_lines(struct verify *v, size_t index, verify_line *line, struct fault *fault)
{
    const struct zip_entry *entry = zip_at(v->zip, index);
    struct lines l = {.v = v, .name = entry->name, .line = line, .fault = fault};
    buf_init(&l.part, RECORD_MAX_BYTES);
    digest_init(&l.hash);

    enum err e = zip_stream(v->zip, entry, take_lines, &l, fault);
    if (e != ERR_OK)
        goto out;
    if (l.err == ERR_OK && l.part.len > 0)
        refuse(&l, ERR_BUNDLE, "does not end in a newline");
    digest_final(&l.hash, v->hashes[index]);
    v->hashed[index] = true;
    e = l.err;
out:
    buf_wipe(&l.part);
    return e;
}
