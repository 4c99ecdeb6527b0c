#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "evidence/buf.h"
#include "policy/grants.h"

enum { ARENA_BYTES = 16 << 20, TEXT_BYTES = 64 << 10 };

struct fixture {
    struct arena *arena;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    if (f == NULL || (f->arena = arena_new(ARENA_BYTES)) == NULL)
        return -1;
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    arena_free(f->arena);
    free(f);
    return 0;
}

static const struct json *parse(struct fixture *f, const char *text)
{
    const struct json *v = NULL;
    assert_int_equal(json_parse(f->arena, text, strlen(text), &v, NULL), ERR_OK);
    return v;
}

/* The grants of a call's arguments, joined by " | ". Borrowed from the arena. */
static const char *grants_of(struct fixture *f, const struct json *args)
{
    struct grants g;
    assert_int_equal(grants_read(f->arena, args, &g), ERR_OK);
    struct buf out;
    buf_init(&out, TEXT_BYTES);
    for (size_t i = 0; i < g.count; i++)
        buf_printf(&out, "%s%s", i > 0 ? " | " : "", g.list[i].text);
    assert_int_equal(buf_err(&out), ERR_OK);
    const char *text = arena_copy(f->arena, out.data, out.len);
    assert_non_null(text);
    buf_wipe(&out);
    return text;
}

static void expect(void **state, const char *value, const char *wanted)
{
    struct fixture *f = *state;
    char args[512];
    (void)snprintf(args, sizeof args, "{\"additional_permissions\":%s}", value);
    const char *got = grants_of(f, parse(f, args));
    if (strcmp(got, wanted) != 0)
        fail_msg("%s gives '%s', not '%s'", value, got, wanted);
}

static void provably_empty_values_ask_for_nothing(void **state)
{
    expect(state, "null", "");
    expect(state, "false", "");
    expect(state, "{}", "");
    expect(state, "[]", "");
    expect(state, "{\"network\":false}", "");
    expect(state, "{\"network\":null}", "");
    expect(state, "{\"network\":[]}", "");
    expect(state, "{\"network\":{}}", "");
    expect(state, "{\"fileSystem\":null}", "");
    expect(state, "{\"fileSystem\":false}", "");
    expect(state, "{\"fileSystem\":{}}", "");
    expect(state, "{\"fileSystem\":[]}", "");
    expect(state, "{\"network\":false,\"fileSystem\":{\"read\":[],\"write\":null}}", "");
    expect(state, "{\"fileSystem\":{\"read\":{},\"write\":false}}", "");
}

static void arguments_without_the_key_ask_for_nothing(void **state)
{
    struct fixture *f = *state;
    struct grants g = {.count = 7};
    assert_int_equal(grants_read(f->arena, parse(f, "{\"command\":\"ls\",\"network\":true}"), &g), ERR_OK);
    assert_int_equal(g.count, 0);
    /* No object: policy_decide refuses such arguments. */
    assert_int_equal(grants_read(f->arena, parse(f, "[{\"additional_permissions\":true}]"), &g), ERR_OK);
    assert_int_equal(g.count, 0);
    assert_int_equal(grants_read(f->arena, NULL, &g), ERR_OK);
    assert_int_equal(g.count, 0);
}

static void a_value_that_is_no_object_is_an_unknown_grant(void **state)
{
    static const char *const values[] = {
        "true",   "\"\"", "\" \"", "\"null\"",   "\"{}\"", "\"{\\\"network\\\":true}\"", "0", "-0", "0.0", "1e-300",
        "[null]", "[[]]", "[{}]",  "[\"/etc\"]", "[0]"};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        expect(state, values[i], "unknown:additional_permissions");
}

