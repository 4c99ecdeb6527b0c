/*
 * trust.h - what a verifier pins (upstream's format-v2.md section 10). Trust comes from this file alone, never from a
 * bundle. Hostile: the file (a person may have been sent it), read at most TRUST_MAX_BYTES.
 *
 * Stricter than upstream in what it would only fail on later: a log key must be of type 0x01 and a witness's of type
 * 0x04, each list has at most TRUST_MAX_KEYS elements, and hybrid log keys are refused (note.h). Of rekor, monitors,
 * issuers and analyzers only the shape is looked at.
 */
#ifndef EVIDENCE_TRUST_H
#define EVIDENCE_TRUST_H

#include <stddef.h>
#include <stdint.h>

#include "evidence/err.h"
#include "evidence/note.h"

enum { TRUST_MAX_BYTES = 1 << 20, TRUST_MAX_KEYS = 256 };

enum trust_class { TRUST_PUBLIC, TRUST_CUSTOMER, TRUST_TRACEKIT, TRUST_OPERATOR };

struct trust {
    struct note_vkey *logs; /* at least one */
    size_t log_count;
    struct note_vkey *witnesses;       /* witness i ... */
    enum trust_class *witness_classes; /* ... and its class */
    size_t witness_count;
    uint64_t witnesses_required;
    int ed25519_allowed;                                         /* "ed25519" is among algs */
    int pins_rekor, pins_issuers, pins_monitors, pins_analyzers; /* given, and not checked by this verifier */
};

/* Reads and checks the file. Errors: TRUST, TOO_LARGE and IO with a fault (which key and element, what is wrong), NOMEM.
 * The caller frees it. */
enum err trust_load(const char *path, struct trust **out, struct fault *fault) MUST_USE;
/* The same from bytes. */
enum err trust_parse(const void *bytes, size_t len, struct trust **out, struct fault *fault) MUST_USE;
void trust_free(struct trust *t);

/* "public", "customer", "tracekit", "operator". */
const char *trust_class_name(enum trust_class class);

#endif
