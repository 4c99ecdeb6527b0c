#include <assert.h>
#include <string.h>

#include "evidence/schema_internal.h"

/* FNV-1a: the names are ours, only the questions are hostile, so collisions cannot be arranged. */
static uint32_t hash_of(const char *text, size_t len)
{
    uint32_t h = UINT32_C(2166136261);
    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)text[i]) * UINT32_C(16777619);
    return h;
}

enum err schema_names_init(struct schema_names *names, struct arena *arena, size_t count)
{
    uint32_t slots = 2;

    if (count > UINT32_MAX / 8)
        return ERR_NOMEM;
    while (slots < 2 * count)
        slots *= 2;
    memset(names, 0, sizeof *names);
    names->slots = arena_alloc(arena, slots * sizeof *names->slots);
    if (names->slots == NULL)
        return ERR_NOMEM;
    memset(names->slots, 0, slots * sizeof *names->slots);
    names->mask = slots - 1;
    return ERR_OK;
}

/* The slot that holds the name, or the free one where it belongs. */
static struct schema_name *slot_of(const struct schema_names *names, const char *text, size_t len, uint32_t hash)
{
    uint32_t i = hash & names->mask;
    for (;; i = (i + 1) & names->mask) {
        struct schema_name *slot = &names->slots[i];
        if (slot->text == NULL || (slot->hash == hash && slot->len == len && memcmp(slot->text, text, len) == 0))
            return slot;
    }
}

uint32_t schema_names_add(struct schema_names *names, const char *text, size_t len, uint32_t number)
{
    uint32_t hash = hash_of(text, len);
    struct schema_name *slot = slot_of(names, text, len, hash);

    if (slot->text != NULL)
        return slot->number;
    names->count++;
    assert(names->count <= names->mask); /* a free slot stays, so that looking ends */
    *slot = (struct schema_name){.text = text, .len = (uint32_t)len, .hash = hash, .number = number};
    if (len > names->longest)
        names->longest = (uint32_t)len;
    return number;
}

bool schema_names_find(const struct schema_names *names, const char *text, size_t len, uint32_t *number)
{
    if (names->count == 0 || len > names->longest)
        return false;
    const struct schema_name *slot = slot_of(names, text, len, hash_of(text, len));
    if (slot->text == NULL)
        return false;
    *number = slot->number;
    return true;
}
