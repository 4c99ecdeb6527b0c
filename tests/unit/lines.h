/*
 * lines.h - test vectors: a JSON lines file, parsed line by line. For tests of the evidence primitives; a file that
 * cannot be read or parsed ends the test.
 */
#ifndef UNIT_LINES_H
#define UNIT_LINES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/json.h"

enum { LINES_ARENA_BYTES = 16 << 20, LINES_MAX = 1 << 20 };

/* Calls `check` with every line of the file and returns how many there were. The value lives until `check` returns. */
static inline size_t lines_each(const char *path, void (*check)(const struct json *line, void *context), void *context)
{
    static char line[LINES_MAX];
    size_t count = 0;
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f) != NULL) {
        struct arena *arena = arena_new(LINES_ARENA_BYTES);
        const struct json *v = NULL;
        assert_int_equal(json_parse(arena, line, strlen(line), &v, NULL), ERR_OK);
        check(v, context);
        arena_free(arena);
        count++;
    }
    assert_false(ferror(f));
    fclose(f);
    return count;
}

#endif
