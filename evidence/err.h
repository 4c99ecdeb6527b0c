/*
 * err.h - the one table of errors.
 *
 * Invariant: every way in which a function of this project can fail has exactly one name here, and each name has a
 * kind that says who is to blame and a sentence for people. The switches over it have no default, so that an entry
 * without its text does not compile.
 *
 * A function that can fail returns `enum err` and is marked MUST_USE. Where the caller can do something with the
 * place (an offset, a file, a sequence number), the function also takes a `struct fault *`, which may be NULL, and
 * writes one line into it on failure; on success the fault is untouched. Callers start it as `struct fault f = {""}`.
 */
#ifndef EVIDENCE_ERR_H
#define EVIDENCE_ERR_H

#include <stdarg.h>

#define MUST_USE __attribute__((warn_unused_result))
#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))

/* Whose fault it is, and so what the caller does with it. */
enum err_kind {
    ERR_KIND_NONE,     /* success */
    ERR_KIND_INPUT,    /* hostile or broken input: refuse it, say where */
    ERR_KIND_LIMIT,    /* input over a named maximum: refuse it, say which */
    ERR_KIND_EVIDENCE, /* a check on evidence failed */
    ERR_KIND_STATE,    /* asked for something that the present state does not allow */
    ERR_KIND_SYSTEM,   /* the machine: memory, disk, kernel */
};

/* name, kind, text */
#define ERR_TABLE(X) \
    X(OK, NONE, "no error") \
    X(NOMEM, SYSTEM, "out of memory") \
    X(IO, SYSTEM, "input or output failed") \
    X(SYNC, SYSTEM, "the disk did not confirm a write") \
    X(RANDOM, SYSTEM, "no random numbers from the kernel") \
    X(UTF8, INPUT, "not valid UTF-8") \
    X(SYNTAX, INPUT, "not one JSON text") \
    X(DUPLICATE_KEY, INPUT, "a key twice in one object") \
    X(NON_FINITE, INPUT, "a number that is not finite") \
    X(INT_RANGE, INPUT, "an integer beyond 2^53 - 1") \
    X(LONE_SURROGATE, INPUT, "a lone UTF-16 surrogate") \
    X(DEPTH, LIMIT, "nested too deeply") \
    X(TOO_LARGE, LIMIT, "larger than the limit") \
    X(BASE64, INPUT, "not canonical base64") \
    X(HEX, INPUT, "not lower-case hexadecimal") \
    X(KEY, INPUT, "not an acceptable Ed25519 public key") \
    X(SIGNATURE, EVIDENCE, "the signature does not verify") \
    X(HASH, EVIDENCE, "the hash does not match the event") \
    X(ALG, EVIDENCE, "the signature algorithm is not allowed") \
    X(UNKNOWN_KID, EVIDENCE, "no such key at this position") \
    X(RECORD, INPUT, "not a v2 record") \
    X(SCHEMA, EVIDENCE, "not a valid tracekit.event.v2 event") \
    X(PROOF, EVIDENCE, "the inclusion proof does not verify") \
    X(NOTE, INPUT, "not a usable checkpoint note") \
    X(VKEY, INPUT, "not a usable verifier key") \
    X(PATTERN, INPUT, "not a usable pattern") \
    X(ZIP, INPUT, "not a usable zip file") \
    X(BUNDLE, INPUT, "not a usable bundle") \
    X(TRUST, INPUT, "not a usable trust configuration") \
    X(FRAME, INPUT, "a malformed frame") \
    X(PROTOCOL, INPUT, "a frame that the protocol does not allow here") \
    X(PEER, INPUT, "the other end is not who it should be") \
    X(CLOSED, SYSTEM, "the other end closed the connection") \
    X(TIMEOUT, SYSTEM, "no answer in time") \
    X(CONNECT, SYSTEM, "cannot connect") \
    X(PATH, INPUT, "not a usable path") \
    X(CONFIG, INPUT, "not a usable configuration") \
    X(PAYLOAD, INPUT, "not a usable hook payload") \
    X(POLICY, INPUT, "not a usable policy") \
    X(LOCKED, STATE, "another signer uses this data directory") \
    X(NOT_FOUND, STATE, "no such thing") \
    X(AMBIGUOUS, STATE, "more than one match") \
    X(STATE, STATE, "not possible in the present state") \
    X(FORBIDDEN, STATE, "not allowed") \
    X(CHAIN, EVIDENCE, "does not continue the chain") \
    X(LEDGER, EVIDENCE, "the ledger does not fit its own evidence") \
    X(STORE, SYSTEM, "the database failed") \
    X(VERSION, INPUT, "made by a newer version") \
    X(USAGE, INPUT, "wrong use of the command line")

enum err {
#define ERR_ENUM(name, kind, text) ERR_##name,
    ERR_TABLE(ERR_ENUM)
#undef ERR_ENUM
};

/* The name without its prefix ("DUPLICATE_KEY"), the kind, and the sentence for people. Static strings. */
const char *err_name(enum err e);
enum err_kind err_kind(enum err e);
const char *err_text(enum err e);

/* One line about the place of a failure. Always NUL-terminated, cut at its size, never empty after fault_set. May hold
 * bytes from hostile input: escape it (visible.h) before it reaches a terminal. */
enum { FAULT_TEXT_BYTES = 320 };
struct fault {
    char text[FAULT_TEXT_BYTES];
};

/* Writes the line; does nothing when `fault` is NULL. Returns `e`, so that failing reads `return fault_set(...)`. */
enum err fault_set(struct fault *fault, enum err e, const char *format, ...) PRINTF_LIKE(3, 4);

#endif
