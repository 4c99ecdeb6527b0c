/* The Merkle tree: known answers of RFC 6962, every proof of small trees, and every way to spoil one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "evidence/tree.h"

enum { LEAVES = 70, LEVELS = 7, ALL_BITS_UP_TO = 16 };

typedef uint8_t hash[DIGEST_BYTES];

/* Stored subtrees, and how often and what was read. */
struct stored {
    uint64_t size;
    hash nodes[LEVELS + 1][LEAVES];
    size_t reads;
    enum err fail; /* what reading returns, when not OK */
};

static struct stored stored;
static hash roots[LEAVES + 1];

static enum err store_node(void *ctx, unsigned level, uint64_t index, const uint8_t node[static DIGEST_BYTES])
{
    struct stored *s = ctx;
    if (s->fail != ERR_OK)
        return s->fail;
    assert_in_range(level, 1, LEVELS);
    memcpy(s->nodes[level][index], node, DIGEST_BYTES);
    return ERR_OK;
}

/* Only complete subtrees of the tree at hand may be asked for. */
static enum err read_node(void *ctx, unsigned level, uint64_t index, uint8_t out[static DIGEST_BYTES])
{
    struct stored *s = ctx;
    assert_true(level <= LEVELS && (index + 1) << level <= s->size);
    s->reads++;
    memcpy(out, s->nodes[level][index], DIGEST_BYTES);
    return s->fail;
}

/* RFC 6962 2.1, word for word: the slow definition to compare with. */
static void slow_root(const hash *leaves, size_t count, uint8_t *out)
{
    hash left, right;
    if (count == 1) {
        memcpy(out, leaves[0], DIGEST_BYTES);
        return;
    }
    size_t k = 1;
    while (2 * k < count)
        k *= 2;
    slow_root(leaves, k, left);
    slow_root(leaves + k, count - k, right);
    tree_node(left, right, out);
}

static int set_up(void **state)
{
    struct tree t;
    (void)state;
    memset(&stored, 0, sizeof stored);
    tree_init(&t);
    tree_root(&t, roots[0]);
    for (size_t i = 0; i < LEAVES; i++) {
        uint8_t data[2] = {(uint8_t)i, 0x5a};
        tree_leaf(data, sizeof data, stored.nodes[0][i]);
        if (tree_append(&t, stored.nodes[0][i], store_node, &stored) != ERR_OK)
            return -1;
        tree_root(&t, roots[i + 1]);
    }
    return 0;
}

static void from_hex(const char *text, uint8_t out[static DIGEST_BYTES])
{
    assert_int_equal(digest_unhex(text, strlen(text), out, DIGEST_BYTES), ERR_OK);
}

/* The eight leaves and roots that implementations of certificate transparency share. */
static void roots_are_those_of_rfc_6962(void **state)
{
    static const char *const leaves[] = {
        "", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f",
    };
    static const char *const expected[] = {
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    };
    struct tree t;
    hash leaf, root, want;
    uint8_t data[16];
    (void)state;

    tree_init(&t);
    for (size_t i = 0; i <= 8; i++) {
        tree_root(&t, root);
        from_hex(expected[i], want);
        assert_memory_equal(root, want, sizeof root);
        assert_int_equal(t.size, i);
        if (i == 8)
            break;
        assert_int_equal(digest_unhex(leaves[i], strlen(leaves[i]), data, strlen(leaves[i]) / 2), ERR_OK);
        tree_leaf(data, strlen(leaves[i]) / 2, leaf);
        assert_int_equal(tree_append(&t, leaf, NULL, NULL), ERR_OK);
    }
}

static void roots_are_those_of_the_definition(void **state)
{
    hash root;
    (void)state;
    for (size_t size = 1; size <= LEAVES; size++) {
        slow_root((const hash *)stored.nodes[0], size, root);
        assert_memory_equal(root, roots[size], sizeof root);
    }
}

