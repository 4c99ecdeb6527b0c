#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <locale.h>
#include <math.h>

#include "evidence/digest.h"
#include "evidence/jcs.h"
#include "tests/unit/lines.h"

enum { MAX_BYTES = 1 << 24 };

static void writes(const char *text, const char *want)
{
    struct arena *arena = arena_new(MAX_BYTES);
    const struct json *v = NULL;
    struct buf b;
    assert_int_equal(json_parse(arena, text, strlen(text), &v, NULL), ERR_OK);
    buf_init(&b, MAX_BYTES);
    assert_int_equal(jcs_write(&b, v), ERR_OK);
    buf_putc(&b, '\0');
    assert_string_equal((const char *)b.data, want);
    buf_wipe(&b);
    arena_free(arena);
}

/* "duplicate_key" -> "DUPLICATE_KEY" */
static void upper(char *text)
{
    for (; *text != '\0'; text++) {
        if (*text >= 'a' && *text <= 'z')
            *text = (char)(*text - 'a' + 'A');
    }
}

static void check_vector(const struct json *line, void *context)
{
    size_t *refused = context;
    size_t len = 0, want_len = 0;
    struct arena *arena = arena_new(MAX_BYTES);
    struct buf b;
    const struct json *v = NULL;
    const char *input = json_text(json_get(line, "input"), &len);
    const char *want = json_text(json_get(line, "canonical"), &want_len);
    const char *error = json_get_cstr(line, "error");
    assert_non_null(input);
    enum err e = json_parse(arena, input, len, &v, NULL);
    buf_init(&b, MAX_BYTES);
    if (error != NULL) {
        char name[32];
        (void)snprintf(name, sizeof name, "%s", error);
        upper(name);
        assert_string_equal(err_name(e), name);
        ++*refused;
    } else {
        uint8_t hash[DIGEST_BYTES];
        char hex[DIGEST_HEX_BYTES];
        assert_int_equal(e, ERR_OK);
        assert_int_equal(jcs_write(&b, v), ERR_OK);
        assert_int_equal(b.len, want_len);
        assert_memory_equal(b.data, want, want_len);
        digest_sha256(b.data, b.len, hash);
        digest_hex(hash, sizeof hash, hex);
        assert_string_equal(hex, json_get_cstr(line, "sha256"));
    }
    buf_wipe(&b);
    arena_free(arena);
}

static void upstream_vectors(void **state)
{
    (void)state;
    size_t refused = 0;
    assert_int_equal(lines_each("tests/vectors/upstream/jcs.jsonl", check_vector, &refused), 248);
    assert_int_equal(refused, 22);
}

static void sorts_by_utf16_code_units(void **state)
{
    (void)state;
    /* U+1F600 is d83d de00 in UTF-16 and so stands before U+E000 and U+FFFF, but behind U+D7FF. */
    writes("{\"\\uffff\":1,\"\\ue000\":2,\"\xf0\x9f\x98\x80\":3,\"\\ud7ff\":4,\"\\u0000\":5,\"\":6,\"aa\":7,\"a\":8}",
           "{\"\":6,\"\\u0000\":5,\"a\":8,\"aa\":7,\"\xed\x9f\xbf\":4,\"\xf0\x9f\x98\x80\":3,\"\xee\x80\x80\":2,"
           "\"\xef\xbf\xbf\":1}");
    writes("{\"\xf0\x9f\x98\x81\":1,\"\xf0\x9f\x98\x80\":2,\"\xf4\x8f\xbf\xbf\":3,\"\xf0\x90\x80\x80\":4}",
           "{\"\xf0\x90\x80\x80\":4,\"\xf0\x9f\x98\x80\":2,\"\xf0\x9f\x98\x81\":1,\"\xf4\x8f\xbf\xbf\":3}");
}

static void sorts_large_objects(void **state)
{
    (void)state;
    enum { MEMBERS = 1000 };
    struct buf text, want;
    buf_init(&text, MAX_BYTES);
    buf_init(&want, MAX_BYTES);
    for (unsigned i = 0; i < MEMBERS; i++) {
        /* 617 and 1000 have no common divisor: every number once, in a wild order */
        buf_printf(&text, "%s\"%03u\":%u", i == 0 ? "{" : ",", i * 617 % MEMBERS, i * 617 % MEMBERS);
        buf_printf(&want, "%s\"%03u\":%u", i == 0 ? "{" : ",", i, i);
    }
    buf_put(&text, "}", 2);
    buf_put(&want, "}", 2);
    writes((const char *)text.data, (const char *)want.data);
    buf_wipe(&text);
    buf_wipe(&want);
}

