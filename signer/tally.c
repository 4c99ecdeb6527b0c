#include "signer/tally.h"

#include <assert.h>
#include <stdlib.h>

enum { FIRST_USERS = 4 };

static struct tally_entry *find(const struct tally *t, uid_t uid)
{
    for (size_t i = 0; i < t->users; i++)
        if (t->list[i].uid == uid)
            return &t->list[i];
    return NULL;
}

size_t tally_count(const struct tally *t, uid_t uid)
{
    const struct tally_entry *entry = find(t, uid);
    return entry == NULL ? 0 : entry->count;
}

int tally_add(struct tally *t, uid_t uid)
{
    struct tally_entry *entry = find(t, uid);
    if (entry != NULL) {
        entry->count++;
        return 0;
    }
    if (t->users == t->cap) {
        size_t cap = t->cap == 0 ? FIRST_USERS : 2 * t->cap;
        struct tally_entry *list = realloc(t->list, cap * sizeof *list);
        if (list == NULL)
            return -1;
        t->list = list;
        t->cap = cap;
    }
    t->list[t->users++] = (struct tally_entry){.uid = uid, .count = 1};
    return 0;
}

void tally_drop(struct tally *t, uid_t uid)
{
    struct tally_entry *entry = find(t, uid);
    assert(entry != NULL);
    if (--entry->count == 0)
        *entry = t->list[--t->users];
}

void tally_wipe(struct tally *t)
{
    free(t->list);
    *t = (struct tally){0};
}
