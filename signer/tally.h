/*
 * tally.h - how many connections each user has.
 *
 * Invariant: a user is in the list exactly while his count is not 0, so that the list is as long as there are users.
 */
#ifndef SIGNER_TALLY_H
#define SIGNER_TALLY_H

#include <stddef.h>
#include <sys/types.h>

struct tally {
    size_t users, cap;
    struct tally_entry {
        uid_t uid;
        size_t count;
    } * list;
};

size_t tally_count(const struct tally *t, uid_t uid);
/* One more. 0, or -1 when out of memory. */
int tally_add(struct tally *t, uid_t uid);
/* One less, of at least one. */
void tally_drop(struct tally *t, uid_t uid);
void tally_wipe(struct tally *t);

#endif
