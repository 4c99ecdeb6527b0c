/*
 * note.h - C2SP signed notes, checkpoints and cosignatures (signed-note, tlog-checkpoint, tlog-cosignature v1.1.0;
 * upstream's format-v2.md section 6).
 *
 * Invariant: a note opens only when a pinned log key named after its origin signed it, no key signed twice, and no
 * pinned key's signature is wrong. Keys that are not pinned are ignored. Hostile: the note and the vkeys.
 *
 * Upstream's hybrid log keys (type 0xff, SLH-DSA beside Ed25519) are not supported: a vkey of that type is refused, so
 * nobody can believe that this verifier checks what such a key promises. A tree size above 2^64 - 1 is refused too.
 */
#ifndef EVIDENCE_NOTE_H
#define EVIDENCE_NOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "evidence/buf.h"
#include "evidence/digest.h"
#include "evidence/ed25519.h"
#include "evidence/err.h"

enum {
    NOTE_MAX_BYTES = 1 << 20,
    NOTE_MAX_SIGNATURES = 64,
    NOTE_NAME_BYTES = 256, /* a key name or origin with its NUL: at most 255 bytes of UTF-8 */
    NOTE_VKEY_BYTES = 256 + 10 + 46,
    NOTE_TYPE_ED25519 = 0x01,
    NOTE_TYPE_COSIGNATURE = 0x04,
};

/* A verifier key: "<name>+<8 hex>+<base64(type || public key)>". */
struct note_vkey {
    char name[NOTE_NAME_BYTES];
    uint8_t id[4];
    uint8_t type;
    uint8_t pub[ED25519_PUBLIC_BYTES];
};

/* Whether `len` bytes may name a key or an origin: 1 to 255 bytes of UTF-8 without white space (Unicode's too), "+" and
 * characters below U+0020. */
bool note_is_name(const char *name, size_t len);

/* Errors: VKEY (with a fault: bad name, base64, type, length, or an id that does not match). */
enum err note_vkey_parse(const char *text, struct note_vkey *out, struct fault *fault) MUST_USE;
/* Fills in a vkey from its parts, computing the id; `type` is one of the two above. Errors: VKEY for a bad name. */
enum err note_vkey_make(const char *name, uint8_t type, const uint8_t pub[static ED25519_PUBLIC_BYTES],
                        struct note_vkey *out) MUST_USE;
void note_vkey_write(const struct note_vkey *vkey, char out[static NOTE_VKEY_BYTES]);

/* Appends a checkpoint's text "<origin>\n<size>\n<base64 root>\n": what is signed. Errors: NOTE for a bad origin (then
 * nothing was appended), those of `out`. */
enum err note_body(struct buf *out, const char *origin, uint64_t size,
                   const uint8_t root[static DIGEST_BYTES]) MUST_USE;
/* Appends the signature line of `sig` by `key` (type 0x01). A note is a body, an empty line, and such lines. */
void note_signature_line(struct buf *out, const struct note_vkey *key,
                         const uint8_t sig[static ED25519_SIGNATURE_BYTES]);

struct note_cosignature {
    size_t witness;  /* index into the witnesses given to note_open */
    uint64_t time_s; /* seconds since 1970, as the witness says */
};

struct note {
    char origin[NOTE_NAME_BYTES];
    uint64_t size;
    uint8_t root[DIGEST_BYTES];
    size_t cosignature_count;
    struct note_cosignature cosignatures[NOTE_MAX_SIGNATURES];
};

/* Opens a note of `len` bytes against pinned keys: logs of type 0x01, witnesses of type 0x04. When a key is pinned more than
 * once, the last one counts. On failure *out is untouched. Errors: NOTE with a fault that says what is wrong and in
 * which signature line; NOMEM. */
enum err note_open(const void *bytes, size_t len, const struct note_vkey *logs, size_t log_count,
                   const struct note_vkey *witnesses, size_t witness_count, struct note *out,
                   struct fault *fault) MUST_USE;

#endif