static void escapes_as_little_as_possible(void **state)
{
    (void)state;
    writes("\"\\u0000\\u0001\\u0008\\u0009\\u000a\\u000b\\u000c\\u000d\\u001f\\u0020\\u0022\\u005c\\/\\u007f\\u0080\"",
           "\"\\u0000\\u0001\\b\\t\\n\\u000b\\f\\r\\u001f \\\"\\\\/\x7f\xc2\x80\"");
    writes("\"\\u2028\\ud83d\\ude00\"", "\"\xe2\x80\xa8\xf0\x9f\x98\x80\"");
}

static void keeps_structure(void **state)
{
    (void)state;
    writes(" [ ] ", "[]");
    writes("{ }", "{}");
    writes("[[],{},[{}],null , true,false,0,\"\"]", "[[],{},[{}],null,true,false,0,\"\"]");
    writes("{\"b\":[{\"d\":1,\"c\":[]}],\"a\":{\"z\":{},\"y\":[[]]}}",
           "{\"a\":{\"y\":[[]],\"z\":{}},\"b\":[{\"c\":[],\"d\":1}]}");
}

static void number_is(double v, const char *want)
{
    char text[JCS_NUMBER_BYTES];
    jcs_number(v, text);
    assert_string_equal(text, want);
    if (v != 0) {
        char minus[JCS_NUMBER_BYTES + 1];
        (void)snprintf(minus, sizeof minus, "-%s", want);
        jcs_number(-v, text);
        assert_string_equal(text, minus);
    }
}

static void writes_numbers_like_ecmascript(void **state)
{
    (void)state;
    number_is(0.0, "0");
    number_is(-0.0, "0");
    number_is(1, "1");
    number_is(0.1, "0.1");
    number_is(1.0 / 3, "0.3333333333333333");
    number_is(9007199254740991, "9007199254740991");
    number_is(9007199254740992, "9007199254740992");
    number_is(9007199254740994, "9007199254740994");
    number_is(1e20, "100000000000000000000");
    number_is(123456789012345680000.0, "123456789012345680000");
    number_is(999999999999999900000.0, "999999999999999900000");
    number_is(1e21, "1e+21");
    number_is(1.5e21, "1.5e+21");
    number_is(1e-6, "0.000001");
    number_is(1.25e-6, "0.00000125");
    number_is(1.2345678901234567e-6, "0.0000012345678901234567");
    number_is(1e-7, "1e-7");
    number_is(1.25e-7, "1.25e-7");
    number_is(1e23, "1e+23");
    number_is(1.0000000000000001e23, "1.0000000000000001e+23");
    number_is(1.7976931348623157e308, "1.7976931348623157e+308");
    number_is(2.2250738585072014e-308, "2.2250738585072014e-308");
    number_is(2.225073858507201e-308, "2.225073858507201e-308");
    number_is(5e-324, "5e-324");
    number_is(1e-323, "1e-323");
    number_is(4.5, "4.5");
}

/* At 2^-44 the nearest decimal of 16 digits, ...801e-14, is another double; its neighbour is this one. */
static void takes_the_neighbour_above_a_power_of_two(void **state)
{
    (void)state;
    number_is(ldexp(1, -44), "5.684341886080802e-14");
    number_is(ldexp(1, -24), "5.960464477539063e-8");
    number_is(ldexp(1, 89), "6.189700196426902e+26");
    number_is(ldexp(1, -1022), "2.2250738585072014e-308");
}

static void round_trips(double v)
{
    char text[JCS_NUMBER_BYTES], shorter[JCS_NUMBER_BYTES];
    jcs_number(v, text);
    assert_true(strtod(text, NULL) == v);
    /* One digit less, rounded correctly, is another double: the text was as short as that way can tell. */
    int digits = 0;
    for (const char *c = text; *c != '\0' && *c != 'e'; c++)
        digits += *c >= '0' && *c <= '9';
    if (strchr(text, 'e') != NULL && digits > 1) {
        (void)snprintf(shorter, sizeof shorter, "%.*e", digits - 2, v);
        assert_false(strtod(shorter, NULL) == v);
    }
}