static void a_failed_append_changes_nothing(void **state)
{
    struct tree t, before;
    (void)state;
    tree_init(&t);
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(tree_append(&t, stored.nodes[0][i], NULL, NULL), ERR_OK);
    before = t;
    stored.fail = ERR_STORE;
    assert_int_equal(tree_append(&t, stored.nodes[0][7], store_node, &stored), ERR_STORE);
    stored.fail = ERR_OK;
    assert_memory_equal(&t, &before, sizeof t);

    t.size = TREE_MAX_SIZE;
    assert_int_equal(tree_append(&t, stored.nodes[0][7], NULL, NULL), ERR_TOO_LARGE);
    assert_true(t.size == TREE_MAX_SIZE);
}

static void a_loaded_tree_goes_on_like_the_first(void **state)
{
    (void)state;
    for (uint64_t size = 0; size <= LEAVES; size++) {
        struct tree t;
        hash root;
        stored.size = size;
        assert_int_equal(tree_load(&t, size, read_node, &stored), ERR_OK);
        tree_root(&t, root);
        assert_memory_equal(root, roots[size], sizeof root);
        for (size_t i = size; i < LEAVES; i++) {
            assert_int_equal(tree_append(&t, stored.nodes[0][i], NULL, NULL), ERR_OK);
            tree_root(&t, root);
            assert_memory_equal(root, roots[i + 1], sizeof root);
        }
    }
}

static void a_failed_load_changes_nothing(void **state)
{
    struct tree t, before;
    (void)state;
    memset(&t, 0x77, sizeof t);
    before = t;
    stored.size = 13;
    stored.fail = ERR_STORE;
    assert_int_equal(tree_load(&t, 13, read_node, &stored), ERR_STORE);
    stored.fail = ERR_OK;
    assert_memory_equal(&t, &before, sizeof t);
    assert_int_equal(tree_load(&t, TREE_MAX_SIZE + 1, read_node, &stored), ERR_TOO_LARGE);
    assert_memory_equal(&t, &before, sizeof t);
}

/* How far to the next bit to flip in a proof for `size` leaves: small trees get all of them, others about one in each byte,
 * at changing places. */
static size_t bit_step(uint64_t size)
{
    return size <= ALL_BITS_UP_TO ? 1 : 9;
}

/* An inclusion proof that verifies, with every part of it to spoil. */
struct inclusion {
    uint64_t index, size;
    hash leaf, root, proof[TREE_MAX_PROOF + 1];
    size_t count;
};

static enum err verify_inclusion(const struct inclusion *p)
{
    return tree_inclusion_verify(p->index, p->size, p->leaf, (const hash *)p->proof, p->count, p->root);
}

static void prove_inclusion(uint64_t index, uint64_t size, struct inclusion *p)
{
    memset(p, 0, sizeof *p);
    p->index = index;
    p->size = size;
    memcpy(p->leaf, stored.nodes[0][index], sizeof p->leaf);
    memcpy(p->root, roots[size], sizeof p->root);
    stored.size = size;
    assert_int_equal(tree_inclusion_prove(index, size, read_node, &stored, p->proof, &p->count), ERR_OK);
}

static void every_inclusion_proof_verifies(void **state)
{
    (void)state;
    for (uint64_t size = 1; size <= LEAVES; size++)
        for (uint64_t index = 0; index < size; index++) {
            struct inclusion p;
            stored.reads = 0;
            prove_inclusion(index, size, &p);
            assert_true(p.count <= LEVELS && stored.reads <= 2 * LEVELS);
            assert_int_equal(verify_inclusion(&p), ERR_OK);
        }
}

