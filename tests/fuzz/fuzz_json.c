/*
 * fuzz_json.c - the input is a JSON text.
 *
 * Property: what parses has a canonical form, and that form parses again and is its own canonical form (loose mode does
 * it: a real from 2^53 to 1e21 is written as an integer token, which strict mode refuses). What strict mode accepts, loose
 * mode reads alike, without a note; what loose mode notes, strict mode refuses for. A fault lies within the text.
 */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "evidence/jcs.h"

enum { ARENA_BYTES = 64 << 20, MAX_INPUT = 1 << 20, MAX_CANONICAL = 6 * MAX_INPUT };

/* The canonical form of a text, read strictly, or loosely when there is a note. */
static enum err canonical(const void *text, size_t len, struct buf *out, struct json_fault *fault,
                          struct json_fault *note)
{
    struct arena *arena = arena_new(ARENA_BYTES);
    const struct json *v = NULL;
    enum err e =
        note == NULL ? json_parse(arena, text, len, &v, fault) : json_parse_loose(arena, text, len, &v, fault, note);
    if (e == ERR_OK)
        FUZZ_CHECK(jcs_write(out, v) == ERR_OK);
    arena_free(arena);
    return e;
}

static bool same(const struct buf *a, const struct buf *b)
{
    return a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}

static void check_twice(const struct buf *once)
{
    struct buf twice;
    struct json_fault note;
    buf_init(&twice, MAX_CANONICAL);
    FUZZ_CHECK(canonical(once->data, once->len, &twice, NULL, &note) == ERR_OK);
    FUZZ_CHECK(note.err == ERR_OK || note.err == ERR_INT_RANGE);
    FUZZ_CHECK(same(once, &twice));
    buf_wipe(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > MAX_INPUT)
        return 0;
    struct buf strict, loose;
    struct json_fault fault = {.err = ERR_OK}, note = {.err = ERR_OK};
    buf_init(&strict, MAX_CANONICAL);
    buf_init(&loose, MAX_CANONICAL);
    enum err e = canonical(data, size, &strict, &fault, NULL);
    enum err loose_e = canonical(data, size, &loose, NULL, &note);
    FUZZ_CHECK(fault.err == e && fault.offset <= size);
    if (e == ERR_OK)
        FUZZ_CHECK(loose_e == ERR_OK && note.err == ERR_OK && same(&strict, &loose));
    else if (loose_e == ERR_OK)
        FUZZ_CHECK(note.err == e && note.offset == fault.offset);
    if (loose_e == ERR_OK)
        check_twice(&loose);
    buf_wipe(&strict);
    buf_wipe(&loose);
    return 0;
}
