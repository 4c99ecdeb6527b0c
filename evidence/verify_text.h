/*
 * verify_text.h - names and numbers from a bundle, as the verifier's report shows them. Only for evidence/verify*.c.
 *
 * Invariant: whatever a bundle holds, a text here is short, and a tally has a fixed size. Hostile: the texts; the report
 * takes out what may not reach a terminal.
 */
#ifndef EVIDENCE_VERIFY_TEXT_H
#define EVIDENCE_VERIFY_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "evidence/buf.h"
#include "evidence/json.h"

enum {
    VERIFY_TEXT_CHARS = 256, /* longest text that the report shows */
    VERIFY_NAME_CHARS = 64,  /* longest name in a tally */
    VERIFY_MAX_NAMES = 64,   /* different names in a tally; the rest are counted as "other" */
};

struct verify_text {
    char s[4 * VERIFY_TEXT_CHARS + 1];
};
/* A string, cut after `max_chars` (at most VERIFY_TEXT_CHARS) and without its NUL bytes; "none" for no value, "?" for
 * anything that is no string. */
struct verify_text verify_text(const struct json *v, size_t max_chars);

/* How often each name came. All zero is empty. */
struct verify_tally {
    size_t count;
    struct {
        char name[4 * VERIFY_NAME_CHARS + 1];
        uint64_t n;
    } item[VERIFY_MAX_NAMES]; /* sorted by name */
    uint64_t other, total;
};
void verify_text_count(struct verify_tally *t, const char *name);
/* "a 1, b 2", or only the names with `separator` between them; "none" for an empty tally. Owned by `out`. */
void verify_text_tally(const struct verify_tally *t, struct buf *out);
void verify_text_names(const struct verify_tally *t, const char *separator, struct buf *out);
/* The text in a buffer, with a NUL behind it; "" when there was no memory. */
const char *verify_text_of(struct buf *b);

#endif
