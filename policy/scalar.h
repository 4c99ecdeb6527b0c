/*
 * scalar.h - what a plain (unquoted) YAML scalar means: the core schema of YAML 1.2, section 10.3.2.
 *
 * Invariant: the same text means the same value to every reader that follows the core schema; what has no place in JSON
 * (.inf, .nan, integers beyond 2^53 - 1) and what older readers take for another number (leading zeros) is refused.
 * Hostile: the text.
 */
#ifndef POLICY_SCALAR_H
#define POLICY_SCALAR_H

#include <stddef.h>

#include "evidence/arena.h"
#include "evidence/err.h"
#include "evidence/json.h"

/* Numbers longer than this are TOO_LARGE. */
enum { SCALAR_MAX_NUMBER_BYTES = 256 };

/* The value of the plain scalar `text`, which is valid UTF-8. Errors: NON_FINITE, INT_RANGE, SYNTAX (leading zeros),
 * TOO_LARGE, NOMEM. */
enum err scalar_resolve(struct arena *arena, const char *text, size_t len, const struct json **out) MUST_USE;

#endif
