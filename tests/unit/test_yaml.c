#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "evidence/jcs.h"
#include "policy/yaml.h"

static struct arena *arena;

static int setup(void **state)
{
    (void)state;
    arena = arena_new(YAML_ARENA_BYTES);
    return arena == NULL ? -1 : 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

static const struct yaml *read_named(const char *name, const char *text)
{
    const struct yaml *doc = NULL;
    struct fault fault = {""};
    enum err e = yaml_read(arena, name, text, strlen(text), &doc, &fault);
    assert_string_equal(fault.text, "");
    assert_int_equal(e, ERR_OK);
    return doc;
}

static void assert_json(const struct json *v, const char *want)
{
    struct buf b;
    buf_init(&b, 1 << 20);
    assert_int_equal(jcs_write(&b, v), ERR_OK);
    buf_putc(&b, '\0');
    assert_string_equal((const char *)b.data, want);
    buf_wipe(&b);
}

static void reads(const char *text, const char *want)
{
    assert_json(yaml_root(read_named("t.yaml", text)), want);
}

static void refuses_named(const char *name, const char *text, size_t len, enum err want, const char *words)
{
    const struct yaml *doc = NULL;
    struct fault fault = {""};
    assert_int_equal(yaml_read(arena, name, text, len, &doc, &fault), want);
    assert_null(doc);
    if (strstr(fault.text, words) == NULL)
        assert_string_equal(fault.text, words);
}

static void refuses(const char *text, enum err want, const char *words)
{
    refuses_named("t.yaml", text, strlen(text), want, words);
}

static void a_document_becomes_json(void **state)
{
    (void)state;
    reads("data: /srv/x\nsockets:\n  agent: /run/a\n  control: \"/run/c\"\nlist:\n- 1\n- - a\n  - {b: c}\n-\n",
          "{\"data\":\"/srv/x\",\"list\":[1,[\"a\",{\"b\":\"c\"}],null],"
          "\"sockets\":{\"agent\":\"/run/a\",\"control\":\"/run/c\"}}");
    reads("--- |\n  two\n  lines\n...\n", "\"two\\nlines\\n\"");
    reads(">-\n  folded\n  text\n", "\"folded text\"");
    reads("'it''s'", "\"it's\"");
    reads("\"\\u00e9\\x41\\t\"", "\"\303\251A\\t\"");
    reads("[a, [], {}, {x: }]", "[\"a\",[],{},{\"x\":null}]");
    reads("? a\n: b\n", "{\"a\":\"b\"}");
    reads("# only a comment\n", "null");
    reads("", "null");
    reads("\"1\": one\n\"null\": none\n", "{\"1\":\"one\",\"null\":\"none\"}");
}

static void plain_scalars_follow_the_core_schema(void **state)
{
    (void)state;
    reads("[null, Null, NULL, ~, ]", "[null,null,null,null]");
    reads("[true, True, TRUE, false, False, FALSE]", "[true,true,true,false,false,false]");
    reads("[yes, no, on, off, y, n, nULL, tRUE]", "[\"yes\",\"no\",\"on\",\"off\",\"y\",\"n\",\"nULL\",\"tRUE\"]");
    reads("[0, -0, +12, -7, 9007199254740991]", "[0,0,12,-7,9007199254740991]");
    reads("[0x1F, 0xff, 0o17, 0x, 0o8, 0b1, -0x1]", "[31,255,15,\"0x\",\"0o8\",\"0b1\",\"-0x1\"]");
    reads("[1.5, .5, 1., +.5, -1.25e2, 1e3, 1E+2, 01.5]", "[1.5,0.5,1,0.5,-125,1000,100,1.5]");
    reads("[1_000, 12:30, 1e, ., -, +, e5, 1.2.3, --1]",
          "[\"1_000\",\"12:30\",\"1e\",\".\",\"-\",\"+\",\"e5\",\"1.2.3\",\"--1\"]");
    reads("['true', \"1\", 'null', '']", "[\"true\",\"1\",\"null\",\"\"]");
    reads("2026-01-01", "\"2026-01-01\"");
    reads("=", "\"=\"");
}

static void numbers_without_a_place_in_json_are_refused(void **state)
{
    (void)state;
    refuses("a: .inf", ERR_NON_FINITE, "t.yaml:1:4: ");
    refuses("a: -.Inf", ERR_NON_FINITE, "t.yaml:1:4: ");
    refuses("a: .NaN", ERR_NON_FINITE, "t.yaml:1:4: ");
    refuses("a: 1e400", ERR_NON_FINITE, "t.yaml:1:4: ");
    refuses("a: 9007199254740992", ERR_INT_RANGE, "t.yaml:1:4: ");
    refuses("a: -9007199254740992", ERR_INT_RANGE, "t.yaml:1:4: ");
    refuses("a: 0x20000000000000", ERR_INT_RANGE, "t.yaml:1:4: ");
    refuses("a: 0xffffffffffffffffffffffffffffffff", ERR_INT_RANGE, "t.yaml:1:4: ");
    refuses("mode: 0755", ERR_SYNTAX, "t.yaml:1:7: a number with leading zeros");
    refuses("mode: -00", ERR_SYNTAX, "leading zeros");
    char text[400] = "a: ";
    memset(text + 3, '1', 300);
    refuses(text, ERR_TOO_LARGE, "t.yaml:1:4: ");
}

static void what_json_lacks_is_refused(void **state)
{
    (void)state;
    refuses("a: &x 1", ERR_SYNTAX, "t.yaml:1:4: anchors and tags");
    refuses("a: &x [1]", ERR_SYNTAX, "anchors and tags");
    refuses("a: &x {b: 1}", ERR_SYNTAX, "anchors and tags");
    refuses("&x a: 1", ERR_SYNTAX, "anchors and tags");
    refuses("a: *x", ERR_SYNTAX, "t.yaml:1:4: aliases");
    refuses("*x : 1", ERR_SYNTAX, "aliases");
    refuses("a: !!str 1", ERR_SYNTAX, "anchors and tags");
    refuses("a: !own 1", ERR_SYNTAX, "anchors and tags");
    refuses("a: ! 1", ERR_SYNTAX, "anchors and tags");
    refuses("a: !!map {}", ERR_SYNTAX, "anchors and tags");
    refuses("a: ! []", ERR_SYNTAX, "anchors and tags");
    refuses("a: !<tag:yaml.org,2002:python/object/apply:os.system> [x]", ERR_SYNTAX, "anchors and tags");
    refuses("a:\n  <<: {b: 1}", ERR_SYNTAX, "t.yaml:2:3: merge keys");
    refuses("a: 1\n---\nb: 2\n", ERR_SYNTAX, "t.yaml:2:1: a second document");
    refuses("---\n---\n", ERR_SYNTAX, "a second document");
    refuses("%YAML 1.1\n---\na: 1\n", ERR_SYNTAX, "directives are not read");
    refuses("%TAG ! tag:x,2000:\n---\na: 1\n", ERR_SYNTAX, "directives are not read");
    refuses("1: one", ERR_SYNTAX, "t.yaml:1:1: a key has to be text");
    refuses("a:\n- true: x", ERR_SYNTAX, "t.yaml:2:3: a key has to be text");
    refuses("?\n: x", ERR_SYNTAX, "a key has to be text");
    refuses("? [a]\n: b", ERR_SYNTAX, "a key has to be text");
    refuses("? {a: b}\n: b", ERR_SYNTAX, "a key has to be text");
    refuses("\"a\\0b\": 1", ERR_SYNTAX, "a key has to be text");
}

static void keys_come_once(void **state)
{
    (void)state;
    refuses("a: 1\nb: 2\na: 3\n", ERR_DUPLICATE_KEY, "t.yaml:3:1: this key stands in the mapping already");
    refuses("x: {k: 1, 'k': 2}", ERR_DUPLICATE_KEY, "t.yaml:1:11: ");
    refuses("a: 1\n\"\\x61\": 2\n", ERR_DUPLICATE_KEY, "t.yaml:2:1: ");
    reads("a: {k: 1}\nb: {k: 1}\n", "{\"a\":{\"k\":1},\"b\":{\"k\":1}}");
}

static void broken_text_is_refused_with_its_place(void **state)
{
    (void)state;
    refuses("a: [1, 2", ERR_SYNTAX, "t.yaml:2:1: did not find");
    refuses("a: 'x", ERR_SYNTAX, "t.yaml:");
    refuses("a: b: c", ERR_SYNTAX, "t.yaml:1:5: ");
    refuses("a:\n\tb: 1", ERR_SYNTAX, "t.yaml:2:1: ");
    refuses("a: 1\nb: \xff\n", ERR_UTF8, "t.yaml:2:4: not valid UTF-8");
    refuses("a: \xc0\x80\n", ERR_UTF8, "t.yaml:1:4: ");
    refuses("a: \xed\xa0\x80\n", ERR_UTF8, "t.yaml:1:4: ");
    refuses("\xc3\xa9: 1\n\xc3\xa9\xc3\xa9: \x01\n", ERR_SYNTAX, "t.yaml:2:5: control characters");
    refuses("\"\\ud800\"", ERR_SYNTAX, "t.yaml:1:");
    refuses_named("t.yaml", "a: \0b", 5, ERR_SYNTAX, "t.yaml:1:4: control characters");
}

static void limits_hold(void **state)
{
    (void)state;
    char *text = malloc(YAML_MAX_BYTES + 1);
    assert_non_null(text);
    memset(text, '[', YAML_MAX_BYTES + 1);
    refuses_named("t.yaml", text, YAML_MAX_DEPTH + 1, ERR_DEPTH, "t.yaml:1:33: nested too deeply");
    refuses_named("t.yaml", text, YAML_MAX_BYTES, ERR_DEPTH, "t.yaml:1:33: ");
    refuses_named("t.yaml", text, YAML_MAX_BYTES + 1, ERR_TOO_LARGE, "larger than 1048576 bytes");
    for (size_t i = 0; i < YAML_MAX_BYTES; i++)
        text[i] = "- "[i % 2];
    refuses_named("t.yaml", text, YAML_MAX_BYTES, ERR_DEPTH, "t.yaml:1:65: ");
    for (size_t i = 0; i < YAML_MAX_BYTES; i++)
        text[i] = "-\n"[i % 2];
    refuses_named("t.yaml", text, 2 * (YAML_MAX_NODES - 1) + 2, ERR_TOO_LARGE, "t.yaml:65536:2: larger than the limit");
    const struct yaml *doc = NULL;
    struct fault fault = {""};
    assert_int_equal(yaml_read(arena, "t.yaml", text, 2 * (YAML_MAX_NODES - 1), &doc, &fault), ERR_OK);
    assert_int_equal(json_count(yaml_root(doc)), YAML_MAX_NODES - 1);
    free(text);
}

static void exactly_the_deepest_is_read(void **state)
{
    (void)state;
    char text[3 * YAML_MAX_DEPTH + 8];
    memset(text, '[', YAML_MAX_DEPTH);
    memset(text + YAML_MAX_DEPTH, ']', YAML_MAX_DEPTH);
    text[2 * YAML_MAX_DEPTH] = '\0';
    const struct yaml *doc = read_named("t.yaml", text);
    const struct json *v = yaml_root(doc);
    for (int i = 1; i < YAML_MAX_DEPTH; i++)
        v = json_at(v, 0);
    assert_int_equal(yaml_position(doc, v).column, YAML_MAX_DEPTH);
    doc = read_named("t.json", text);
    v = yaml_root(doc);
    for (int i = 1; i < YAML_MAX_DEPTH; i++)
        v = json_at(v, 0);
    assert_int_equal(yaml_position(doc, v).column, YAML_MAX_DEPTH);
    memset(text, '[', YAML_MAX_DEPTH + 1);
    memset(text + YAML_MAX_DEPTH + 1, ']', YAML_MAX_DEPTH + 1);
    text[2 * YAML_MAX_DEPTH + 2] = '\0';
    refuses_named("t.json", text, strlen(text), ERR_DEPTH, "t.json:1:33: nested too deeply");
}

static void json_is_read_strictly(void **state)
{
    (void)state;
    assert_json(yaml_root(read_named("t.yaml", " {\"a\": [1, 2.5, \"x\", null, true]}\n")),
                "{\"a\":[1,2.5,\"x\",null,true]}");
    assert_json(yaml_root(read_named("t.json", "[\"\\ud83d\\ude00\\/\"]")), "[\"\360\237\230\200/\"]");
    refuses("{a: b}", ERR_SYNTAX, "t.yaml:1:2: ");
    refuses("\n{\"a\": 1} # comment", ERR_SYNTAX, "t.yaml:2:10: ");
    refuses("{\"a\": 1,\n \"a\": 2}", ERR_DUPLICATE_KEY, "t.yaml:2:2: ");
    refuses("{\"a\": 9007199254740992}", ERR_INT_RANGE, "t.yaml:1:7: ");
    refuses("{\"a\": \"\\ud800\"}", ERR_LONE_SURROGATE, "t.yaml:1:");
    refuses_named("t.json", "a: 1", 4, ERR_SYNTAX, "t.json:1:1: ");
    refuses_named("t.json", "", 0, ERR_SYNTAX, "t.json:1:1: ");
}

static void stands_at(const struct yaml *doc, const struct json *v, size_t line, size_t column)
{
    struct yaml_place p = yaml_position(doc, v);
    assert_int_equal(p.line, line);
    assert_int_equal(p.column, column);
}

static void every_value_has_a_place(void **state)
{
    (void)state;
    const char *yaml = "# rules\nrules:\n  - id: A\n    on: true\n  - id: B\n    on: true\n    tools: [x, null, null]\n"
                       "\xc3\xa9\xc3\xa9: {k: 1, l: 2}\n";
    const struct yaml *doc = read_named("t.yaml", yaml);
    const struct json *root = yaml_root(doc), *rules = json_get(root, "rules");
    stands_at(doc, root, 2, 1);
    stands_at(doc, rules, 2, 1);
    stands_at(doc, json_at(rules, 0), 3, 5);
    stands_at(doc, json_get(json_at(rules, 0), "on"), 4, 5);
    stands_at(doc, json_get(json_at(rules, 1), "id"), 5, 5);
    stands_at(doc, json_get(json_at(rules, 1), "on"), 6, 5);
    stands_at(doc, json_get(json_at(rules, 1), "tools"), 7, 5);
    stands_at(doc, json_at(json_get(json_at(rules, 1), "tools"), 0), 7, 13);
    stands_at(doc, json_at(json_get(json_at(rules, 1), "tools"), 1), 7, 16);
    stands_at(doc, json_at(json_get(json_at(rules, 1), "tools"), 2), 7, 22);
    stands_at(doc, json_get(json_get(root, "\303\251\303\251"), "l"), 8, 12);
    stands_at(doc, NULL, 0, 0);
    stands_at(doc, json_new_null(), 0, 0);
}

static void values_of_json_have_places_too(void **state)
{
    (void)state;
    const char *json =
        "{\"a\": {\"\xc3\xa9\\\"]}\": [1, -2.5e+3, \"[,\", null,\n  {}, []]},\n \"b\": false, \"c\": {\"d\": "
        "true}}";
    const struct yaml *doc = read_named("t.json", json);
    const struct json *root = yaml_root(doc), *list = json_at(json_get(root, "a"), 0);
    stands_at(doc, root, 1, 1);
    stands_at(doc, json_get(root, "a"), 1, 2);
    stands_at(doc, list, 1, 8);
    stands_at(doc, json_at(list, 0), 1, 18);
    stands_at(doc, json_at(list, 1), 1, 21);
    stands_at(doc, json_at(list, 2), 1, 30);
    stands_at(doc, json_at(list, 3), 1, 36);
    stands_at(doc, json_at(list, 4), 2, 3);
    stands_at(doc, json_at(list, 5), 2, 7);
    stands_at(doc, json_get(root, "b"), 3, 2);
    stands_at(doc, json_get(json_get(root, "c"), "d"), 3, 20);
}

static void a_reader_can_name_the_place(void **state)
{
    (void)state;
    struct fault fault = {""};
    const struct yaml *doc = read_named("/etc/x.yaml", "a: 1\nbad: 2\n");
    yaml_say(doc, json_get(yaml_root(doc), "bad"), &fault, "unknown key \"%s\"", "bad");
    assert_string_equal(fault.text, "/etc/x.yaml:2:1: unknown key \"bad\"");
    yaml_say(doc, NULL, NULL, "nobody listens");
}

static void a_full_arena_is_an_error(void **state)
{
    (void)state;
    char text[1 + 2 * 600 + 2] = "[";
    for (size_t i = 0; i < 600; i++)
        memcpy(text + 1 + 2 * i, "1,", 2);
    memcpy(text + 1 + 2 * 600, "]", 2);
    for (size_t room = 0; room < 100000; room += 97) {
        const struct yaml *doc = NULL;
        struct arena *small = arena_new(room);
        assert_non_null(small);
        enum err e = yaml_read(small, "t.yaml", text, strlen(text), &doc, NULL);
        assert_true(e == ERR_OK || e == ERR_NOMEM || e == ERR_TOO_LARGE);
        assert_true((e == ERR_OK) == (doc != NULL));
        if (e == ERR_OK)
            assert_int_equal(json_count(yaml_root(doc)), 600);
        arena_free(small);
    }
}

/* Texts that made readers of YAML slow: each is refused or read in little time. */
static void no_text_takes_long(void **state)
{
    (void)state;
    static const char *const PARTS[] = {"[",   "{",    "? ",   "- ",      "a: ",  "a,",    "\"\n",      "x: [\n",
                                        ": ",  "&a ",  "!a ",  "'\n\n",   "|\n ", "a:\n ", "-\n",       "[a,",
                                        "{a,", "[]\n", "#\n ", "a b c\n", "%a\n", "---\n", "{? a : b,", "a: b\n"};
    char *text = malloc(YAML_MAX_BYTES);
    assert_non_null(text);
    for (size_t i = 0; i < sizeof PARTS / sizeof PARTS[0]; i++) {
        size_t part = strlen(PARTS[i]);
        for (size_t at = 0; at < YAML_MAX_BYTES; at++)
            text[at] = PARTS[i][at % part];
        struct arena *own = arena_new(YAML_ARENA_BYTES);
        const struct yaml *doc = NULL;
        clock_t begin = clock();
        enum err e = yaml_read(own, "t.yaml", text, YAML_MAX_BYTES, &doc, NULL);
        double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
        if (seconds > 5)
            fail_msg("%.10s... took %.1f s (%s)", PARTS[i], seconds, err_name(e));
        arena_free(own);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_document_becomes_json, setup, teardown),
        cmocka_unit_test_setup_teardown(plain_scalars_follow_the_core_schema, setup, teardown),
        cmocka_unit_test_setup_teardown(numbers_without_a_place_in_json_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(what_json_lacks_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(keys_come_once, setup, teardown),
        cmocka_unit_test_setup_teardown(broken_text_is_refused_with_its_place, setup, teardown),
        cmocka_unit_test_setup_teardown(limits_hold, setup, teardown),
        cmocka_unit_test_setup_teardown(exactly_the_deepest_is_read, setup, teardown),
        cmocka_unit_test_setup_teardown(json_is_read_strictly, setup, teardown),
        cmocka_unit_test_setup_teardown(every_value_has_a_place, setup, teardown),
        cmocka_unit_test_setup_teardown(values_of_json_have_places_too, setup, teardown),
        cmocka_unit_test_setup_teardown(a_reader_can_name_the_place, setup, teardown),
        cmocka_unit_test_setup_teardown(a_full_arena_is_an_error, setup, teardown),
        cmocka_unit_test_setup_teardown(no_text_takes_long, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
