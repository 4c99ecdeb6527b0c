/*
 * verify_calls.h - the tool calls of a run, each with the weakest evidence tier that its records claim. Only for
 * evidence/verify*.c.
 *
 * Invariant: at any time the list says the same about each call as all its records so far; it has at most 256
 * items, or four times as many as there are calls, and never more than a run may have records. Hostile: the records; no
 * choice of ids makes it slower than sorting them.
 */
#ifndef EVIDENCE_VERIFY_CALLS_H
#define EVIDENCE_VERIFY_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include "evidence/err.h"
#include "evidence/json.h"
#include "evidence/report.h"

/* One tool call, or what one record says about it. Known by a digest of run and call id. */
struct verify_call {
    uint8_t id[16];
    uint32_t first, other; /* run_seq of the first decision or result, and of the first that came by another path */
    uint8_t tier;          /* the weakest claimed so far */
    uint8_t path, other_path;
};
struct verify_calls {
    struct verify_call *list; /* owned */
    size_t count, cap;
};
/* Errors: NOMEM. */
enum err verify_calls_add(struct verify_calls *c, const struct json *event, uint32_t run_seq) MUST_USE;
/* The `tiers` line, when there was a call at all. */
void verify_calls_line(struct verify_calls *c, struct report *lines);
void verify_calls_wipe(struct verify_calls *c);

#endif