static void spoiled_inclusion_proofs_are_refused(void **state)
{
    (void)state;
    for (uint64_t size = 1; size <= LEAVES; size++)
        for (uint64_t index = 0; index < size; index++) {
            struct inclusion good, p;
            prove_inclusion(index, size, &good);
            for (uint64_t other = 0; other <= LEAVES; other++) {
                p = good;
                p.index = other;
                assert_int_equal(verify_inclusion(&p), other == index ? ERR_OK : ERR_PROOF);
            }
            p = good;
            p.count++;
            assert_int_equal(verify_inclusion(&p), ERR_PROOF);
            for (p = good; p.count-- > 0;)
                assert_int_equal(verify_inclusion(&p), ERR_PROOF);
            p = good;
            p.index = UINT64_MAX;
            assert_int_equal(verify_inclusion(&p), ERR_PROOF);
            p.size = 0;
            assert_int_equal(verify_inclusion(&p), ERR_PROOF);
        }
}

/* A size of another shape gives another path. (A size whose path has the same turns is not told by the proof, but by the
 * root, which the checkpoint binds to its size.) */
static void an_inclusion_proof_of_another_size_meets_another_root(void **state)
{
    (void)state;
    for (uint64_t size = 1; size <= LEAVES; size++)
        for (uint64_t index = 0; index < size; index++) {
            struct inclusion p;
            prove_inclusion(index, size, &p);
            for (uint64_t other = 0; other <= LEAVES; other++) {
                p.size = other;
                memcpy(p.root, roots[other], sizeof p.root);
                assert_int_equal(verify_inclusion(&p), other == size ? ERR_OK : ERR_PROOF);
            }
        }
}

static void every_flipped_bit_of_an_inclusion_proof_is_seen(void **state)
{
    (void)state;
    for (uint64_t size = 1; size <= LEAVES; size++)
        for (uint64_t index = 0; index < size; index++) {
            struct inclusion p;
            prove_inclusion(index, size, &p);
            for (size_t bit = 0; bit < (p.count + 2) * 8 * DIGEST_BYTES; bit += bit_step(size)) {
                size_t which = bit / (8 * DIGEST_BYTES), at = bit / 8 % DIGEST_BYTES;
                uint8_t *bytes = which < p.count ? p.proof[which] : which == p.count ? p.leaf : p.root;
                bytes[at] ^= (uint8_t)(1u << bit % 8);
                assert_int_equal(verify_inclusion(&p), ERR_PROOF);
                bytes[at] ^= (uint8_t)(1u << bit % 8);
            }
        }
}

struct consistency {
    uint64_t old_size, size;
    hash old_root, root, proof[TREE_MAX_PROOF + 1];
    size_t count;
};

static enum err verify_consistency(const struct consistency *p)
{
    return tree_consistency_verify(p->old_size, p->size, p->old_root, p->root, (const hash *)p->proof, p->count);
}

static void prove_consistency(uint64_t old_size, uint64_t size, struct consistency *p)
{
    memset(p, 0, sizeof *p);
    p->old_size = old_size;
    p->size = size;
    memcpy(p->old_root, roots[old_size], sizeof p->old_root);
    memcpy(p->root, roots[size], sizeof p->root);
    stored.size = size;
    assert_int_equal(tree_consistency_prove(old_size, size, read_node, &stored, p->proof, &p->count), ERR_OK);
}

static void every_consistency_proof_verifies(void **state)
{
    (void)state;
    for (uint64_t size = 1; size <= LEAVES; size++)
        for (uint64_t old_size = 1; old_size <= size; old_size++) {
            struct consistency p;
            prove_consistency(old_size, size, &p);
            assert_true(p.count <= LEVELS + 1);
            assert_int_equal(verify_consistency(&p), ERR_OK);
        }
}

