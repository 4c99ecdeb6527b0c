/*
 * snapshot.h - a policy as canonical JSON, the bytes that its hash names and a bundle carries (docs/policy.md).
 *
 * Invariant: equal rules give equal bytes.
 */
#ifndef POLICY_SNAPSHOT_H
#define POLICY_SNAPSHOT_H

#include <stddef.h>

#include "evidence/buf.h"
#include "evidence/err.h"
#include "policy/rules.h"

enum { SNAPSHOT_MAX_BYTES = 1 << 20 };

/* Appends the snapshot of `count` rules to `out`. Errors: NOMEM, TOO_LARGE; then `out` holds an unusable prefix. */
enum err snapshot_write(struct buf *out, const struct rule *rules, size_t count) MUST_USE;

#endif
