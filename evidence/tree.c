#include "evidence/tree.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

static bool is_odd(uint64_t n)
{
    return (n & 1) != 0;
}

void tree_leaf(const void *data, size_t len, uint8_t out[static DIGEST_BYTES])
{
    static const uint8_t prefix = 0x00;
    struct digest_state s;
    digest_init(&s);
    digest_update(&s, &prefix, 1);
    digest_update(&s, data, len);
    digest_final(&s, out);
}

void tree_node(const uint8_t left[static DIGEST_BYTES], const uint8_t right[static DIGEST_BYTES],
               uint8_t out[static DIGEST_BYTES])
{
    uint8_t both[1 + 2 * DIGEST_BYTES];
    both[0] = 0x01;
    memcpy(both + 1, left, DIGEST_BYTES);
    memcpy(both + 1 + DIGEST_BYTES, right, DIGEST_BYTES);
    digest_sha256(both, sizeof both, out);
}

void tree_init(struct tree *t)
{
    memset(t, 0, sizeof *t);
}

enum err tree_append(struct tree *t, const uint8_t leaf[static DIGEST_BYTES], tree_completed *completed, void *ctx)
{
    uint8_t hash[DIGEST_BYTES];
    unsigned level = 0;

    if (t->size >= TREE_MAX_SIZE)
        return ERR_TOO_LARGE;
    memcpy(hash, leaf, sizeof hash);
    for (; is_odd(t->size >> level); level++) {
        tree_node(t->peaks[level], hash, hash);
        enum err e = completed == NULL ? ERR_OK : completed(ctx, level + 1, t->size >> (level + 1), hash);
        if (e != ERR_OK)
            return e;
    }
    memcpy(t->peaks[level], hash, sizeof hash);
    t->size++;
    return ERR_OK;
}

void tree_root(const struct tree *t, uint8_t out[static DIGEST_BYTES])
{
    uint8_t hash[DIGEST_BYTES];
    bool any = false;

    for (unsigned level = 0; level < 64; level++) {
        if (!is_odd(t->size >> level))
            continue;
        if (any)
            tree_node(t->peaks[level], hash, hash);
        else
            memcpy(hash, t->peaks[level], sizeof hash);
        any = true;
    }
    if (!any)
        digest_sha256("", 0, hash);
    memcpy(out, hash, sizeof hash);
}

/* The complete subtree at `level` that the frontier of `size` leaves names, when that bit of size is set. */
static uint64_t peak_index(uint64_t size, unsigned level)
{
    return (size >> level) - 1;
}

enum err tree_load(struct tree *t, uint64_t size, tree_read *read, void *ctx)
{
    struct tree loaded;

    if (size > TREE_MAX_SIZE)
        return ERR_TOO_LARGE;
    tree_init(&loaded);
    loaded.size = size;
    for (unsigned level = 0; level < 64; level++) {
        if (!is_odd(size >> level))
            continue;
        enum err e = read(ctx, level, peak_index(size, level), loaded.peaks[level]);
        if (e != ERR_OK)
            return e;
    }
    *t = loaded;
    return ERR_OK;
}

/* The leaves behind the last complete subtree at `level`: the ragged right edge, folded from the peaks below. There is
 * at least one such leaf. */
static enum err read_edge(uint64_t size, unsigned level, tree_read *read, void *ctx, uint8_t out[static DIGEST_BYTES])
{
    uint8_t hash[DIGEST_BYTES], peak[DIGEST_BYTES];
    bool any = false;

    for (unsigned l = 0; l < level; l++) {
        if (!is_odd(size >> l))
            continue;
        enum err e = read(ctx, l, peak_index(size, l), any ? peak : hash);
        if (e != ERR_OK)
            return e;
        if (any)
            tree_node(peak, hash, hash);
        any = true;
    }
    assert(any);
    memcpy(out, hash, sizeof hash);
    return ERR_OK;
}

/* Appends the siblings from node (level, index) up to the root of `size` leaves to the proof. */
static enum err climb(unsigned level, uint64_t index, uint64_t size, tree_read *read, void *ctx,
                      uint8_t (*proof)[DIGEST_BYTES], size_t *count)
{
    for (; (size - 1) >> level > 0; level++, index >>= 1) {
        uint64_t last = (size - 1) >> level;
        enum err e;
        if (!is_odd(index) && index == last)
            continue; /* no sibling here: the node is carried up as it is */
        if (is_odd(index))
            e = read(ctx, level, index - 1, proof[*count]);
        else if (size >> level >= index + 2)
            e = read(ctx, level, index + 1, proof[*count]);
        else
            e = read_edge(size, level, read, ctx, proof[*count]);
        if (e != ERR_OK)
            return e;
        ++*count;
    }
    return ERR_OK;
}

