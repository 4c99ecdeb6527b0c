#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "evidence/jcs.h"

enum { ARENA_BYTES = 16 << 20, MAX_BYTES = 16 << 20 };

static const struct json *parse(struct arena *arena, const char *text)
{
    const struct json *v = NULL;
    assert_int_equal(json_parse(arena, text, strlen(text), &v, NULL), ERR_OK);
    return v;
}

static void is(const struct json *v, const char *want)
{
    struct buf b;
    buf_init(&b, MAX_BYTES);
    assert_int_equal(jcs_write(&b, v), ERR_OK);
    buf_putc(&b, '\0');
    assert_string_equal((const char *)b.data, want);
    buf_wipe(&b);
}

static void is_broken(const struct json *v)
{
    struct buf b;
    buf_init(&b, MAX_BYTES);
    assert_int_equal(jcs_write(&b, v), ERR_NOMEM);
    buf_wipe(&b);
}

static void reads_every_type(void **state)
{
    (void)state;
    struct arena *arena = arena_new(ARENA_BYTES);
    const struct json *v = parse(arena, "[null,false,true,-7,1.5,\"a\\u0000b\",[],{},\"abc\"]");
    int64_t n = 42;
    double d = 0;
    size_t len = 0;
    assert_int_equal(json_type(v), JSON_ARRAY);
    assert_int_equal(json_count(v), 9);
    static const enum json_type TYPES[] = {JSON_NULL,   JSON_FALSE, JSON_TRUE,   JSON_INT,   JSON_REAL,
                                           JSON_STRING, JSON_ARRAY, JSON_OBJECT, JSON_STRING};
    for (size_t i = 0; i < 9; i++) {
        assert_int_equal(json_type(json_at(v, i)), TYPES[i]);
        assert_true(json_is(json_at(v, i), TYPES[i]));
        assert_int_equal(json_is_bool(json_at(v, i)), i == 1 || i == 2);
        assert_int_equal(json_true(json_at(v, i)), i == 2);
        assert_int_equal(json_int(json_at(v, i), &n), i == 3);
        assert_int_equal(json_number(json_at(v, i), &d), i == 3 || i == 4);
        assert_int_equal(json_text(json_at(v, i), &len) != NULL, i == 5 || i == 8);
        assert_int_equal(json_cstr(json_at(v, i)) != NULL, i == 8);
        assert_int_equal(json_equal_cstr(json_at(v, i), "abc"), i == 8);
    }
    assert_int_equal(n, -7);
    assert_true(d == 1.5);
    assert_memory_equal(json_text(json_at(v, 5), &len), "a\0b", 4);
    assert_int_equal(len, 3);
    assert_false(json_equal_cstr(json_at(v, 5), "a"));
    assert_null(json_at(v, 9));
    assert_null(json_key(v, 0, NULL));
    arena_free(arena);
}

static void finds_members(void **state)
{
    (void)state;
    struct arena *arena = arena_new(ARENA_BYTES);
    const struct json *v = parse(arena, "{\"b\":\"x\",\"a\":{\"c\":\"y\"},\"\":0,\"a\\u0000\":1,\"\xf0\x9f\x98\x80\":2,"
                                        "\"\xee\x80\x80\":3}");
    int64_t n = 0;
    size_t len = 9;
    assert_int_equal(json_count(v), 6);
    assert_string_equal(json_get_cstr(v, "b"), "x");
    assert_string_equal(json_get_cstr(json_get(v, "a"), "c"), "y");
    assert_true(json_int(json_get(v, ""), &n) && n == 0);
    assert_true(json_int(json_get(v, "\xf0\x9f\x98\x80"), &n) && n == 2);
    assert_true(json_int(json_get(v, "\xee\x80\x80"), &n) && n == 3);
    assert_null(json_get(v, "c"));
    assert_null(json_get(v, "B"));
    assert_null(json_get(json_get(v, "b"), "x"));
    /* members stand in text order */
    assert_string_equal(json_key(v, 0, &len), "b");
    assert_int_equal(len, 1);
    assert_ptr_equal(json_at(v, 0), json_get(v, "b"));
    assert_memory_equal(json_key(v, 3, &len), "a\0", 3);
    assert_int_equal(len, 2);
    assert_null(json_key(v, 6, NULL));
    assert_null(json_at(v, 6));
    arena_free(arena);
}

static void accepts_missing_values(void **state)
{
    (void)state;
    int64_t n = 1;
    double d = 1;
    size_t len = 1;
    assert_int_equal(json_type(NULL), JSON_NULL);
    assert_false(json_is(NULL, JSON_NULL));
    assert_false(json_is_bool(NULL));
    assert_false(json_true(NULL));
    assert_false(json_int(NULL, &n));
    assert_false(json_number(NULL, &d));
    assert_null(json_get(NULL, "a"));
    assert_null(json_get_cstr(NULL, "a"));
    assert_null(json_text(NULL, &len));
    assert_null(json_cstr(NULL));
    assert_null(json_at(NULL, 0));
    assert_null(json_key(NULL, 0, &len));
    assert_int_equal(json_count(NULL), 0);
    assert_false(json_equal_cstr(NULL, ""));
    assert_int_equal(n, 1);
    assert_int_equal(len, 1);
}

