/*
 * span.h - where the parts of a JSON text stand in it.
 *
 * Invariant: reads only inside of the container that it was given, never recurses, and yields each member or element
 * once, in text order. Meant for a text that json_parse_loose accepts (evidence/json.h), with its comments blanked
 * (jsonc.h); on any other it ends early and yields ranges that are inside of the container all the same. Hostile: the
 * text.
 */
#ifndef HARNESS_SPAN_H
#define HARNESS_SPAN_H

#include <stdbool.h>
#include <stddef.h>

/* The bytes from `from` up to, not including, `to`. */
struct span {
    size_t from, to;
};

/* One member of an object, or one element of an array. */
struct span_item {
    struct span key; /* with its quotes; empty in an array */
    struct span value;
    size_t from; /* where it begins: at its key, if it has one */
};

struct span_walk {
    const char *text; /* borrowed */
    size_t at, end;
    bool object;
};

/* The value that fills the text, white space around it left out. Empty when there is none. */
struct span span_whole(const char *text, size_t len);

/* Starts at the front of a container: its span begins with the opening bracket and ends behind the closing one. */
void span_open(struct span_walk *w, const char *text, struct span container);

/* False: there are no more; *out is untouched. */
bool span_next(struct span_walk *w, struct span_item *out);

#endif
