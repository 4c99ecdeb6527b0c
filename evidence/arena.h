/*
 * arena.h - memory that is given back all at once.
 *
 * Invariant: everything allocated from an arena lives until arena_free, and the bytes handed out never exceed the
 * maximum given to arena_new. A failed allocation is remembered (arena_failed), so that a run of builder calls may be
 * checked once at its end; after a failure every further allocation fails too.
 *
 * Not hostile itself; the maximum is what bounds the memory that hostile input can make us use.
 */
#ifndef EVIDENCE_ARENA_H
#define EVIDENCE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#include "evidence/err.h"

struct arena;

/* A new arena that hands out at most `max_bytes` bytes. NULL when out of memory. The caller frees it. */
struct arena *arena_new(size_t max_bytes);

/* Frees the arena and all that came from it. arena_free(NULL) does nothing. */
void arena_free(struct arena *arena);

/* `size` bytes, aligned for any object, not cleared. NULL on failure, also when `arena` is NULL. */
void *arena_alloc(struct arena *arena, size_t size);

/* A copy of `len` bytes with a NUL behind it. NULL on failure. */
char *arena_copy(struct arena *arena, const void *bytes, size_t len);

/* Whether any allocation has failed so far. True for NULL. */
bool arena_failed(const struct arena *arena);

/* Why the first failed allocation failed: NOMEM (also for NULL) or TOO_LARGE (over the maximum); OK when none has. */
enum err arena_err(const struct arena *arena) MUST_USE;

/* How many bytes may still be handed out; 0 after a failure. */
size_t arena_room(const struct arena *arena);

#endif