static void builds_values(void **state)
{
    (void)state;
    struct arena *arena = arena_new(ARENA_BYTES);
    struct json *object = json_new_object(arena), *array = json_new_array(arena);
    json_set_string(arena, object, "s", "a\"b\xc3\xa9");
    json_set_int(arena, object, "n", JSON_MAX_INT);
    json_set_bool(arena, object, "t", true);
    json_set_bool(arena, object, "f", false);
    json_set(arena, object, "nothing", json_new_null());
    json_set(arena, object, "array", array);
    json_set(arena, object, "parsed", parse(arena, "{\"z\":[1.5]}"));
    /* The array is in its place already, and grows there. */
    for (int i = 0; i < 20; i++)
        json_add(arena, array, json_new_int(arena, -i));
    json_add(arena, array, json_new_text(arena, "a\0b", 3));
    is(object, "{\"array\":[0,-1,-2,-3,-4,-5,-6,-7,-8,-9,-10,-11,-12,-13,-14,-15,-16,-17,-18,-19,\"a\\u0000b\"],"
               "\"f\":false,\"n\":9007199254740991,\"nothing\":null,\"parsed\":{\"z\":[1.5]},\"s\":\"a\\\"b\xc3\xa9\","
               "\"t\":true}");
    assert_int_equal(json_count(json_get(object, "array")), 21);
    assert_string_equal(json_key(object, 0, NULL), "s");
    assert_false(arena_failed(arena));
    arena_free(arena);
}

static void large_objects_stay_sorted(void **state)
{
    (void)state;
    struct arena *arena = arena_new(ARENA_BYTES);
    struct json *object = json_new_object(arena);
    for (int i = 0; i < 1000; i++) {
        char key[16];
        (void)snprintf(key, sizeof key, "%03d", i * 617 % 1000);
        json_set_int(arena, object, key, i * 617 % 1000);
    }
    assert_int_equal(json_count(object), 1000);
    for (int i = 0; i < 1000; i++) {
        char key[16];
        int64_t n = -1;
        (void)snprintf(key, sizeof key, "%03d", i);
        assert_true(json_int(json_get(object, key), &n));
        assert_int_equal(n, i);
    }
    arena_free(arena);
}

/* Nothing that could not be built comes out as if it had never been wanted. */
static void a_missing_part_breaks_the_whole(void **state)
{
    (void)state;
    struct arena *arena = arena_new(ARENA_BYTES);
    static const struct {
        const char *key, *text;
    } BAD[] = {{"a", NULL}, {"a", "\x80"}, {"\xff", "a"}, {"\xed\xa0\x80", "a"}, {"a", "\xc0\xaf"}};
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        struct json *object = json_new_object(arena);
        json_set_string(arena, object, BAD[i].key, BAD[i].text);
        is_broken(object);
    }
    struct json *object = json_new_object(arena), *array = json_new_array(arena), *outer = json_new_array(arena);
    json_add(arena, outer, object);
    json_set_int(arena, object, "n", JSON_MAX_INT + 1);
    is_broken(object);
    is_broken(outer);
    json_add(arena, array, json_new_int(arena, -JSON_MAX_INT - 1));
    is_broken(array);
    json_set(arena, NULL, "a", object);
    json_add(arena, NULL, object);
    assert_null(json_new_string(arena, NULL));
    arena_free(arena);
}

static void running_out_of_memory_breaks_the_whole(void **state)
{
    (void)state;
    size_t broken = 0;
    for (size_t max = 0; max < 4000; max += 8) {
        struct arena *arena = arena_new(max);
        struct json *object = json_new_object(arena), *array = json_new_array(arena);
        json_set(arena, object, "list", array);
        for (int i = 0; i < 20; i++)
            json_add(arena, array, json_new_int(arena, i));
        json_set_string(arena, object, "text", "text");
        if (arena_failed(arena)) {
            broken++;
            is_broken(object);
        } else {
            is(object, "{\"list\":[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19],\"text\":\"text\"}");
        }
        arena_free(arena);
    }
    assert_in_range(broken, 10, 490);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_type),
        cmocka_unit_test(finds_members),
        cmocka_unit_test(accepts_missing_values),
        cmocka_unit_test(builds_values),
        cmocka_unit_test(large_objects_stay_sorted),
        cmocka_unit_test(a_missing_part_breaks_the_whole),
        cmocka_unit_test(running_out_of_memory_breaks_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
