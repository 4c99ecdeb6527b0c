#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>

#include "evidence/buf.h"
#include "evidence/json.h"

enum { ARENA_BYTES = 64 << 20, MAX_BYTES = 64 << 20 };

static void fails_at(const char *text, size_t len, enum err want, size_t offset)
{
    struct arena *arena = arena_new(ARENA_BYTES);
    const struct json *v = NULL;
    struct json_fault fault = {.err = ERR_OK};
    enum err e = json_parse(arena, text, len, &v, &fault);
    if (e != want || fault.err != want || fault.offset != offset)
        fail_msg("%.*s: %s at %zu", (int)(len < 200 ? len : 200), text, err_name(e), fault.offset);
    assert_null(v);
    arena_free(arena);
}

static void parses(const char *text, size_t len)
{
    struct arena *arena = arena_new(ARENA_BYTES);
    const struct json *v = NULL;
    struct json_fault fault = {.err = ERR_OK};
    enum err e = json_parse(arena, text, len, &v, &fault);
    if (e != ERR_OK)
        fail_msg("%.*s: %s at %zu", (int)(len < 200 ? len : 200), text, err_name(e), fault.offset);
    assert_non_null(v);
    assert_int_equal(fault.err, ERR_OK);
    arena_free(arena);
}

static void nested(size_t depth, const char *open, const char *inside, const char *close, struct buf *out)
{
    buf_init(out, MAX_BYTES);
    for (size_t i = 0; i < depth; i++)
        buf_puts(out, open);
    buf_puts(out, inside);
    for (size_t i = 0; i < depth; i++)
        buf_puts(out, close);
}

static void depth_has_a_limit(void **state)
{
    (void)state;
    static const struct {
        const char *open, *inside, *close;
    } SHAPES[] = {{"[", "", "]"}, {"[", "1", "]"}, {"{\"a\":", "{}", "}"}, {"{\"a\":", "null", "}"}};
    for (size_t i = 0; i < sizeof SHAPES / sizeof SHAPES[0]; i++) {
        struct buf text;
        size_t own = strcmp(SHAPES[i].inside, "{}") == 0;
        nested(JSON_MAX_DEPTH - own, SHAPES[i].open, SHAPES[i].inside, SHAPES[i].close, &text);
        parses((const char *)text.data, text.len);
        buf_wipe(&text);
        nested(JSON_MAX_DEPTH + 1 - own, SHAPES[i].open, SHAPES[i].inside, SHAPES[i].close, &text);
        fails_at((const char *)text.data, text.len, ERR_DEPTH, JSON_MAX_DEPTH * strlen(SHAPES[i].open));
        buf_wipe(&text);
    }
    struct buf text;
    nested(1 << 20, "[", "", "", &text);
    fails_at((const char *)text.data, text.len, ERR_DEPTH, JSON_MAX_DEPTH);
    buf_wipe(&text);
}

static void faults_have_a_line_and_a_column(void **state)
{
    (void)state;
    static const char TEXT[] = "{\n  \"a\": 1,\n  \"b\": x\n}";
    struct arena *arena = arena_new(ARENA_BYTES);
    const struct json *v = NULL;
    struct json_fault fault;
    assert_int_equal(json_parse(arena, TEXT, strlen(TEXT), &v, &fault), ERR_SYNTAX);
    assert_int_equal(fault.offset, 19);
    assert_int_equal(fault.line, 3);
    assert_int_equal(fault.column, 8);
    assert_int_equal(json_parse(arena, "x", 1, &v, &fault), ERR_SYNTAX);
    assert_int_equal(fault.line, 1);
    assert_int_equal(fault.column, 1);
    assert_int_equal(json_parse(arena, "\n", 1, &v, &fault), ERR_SYNTAX);
    assert_int_equal(fault.line, 2);
    assert_int_equal(fault.column, 1);
    assert_int_equal(json_parse(arena, "x", 1, &v, NULL), ERR_SYNTAX);
    arena_free(arena);
}

/* `count` members named by `key` (a printf format for one number), and `last` behind them. */
static void large_object(struct buf *out, unsigned count, const char *prefix, const char *last)
{
    buf_init(out, MAX_BYTES);
    buf_puts(out, "{");
    for (unsigned i = 0; i < count; i++)
        buf_printf(out, "\"%s%06u\":%u,", prefix, i, i);
    buf_puts(out, last);
    buf_puts(out, "}");
}

static void large_objects(void **state)
{
    (void)state;
    enum { MEMBERS = 100000 };
    char prefix[101];
    struct buf text;
    memset(prefix, 'x', sizeof prefix - 1);
    prefix[sizeof prefix - 1] = '\0';
    large_object(&text, MEMBERS, prefix, "\"x\":1");
    parses((const char *)text.data, text.len);
    buf_wipe(&text);
    large_object(&text, MEMBERS, "k", "\"k031415\":1");
    fails_at((const char *)text.data, text.len, ERR_DUPLICATE_KEY, text.len - strlen("\"k031415\":1}"));
    buf_wipe(&text);
    for (unsigned count = 1; count < 70; count++) {
        large_object(&text, count, "k", "\"k000000\":1");
        fails_at((const char *)text.data, text.len, ERR_DUPLICATE_KEY, text.len - strlen("\"k000000\":1}"));
        buf_wipe(&text);
    }
}

