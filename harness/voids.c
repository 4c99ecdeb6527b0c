#include "harness/voids.h"

void voids_add(struct voids *v, const char *what, const char *why, const char *remedy)
{
    if (v->count == VOIDS_MAX) {
        v->missed++;
        return;
    }
    struct voids_finding *f = &v->list[v->count++];
    size_t len = 0;
    for (; what[len] != '\0' && len < VOIDS_WHAT_BYTES - 1; len++)
        f->what[len] = what[len] >= ' ' && what[len] <= '~' ? what[len] : '?';
    f->what[len] = '\0';
    f->why = why;
    f->remedy = remedy;
}
