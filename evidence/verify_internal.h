/*
 * verify_internal.h - the parts of the verifier. Nobody but evidence/verify*.c includes it.
 *
 * How a verification goes: the manifest, the proofs and the checkpoint note are read whole; keys/records.jsonl and the
 * run are read line by line; every other entry is only hashed. Each entry is read once, and hashed while it is parsed.
 * So the manifest's verdict is known last, though its line stands first: the other lines wait in `lines`.
 *
 * What a part returns: NOMEM; ZIP or IO (the bundle is not readable); BUNDLE (its structure is broken: FAILED); VERSION
 * (it is beyond this verifier: UNVERIFIABLE, the fault says what it needs). A check that fails is no error: it is a line.
 */
#ifndef EVIDENCE_VERIFY_INTERNAL_H
#define EVIDENCE_VERIFY_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "evidence/arena.h"
#include "evidence/buf.h"
#include "evidence/digest.h"
#include "evidence/ed25519.h"
#include "evidence/err.h"
#include "evidence/json.h"
#include "evidence/note.h"
#include "evidence/record.h"
#include "evidence/report.h"
#include "evidence/schema.h"
#include "evidence/trust.h"
#include "evidence/verify_calls.h"
#include "evidence/verify_text.h"
#include "evidence/zip.h"

/* The most that is read; the format allows 64 MiB for every entry. */
enum {
    VERIFY_MAX_MANIFEST_BYTES = 4 << 20, /* 10 000 entries with the longest names need less */
    VERIFY_MAX_PROOFS_BYTES = 8 << 20,   /* about 8 000 key records in a tree of a million */
    VERIFY_MAX_KEYS = 4096,              /* record keys that a log declares */
    VERIFY_MAX_EPOCH_KEYS = 16,          /* in one signer.epoch: the schema's own maximum */
    VERIFY_MIN_LINE_BYTES = 256,         /* no signed record is shorter (the format's own bound) */
    VERIFY_MAX_LINES = ZIP_MAX_ENTRY_BYTES / VERIFY_MIN_LINE_BYTES,
    VERIFY_INDEX_ARENA_BYTES = 48 << 20, /* for manifest and proofs, parsed: four times what honest ones take */
    VERIFY_LINE_ARENA_BYTES = 40 << 20,  /* for one line, parsed: enough for any JSON of 1 MiB */
};

/* --- state --- */

struct verify_key {
    char kid[DIGEST_TEXT_BYTES];
    uint8_t pub[ED25519_PUBLIC_BYTES];
    int64_t from, until; /* seqs, both included; until is -1 while the key is not retired */
};

struct verify_keys {
    struct verify_key *list; /* owned */
    size_t count, cap;
    size_t record_count;
    int64_t last_seq;
    char log_id[33]; /* the log's, from the first key record; "" when that has none */
    bool retired;    /* a key.retire is among the key records */
    struct report_problems problems;
};

struct verify_run {
    uint64_t count;
    struct buf tenant, run_id; /* of the first record: the texts as they stand */
    struct verify_text show_tenant, show_run_id;
    bool first_included, last_included;
    int64_t last_seq;
    struct verify_text last_run_seq; /* as the last record has it */
    char last_hash[DIGEST_TEXT_BYTES];
    bool final;         /* the last record is run.final */
    bool about_another; /* it analyses or replays another run */
    struct report_problems signatures, chain;
};

struct verify_coverage {
    bool present;
    unsigned layers; /* bit i: L<i> */
    int64_t reconciled, paired;
};

/* What the run's records say besides. */
struct verify_info {
    bool self_approved;
    struct report_problems against, unresolved, gaps, mismatched, unreconciled, lost, glass;
    struct verify_tally gap_kinds, systems, unreconciled_kinds;
    uint64_t external_verified, accessed, erased;
    uint64_t args_sources, args_raw, args_parsed, args_coerced;
    struct verify_coverage coverage; /* of the last record */
    struct verify_calls calls;
    struct verify_tally isolation, fail_open;
    bool has_principal, principal_attested, has_harness;
    struct verify_text principal, harness;
    struct verify_tally algs;   /* of all records, also the key records */
    struct verify_tally ext;    /* names of extensions that records carry */
    struct verify_tally unread; /* records that only another verifier checks fully, by what they are about */
};

struct verify {
    const struct trust *trust;
    struct zip *zip;
    struct schema *schema;           /* loaded when the first signature holds */
    struct arena *arena;             /* what manifest and proofs were parsed into */
    uint8_t (*hashes)[DIGEST_BYTES]; /* of the entry at each index, once read */
    bool *hashed;
    const struct json *manifest, *inclusion;
    struct note note;
    size_t note_index; /* the note's entry */
    struct verify_keys keys;
    struct verify_run run;
    struct verify_info info;
    struct report *lines; /* all lines but the manifest's */
};