static void spoiled_consistency_proofs_are_refused(void **state)
{
    (void)state;
    for (uint64_t size = 1; size <= LEAVES; size++)
        for (uint64_t old_size = 1; old_size <= size; old_size++) {
            struct consistency good, p;
            prove_consistency(old_size, size, &good);
            p = good;
            p.count++;
            assert_int_equal(verify_consistency(&p), ERR_PROOF);
            for (p = good; p.count-- > 0;)
                assert_int_equal(verify_consistency(&p), ERR_PROOF);
            for (uint64_t other = 0; other <= LEAVES; other++) {
                p = good;
                p.old_size = other;
                memcpy(p.old_root, roots[other], sizeof p.old_root);
                assert_int_equal(verify_consistency(&p), other == old_size ? ERR_OK : ERR_PROOF);
                p = good;
                p.size = other;
                memcpy(p.root, roots[other], sizeof p.root);
                assert_int_equal(verify_consistency(&p), other == size ? ERR_OK : ERR_PROOF);
            }
        }
}

static void every_flipped_bit_of_a_consistency_proof_is_seen(void **state)
{
    (void)state;
    for (uint64_t size = 1; size <= LEAVES; size++)
        for (uint64_t old_size = 1; old_size <= size; old_size++) {
            struct consistency p;
            prove_consistency(old_size, size, &p);
            for (size_t bit = 0; bit < (p.count + 2) * 8 * DIGEST_BYTES; bit += bit_step(size)) {
                size_t which = bit / (8 * DIGEST_BYTES), at = bit / 8 % DIGEST_BYTES;
                uint8_t *bytes = which < p.count ? p.proof[which] : which == p.count ? p.old_root : p.root;
                bytes[at] ^= (uint8_t)(1u << bit % 8);
                assert_int_equal(verify_consistency(&p), ERR_PROOF);
                bytes[at] ^= (uint8_t)(1u << bit % 8);
            }
        }
}

/* A hash more, and roots that fit it: whoever makes the root may not lengthen the path of a smaller tree. */
static void proofs_longer_than_the_tree_are_refused(void **state)
{
    static const hash more = {0x33};
    (void)state;
    for (uint64_t size = 1; size <= LEAVES; size++)
        for (uint64_t index = 0; index < size; index++) {
            struct inclusion p;
            struct consistency c;
            prove_inclusion(index, size, &p);
            memcpy(p.proof[p.count++], more, sizeof more);
            tree_node(more, p.root, p.root);
            assert_int_equal(verify_inclusion(&p), ERR_PROOF);
            prove_consistency(index + 1, size, &c);
            memcpy(c.proof[c.count++], more, sizeof more);
            tree_node(more, c.old_root, c.old_root);
            tree_node(more, c.root, c.root);
            assert_int_equal(verify_consistency(&c), ERR_PROOF);
        }
}

/* A tree that shrank: the walk of RFC 9162 alone would take this for a proof. */
static void a_smaller_tree_continues_nothing(void **state)
{
    struct consistency p = {.old_size = 6, .size = 5, .count = 2};
    (void)state;
    memset(p.proof, 0x44, sizeof p.proof);
    tree_node(p.proof[1], p.proof[0], p.root);
    memcpy(p.old_root, p.root, sizeof p.old_root);
    assert_int_equal(verify_consistency(&p), ERR_PROOF);
    assert_int_equal(tree_consistency_verify(3, 5, roots[3], roots[5], NULL, 0), ERR_PROOF);
    assert_int_equal(tree_consistency_verify(0, 5, roots[0], roots[5], NULL, 0), ERR_PROOF);
}

static void proofs_outside_the_tree_are_refused(void **state)
{
    hash proof[TREE_MAX_PROOF];
    size_t count = 99;
    (void)state;
    stored.size = LEAVES;
    assert_int_equal(tree_inclusion_prove(5, 5, read_node, &stored, proof, &count), ERR_STATE);
    assert_int_equal(tree_inclusion_prove(0, 0, read_node, &stored, proof, &count), ERR_STATE);
    assert_int_equal(tree_inclusion_prove(0, TREE_MAX_SIZE + 1, read_node, &stored, proof, &count), ERR_STATE);
    assert_int_equal(tree_consistency_prove(0, 5, read_node, &stored, proof, &count), ERR_STATE);
    assert_int_equal(tree_consistency_prove(6, 5, read_node, &stored, proof, &count), ERR_STATE);
    assert_int_equal(tree_consistency_prove(1, TREE_MAX_SIZE + 1, read_node, &stored, proof, &count), ERR_STATE);
    stored.fail = ERR_STORE;
    assert_int_equal(tree_inclusion_prove(3, 7, read_node, &stored, proof, &count), ERR_STORE);
    assert_int_equal(tree_inclusion_prove(0, 3, read_node, &stored, proof, &count), ERR_STORE);
    assert_int_equal(tree_consistency_prove(3, 7, read_node, &stored, proof, &count), ERR_STORE);
    stored.fail = ERR_OK;
    assert_int_equal(count, 99);
}

