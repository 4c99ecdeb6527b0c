/* Settings files are changed in our places and nowhere else; what Gemini would not take is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/settings_rig.h"

static struct settings *opened(const char *text, size_t len)
{
    struct settings *s = NULL;
    struct fault fault = {""};
    enum err e = settings_open(text, len, &s, &fault);
    if (e != ERR_OK)
        fail_msg("%s: %s", fault.text, text);
    return s;
}

static void must(enum err e, const struct fault *fault)
{
    if (e != ERR_OK)
        fail_msg("%s: %s", err_name(e), fault->text);
}

/* Installs, installs again without a change, removes: the text is back. */
static void goes_and_comes(const char *text, size_t len)
{
    struct fault fault = {""};
    struct settings *s = opened(text, len);
    must(settings_rig_put(s, SETTINGS_RIG_ID, 8, &fault), &fault);
    must(settings_rig_verify(s, &fault), &fault);
    size_t with = 0;
    char *copy = NULL;
    const char *now = settings_text(s, &with);
    copy = malloc(with);
    assert_non_null(copy);
    memcpy(copy, now, with);
    settings_free(s);

    s = opened(copy, with);
    must(settings_rig_put(s, SETTINGS_RIG_ID, 8, &fault), &fault);
    assert_true(settings_rig_is(s, copy, with));
    must(settings_rig_put(s, "00ff00", 9, &fault), &fault);
    must(settings_rig_put(s, SETTINGS_RIG_ID, 8, &fault), &fault);
    assert_true(settings_rig_is(s, copy, with));
    must(settings_rig_drop(s, &fault), &fault);
    must(settings_rig_verify(s, &fault), &fault);
    if (!settings_rig_is(s, text, len)) {
        now = settings_text(s, &with);
        fail_msg("after a removal:\n%.*s\ninstead of:\n%.*s", (int)with, now, (int)len, text);
    }
    assert_false(settings_is_bare(s));
    settings_free(s);
    free(copy);
}

static void comes_back(const char *text)
{
    goes_and_comes(text, strlen(text));
}

static void what_was_there_comes_back(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{}",
        "{}\n",
        "{\n}\n",
        "{ }",
        "{\r\n}\r\n",
        "{\n\n}\n",
        "\n {} \n",
        "{/**/}",
        "{ /* a */ }\n",
        "{ // a\n}",
        "{\n  // a\n}\n",
        "{\n  /* a\n   */\n}\n",
        "// top\n{}\n// end",
        "{\"a\":1}",
        "{\"a\": 1}\n",
        "{ \"a\": 1 }",
        "{\n  \"a\": 1\n}\n",
        "{\n  \"a\": 1 }\n",
        "{ \"a\": 1\n}",
        "{\n\t\"a\": {\n\t\t\"b\": 1\n\t}\n}",
        "{\r\n    \"a\": 1\r\n}\r\n",
        "{\n  \"a\": 1 // one\n}\n",
        "{\n  \"a\": 1 /* one */ // two\n}\n",
        "{\n  \"a\": 1 /* one\n two */\n}\n",
        "{\"a\":1 // one\n}",
        "{\"a\":1/*,*/}",
        "{\"a\":1 /* x */ }",
        "{\n  \"a\": 1\n  // last\n}\n",
        "{\"a\":1 // one\r\n}",
        "{\"a\": 1 /*/ , */ }",
        "{\"a\":1 //\n}",
        "{\"hooks\":{}}",
        "{\"hooks\": { }}",
        "{\n  \"hooks\": {\n  }\n}\n",
        "{\"hooks\": {\"BeforeTool\": []}}",
        "{\n  \"hooks\": {\n    \"BeforeTool\": [\n    ]\n  }\n}\n",
        "{\"hooks\":{\"BeforeTool\":[{}]}}",
        "{\n  \"hooks\": {\n    \"BeforeTool\": [\n      {\"matcher\": \"*\", \"hooks\": []} // mine\n    ]\n  }\n}\n",
        "{\"hooks\":{/*x*/}}",
        "{\"hooks\":{\"AfterTool\":[ // none\n ]}}",
        "{\"hooks\":{\"BeforeModel\":[]},\"b\":2}",
        "{\"hooks\":{\"BeforeTool\":[]},\"b\":2}",
        "{\"advanced\":{}}",
        "{\"advanced\":{\"excludedEnvVars\":[]}}",
        "{\"advanced\":{\"excludedEnvVars\":[\"DEBUG\"]}}",
        "{\n  \"advanced\": {\n    \"excludedEnvVars\": [\n      \"DEBUG\"\n    ]\n  }\n}\n",
        "{\"h\\u006foks\":{},\"adv\\u0061nced\":{\"x\":1}}",
        "{\"a\":\"// no comment\",\"b\":\"/*\",\"c\":\"\\\"}\"}",
        "{\"a\":1,\"a\":2}",
        "{\"a\":1e999,\"b\":\"\\ud800\"}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        comes_back(texts[i]);
}

