/*
 * pattern.h - regular expressions that are compiled once and cannot run away.
 *
 * Invariant: a pattern matches a whole text or not at all, with ASCII meaning (\d is 0 to 9, letters fold nowhere, "$"
 * is the very end) over code points, which is how the format's schema means its patterns. The work of one match is
 * bounded by PATTERN_MATCH_LIMIT. Hostile: the text. The pattern is ours, yet a bad one is an error, not a crash.
 *
 * A pattern holds the scratch memory of its matches: one thread at a time may use it.
 */
#ifndef EVIDENCE_PATTERN_H
#define EVIDENCE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "evidence/err.h"

enum {
    PATTERN_MAX_BYTES = 4096,      /* of the pattern's own text */
    PATTERN_MATCH_LIMIT = 100000,  /* backtracking steps of one match */
    PATTERN_HEAP_LIMIT_KIB = 2048, /* scratch memory of one match */
};

struct pattern;

/* Compiles a NUL-terminated pattern in Perl's syntax. Errors: PATTERN with a fault (what is wrong, and at which byte),
 * NOMEM. The caller frees it. */
enum err pattern_new(const char *text, struct pattern **out, struct fault *fault) MUST_USE;
void pattern_free(struct pattern *p);

/* Whether all of the `len` bytes at `text` match. On failure *matched is untouched. Errors: UTF8 (the text is not),
 * TOO_LARGE (over PATTERN_MATCH_LIMIT: it cannot be said whether it matches), NOMEM. */
enum err pattern_match(const struct pattern *p, const char *text, size_t len, bool *matched) MUST_USE;

#endif
