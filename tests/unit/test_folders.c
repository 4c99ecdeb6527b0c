/* Which folders Gemini CLI trusts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "harness/folders.h"

/* /link leads to /a/b; nothing else is there. */
static bool resolve(void *context, const char *path, char out[static FOLDERS_PATH_BYTES])
{
    (void)context;
    if (strcmp(path, "/link") != 0)
        return false;
    memcpy(out, "/a/b", 5);
    return true;
}

static enum err judge(const char *text, const char *folder, enum folders_answer *out)
{
    const struct folders_place place = {folder, resolve, NULL};
    const struct settings_file file = {"the/file", text, text != NULL ? strlen(text) : 0};
    struct arena *arena = arena_new(16 << 20);
    struct fault fault = {""};
    enum err e = folders_judge(arena, &file, &place, out, &fault);
    assert_int_equal(e != ERR_OK, fault.text[0] != '\0');
    arena_free(arena);
    return e;
}

static void says(const char *text, const char *folder, enum folders_answer want)
{
    enum folders_answer got = FOLDERS_UNKNOWN;
    assert_int_equal(judge(text, folder, &got), ERR_OK);
    if (got != want)
        fail_msg("%s: %s is %d, not %d", text != NULL ? text : "", folder, got, want);
}

static void the_longest_rule_wins(void **state)
{
    (void)state;
    says(NULL, "/a/b", FOLDERS_UNKNOWN);
    says("{}", "/a/b", FOLDERS_UNKNOWN);
    says("{\"/a\":\"TRUST_FOLDER\"}", "/a/b", FOLDERS_YES);
    says("{\"/a\":\"TRUST_FOLDER\"}", "/ab", FOLDERS_UNKNOWN);
    says("{\"/a/b/c\":\"TRUST_FOLDER\"}", "/a/b", FOLDERS_UNKNOWN);
    says("{\"/\":\"TRUST_FOLDER\"}", "/a/b", FOLDERS_YES);
    says("{\"/\":\"TRUST_FOLDER\",\"/a\":\"DO_NOT_TRUST\"}", "/a/b", FOLDERS_NO);
    says("{\"/a\":\"DO_NOT_TRUST\",\"/a/b\":\"TRUST_FOLDER\"}", "/a/b", FOLDERS_YES);
    says("{\"/a/b\":\"TRUST_PARENT\"}", "/a/c", FOLDERS_YES);
    says("{\"/a\":\"TRUST_PARENT\"}", "/x", FOLDERS_YES);
    /* A longer text wins, wherever its folder is. */
    says("{\"/a/b\":\"DO_NOT_TRUST\",\"/a/long name\":\"TRUST_PARENT\"}", "/a/b", FOLDERS_YES);
    says("{\"/link\":\"TRUST_FOLDER\"}", "/a/b/c", FOLDERS_YES);
    says("{\"/a/./b/../b/\":\"TRUST_FOLDER\"}", "/a/b", FOLDERS_YES);
    says("{\"..\":\"TRUST_FOLDER\"}", "/a/b", FOLDERS_YES);
    says("{\"/A\":\"TRUST_FOLDER\"}", "/a", FOLDERS_UNKNOWN);
    says("{\"~\":\"TRUST_FOLDER\"}", "/home", FOLDERS_UNKNOWN);
    says("{\"/a\":\"TRUST_FOLDER\",\"/a/\":\"DO_NOT_TRUST\"}", "/a", FOLDERS_NO);
    /* The same length: which one wins hangs on the order, so it is no. */
    says("{\"/a/c\":\"TRUST_PARENT\",\"/a/b\":\"DO_NOT_TRUST\"}", "/a/b", FOLDERS_NO);
    says("{\"/a/b\":\"DO_NOT_TRUST\",\"/a/c\":\"TRUST_PARENT\"}", "/a/b", FOLDERS_NO);
    says("// c\n{\"/a\":\"TRUST_FOLDER\"}", "/a", FOLDERS_YES);
}

static void what_the_client_refuses_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{\"/a\":true}", "{\"/a\":\"trust_folder\"}",      "[]", "{\"/a\":\"TRUST_FOLDER\",}", "",
        "{\"/a\":[]}",   "{\"/a\":\"${X:-TRUST_FOLDER}\"}"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        enum folders_answer got = FOLDERS_UNKNOWN;
        assert_int_equal(judge(texts[i], "/a", &got), ERR_CONFIG);
        assert_int_equal(got, FOLDERS_UNKNOWN);
    }
}

static void paths_are_normalized(void **state)
{
    (void)state;
    static const char *const cases[][2] = {{"/", "/"},        {"//a//b/", "/a/b"}, {"/..", "/"},  {"b", "/here/b"},
                                           {"../b", "/b"},    {".", "/here"},      {"", "/here"}, {"/a/../../b", "/b"},
                                           {"/a\\b", "/a/b"}, {"/...", "/..."}};
    static char text[2 * FOLDERS_PATH_BYTES];
    char out[FOLDERS_PATH_BYTES];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(folders_normalize("/here", cases[i][0], out), ERR_OK);
        assert_string_equal(out, cases[i][1]);
    }
    memset(text, 'a', sizeof text - 1);
    assert_int_equal(folders_normalize("/here", text, out), ERR_PATH);
    for (size_t i = 0; i < sizeof text - 1; i += 2)
        text[i] = '/';
    assert_int_equal(folders_normalize("/", text, out), ERR_PATH);
    text[FOLDERS_PATH_BYTES - 1] = '\0';
    assert_int_equal(folders_normalize("/", text, out), ERR_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_longest_rule_wins),
        cmocka_unit_test(what_the_client_refuses_is_refused),
        cmocka_unit_test(paths_are_normalized),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