/* What was made for a file that was not there is nothing but ours in the end. */
static void a_new_file_goes_again(void **state)
{
    (void)state;
    struct fault fault = {""};
    struct settings *s = NULL;
    size_t len = 0;
    must(settings_new(&s), &fault);
    must(settings_rig_put(s, SETTINGS_RIG_ID, 8, &fault), &fault);
    must(settings_rig_verify(s, &fault), &fault);
    const char *text = settings_text(s, &len);
    char *copy = malloc(len);
    assert_non_null(copy);
    memcpy(copy, text, len);
    assert_int_equal(copy[len - 1], '\n');
    settings_free(s);
    s = opened(copy, len);
    must(settings_rig_drop(s, &fault), &fault);
    assert_true(settings_is_bare(s));
    settings_free(s);
    free(copy);
}

/* The exact text, once. */
static void what_is_written(void **state)
{
    (void)state;
    static const char WANT[] = "{\r\n"
                               "\t\"a\": 1, // one\r\n"
                               "\t\"hooks\": {\r\n"
                               "\t\t\"AfterTool\": [\r\n"
                               "\t\t\t{\r\n"
                               "\t\t\t\t\"hooks\": [\r\n"
                               "\t\t\t\t\t{\r\n"
                               "\t\t\t\t\t\t\"name\": \"x\"\r\n"
                               "\t\t\t\t\t}\r\n"
                               "\t\t\t\t]\r\n"
                               "\t\t\t}\r\n"
                               "\t\t]\r\n"
                               "\t},\r\n"
                               "\t\"security\": {\r\n"
                               "\t\t\"toolSandboxing\": true\r\n"
                               "\t}\r\n"
                               "}\r\n";
    struct fault fault = {""};
    static const char BEFORE[] = "{\r\n\t\"a\": 1 // one\r\n}\r\n";
    struct settings *s = opened(BEFORE, sizeof BEFORE - 1);
    must(settings_put_hook(s, "AfterTool", "{\n  \"name\": \"x\"\n}", definition_is_ours, &fault), &fault);
    must(settings_put_tool_sandbox(s, &fault), &fault);
    if (!settings_rig_is(s, WANT, sizeof WANT - 1)) {
        size_t len = 0;
        const char *text = settings_text(s, &len);
        fail_msg("%.*s", (int)len, text);
    }
    settings_free(s);
}

