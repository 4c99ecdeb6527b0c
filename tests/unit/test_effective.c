/* Settings are merged as Gemini CLI merges them. Known answers come from Gemini CLI itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "evidence/jcs.h"
#include "harness/effective.h"
#include "tests/unit/lines.h"

static const char *look_up(void *context, const char *name)
{
    (void)context;
    if (strcmp(name, "ONE") == 0)
        return "value one";
    if (strcmp(name, "EMPTY") == 0)
        return "";
    return strcmp(name, "BYTES") == 0 ? "a\xff" : NULL;
}

static const struct settings_environment ENVIRONMENT = {look_up, NULL};

static const struct json *to_json(struct arena *arena, const struct settings_node *node)
{
    if (node->kind == SETTINGS_VALUE)
        return node->value;
    struct json *made = node->kind == SETTINGS_LIST ? json_new_array(arena) : json_new_object(arena);
    for (const struct settings_node *n = node->first; n != NULL; n = n->next) {
        if (node->kind == SETTINGS_LIST)
            json_add(arena, made, to_json(arena, n));
        else
            json_set(arena, made, n->key, to_json(arena, n));
    }
    return made;
}

static struct settings_node *read(struct arena *arena, const char *text, enum settings_scope scope)
{
    const struct settings_file file = {"file", text, text != NULL ? strlen(text) : 0};
    struct settings_node *node = NULL;
    struct fault fault = {""};
    assert_int_equal(effective_read(arena, &file, scope, &ENVIRONMENT, &node, &fault), ERR_OK);
    return node;
}

static const struct settings_node *merge(struct arena *arena, const char *defaults, const char *user,
                                         const char *workspace, const char *system)
{
    struct settings_node *files[SETTINGS_SCOPES] = {NULL}, *merged = NULL;
    files[SETTINGS_SYSTEM_DEFAULTS] = read(arena, defaults, SETTINGS_SYSTEM_DEFAULTS);
    files[SETTINGS_USER] = read(arena, user, SETTINGS_USER);
    files[SETTINGS_WORKSPACE] = read(arena, workspace, SETTINGS_WORKSPACE);
    files[SETTINGS_SYSTEM] = read(arena, system, SETTINGS_SYSTEM);
    assert_int_equal(effective_merge(arena, files, &merged), ERR_OK);
    return merged;
}

/* --- against the client ----------------------------------------------------------------------------------------- */

static void same(struct arena *arena, const struct json *want, const struct settings_node *got, const char *texts)
{
    struct buf a, b;
    buf_init(&a, 1 << 20);
    buf_init(&b, 1 << 20);
    assert_int_equal((want == NULL), (got == NULL));
    if (want == NULL)
        return;
    assert_int_equal(jcs_write(&a, want), ERR_OK);
    assert_int_equal(jcs_write(&b, to_json(arena, got)), ERR_OK);
    buf_putc(&a, '\0');
    buf_putc(&b, '\0');
    if (strcmp((char *)a.data, (char *)b.data) != 0)
        fail_msg("%s\nthe client: %s\nhere: %s", texts, (char *)a.data, (char *)b.data);
    buf_wipe(&a);
    buf_wipe(&b);
}

static void check_line(const struct json *line, void *context)
{
    static const struct {
        const char *key, *at;
    } parts[] = {{"hooks", "hooks"},
                 {"hooksConfig", "hooksConfig"},
                 {"sandbox", "tools.sandbox"},
                 {"excluded", "advanced.excludedEnvVars"},
                 {"mcp", "mcpServers"}};
    struct arena *arena = arena_new(16 << 20);
    const struct json *texts = json_at(line, 0);
    char all[4096];
    (void)context;
    const struct settings_node *merged = merge(arena, json_cstr(json_at(texts, 0)), json_cstr(json_at(texts, 1)),
                                               json_cstr(json_at(texts, 2)), json_cstr(json_at(texts, 3)));
    snprintf(all, sizeof all, "%s\n%s\n%s\n%s", json_cstr(json_at(texts, 0)), json_cstr(json_at(texts, 1)),
             json_cstr(json_at(texts, 2)), json_cstr(json_at(texts, 3)));
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        same(arena, json_get(json_at(line, 1), parts[i].key), settings_node_at(merged, parts[i].at), all);
    arena_free(arena);
}

static void files_are_merged_as_the_client_does(void **state)
{
    (void)state;
    assert_true(lines_each("tests/vectors/gemini/settings.jsonl", check_line, NULL) > 100);
}

/* --- by hand ---------------------------------------------------------------------------------------------------- */

