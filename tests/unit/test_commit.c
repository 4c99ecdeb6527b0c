#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "evidence/commit.h"

enum { ARENA_BYTES = 1 << 20 };

static const struct json *parse(struct arena *arena, const char *text)
{
    const struct json *v = NULL;
    assert_int_equal(json_parse(arena, text, strlen(text), &v, NULL), ERR_OK);
    return v;
}

/* The worked example: salt 00 01 ... 1f. */
static void worked_example(void **state)
{
    (void)state;
    struct arena *arena = arena_new(ARENA_BYTES);
    uint8_t salt[COMMIT_SALT_BYTES];
    char digest[DIGEST_TEXT_BYTES], commitment[DIGEST_HMAC_TEXT_BYTES];
    for (size_t i = 0; i < sizeof salt; i++)
        salt[i] = (uint8_t)i;
    const struct json *args = parse(arena, "{\"command\":\"ls -la\"}");
    assert_int_equal(commit_args_digest("Bash", args, digest), ERR_OK);
    assert_string_equal(digest, "sha256:b7c38435fe712f5634b07e925ba451b8281b9c1480a7df201a2855d9ab409f64");
    commit_write(salt, digest, commitment);
    assert_string_equal(commitment, "hmac-sha256:b0793fcab9cccb7a6ae4a79f07a4b2d324f04e9fe51df1bd38fdeb0ff4e98d99");
    arena_free(arena);
}

static void equal_arguments_have_one_digest(void **state)
{
    (void)state;
    struct arena *arena = arena_new(ARENA_BYTES);
    char a[DIGEST_TEXT_BYTES], b[DIGEST_TEXT_BYTES];
    assert_int_equal(commit_args_digest("t", parse(arena, " { \"b\" : 1.0, \"a\" : \"\\u0041\" } "), a), ERR_OK);
    assert_int_equal(commit_args_digest("t", parse(arena, "{\"a\":\"A\",\"b\":1}"), b), ERR_OK);
    assert_string_equal(a, b);
    assert_int_equal(commit_args_digest("u", parse(arena, "{\"a\":\"A\",\"b\":1}"), b), ERR_OK);
    assert_string_not_equal(a, b);
    assert_int_equal(commit_args_digest("t", parse(arena, "{\"a\":\"A\",\"b\":2}"), b), ERR_OK);
    assert_string_not_equal(a, b);
    arena_free(arena);
}

static void a_tool_name_cannot_pose_as_arguments(void **state)
{
    (void)state;
    struct arena *arena = arena_new(ARENA_BYTES);
    char a[DIGEST_TEXT_BYTES], b[DIGEST_TEXT_BYTES];
    const struct json *value = parse(arena, "{\"tool\":\"a\\\"\\n\",\"args\":{}}");
    assert_int_equal(commit_args_digest("a\"\n", parse(arena, "{}"), a), ERR_OK);
    assert_int_equal(commit_value_digest(value, b, NULL), ERR_OK);
    assert_string_equal(a, b);
    arena_free(arena);
}

static void digests_a_value_and_its_size(void **state)
{
    (void)state;
    struct arena *arena = arena_new(ARENA_BYTES);
    char digest[DIGEST_TEXT_BYTES];
    uint64_t size = 0;
    assert_int_equal(commit_value_digest(parse(arena, " \"\\u00fc\" "), digest, &size), ERR_OK);
    assert_int_equal(size, 4);
    assert_string_equal(digest, "sha256:e4c77d3f26dacb0bcd1ef966781f0988c483f20cb118c5605ccf670c17944c6f");
    arena_free(arena);
}

static void fails_on_a_broken_value(void **state)
{
    (void)state;
    struct arena *arena = arena_new(ARENA_BYTES);
    char digest[DIGEST_TEXT_BYTES] = "untouched";
    uint64_t size = 7;
    struct json *broken = json_new_object(arena);
    json_set(arena, broken, "a", NULL);
    assert_int_equal(commit_args_digest("t", NULL, digest), ERR_NOMEM);
    assert_int_equal(commit_args_digest("t", broken, digest), ERR_NOMEM);
    assert_int_equal(commit_value_digest(broken, digest, &size), ERR_NOMEM);
    assert_string_equal(digest, "untouched");
    assert_int_equal(size, 7);
    arena_free(arena);
}

static void salts_differ_by_label(void **state)
{
    (void)state;
    uint8_t key[COMMIT_KEY_BYTES] = {1}, a[COMMIT_SALT_BYTES], b[COMMIT_SALT_BYTES];
    char hex[DIGEST_HEX_BYTES];
    commit_salt(key, "dec-1", a);
    commit_salt(key, "result:dec-1", b);
    assert_memory_not_equal(a, b, sizeof a);
    digest_hex(a, sizeof a, hex);
    assert_string_equal(hex, "6ba13add92008a62dcd3920fff9e8e28d7d2ed94ea6fdc442e3d6d9fc98aa175");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worked_example),
        cmocka_unit_test(equal_arguments_have_one_digest),
        cmocka_unit_test(a_tool_name_cannot_pose_as_arguments),
        cmocka_unit_test(digests_a_value_and_its_size),
        cmocka_unit_test(fails_on_a_broken_value),
        cmocka_unit_test(salts_differ_by_label),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