static void the_tool_sandbox(void **state)
{
    (void)state;
    static const struct {
        const char *before, *after;
    } cases[] = {
        {"{\"security\":{\"toolSandboxing\":true}}", "{\"security\":{\"toolSandboxing\":true}}"},
        {"{\"security\":{\"toolSandboxing\": false /*x*/}}", "{\"security\":{\"toolSandboxing\": true /*x*/}}"},
        {"{\"security\":{\"toolSandboxing\":\"no\"}}", "{\"security\":{\"toolSandboxing\":true}}"},
        {"{\"security\":{\"a\":1}}", "{\"security\":{\"a\":1, \"toolSandboxing\": true}}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fault fault = {""};
        struct settings *s = opened(cases[i].before, strlen(cases[i].before));
        bool on = false;
        must(settings_put_tool_sandbox(s, &fault), &fault);
        must(settings_tool_sandbox(s, &on, &fault), &fault);
        assert_true(on);
        must(settings_rig_verify(s, &fault), &fault);
        assert_true(settings_rig_is(s, cases[i].after, strlen(cases[i].after)));
        settings_free(s);
    }
}

#define OURS(name) \
    "{\"type\":\"command\",\"name\":\"" name "\",\"command\":\"'/x/tracekit-hook' gemini --event BeforeTool\"}"

/* Hooks of ours that are odd: alone, twice, beside others, with a matcher. */
static void only_ours_go(void **state)
{
    (void)state;
    static const struct {
        const char *before, *after;
    } cases[] = {
        {"{\"hooks\":{\"BeforeTool\":[{\"hooks\":[" OURS("tracekit gate (held?)") "]},{\"hooks\":[]}]}}",
         "{\"hooks\":{\"BeforeTool\":[{\"hooks\":[]}]}}"},
        {"{\"hooks\":{\"BeforeTool\":[{\"hooks\":[{\"name\":\"a\"}, " OURS("tracekit x") "]}]}}",
         "{\"hooks\":{\"BeforeTool\":[{\"hooks\":[{\"name\":\"a\"}]}]}}"},
        {"{\"hooks\":{\"BeforeTool\":[{\"hooks\":[" OURS("tracekit x") ", {\"name\":\"a\"}]}]}}",
         "{\"hooks\":{\"BeforeTool\":[{\"hooks\":[{\"name\":\"a\"}]}]}}"},
        {"{\"hooks\":{\"BeforeTool\":[{\"hooks\":[" OURS("other") "]}]}}",
         "{\"hooks\":{\"BeforeTool\":[{\"hooks\":[" OURS("other") "]}]}}"},
        {"{\"hooks\":{\"BeforeTool\":[{\"hooks\":[{\"name\":\"tracekit x\",\"command\":\"'/x/hook' gemini "
         "--event\"}]}]}}",
         "{\"hooks\":{\"BeforeTool\":[{\"hooks\":[{\"name\":\"tracekit x\",\"command\":\"'/x/hook' gemini "
         "--event\"}]}]}}"},
        {"{\n  \"hooks\": {\n    \"X\": [1], // one\n    \"BeforeTool\": [\n      // two\n      {\"hooks\":[" OURS(
             "tracekit x") "]}\n    ]\n  }\n}\n",
         "{\n  \"hooks\": {\n    \"X\": [1], // one\n    \"BeforeTool\": [\n      // two\n    ]\n  }\n}\n"},
        {"{\"hooks\":{\"BeforeTool\":[ // two\n {\"hooks\":[" OURS("tracekit x") "]}, 1 ]}}",
         "{\"hooks\":{\"BeforeTool\":[ // two\n  1 ]}}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fault fault = {""};
        struct settings *s = opened(cases[i].before, strlen(cases[i].before));
        must(settings_rig_drop(s, &fault), &fault);
        must(settings_rig_verify(s, &fault), &fault);
        if (!settings_rig_is(s, cases[i].after, strlen(cases[i].after))) {
            size_t len = 0;
            const char *text = settings_text(s, &len);
            fail_msg("%.*s", (int)len, text);
        }
        settings_free(s);
    }
}

/* Whatever stands there of ours, an installation leaves one hook for each event, alone in its definition. */
static void one_is_left(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{\"hooks\":{\"BeforeTool\":[{\"hooks\":[" OURS("tracekit x") "," OURS("tracekit y") "]}]}}",
        "{\"hooks\":{\"BeforeTool\":[{\"matcher\":\"a\",\"hooks\":[" OURS("tracekit x") "]},{\"hooks\":[" OURS(
            "tracekit x") "]}]}}",
        "{\"hooks\":{\"BeforeTool\":[{\"matcher\":\"a\",\"hooks\":[{\"name\":\"a\"}," OURS("tracekit x") "]}]}}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct fault fault = {""};
        struct settings *s = opened(texts[i], strlen(texts[i]));
        size_t len = 0, count = 0;
        must(settings_rig_put(s, SETTINGS_RIG_ID, 8, &fault), &fault);
        must(settings_rig_verify(s, &fault), &fault);
        const char *now = settings_text(s, &len);
        char *text = malloc(len + 1);
        assert_non_null(text);
        memcpy(text, now, len);
        text[len] = '\0';
        for (const char *at = text; (at = strstr(at, "--event BeforeTool")) != NULL; at++)
            count++;
        assert_int_equal(count, 1);
        assert_null(strstr(text, "tracekit x"));
        free(text);
        settings_free(s);
    }
}

static void too_many_of_ours_are_refused(void **state)
{
    (void)state;
    static char text[64 << 10];
    struct fault fault = {""};
    size_t len = (size_t)snprintf(text, sizeof text, "{\"hooks\":{\"BeforeTool\":[{\"hooks\":[]}");
    for (int i = 0; i < SETTINGS_MAX_OURS + 2; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, ",{\"hooks\":[%s]}", OURS("tracekit x"));
    len += (size_t)snprintf(text + len, sizeof text - len, "]}}");
    struct settings *s = opened(text, len);
    assert_int_equal(settings_rig_drop(s, &fault), ERR_TOO_LARGE);
    settings_free(s);
    s = opened(text, len);
    assert_int_equal(settings_rig_put(s, SETTINGS_RIG_ID, 8, &fault), ERR_TOO_LARGE);
    if (strstr(fault.text, "more entries of ours") == NULL)
        fail_msg("%s", fault.text);
    settings_free(s);
}

static void a_change_elsewhere_is_noticed(void **state)
{
    (void)state;
    struct fault fault = {""};
    struct settings *s = opened("{\"a\":1}", 7);
    must(settings_put_hook(s, "AfterTool", "{\n  \"name\": \"stranger\"\n}", definition_is_ours, &fault), &fault);
    assert_int_equal(settings_rig_verify(s, &fault), ERR_STATE);
    assert_non_null(strstr(fault.text, "nothing was written"));
    settings_free(s);
}

static void the_hook_is_found(void **state)
{
    (void)state;
    struct fault fault = {""};
    char id[DEFINITION_ID_BYTES] = "";
    const struct json *hook = NULL;
    struct arena *arena = arena_new(1 << 20);
    struct settings *s = opened("{\"hooks\":{\"X\":1}}", 17);
    must(settings_find_hook(s, definition_is_ours, arena, &hook, &fault), &fault);
    assert_null(hook);
    must(settings_rig_put(s, SETTINGS_RIG_ID, 8, &fault), &fault);
    must(settings_find_hook(s, definition_is_ours, arena, &hook, &fault), &fault);
    assert_true(definition_id(hook, id));
    assert_string_equal(id, SETTINGS_RIG_ID);
    settings_free(s);
    arena_free(arena);
}

/* --- refusals ------------------------------------------------------------------------------------------------------ */

static void opens_not(const char *text, size_t len, enum err want, const char *words)
{
    struct fault fault = {""};
    struct settings *s = NULL;
    assert_int_equal(settings_open(text, len, &s, &fault), want);
    assert_null(s);
    if (strstr(fault.text, words) == NULL)
        assert_string_equal(fault.text, words);
}

static void what_gemini_refuses_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum err e;
        const char *words;
    } cases[] = {
        {"", ERR_SYNTAX, "line 1, column 1: nothing in it"},
        {" \n", ERR_SYNTAX, "line 1, column 1: nothing in it"},
        {"// x", ERR_SYNTAX, "nothing in it"},
        {"\xef\xbb\xbf{}", ERR_SYNTAX, "line 1, column 1: a byte order mark"},
        {"{\n  \"a\": 1,\n}", ERR_SYNTAX, "line 3, column 1: a comma before a closing bracket"},
        {"{\"a\":[1,/*x*/]}", ERR_SYNTAX, "a comma before a closing bracket"},
        {"{'a':1}", ERR_SYNTAX, "line 1, column 2: a single quote"},
        {"{a:1}", ERR_SYNTAX, "line 1, column 2: not JSON"},
        {"{\"a\":1", ERR_SYNTAX, "the file ends too early"},
        {"{} x", ERR_SYNTAX, "line 1, column 4: not JSON"},
        {"{\"a\":NaN}", ERR_NON_FINITE, "not JSON"},
        {"{\"a\":01}", ERR_SYNTAX, "not JSON"},
        {"# x\n{}", ERR_SYNTAX, "not JSON"},
        {"{\"a\":\"C:\\Users\"}", ERR_SYNTAX, "not JSON"},
        {"// x\r{}", ERR_SYNTAX, "nothing in it"},
        {"{\r}", ERR_CONFIG, "line 1, column 2: a carriage return without a line feed"},
        {"{} // x\r\r\n", ERR_CONFIG, "line 1, column 8: a carriage return without a line feed"},
        {"[]", ERR_CONFIG, "line 1, column 1: no object"},
        {"\n null", ERR_CONFIG, "line 2, column 2: no object"},
        {"{\"a\":\"\xff\"}", ERR_UTF8, "not UTF-8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        opens_not(cases[i].text, strlen(cases[i].text), cases[i].e, cases[i].words);
    opens_not("{}\0", 3, ERR_SYNTAX, "not JSON");
    static char deep[400];
    memset(deep, '[', sizeof deep);
    opens_not(deep, sizeof deep, ERR_DEPTH, "nested more than 128 deep");
    static char large[SETTINGS_MAX_BYTES + 1];
    memset(large, ' ', sizeof large);
    opens_not(large, sizeof large, ERR_TOO_LARGE, "edit it by hand");
}

/* An installation into it fails. */
static void installs_not(const char *text, enum err want, const char *words)
{
    static const char *const names[] = {"tracekit 3f9a2c: record", NULL};
    struct fault fault = {""};
    struct settings *s = opened(text, strlen(text));
    enum err e = settings_check(s, names, &fault);
    if (e == ERR_OK)
        e = settings_rig_put(s, SETTINGS_RIG_ID, 8, &fault);
    if (e != want || strstr(fault.text, words) == NULL)
        fail_msg("%s: %s instead of %s", text, fault.text, words);
    settings_free(s);
}

static void odd_shapes_are_refused(void **state)
{
    (void)state;
    installs_not("{\"hooks\":[]}", ERR_CONFIG, "line 1, column 10: \"hooks\" is no object");
    installs_not("{\"hooks\":null}", ERR_CONFIG, "\"hooks\" is no object");
    installs_not("{\"hooks\":{},\n\"hooks\":{}}", ERR_DUPLICATE_KEY, "line 2, column 1: this key stands here a second");
    installs_not("{\"hooks\":{},\"h\\u006foks\":{}}", ERR_DUPLICATE_KEY, "a second time");
    installs_not("{\"hooks\":{\"BeforeTool\":[],\"BeforeTool\":[]}}", ERR_DUPLICATE_KEY, "a second time");
    installs_not("{\"hooks\":{\"BeforeTool\":{}}}", ERR_CONFIG, "this event is no array");
    installs_not("{\"hooks\":{\"BeforeTool\":[{\"matcher\":1}]}}", ERR_CONFIG, "Gemini would void the whole event");
    installs_not("{\"hooks\":{\"BeforeTool\":[{\"matcher\":[]}]}}", ERR_CONFIG, "Gemini would void the whole event");
    installs_not("{\"hooks\":{\"BeforeTool\":[{\"matcher\":true}]}}", ERR_CONFIG, "Gemini would void the whole event");
    installs_not("{\"hooksConfig\":{\"enabled\":false}}", ERR_CONFIG, "switches all hooks off; set it to true");
    installs_not("{\"hooksConfig\":{\"enabled\":\"false\"}}", ERR_CONFIG, "switches all hooks off");
    installs_not("{\"hooksConfig\":{\"enabled\":0}}", ERR_CONFIG, "switches all hooks off");
    installs_not("{\"hooksConfig\":null}", ERR_CONFIG, "\"hooksConfig\" is no object");
    installs_not("{\"hooksConfig\":{\"disabled\":[1,\"tracekit 3f9a2c: record\"]}}", ERR_CONFIG,
                 "names a hook of ours");
    installs_not("{\"advanced\":1}", ERR_CONFIG, "\"advanced\" is no object");
    installs_not("{\"advanced\":{\"excludedEnvVars\":{}}}", ERR_CONFIG, "\"advanced.excludedEnvVars\" is no array");
    installs_not("{\"advanced\":{},\"advanced\":{}}", ERR_DUPLICATE_KEY, "a second time");
    installs_not("{\"hooks\":{\"BeforeTool\":[{\"matcher\":null},{\"matcher\":\"\"},{\"matcher\":0}]},"
                 "\"hooksConfig\":{\"enabled\":true,\"disabled\":[\"tracekit\"]}}",
                 ERR_OK, "");
}

/* --- files from public threads ------------------------------------------------------------------------------------- */

static void real_files(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum err e;
    } files[] = {
        {"01-type-capital-command", ERR_OK},
        {"03-hooks-enabled-boolean", ERR_CONFIG}, /* hooks.enabled is an event that is no array */
        {"04-v1-flat-sandbox-true", ERR_OK},
        {"06-env-vars-v1", ERR_OK},
        {"07-ellipsis-placeholder", ERR_SYNTAX},
        {"08-trailing-commas", ERR_SYNTAX},
        {"09-windows-path-escaped", ERR_OK},
        {"10-windows-path-unescaped-hook", ERR_SYNTAX},
        {"11-utf8-bom-crlf", ERR_SYNTAX},
        {"12-windows-powershell-call-operator", ERR_OK},
        {"13-full-hooks-config", ERR_OK},
        {"14-sandbox-image-unknown-key", ERR_OK},
        {"16-timeout-in-seconds-by-mistake", ERR_OK},
        {"18-claude-event-names", ERR_OK},
        {"19-hooks-keyed-by-name", ERR_CONFIG},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[128], text[8192];
        static const char *const no_names[] = {NULL};
        struct fault fault = {""};
        struct settings *s = NULL;
        snprintf(path, sizeof path, "tests/vectors/settings/%s.json", files[i].name);
        FILE *f = fopen(path, "rb");
        assert_non_null(f);
        size_t len = fread(text, 1, sizeof text, f);
        fclose(f);
        enum err e = settings_open(text, len, &s, &fault);
        if (e == ERR_OK)
            e = settings_check(s, no_names, &fault);
        if (e != files[i].e)
            fail_msg("%s: %s %s", files[i].name, err_name(e), fault.text);
        settings_free(s);
        if (e == ERR_OK)
            goes_and_comes(text, len);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_there_comes_back),
        cmocka_unit_test(a_new_file_goes_again),
        cmocka_unit_test(what_is_written),
        cmocka_unit_test(the_tool_sandbox),
        cmocka_unit_test(only_ours_go),
        cmocka_unit_test(one_is_left),
        cmocka_unit_test(too_many_of_ours_are_refused),
        cmocka_unit_test(a_change_elsewhere_is_noticed),
        cmocka_unit_test(the_hook_is_found),
        cmocka_unit_test(what_gemini_refuses_is_refused),
        cmocka_unit_test(odd_shapes_are_refused),
        cmocka_unit_test(real_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