/* Long numbers, long strings and many values cost in proportion to their length. */
static void large_tokens(void **state)
{
    (void)state;
    struct buf text;
    nested(1 << 20, "9", "", "", &text);
    fails_at((const char *)text.data, text.len, ERR_INT_RANGE, 0);
    buf_puts(&text, ".5");
    fails_at((const char *)text.data, text.len, ERR_NON_FINITE, 0);
    buf_puts(&text, "e-1048576");
    parses((const char *)text.data, text.len);
    buf_wipe(&text);
    buf_init(&text, MAX_BYTES);
    buf_puts(&text, "[\"");
    for (int i = 0; i < 1 << 18; i++)
        buf_puts(&text, "\\ud83d\\ude00");
    fails_at((const char *)text.data, text.len, ERR_SYNTAX, text.len);
    buf_puts(&text, "\"");
    for (int i = 0; i < 1 << 20; i++)
        buf_puts(&text, ",0");
    buf_puts(&text, "]");
    parses((const char *)text.data, text.len);
    buf_wipe(&text);
}

static void the_arena_bounds_the_memory(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {"[0,0,0,0,0,0,0,0]", "{\"a\":1,\"b\":2,\"c\":3}", "\"0123456789abcdef\"",
                                        "[[[[1]]]]",
                                        "[0.0000000000000000000000000000000000000000000000000000000000000000001]"};
    for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++) {
        size_t refused = 0;
        enum err e = ERR_TOO_LARGE;
        for (size_t max = 0; max < 1000; max++) {
            struct arena *arena = arena_new(max);
            const struct json *v = NULL;
            struct json_fault fault;
            e = json_parse(arena, TEXTS[i], strlen(TEXTS[i]), &v, &fault);
            assert_true((e == ERR_OK) == (v != NULL));
            if (e != ERR_OK) {
                assert_int_equal(e, ERR_TOO_LARGE);
                assert_true(fault.offset <= strlen(TEXTS[i]));
                refused++;
            }
            arena_free(arena);
        }
        assert_int_equal(e, ERR_OK);
        assert_in_range(refused, 16, 900);
    }
    const struct json *v = NULL;
    assert_int_equal(json_parse(NULL, "[]", 2, &v, NULL), ERR_NOMEM);
}

/* Values that the arena cannot take in the end are refused while they are read, before they cost memory elsewhere. */
static void too_many_values_are_refused_early(void **state)
{
    (void)state;
    enum { ARENA = 1 << 16, SMALLEST_VALUE = 16 };
    struct arena *arena = arena_new(ARENA);
    const struct json *v = NULL;
    struct json_fault fault;
    struct buf text;
    nested(1 << 20, "0,", "", "", &text);
    text.data[0] = '[';
    text.data[1] = ' ';
    assert_int_equal(json_parse(arena, text.data, text.len, &v, &fault), ERR_TOO_LARGE);
    assert_true(fault.offset <= 2 * (ARENA / SMALLEST_VALUE) + 4);
    buf_wipe(&text);
    arena_free(arena);
}

static void loose_mode_does_not_forgive_what_is_not_json(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum err want;
    } BAD[] = {
        {"", ERR_SYNTAX},       {"[1,]", ERR_SYNTAX},      {"NaN", ERR_NON_FINITE}, {"-Infinity", ERR_NON_FINITE},
        {"\"\x80\"", ERR_UTF8}, {"\"\\ud8\"", ERR_SYNTAX}, {"01", ERR_SYNTAX}};
    struct arena *arena = arena_new(ARENA_BYTES);
    const struct json *v = NULL;
    struct json_fault fault, note;
    struct buf text;
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        assert_int_equal(json_parse_loose(arena, BAD[i].text, strlen(BAD[i].text), &v, &fault, &note), BAD[i].want);
        assert_int_equal(fault.err, BAD[i].want);
    }
    nested(JSON_MAX_DEPTH + 1, "[", "", "]", &text);
    assert_int_equal(json_parse_loose(arena, text.data, text.len, &v, &fault, &note), ERR_DEPTH);
    buf_wipe(&text);
    assert_null(v);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(depth_has_a_limit),
        cmocka_unit_test(faults_have_a_line_and_a_column),
        cmocka_unit_test(large_objects),
        cmocka_unit_test(large_tokens),
        cmocka_unit_test(the_arena_bounds_the_memory),
        cmocka_unit_test(too_many_values_are_refused_early),
        cmocka_unit_test(loose_mode_does_not_forgive_what_is_not_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
