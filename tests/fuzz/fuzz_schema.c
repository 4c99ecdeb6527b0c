/*
 * fuzz_schema.c - the input is an event; one that is a whole schema is loaded as one too, and checks itself.
 *
 * Property: a verdict is either OK without words or SCHEMA with a place that begins with "event"; and what passes has
 * the fields that every event must have.
 */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "evidence/schema.h"
#include "evidence/schema_internal.h"

enum { ARENA_BYTES = 64 << 20, MAX_INPUT = 256 << 10 };

static void check_event(const struct schema *s, const struct json *event)
{
    static const char *const required[] = {
        "schema_version", "id",   "seq",  "prev_hash", "ts",     "run_id",  "agent_id",      "parent_id",
        "source",         "type", "data", "log_id",    "tenant", "run_seq", "run_prev_hash",
    };
    struct fault fault = {""};
    enum err e = schema_check(s, event, &fault);
    FUZZ_CHECK(e == ERR_OK || e == ERR_SCHEMA);
    if (e == ERR_SCHEMA) {
        FUZZ_CHECK(strncmp(fault.text, "event", 5) == 0);
        return;
    }
    FUZZ_CHECK(fault.text[0] == '\0');
    for (size_t i = 0; i < sizeof required / sizeof required[0]; i++)
        FUZZ_CHECK(json_get(event, required[i]) != NULL);
}

static void check_as_schema(const uint8_t *data, size_t size, const struct json *v)
{
    struct schema *s = NULL;
    struct fault fault = {""};
    enum err e = schema_load(data, size, &s, &fault);
    FUZZ_CHECK((e == ERR_OK) == (s != NULL));
    FUZZ_CHECK(e == ERR_OK || e == ERR_NOMEM || (e == ERR_SCHEMA && fault.text[0] != '\0'));
    if (e == ERR_OK) {
        e = schema_check(s, v, NULL);
        FUZZ_CHECK(e == ERR_OK || e == ERR_SCHEMA);
    }
    schema_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct schema *schema; /* loaded once: reachable for ever, so no leak */
    const struct json *v = NULL;
    if (size > MAX_INPUT)
        return 0;
    if (schema == NULL)
        FUZZ_CHECK(schema_new(&schema) == ERR_OK);
    struct arena *arena = arena_new(ARENA_BYTES);
    if (json_parse(arena, data, size, &v, NULL) == ERR_OK) {
        check_event(schema, v);
        check_as_schema(data, size, v);
    }
    arena_free(arena);
    return 0;
}