static void network_is_asked_for_by_anything_but_nothing(void **state)
{
    static const char *const values[] = {"true", "1",        "0",       "0.0",          "\"false\"",
                                         "\"\"", "\"true\"", "[false]", "{\"a\":null}", "[[]]"};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char object[64];
        (void)snprintf(object, sizeof object, "{\"network\":%s}", values[i]);
        expect(state, object, "network");
    }
    expect(state, "{\"\\u006eetwork\":true}", "network");
}

static void paths_come_out_as_they_are(void **state)
{
    expect(state, "{\"fileSystem\":{\"read\":[\"/etc\"]}}", "read:/etc");
    expect(state, "{\"fileSystem\":{\"write\":[\"/tmp/x\",\"/tmp/y\"]}}", "write:/tmp/x | write:/tmp/y");
    expect(state, "{\"fileSystem\":{\"read\":[\"../..\",\"~/.ssh\",\" \",\"a:b\"]}}",
           "read:../.. | read:~/.ssh | read:  | read:a:b");
    expect(state, "{\"fileSystem\":{\"read\":[\"\\u001b[2J\\n\",\"/\\u202e\"]}}",
           "read:\x1b[2J\n | read:/\xe2\x80\xae");
    expect(state, "{\"fileSystem\":{\"read\":[\"/etc\\u0000/x\"]}}", "read:/etc\\x00/x");
    expect(state, "{\"fileSystem\":{\"read\":[\"\\u0000\"]}}", "read:\\x00");
}

static void what_is_no_path_is_an_unknown_grant_at_its_place(void **state)
{
    expect(state, "{\"fileSystem\":{\"read\":\"/etc\"}}", "unknown:fileSystem.read");
    expect(state, "{\"fileSystem\":{\"write\":{\"0\":\"/etc\"}}}", "unknown:fileSystem.write");
    expect(state, "{\"fileSystem\":{\"read\":true,\"write\":0}}", "unknown:fileSystem.read | unknown:fileSystem.write");
    expect(state, "{\"fileSystem\":{\"read\":\"\"}}", "unknown:fileSystem.read");
    expect(state, "{\"fileSystem\":{\"read\":[\"\"]}}", "unknown:fileSystem.read[0]");
    expect(state, "{\"fileSystem\":{\"write\":[\"/a\",null,false,[],{},[\"/b\"]]}}",
           "write:/a | unknown:fileSystem.write[1] | unknown:fileSystem.write[2] | unknown:fileSystem.write[3] | "
           "unknown:fileSystem.write[4] | unknown:fileSystem.write[5]");
    expect(state, "{\"fileSystem\":true}", "unknown:fileSystem");
    expect(state, "{\"fileSystem\":\"\"}", "unknown:fileSystem");
    expect(state, "{\"fileSystem\":[\"/etc\"]}", "unknown:fileSystem");
}

static void unknown_keys_are_grants_whatever_their_value(void **state)
{
    expect(state, "{\"root\":true}", "unknown:root");
    expect(state, "{\"root\":false}", "unknown:root");
    expect(state, "{\"confined\":null}", "unknown:confined");
    expect(state, "{\"\":{}}", "unknown:");
    expect(state, "{\"fileSystem\":{\"exec\":[]}}", "unknown:fileSystem.exec");
    expect(state, "{\"fileSystem\":{\"\":null}}", "unknown:fileSystem.");
    expect(state, "{\"__proto__\":{\"network\":true}}", "unknown:__proto__");
    expect(state, "{\"additional_permissions\":{\"network\":true}}", "unknown:additional_permissions");
}

static void keys_that_only_look_alike_are_unknown(void **state)
{
    expect(state, "{\"Network\":false}", "unknown:Network");
    expect(state, "{\"network \":false}", "unknown:network ");
    expect(state, "{\"network\\u0000\":false}", "unknown:network\\x00");
    expect(state, "{\"networ\":false}", "unknown:networ");
    expect(state, "{\"n\\u0435twork\":false}", "unknown:n\xd0\xb5twork");
    expect(state, "{\"\\ufb01leSystem\":{}}", "unknown:\xef\xac\x81leSystem");
    expect(state, "{\"filesystem\":{}}", "unknown:filesystem");
    expect(state, "{\"fileSystem\":{\"Read\":[]}}", "unknown:fileSystem.Read");
}

