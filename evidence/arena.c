#include "evidence/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CHUNK_BYTES = 4096, LAST_CHUNK_BYTES = 256 * 1024 };

struct chunk {
    struct chunk *next;
    alignas(max_align_t) uint8_t bytes[];
};

struct arena {
    size_t max;
    size_t used;
    enum err err;
    struct chunk *chunks;
    uint8_t *at; /* free bytes of the newest shared chunk */
    size_t room;
    size_t chunk_bytes; /* size of the next shared chunk */
};

struct arena *arena_new(size_t max_bytes)
{
    struct arena *arena = calloc(1, sizeof *arena);
    if (arena == NULL)
        return NULL;
    arena->max = max_bytes;
    arena->chunk_bytes = FIRST_CHUNK_BYTES;
    return arena;
}

void arena_free(struct arena *arena)
{
    if (arena == NULL)
        return;
    struct chunk *chunk = arena->chunks;
    while (chunk != NULL) {
        struct chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
    free(arena);
}

static struct chunk *add_chunk(struct arena *arena, size_t size)
{
    struct chunk *chunk = NULL;
    if (size <= PTRDIFF_MAX - sizeof *chunk)
        chunk = malloc(sizeof *chunk + size);
    if (chunk == NULL) {
        arena->err = ERR_NOMEM;
        return NULL;
    }
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    return chunk;
}

/* `size` bytes out of the shared chunk, or out of one of their own when they are many. `size` is within the maximum. */
static void *take(struct arena *arena, size_t size, size_t align)
{
    size_t pad = (align - (uintptr_t)arena->at % align) % align;
    if (arena->room >= pad && arena->room - pad >= size) {
        uint8_t *p = arena->at + pad;
        arena->at = p + size;
        arena->room -= pad + size;
        return p;
    }
    bool own = size > arena->chunk_bytes / 4;
    struct chunk *chunk = add_chunk(arena, own ? size : arena->chunk_bytes);
    if (chunk == NULL)
        return NULL;
    if (!own) {
        arena->at = chunk->bytes + size;
        arena->room = arena->chunk_bytes - size;
        if (arena->chunk_bytes < LAST_CHUNK_BYTES)
            arena->chunk_bytes *= 2;
    }
    return chunk->bytes;
}

static void *alloc(struct arena *arena, size_t size, size_t align)
{
    if (arena_failed(arena))
        return NULL;
    if (size == 0)
        size = 1;
    if (size > arena->max - arena->used) {
        arena->err = ERR_TOO_LARGE;
        return NULL;
    }
    void *p = take(arena, size, align);
    if (p != NULL)
        arena->used += size;
    return p;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    return alloc(arena, size, alignof(max_align_t));
}

char *arena_copy(struct arena *arena, const void *bytes, size_t len)
{
    char *p = alloc(arena, len < SIZE_MAX ? len + 1 : len, 1);
    if (p == NULL)
        return NULL;
    if (len > 0)
        memcpy(p, bytes, len);
    p[len] = '\0';
    return p;
}

bool arena_failed(const struct arena *arena)
{
    return arena_err(arena) != ERR_OK;
}

enum err arena_err(const struct arena *arena)
{
    return arena == NULL ? ERR_NOMEM : arena->err;
}

size_t arena_room(const struct arena *arena)
{
    return arena_failed(arena) ? 0 : arena->max - arena->used;
}