/* A tree of huge size whose every complete subtree has a hash made from its name: parents are hashes of their children
 * only along the right edge, which is all that a proof near it needs. */
static enum err read_named(void *ctx, unsigned level, uint64_t index, uint8_t out[static DIGEST_BYTES])
{
    const uint64_t *size = ctx;
    uint8_t name[9] = {(uint8_t)level};
    assert_true(level < 64 && index < *size >> level);
    for (unsigned i = 0; i < 8; i++)
        name[1 + i] = (uint8_t)(index >> (8 * i));
    tree_leaf(name, sizeof name, out);
    return ERR_OK;
}

static void huge_trees_work(void **state)
{
    static const uint64_t sizes[] = {
        (UINT64_C(1) << 62) + 1,
        (UINT64_C(1) << 63) - 1,
        (UINT64_C(1) << 62) + (UINT64_C(1) << 31) + 5,
        (UINT64_C(1) << 40) + 3,
    };
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        uint64_t size = sizes[i];
        struct tree t;
        struct inclusion p;
        memset(&p, 0, sizeof p);
        assert_int_equal(tree_load(&t, size, read_named, &size), ERR_OK);
        tree_root(&t, p.root);
        p.size = size;
        p.index = size - 1;
        assert_int_equal(read_named(&size, 0, size - 1, p.leaf), ERR_OK);
        assert_int_equal(tree_inclusion_prove(p.index, size, read_named, &size, p.proof, &p.count), ERR_OK);
        assert_int_equal(verify_inclusion(&p), ERR_OK);
        p.proof[0][0] ^= 1;
        assert_int_equal(verify_inclusion(&p), ERR_PROOF);
    }
    uint64_t size = TREE_MAX_SIZE;
    hash proof[TREE_MAX_PROOF];
    size_t count = 0;
    assert_int_equal(tree_inclusion_prove(12345, size, read_named, &size, proof, &count), ERR_OK);
    assert_int_equal(count, 63);
    assert_int_equal(tree_consistency_prove(12345, size, read_named, &size, proof, &count), ERR_OK);
    assert_int_equal(count, 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roots_are_those_of_rfc_6962),
        cmocka_unit_test(roots_are_those_of_the_definition),
        cmocka_unit_test(a_failed_append_changes_nothing),
        cmocka_unit_test(a_loaded_tree_goes_on_like_the_first),
        cmocka_unit_test(a_failed_load_changes_nothing),
        cmocka_unit_test(every_inclusion_proof_verifies),
        cmocka_unit_test(spoiled_inclusion_proofs_are_refused),
        cmocka_unit_test(an_inclusion_proof_of_another_size_meets_another_root),
        cmocka_unit_test(every_flipped_bit_of_an_inclusion_proof_is_seen),
        cmocka_unit_test(every_consistency_proof_verifies),
        cmocka_unit_test(spoiled_consistency_proofs_are_refused),
        cmocka_unit_test(every_flipped_bit_of_a_consistency_proof_is_seen),
        cmocka_unit_test(proofs_longer_than_the_tree_are_refused),
        cmocka_unit_test(a_smaller_tree_continues_nothing),
        cmocka_unit_test(proofs_outside_the_tree_are_refused),
        cmocka_unit_test(huge_trees_work),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