static void each_grant_comes_once_and_sorted_by_kind(void **state)
{
    expect(
        state,
        "{\"z\":1,\"fileSystem\":{\"write\":[\"/b\",\"/a\",\"/b\"],\"read\":[\"/c\",\"/c\"],\"exec\":1},\"network\":1}",
        "network | read:/c | write:/b | write:/a | unknown:z | unknown:fileSystem.exec");
    /* One path for reading and for writing is two grants. */
    expect(state, "{\"fileSystem\":{\"write\":[\"/a\"],\"read\":[\"/a\"]}}", "read:/a | write:/a");
}

static void parts_of_a_grant_fit_together(void **state)
{
    struct fixture *f = *state;
    struct grants g;
    const struct json *args =
        parse(f, "{\"additional_permissions\":{\"network\":true,\"fileSystem\":{\"read\":[\"/etc\"]},\"root\":1}}");
    assert_int_equal(grants_read(f->arena, args, &g), ERR_OK);
    assert_int_equal(g.count, 3);
    assert_int_equal(g.list[0].kind, GRANT_NETWORK);
    assert_string_equal(g.list[0].subject, "");
    assert_int_equal(g.list[1].kind, GRANT_READ);
    assert_string_equal(g.list[1].subject, "/etc");
    assert_string_equal(g.list[1].text, "read:/etc");
    assert_int_equal(g.list[2].kind, GRANT_UNKNOWN);
    assert_string_equal(g.list[2].subject, "root");
}

/* `count` paths of `len` bytes, all the same or all different. */
static void expect_limit(void **state, size_t count, size_t len, bool same, enum err wanted)
{
    struct fixture *f = *state;
    struct buf text;
    buf_init(&text, ARENA_BYTES);
    buf_puts(&text, "{\"additional_permissions\":{\"fileSystem\":{\"read\":[");
    for (size_t i = 0; i < count; i++)
        buf_printf(&text, "%s\"%0*zu\"", i > 0 ? "," : "", (int)len, same ? (size_t)0 : i);
    buf_put(&text, "]}}}", sizeof "]}}}");
    assert_int_equal(buf_err(&text), ERR_OK);
    struct grants g = {.count = 12345};
    assert_int_equal(grants_read(f->arena, parse(f, (const char *)text.data), &g), wanted);
    assert_int_equal(g.count, wanted != ERR_OK ? 12345 : same ? 1 : count);
    buf_wipe(&text);
}

static void limits_are_kept_and_outputs_left_alone(void **state)
{
    expect_limit(state, GRANTS_MAX, 8, false, ERR_OK);
    expect_limit(state, GRANTS_MAX + 1, 8, false, ERR_TOO_LARGE);
    expect_limit(state, GRANTS_MAX, 8, true, ERR_OK);
    expect_limit(state, GRANTS_MAX + 1, 8, true, ERR_TOO_LARGE);
    expect_limit(state, 10000, 8, true, ERR_TOO_LARGE);
    expect_limit(state, 1, GRANTS_MAX_PATH_BYTES, false, ERR_OK);
    expect_limit(state, 1, GRANTS_MAX_PATH_BYTES + 1, false, ERR_TOO_LARGE);
    expect_limit(state, 1, 1 << 20, false, ERR_TOO_LARGE);
}

static void a_long_key_is_over_the_limit_too(void **state)
{
    struct fixture *f = *state;
    char text[GRANTS_MAX_PATH_BYTES + 64];
    (void)snprintf(text, sizeof text, "{\"additional_permissions\":{\"%0*d\":null}}", GRANTS_MAX_PATH_BYTES + 1, 0);
    struct grants g = {.count = 12345};
    assert_int_equal(grants_read(f->arena, parse(f, text), &g), ERR_TOO_LARGE);
    assert_int_equal(g.count, 12345);
}