/* The double `step` places further up. */
static double neighbour(double v, int step)
{
    uint64_t bits = 0;
    memcpy(&bits, &v, sizeof bits);
    bits += (uint64_t)step;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static void every_kind_of_double_round_trips(void **state)
{
    (void)state;
    const char *given = getenv("TEST_SEED");
    uint64_t bits = given != NULL ? strtoull(given, NULL, 10) : 1;
    print_message("TEST_SEED=%llu\n", (unsigned long long)bits);
    for (int i = 0; i < 20000; i++) {
        double v = 0;
        bits = bits * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        memcpy(&v, &bits, sizeof v);
        if (isfinite(v))
            round_trips(v);
        round_trips(ldexp((double)(bits >> 60), (int)(bits >> 40 & 0x3ff) - 1074));
    }
    for (int e = -1074; e < 1024; e++) {
        double v = ldexp(1, e);
        round_trips(v);
        round_trips(neighbour(v, 1));
        round_trips(neighbour(v, -1));
    }
}

static void is_its_own_canonical_form(void **state)
{
    (void)state;
    static const char TEXT[] = "{\"a\":[1,1.5,1e+21,\"\\u000b\\n\"],\"b\":{}}";
    writes(TEXT, TEXT);
}

/* Canonical form of a large real is an integer token that the strict parser refuses: that is how the format is. */
static void a_large_real_reads_back_only_loosely(void **state)
{
    (void)state;
    static const char CANONICAL[] = "100000000000000000000";
    struct arena *arena = arena_new(MAX_BYTES);
    struct json_fault note;
    const struct json *v = NULL;
    double d = 0;
    writes("1e20", CANONICAL);
    assert_int_equal(json_parse(arena, CANONICAL, strlen(CANONICAL), &v, NULL), ERR_INT_RANGE);
    assert_int_equal(json_parse_loose(arena, CANONICAL, strlen(CANONICAL), &v, NULL, &note), ERR_OK);
    assert_true(json_number(v, &d) && d == 1e20);
    arena_free(arena);
}

/* Needs a locale with a decimal comma; without one there is nothing to show. */
static void does_not_depend_on_the_locale(void **state)
{
    (void)state;
    static const char *const COMMA[] = {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "fr_FR", "ru_RU.UTF-8"};
    const char *set = NULL;
    for (size_t i = 0; i < sizeof COMMA / sizeof COMMA[0] && set == NULL; i++)
        set = setlocale(LC_ALL, COMMA[i]);
    if (set == NULL)
        skip();
    number_is(1.5, "1.5");
    writes("[0.25,1e-7]", "[0.25,1e-7]");
    setlocale(LC_ALL, "C");
}

static void a_broken_value_is_not_written(void **state)
{
    (void)state;
    struct arena *arena = arena_new(MAX_BYTES);
    struct json *outer = json_new_object(arena), *inner = json_new_array(arena);
    struct buf b;
    buf_init(&b, MAX_BYTES);
    json_set(arena, outer, "inner", inner);
    assert_int_equal(jcs_write(&b, outer), ERR_OK);
    json_add(arena, inner, NULL);
    buf_reset(&b);
    assert_int_equal(jcs_write(&b, outer), ERR_NOMEM);
    assert_int_equal(buf_err(&b), ERR_NOMEM);
    buf_reset(&b);
    assert_int_equal(jcs_write(&b, NULL), ERR_NOMEM);
    buf_wipe(&b);
    arena_free(arena);
}

static void stops_at_the_buffers_maximum(void **state)
{
    (void)state;
    struct arena *arena = arena_new(MAX_BYTES);
    const struct json *v = NULL;
    struct buf b;
    assert_int_equal(json_parse(arena, "[1,2,3]", 7, &v, NULL), ERR_OK);
    buf_init(&b, 6);
    assert_int_equal(jcs_write(&b, v), ERR_TOO_LARGE);
    buf_wipe(&b);
    buf_init(&b, 7);
    assert_int_equal(jcs_write(&b, v), ERR_OK);
    buf_wipe(&b);
    arena_free(arena);
}

static struct json *nested(struct arena *arena, int depth)
{
    struct json *v = json_new_array(arena);
    for (int i = 1; i < depth; i++) {
        struct json *outer = json_new_array(arena);
        json_add(arena, outer, v);
        v = outer;
    }
    return v;
}

static void stops_at_its_depth(void **state)
{
    (void)state;
    struct arena *arena = arena_new(MAX_BYTES);
    struct buf b;
    buf_init(&b, MAX_BYTES);
    assert_int_equal(jcs_write(&b, nested(arena, JCS_MAX_DEPTH)), ERR_OK);
    assert_int_equal(b.len, 2 * JCS_MAX_DEPTH);
    buf_reset(&b);
    assert_int_equal(jcs_write(&b, nested(arena, JCS_MAX_DEPTH + 1)), ERR_TOO_LARGE);
    buf_wipe(&b);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(upstream_vectors),
        cmocka_unit_test(sorts_by_utf16_code_units),
        cmocka_unit_test(sorts_large_objects),
        cmocka_unit_test(escapes_as_little_as_possible),
        cmocka_unit_test(keeps_structure),
        cmocka_unit_test(writes_numbers_like_ecmascript),
        cmocka_unit_test(takes_the_neighbour_above_a_power_of_two),
        cmocka_unit_test(every_kind_of_double_round_trips),
        cmocka_unit_test(is_its_own_canonical_form),
        cmocka_unit_test(a_large_real_reads_back_only_loosely),
        cmocka_unit_test(does_not_depend_on_the_locale),
        cmocka_unit_test(a_broken_value_is_not_written),
        cmocka_unit_test(stops_at_the_buffers_maximum),
        cmocka_unit_test(stops_at_its_depth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