static void each_value_knows_its_file(void **state)
{
    (void)state;
    struct arena *arena = arena_new(1 << 20);
    const struct settings_node *merged = merge(arena, "{\"hooks\":{\"BeforeTool\":[{\"a\":1}]}}",
                                               "{\"hooks\":{\"BeforeTool\":{\"a\":2}},\"x\":{\"y\":1}}",
                                               "{\"hooksConfig\":{\"enabled\":false}}", "{\"x\":{\"z\":2},\"a.b\":1}");
    const struct settings_node *list = settings_node_at(merged, "hooks.BeforeTool");
    assert_int_equal(list->count, 2);
    assert_int_equal(list->first->scope, SETTINGS_SYSTEM_DEFAULTS);
    assert_int_equal(list->last->scope, SETTINGS_USER);
    assert_int_equal(settings_node_at(merged, "hooksConfig.enabled")->scope, SETTINGS_WORKSPACE);
    assert_int_equal(settings_node_at(merged, "hooksConfig.disabled")->scope, SETTINGS_BUILT_IN);
    assert_int_equal(settings_node_at(merged, "x.y")->scope, SETTINGS_USER);
    assert_int_equal(settings_node_at(merged, "x.z")->scope, SETTINGS_SYSTEM);
    assert_null(settings_node_at(merged, "x.y.z"));
    assert_null(settings_node_at(merged, "a.b"));
    arena_free(arena);
}

static void expands(const char *text, const char *want)
{
    struct buf out;
    buf_init(&out, 1024);
    settings_node_expand(&out, text, strlen(text), &ENVIRONMENT);
    buf_putc(&out, '\0');
    assert_string_equal((char *)out.data, want);
    buf_wipe(&out);
}

static void texts_are_expanded(void **state)
{
    (void)state;
    expands("$ONE", "value one");
    expands("a${ONE}b", "avalue oneb");
    expands("${EMPTY:-x}", "");
    expands("${NONE:-x}", "x");
    expands("${NONE:-}", "");
    expands("${NONE}", "${NONE}");
    expands("$NONE", "$NONE");
    expands("$$ONE", "$value one");
    expands("\\$ONE", "\\value one");
    expands("${NONE:-${ONE}}", "${ONE}");
    expands("${NONE-x}", "${NONE-x}");
    expands("${:-x}", "${:-x}");
    expands("${}", "${}");
    expands("${ONE", "${ONE");
    expands("$", "$");
    expands("$(ONE)", "$(ONE)");
    expands("$BYTES", "a\xef\xbf\xbd");
}

static void refused(const char *text, size_t len, enum err want, const char *words)
{
    struct arena *arena = arena_new(64 << 20);
    const struct settings_file file = {"the/file", text, len};
    struct settings_node *node = NULL;
    struct fault fault = {""};
    assert_int_equal(effective_read(arena, &file, SETTINGS_USER, &ENVIRONMENT, &node, &fault), want);
    assert_null(node);
    if (strstr(fault.text, words) == NULL)
        fail_msg("%s does not say %s", fault.text, words);
    arena_free(arena);
}

static void what_the_client_refuses_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"{\"a\":1,}", "\xef\xbb\xbf{}", "{'a':1}",         "{a:1}",    "# x\n{}",
                                        "{\"a\":01}", "{\"a\":\"\t\"}", "{\"a\":\"\\U\"}", "{} x",     "",
                                        " \n",        "// x",           "{\"a\":NaN}",     "// x\r{}", "\xc2\xa0{}"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        refused(texts[i], strlen(texts[i]), ERR_CONFIG, "the/file, line ");
    refused("[]", 2, ERR_CONFIG, "not a JSON object");
    refused("null", 4, ERR_CONFIG, "not a JSON object");
    refused("{}\0", 3, ERR_CONFIG, "line 1, column 3");
    refused("{\n \"a\": tru }", 13, ERR_CONFIG, "line 2, column");
}

static void what_is_too_large_is_refused(void **state)
{
    (void)state;
    static char text[SETTINGS_FILE_BYTES + 2];
    memset(text, ' ', sizeof text);
    refused(text, SETTINGS_FILE_BYTES + 1, ERR_TOO_LARGE, "larger than");
    memset(text, '[', 300);
    refused(text, 300, ERR_DEPTH, "nested");
    size_t len = 0;
    len += (size_t)snprintf(text, sizeof text, "{\"a\":[");
    for (size_t i = 0; i <= SETTINGS_NODE_MEMBERS; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s1", i > 0 ? "," : "");
    len += (size_t)snprintf(text + len, sizeof text - len, "]}");
    refused(text, len, ERR_TOO_LARGE, "more than 1000 members");
}

static void what_the_client_takes_is_taken(void **state)
{
    (void)state;
    static const char *const texts[] = {"{} // x",          "{/* x */}",           "\r\n{}\r\n",    "{\"a\":1,\"a\":2}",
                                        "{\"a\":\"\xff\"}", "{\"a\":\"\\ud800\"}", "{\"a\":1e999}", "{} /* x"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct arena *arena = arena_new(1 << 20);
        assert_non_null(read(arena, texts[i], SETTINGS_USER));
        arena_free(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_merged_as_the_client_does),
        cmocka_unit_test(each_value_knows_its_file),
        cmocka_unit_test(texts_are_expanded),
        cmocka_unit_test(what_the_client_refuses_is_refused),
        cmocka_unit_test(what_is_too_large_is_refused),
        cmocka_unit_test(what_the_client_takes_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