static void too_little_memory_is_an_error_and_never_fewer_grants(void **state)
{
    struct fixture *f = *state;
    const struct json *args =
        parse(f, "{\"additional_permissions\":{\"network\":true,\"fileSystem\":{\"read\":[\"/etc\"],"
                 "\"write\":[\"/tmp\"]},\"root\":1}}");
    bool enough = false;
    for (size_t max = 1; !enough && max < 64 << 10; max++) {
        struct arena *small = arena_new(max);
        assert_non_null(small);
        struct grants g = {.count = 12345};
        enum err e = grants_read(small, args, &g);
        enough = e == ERR_OK;
        if (!enough)
            assert_int_equal(e, ERR_NOMEM);
        assert_int_equal(g.count, enough ? 4 : 12345);
        arena_free(small);
    }
    assert_true(enough);
}

static char *read_file(const char *name)
{
    char path[256];
    (void)snprintf(path, sizeof path, "tests/vectors/payloads/%s.json", name);
    char *text = calloc(1, TEXT_BYTES + 1);
    FILE *file = fopen(path, "rb");
    if (text == NULL || file == NULL || fread(text, 1, TEXT_BYTES, file) == 0)
        fail_msg("cannot read %s", path);
    fclose(file);
    return text;
}

/* Payloads that the real client sent. */
static void payloads_of_the_client(void **state)
{
    static const struct {
        const char *name, *grants;
    } cases[] = {
        {"BeforeTool-shell-plain", ""},
        {"BeforeTool-web_fetch", ""},
        {"BeforeTool-shell-null", ""},
        {"BeforeTool-shell-empty-object", ""},
        {"BeforeTool-shell-empty-arrays", ""},
        {"BeforeTool-shell-network-false", ""},
        {"BeforeTool-shell-network-only", "network"},
        {"BeforeTool-toolsandbox-network-granted", "network"},
        {"BeforeTool-shell-read-only", "read:/etc"},
        {"BeforeTool-shell-write-only", "write:/tmp/x"},
        {"BeforeTool-toolsandbox-write-outside-refused", "write:/var/tmp/outside"},
        {"BeforeTool-shell-full", "network | read:/etc | read:/usr/share | write:/tmp/x"},
        {"BeforeTool-shell-extra-keys", "network | unknown:fileSystem.read | unknown:fileSystem.exec | unknown:root"},
        {"AfterTool-sandbox-expansion-approved-once-2",
         "read:/usr/bin | read:/var/tmp/outside | read:/tmp/gemini-shell-XXXXXX | write:/usr/bin | "
         "write:/var/tmp/outside | write:/tmp/gemini-shell-XXXXXX"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *text = read_file(cases[i].name);
        const char *got = grants_of(f, json_get(parse(f, text), "tool_input"));
        if (strcmp(got, cases[i].grants) != 0)
            fail_msg("%s gives '%s', not '%s'", cases[i].name, got, cases[i].grants);
        free(text);
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(provably_empty_values_ask_for_nothing),
        TEST(arguments_without_the_key_ask_for_nothing),
        TEST(a_value_that_is_no_object_is_an_unknown_grant),
        TEST(network_is_asked_for_by_anything_but_nothing),
        TEST(paths_come_out_as_they_are),
        TEST(what_is_no_path_is_an_unknown_grant_at_its_place),
        TEST(unknown_keys_are_grants_whatever_their_value),
        TEST(keys_that_only_look_alike_are_unknown),
        TEST(each_grant_comes_once_and_sorted_by_kind),
        TEST(parts_of_a_grant_fit_together),
        TEST(limits_are_kept_and_outputs_left_alone),
        TEST(a_long_key_is_over_the_limit_too),
        TEST(too_little_memory_is_an_error_and_never_fewer_grants),
        TEST(payloads_of_the_client),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