enum err tree_inclusion_prove(uint64_t index, uint64_t size, tree_read *read, void *ctx,
                              uint8_t proof[static TREE_MAX_PROOF][DIGEST_BYTES], size_t *count)
{
    size_t n = 0;

    if (index >= size || size > TREE_MAX_SIZE)
        return ERR_STATE;
    enum err e = climb(0, index, size, read, ctx, proof, &n);
    if (e != ERR_OK)
        return e;
    *count = n;
    return ERR_OK;
}

enum err tree_consistency_prove(uint64_t old_size, uint64_t size, tree_read *read, void *ctx,
                                uint8_t proof[static TREE_MAX_PROOF][DIGEST_BYTES], size_t *count)
{
    size_t n = 0;
    unsigned level = 0;

    if (old_size == 0 || old_size > size || size > TREE_MAX_SIZE)
        return ERR_STATE;
    if (old_size == size) {
        *count = 0;
        return ERR_OK;
    }
    /* From the old tree's last peak upwards. When that peak is the whole old tree, its hash is known to the verifier. */
    while (!is_odd(old_size >> level))
        level++;
    uint64_t index = peak_index(old_size, level);
    if (index != 0) {
        enum err e = read(ctx, level, index, proof[n++]);
        if (e != ERR_OK)
            return e;
    }
    enum err e = climb(level, index, size, read, ctx, proof, &n);
    if (e != ERR_OK)
        return e;
    *count = n;
    return ERR_OK;
}

/* RFC 9162 2.1.3.2, with its names fn, sn and r. */
enum err tree_inclusion_verify(uint64_t index, uint64_t size, const uint8_t leaf[static DIGEST_BYTES],
                               const uint8_t (*proof)[DIGEST_BYTES], size_t count,
                               const uint8_t root[static DIGEST_BYTES])
{
    uint8_t r[DIGEST_BYTES];

    if (index >= size)
        return ERR_PROOF;
    uint64_t fn = index, sn = size - 1;
    memcpy(r, leaf, sizeof r);
    for (size_t i = 0; i < count; i++) {
        if (sn == 0)
            return ERR_PROOF;
        if (is_odd(fn) || fn == sn) {
            tree_node(proof[i], r, r);
            for (; !is_odd(fn) && fn != 0; fn >>= 1)
                sn >>= 1;
        } else {
            tree_node(r, proof[i], r);
        }
        fn >>= 1;
        sn >>= 1;
    }
    return sn == 0 && digest_equal(r, root) ? ERR_OK : ERR_PROOF;
}

/* RFC 9162 2.1.4.2 for 0 < old_size < size, with its names fn, sn, fr and sr. `start` is the first hash, from which both
 * roots are built. */
static enum err consistency_walk(uint64_t old_size, uint64_t size, const uint8_t *start,
                                 const uint8_t (*proof)[DIGEST_BYTES], size_t count, uint8_t fr[static DIGEST_BYTES],
                                 uint8_t sr[static DIGEST_BYTES])
{
    uint64_t fn = old_size - 1, sn = size - 1;

    for (; is_odd(fn); fn >>= 1)
        sn >>= 1;
    memcpy(fr, start, DIGEST_BYTES);
    memcpy(sr, start, DIGEST_BYTES);
    for (size_t i = 0; i < count; i++) {
        if (sn == 0)
            return ERR_PROOF;
        if (is_odd(fn) || fn == sn) {
            tree_node(proof[i], fr, fr);
            tree_node(proof[i], sr, sr);
            for (; !is_odd(fn) && fn != 0; fn >>= 1)
                sn >>= 1;
        } else {
            tree_node(sr, proof[i], sr);
        }
        fn >>= 1;
        sn >>= 1;
    }
    return sn == 0 ? ERR_OK : ERR_PROOF;
}

enum err tree_consistency_verify(uint64_t old_size, uint64_t size, const uint8_t old_root[static DIGEST_BYTES],
                                 const uint8_t root[static DIGEST_BYTES], const uint8_t (*proof)[DIGEST_BYTES],
                                 size_t count)
{
    uint8_t fr[DIGEST_BYTES], sr[DIGEST_BYTES];
    enum err e;

    if (old_size == 0 || old_size > size)
        return ERR_PROOF;
    if (old_size == size)
        return count == 0 && digest_equal(old_root, root) ? ERR_OK : ERR_PROOF;
    if (count == 0)
        return ERR_PROOF;
    bool whole = (old_size & (old_size - 1)) == 0; /* one complete subtree: its root is the first hash */
    if (whole)
        e = consistency_walk(old_size, size, old_root, proof, count, fr, sr);
    else
        e = consistency_walk(old_size, size, proof[0], proof + 1, count - 1, fr, sr);
    if (e != ERR_OK)
        return e;
    return digest_equal(fr, old_root) && digest_equal(sr, root) ? ERR_OK : ERR_PROOF;
}
