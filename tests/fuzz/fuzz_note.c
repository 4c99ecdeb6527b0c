/*
 * fuzz_note.c - the input is a verifier key or a checkpoint note.
 *
 * Property: a vkey that parses is written back as it was. A note opens only if the one pinned log key signed its text,
 * which it did once: so what opens is that checkpoint, whatever lines of others follow, and its body is written back as
 * the front of the note. A refusal has words.
 */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "evidence/note.h"

enum { MAX_INPUT = NOTE_MAX_BYTES + 1024, TREE_SIZE = 13, TIME_S = 1760000000 };

/* The keys of tests/vectors/upstream/c2sp_checkpoint.json. */
static const char LOG[] =
    "tracekit.example.org/log/0190f3a0-test+070965d6+AZsfhHkc/HZjBFhU04netcqVRJ2HXydqg4QLBgqznPxx";
static const char WITNESS[] = "witness.example.org/w1+257cc7f1+BGG3op9v3HIXXDPBmFc/0CioJHhGCXc+pyvvFPlBZdYO";

static void check_vkey(const uint8_t *data, size_t size)
{
    struct note_vkey vkey;
    struct fault fault = {""};
    char *text = malloc(size + 1), written[NOTE_VKEY_BYTES];
    FUZZ_CHECK(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    enum err e = note_vkey_parse(text, &vkey, &fault);
    FUZZ_CHECK(e == ERR_OK || (e == ERR_VKEY && fault.text[0] != '\0'));
    if (e == ERR_OK) {
        note_vkey_write(&vkey, written);
        FUZZ_CHECK(strcmp(written, text) == 0);
    }
    free(text);
}

static void check_opened(const struct note *note, const uint8_t *data, size_t size)
{
    struct buf body;
    FUZZ_CHECK(note->size == TREE_SIZE && note->cosignature_count <= 1);
    FUZZ_CHECK(note->cosignature_count == 0 ||
               (note->cosignatures[0].witness == 0 && note->cosignatures[0].time_s == TIME_S));
    buf_init(&body, NOTE_MAX_BYTES);
    FUZZ_CHECK(note_body(&body, note->origin, note->size, note->root) == ERR_OK);
    FUZZ_CHECK(body.len < size && memcmp(body.data, data, body.len) == 0);
    buf_wipe(&body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct note_vkey log, witness;
    struct note note;
    struct fault fault = {""};
    if (size > MAX_INPUT)
        return 0;
    check_vkey(data, size);
    FUZZ_CHECK(note_vkey_parse(LOG, &log, NULL) == ERR_OK);
    FUZZ_CHECK(note_vkey_parse(WITNESS, &witness, NULL) == ERR_OK);
    enum err e = note_open(data, size, &log, 1, &witness, 1, &note, &fault);
    FUZZ_CHECK(e == ERR_OK || (e == ERR_NOTE && fault.text[0] != '\0'));
    if (e == ERR_OK)
        check_opened(&note, data, size);
    return 0;
}
