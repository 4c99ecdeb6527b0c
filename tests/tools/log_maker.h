/*
 * log_maker.h - makes logs for tests: records signed with known keys, their tree, checkpoint notes and trust files.
 *
 * Everything is fixed: the same calls give the same bytes. A call that cannot work ends the test program. The signing is
 * libsodium's own, so that what the tests make does not come from the code under test.
 */
#ifndef TESTS_TOOLS_LOG_MAKER_H
#define TESTS_TOOLS_LOG_MAKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "evidence/buf.h"
#include "evidence/digest.h"

enum { LOG_MAKER_KEYS = 3, LOG_MAKER_WITNESSES = 3 };

#define LOG_MAKER_ORIGIN "tracekit.example.org/log/test"
#define LOG_MAKER_TIME 1791591563 /* the witnesses' clock: 2026-10-10T00:19:23Z */

struct log_maker_key {
    uint8_t secret[64], pub[32];
    char kid[DIGEST_TEXT_BYTES];
};

struct log_maker_record {
    char *line; /* canonical JSON, no newline */
    char *tenant, *run_id;
    char hash[DIGEST_TEXT_BYTES];
    uint64_t run_seq;
    bool is_key_record;
};

struct log_maker {
    struct log_maker_key keys[LOG_MAKER_KEYS]; /* of records */
    struct log_maker_key log;                  /* of checkpoints */
    struct log_maker_key witnesses[LOG_MAKER_WITNESSES];
    int key; /* which record key signs */
    struct log_maker_record *records;
    size_t count, cap;
};

/* A record to be made. NULL stands for tenant "default", run "run-a", source "signer", data {} and no further members. */
struct log_maker_event {
    const char *tenant, *run_id, *type, *source;
    const char *data; /* a JSON object */
    const char *more; /* members of the event, such as "\"tool_call_id\":\"t1\"" */
    /* For logs that no signer writes: */
    const char *follows; /* the run whose newest record it continues, if not its own */
    uint64_t seq;        /* what it says as its seq, if not its place in the log; 0 for that place */
};

void log_maker_init(struct log_maker *m);
void log_maker_wipe(struct log_maker *m);

/* Appends a record, signed with the key in use, and returns its seq. */
uint64_t log_maker_add(struct log_maker *m, const struct log_maker_event *e);
/* Appends a signer.epoch that declares a key, signed by it; it is in use then. `more` (may be NULL) are further members of
 * the declared key, such as "\"cert\":{}". */
uint64_t log_maker_epoch(struct log_maker *m, int key, const char *more);
/* Writes the data of such a record into `out`. */
void log_maker_declare(const struct log_maker *m, int key, const char *more, char *out, size_t size);
uint64_t log_maker_retire(struct log_maker *m, int key, uint64_t last_seq);

/* The record of an event's text, signed by a key. The caller frees it. */
char *log_maker_sign(const struct log_maker *m, int key, const char *event);
/* The record with the same event as this line has, signed anew by a key. The caller frees it. */
char *log_maker_resign(const struct log_maker *m, int key, const char *line);

/* Appends the note of the log's first `size` records. `witnesses` is a set: bit i lets witness i cosign, i seconds after
 * LOG_MAKER_TIME. */
void log_maker_note(const struct log_maker *m, const char *origin, uint64_t size, unsigned witnesses, struct buf *out);
/* Appends a JSON array with the proof that record `index` is in the tree of `size`. */
void log_maker_proof(const struct log_maker *m, uint64_t index, uint64_t size, struct buf *out);
/* Appends a trust file that pins this log, the witnesses of a set (0: customer, 1: operator, 2: public), and `more`, such
 * as ",\"issuers\":[]". */
void log_maker_trust(const struct log_maker *m, unsigned witnesses, unsigned required, const char *more,
                     struct buf *out);
/* Appends the vkey of a key. */
void log_maker_vkey(const struct log_maker_key *key, const char *name, uint8_t type, struct buf *out);

/* Ends the program, saying where. */
#define LOG_MAKER_MUST(condition) ((condition) ? (void)0 : log_maker_die(__FILE__, __LINE__, #condition))
_Noreturn void log_maker_die(const char *file, int line, const char *what);

#endif
