/*
 * tree.h - the Merkle tree of RFC 6962 / RFC 9162.
 *
 * Invariant: a frontier holds exactly the roots of the complete subtrees that the binary form of its size names, so
 * that appending costs amortised constant time and the root is always at hand. Proofs are made from stored subtree
 * hashes that a callback reads, and checked as in RFC 9162 2.1.3.2 and 2.1.4.2.
 *
 * A complete subtree is named (level, index): it covers leaves index * 2^level up to (index + 1) * 2^level.
 * Hostile: everything that a *_verify function is given.
 */
#ifndef EVIDENCE_TREE_H
#define EVIDENCE_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "evidence/digest.h"
#include "evidence/err.h"

enum { TREE_MAX_PROOF = 64 + 1 };
#define TREE_MAX_SIZE (UINT64_C(1) << 63) /* leaves */

/* leaf hash = SHA-256(0x00 || data); node hash = SHA-256(0x01 || left || right). */
void tree_leaf(const void *data, size_t len, uint8_t out[static DIGEST_BYTES]);
void tree_node(const uint8_t left[static DIGEST_BYTES], const uint8_t right[static DIGEST_BYTES],
               uint8_t out[static DIGEST_BYTES]);

struct tree {
    uint64_t size;                   /* leaves */
    uint8_t peaks[64][DIGEST_BYTES]; /* peaks[l] is valid when bit l of size is set */
};

/* The hash of the complete subtree (level, index). Errors are passed through to the caller of the proving function. */
typedef enum err tree_read(void *ctx, unsigned level, uint64_t index, uint8_t out[static DIGEST_BYTES]);
/* Is told each complete subtree of level >= 1 that an append completes, lowest first. */
typedef enum err tree_completed(void *ctx, unsigned level, uint64_t index, const uint8_t hash[static DIGEST_BYTES]);

void tree_init(struct tree *t); /* the empty tree */
/* Appends a leaf hash; `completed` may be NULL. On failure of `completed` (its error is passed through) the tree is
 * unchanged. Errors of our own: TOO_LARGE at TREE_MAX_SIZE leaves. */
enum err tree_append(struct tree *t, const uint8_t leaf[static DIGEST_BYTES], tree_completed *completed,
                     void *ctx) MUST_USE;
void tree_root(const struct tree *t, uint8_t out[static DIGEST_BYTES]);

/* Rebuilds the frontier of `size` leaves from stored subtrees. On failure `t` is untouched. Errors: TOO_LARGE over
 * TREE_MAX_SIZE, those of `read`. */
enum err tree_load(struct tree *t, uint64_t size, tree_read *read, void *ctx) MUST_USE;

/* A proof is a list of *count hashes. Only complete subtrees are read, each as large as can be: at most 63 + 63 reads.
 * On failure *count is untouched and `proof` holds nothing of use. index < size <= TREE_MAX_SIZE, or STATE. */
enum err tree_inclusion_prove(uint64_t index, uint64_t size, tree_read *read, void *ctx,
                              uint8_t proof[static TREE_MAX_PROOF][DIGEST_BYTES], size_t *count) MUST_USE;
/* 0 < old_size <= size <= TREE_MAX_SIZE, or STATE. */
enum err tree_consistency_prove(uint64_t old_size, uint64_t size, tree_read *read, void *ctx,
                                uint8_t proof[static TREE_MAX_PROOF][DIGEST_BYTES], size_t *count) MUST_USE;

/* Errors: PROOF. No proof shows that a tree continues the empty one (old_size 0); between equal sizes the only proof is
 * the empty one, and the roots must be equal. */
enum err tree_inclusion_verify(uint64_t index, uint64_t size, const uint8_t leaf[static DIGEST_BYTES],
                               const uint8_t (*proof)[DIGEST_BYTES], size_t count,
                               const uint8_t root[static DIGEST_BYTES]) MUST_USE;
enum err tree_consistency_verify(uint64_t old_size, uint64_t size, const uint8_t old_root[static DIGEST_BYTES],
                                 const uint8_t root[static DIGEST_BYTES], const uint8_t (*proof)[DIGEST_BYTES],
                                 size_t count) MUST_USE;

#endif
