/*
 * fuzz_yaml.c - the input is a configuration, read as a file with and without the ending .json.
 *
 * Property: a document that was read is a value of the JSON data model (it has a canonical form, and reading that again
 * as strict JSON gives the same, but for large reals), every value in it stands somewhere in the text, and in the order of the text; one that
 * was refused is refused with words.
 */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "evidence/buf.h"
#include "evidence/jcs.h"
#include "policy/yaml.h"

enum { MAX_TEXT = 16 << 20 };

static void canonical(struct buf *out, const struct json *v)
{
    buf_init(out, MAX_TEXT);
    FUZZ_CHECK(jcs_write(out, v) == ERR_OK);
}

static void check_places(const struct yaml *doc, const struct json *v, struct yaml_place *last, size_t lines)
{
    struct yaml_place place = yaml_position(doc, v);
    FUZZ_CHECK(place.line >= 1 && place.column >= 1 && place.line <= lines + 1);
    FUZZ_CHECK(place.line > last->line || (place.line == last->line && place.column >= last->column));
    *last = place;
}

/* Not the whole tree of a large document: each look-up takes its length. */
static void check_values(const struct yaml *doc, const uint8_t *data, size_t size)
{
    size_t lines = 1;
    struct yaml_place last = {0, 0};
    const struct json *root = yaml_root(doc);
    for (size_t i = 0; i < size; i++)
        lines += data[i] == '\n' || data[i] == '\r' || data[i] == 0xe2 || data[i] == 0xc2;
    if (json_is(root, JSON_NULL))
        return; /* an empty document has no place */
    check_places(doc, root, &last, lines);
    for (size_t i = 0; i < json_count(root) && i < 50; i++) {
        check_places(doc, json_at(root, i), &last, lines);
        for (size_t k = 0; k < json_count(json_at(root, i)) && k < 50; k++)
            check_places(doc, json_at(json_at(root, i), k), &last, lines);
    }
}

static void check(const char *name, const uint8_t *data, size_t size)
{
    const struct yaml *doc = NULL, *again = NULL;
    struct fault fault = {""};
    struct buf one, two;
    struct arena *arena = arena_new(YAML_ARENA_BYTES), *second = arena_new(YAML_ARENA_BYTES);
    FUZZ_CHECK(arena != NULL && second != NULL);
    enum err e = yaml_read(arena, name, data, size, &doc, &fault);
    FUZZ_CHECK((e == ERR_OK) == (doc != NULL));
    if (e != ERR_OK) {
        FUZZ_CHECK(strncmp(fault.text, name, strlen(name)) == 0 && e != ERR_NOMEM);
    } else {
        check_values(doc, data, size);
        canonical(&one, yaml_root(doc));
        e = one.len > YAML_MAX_BYTES ? ERR_TOO_LARGE
                                     : yaml_read(second, "canonical.json", one.data, one.len, &again, NULL);
        /* 2e20 is a real number, and an integer beyond 2^53 in its canonical form. */
        FUZZ_CHECK(e == ERR_OK || e == ERR_TOO_LARGE || e == ERR_INT_RANGE);
        if (e == ERR_OK) {
            canonical(&two, yaml_root(again));
            FUZZ_CHECK(one.len == two.len && memcmp(one.data, two.data, one.len) == 0);
            buf_wipe(&two);
        }
        buf_wipe(&one);
    }
    arena_free(arena);
    arena_free(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check("f.yaml", data, size);
    check("f.json", data, size);
    return 0;
}
