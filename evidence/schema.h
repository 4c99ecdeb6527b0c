/*
 * schema.h - is an event a valid tracekit.event.v2?
 *
 * Invariant: an event is valid exactly when the embedded JSON Schema (evidence/schema/tracekit.event.v2.json, the
 * format's own file) says so; patterns match whole values with ASCII meaning, integers are integer tokens. A keyword of
 * the schema that this module does not know is an error when the schema is loaded, so no check is dropped in silence.
 * const and enum compare as upstream's program does, where true equals 1 and 1.0, and false 0: stricter would be another
 * verdict on the same bundle. Hostile: the event. A check allocates nothing, and its recursion ends with the schema's
 * depth, not the event's.
 *
 * A schema holds the scratch memory of its patterns: one thread at a time may use it.
 */
#ifndef EVIDENCE_SCHEMA_H
#define EVIDENCE_SCHEMA_H

#include <stddef.h>

#include "evidence/err.h"
#include "evidence/json.h"

struct schema;

/* Loads the embedded schema. Errors: SCHEMA (our own file is broken), NOMEM. The caller frees it. */
enum err schema_new(struct schema **out) MUST_USE;
void schema_free(struct schema *s);

/* Errors: SCHEMA, with the first violation (path and reason) in *fault. */
enum err schema_check(const struct schema *s, const struct json *event, struct fault *fault) MUST_USE;

#endif