/* --- verify_entry.c: reading entries --- */

/* The index of an entry; false when the bundle has none of that name. */
bool verify_entry_find(const struct verify *v, const char *name, size_t *index);
/* Reads a whole entry into `out`. Also VERSION, when it is larger than out->max. */
enum err verify_entry_read(struct verify *v, size_t index, struct buf *out, struct fault *fault) MUST_USE;
/* Calls `line` for each line of a JSON lines entry, without its newline. After an error the entry is read (and hashed)
 * to its end all the same; BUNDLE and VERSION faults name the entry and the line. */
typedef enum err verify_line(struct verify *v, const uint8_t *line, size_t len, struct fault *fault);
enum err verify_entry_lines(struct verify *v, size_t index, verify_line *line, struct fault *fault) MUST_USE;
/* Hashes what nobody has read. */
enum err verify_entry_rest(struct verify *v, struct fault *fault) MUST_USE;

/* --- verify_manifest.c --- */

/* Reads manifest.json. BUNDLE means here that the bundle is not readable. */
enum err verify_manifest_read(struct verify *v, struct fault *fault) MUST_USE;
/* The `manifest` line, once every entry is hashed. Errors: NOMEM. */
enum err verify_manifest_line(struct verify *v, struct report *report) MUST_USE;

/* --- verify_checkpoint.c --- */

/* Reads the proofs and the note; the `checkpoint` and `witness quorum` lines. *opened false: the note did not open, and
 * nothing that follows can be checked. */
enum err verify_checkpoint_read(struct verify *v, bool *opened, struct fault *fault) MUST_USE;
/* Whether the proofs include the record `hash` ("sha256:...", or anything else) at `seq` in the checkpointed tree. */
enum err verify_checkpoint_includes(const struct verify *v, int64_t seq, const char *hash, bool *included,
                                    struct fault *fault) MUST_USE;
/* Sets the assurance. BUNDLE when a cosignature's time is no date. */
enum err verify_checkpoint_assurance(struct verify *v, struct fault *fault) MUST_USE;

/* --- verify_record.c --- */

/* One record as it stands, whatever its hash and signature are worth. Borrowed from the arena. */
struct verify_record {
    const struct json *value, *event, *data; /* data: NULL when it is no object */
    const char *type;                        /* "" when it is no string */
    const char *hash;                        /* "" when it is no string */
    int64_t seq;
};
/* Errors: BUNDLE (no strict JSON, no event, no seq), NOMEM. */
enum err verify_record_parse(struct arena *arena, const uint8_t *line, size_t len, struct verify_record *out,
                             struct fault *fault) MUST_USE;
/* Signature, schema and log of one record: what is wrong goes to `problems`. `declared` are keys that it declares
 * itself. Errors: NOMEM. */
enum err verify_record_check(struct verify *v, const struct verify_record *r, const struct verify_key *declared,
                             size_t declared_count, struct report_problems *problems) MUST_USE;

/* --- verify_keys.c --- */

/* Reads keys/records.jsonl. */
enum err verify_keys_read(struct verify *v, struct fault *fault) MUST_USE;
/* The key with this kid that may sign at `seq`, or NULL; *retired (may be NULL) is then a key with this kid that was
 * retired before, or NULL. */
const struct verify_key *verify_keys_at(const struct verify_keys *keys, const char *kid, int64_t seq,
                                        const struct verify_key **retired);
void verify_keys_lines(struct verify *v); /* the `keys` lines */
void verify_keys_wipe(struct verify_keys *keys);

/* --- verify_run.c --- */

/* Reads the one run. */
enum err verify_run_read(struct verify *v, struct fault *fault) MUST_USE;
/* The `signatures`, `run chain` and `inclusion` lines, and the integrity. */
void verify_run_lines(struct verify *v);
void verify_run_wipe(struct verify_run *run);

/* --- verify_info.c, verify_lines.c --- */

/* Takes in one record of the run. Errors: NOMEM. */
enum err verify_info_record(struct verify *v, const struct verify_record *r) MUST_USE;
/* What every record, also a key record, has to be noted for. */
void verify_info_any(struct verify *v, const struct verify_record *r);
void verify_info_wipe(struct verify_info *info);
/* The lines from `policy snapshot` to `key assurance`; reads what is left of the bundle. */
enum err verify_lines_run(struct verify *v, struct fault *fault) MUST_USE;
/* The lines behind them: `break-glass approvals` and `not checked`. */
void verify_lines_end(struct verify *v);

#endif
