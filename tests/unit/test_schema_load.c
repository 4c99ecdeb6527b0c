/* Loading a schema: each keyword alone, and what is not one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "evidence/buf.h"
#include "evidence/schema.h"
#include "evidence/schema_internal.h"

enum { ARENA_BYTES = 4 << 20 };

static struct arena *arena; /* of one test */

static int begin(void **state)
{
    (void)state;
    arena = arena_new(ARENA_BYTES);
    return arena == NULL ? -1 : 0;
}

static int end(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

static const struct json *parse(const char *text)
{
    const struct json *v = NULL;
    assert_int_equal(json_parse(arena, text, strlen(text), &v, NULL), ERR_OK);
    return v;
}

/* Each keyword alone, on a schema of its own. */
static void keywords_mean_what_they_mean_upstream(void **state)
{
    static const struct {
        const char *schema, *value;
        bool good;
    } cases[] = {
        {"{}", "[1,{\"a\":null}]", true},
        {"{\"type\":\"integer\"}", "1", true},
        {"{\"type\":\"integer\"}", "1.0", false},
        {"{\"type\":\"integer\"}", "true", false},
        {"{\"type\":\"number\"}", "1.5", true},
        {"{\"type\":\"number\"}", "false", false},
        {"{\"type\":[\"null\",\"boolean\"]}", "null", true},
        {"{\"type\":[\"null\",\"boolean\"]}", "false", true},
        {"{\"type\":[\"null\",\"boolean\"]}", "0", false},
        {"{\"const\":1}", "1.0", true},
        {"{\"const\":1}", "true", true},
        {"{\"const\":true}", "1", true},
        {"{\"const\":false}", "-0.0", true},
        {"{\"const\":0}", "false", true},
        {"{\"const\":1}", "\"1\"", false},
        {"{\"const\":null}", "null", true},
        {"{\"const\":null}", "false", false},
        {"{\"const\":\"\"}", "\"\"", true},
        {"{\"const\":\"\"}", "null", false},
        {"{\"const\":0}", "{}", false},
        {"{\"enum\":[1,\"a\",null]}", "\"a\"", true},
        {"{\"enum\":[1,\"a\",null]}", "true", true},
        {"{\"enum\":[1,\"a\",null]}", "2", false},
        {"{\"enum\":[1,\"a\"]}", "null", false},
        {"{\"enum\":[]}", "1", false},
        {"{\"pattern\":\"a\"}", "\"ba\"", false},
        {"{\"pattern\":\"a\"}", "7", true},
        {"{\"minLength\":2}", "\"\xf0\x9f\x98\x80\"", false},
        {"{\"minLength\":2}", "\"\xf0\x9f\x98\x80\xf0\x9f\x98\x80\"", true},
        {"{\"minLength\":2,\"maxLength\":2}", "[]", true},
        {"{\"minimum\":1.5}", "1", false},
        {"{\"minimum\":1.5}", "1.5", true},
        {"{\"minimum\":1}", "false", true},
        {"{\"maximum\":9007199254740991}", "1e300", false},
        {"{\"maximum\":3}", "\"x\"", true},
        {"{\"minItems\":1}", "[]", false},
        {"{\"minItems\":1}", "[1]", true},
        {"{\"maxItems\":1}", "[1,2]", false},
        {"{\"maxItems\":1}", "{\"a\":1,\"b\":2}", true},
        {"{\"items\":{\"type\":\"null\"}}", "[null,null]", true},
        {"{\"items\":{\"type\":\"null\"}}", "[null,1]", false},
        {"{\"required\":[\"a\"]}", "{}", false},
        {"{\"required\":[\"a\"]}", "{\"a\":null}", true},
        {"{\"required\":[\"a\"]}", "[]", true},
        {"{\"required\":[\"a\"],\"additionalProperties\":false}", "{\"a\":1}", false},
        {"{\"required\":[\"a\",\"a\"]}", "{\"a\":1}", true},
        {"{\"properties\":{\"a\":{\"type\":\"null\"}}}", "{\"a\":1}", false},
        {"{\"properties\":{\"a\":{\"type\":\"null\"}}}", "{\"b\":1}", true},
        {"{\"additionalProperties\":{\"type\":\"null\"}}", "{\"b\":1}", false},
        {"{\"additionalProperties\":{\"type\":\"null\"}}", "{\"b\":null}", true},
        {"{\"properties\":{\"b\":{}},\"additionalProperties\":{\"type\":\"null\"}}", "{\"b\":1}", true},
        {"{\"additionalProperties\":true}", "{\"b\":1}", true},
        {"{\"propertyNames\":{\"maxLength\":1}}", "{\"ab\":1}", false},
        {"{\"propertyNames\":{\"enum\":[\"ab\"]}}", "{\"ab\":1}", true},
        {"{\"propertyNames\":{\"const\":\"b\"}}", "{\"ab\":1}", false},
        {"{\"propertyNames\":{\"type\":\"integer\"}}", "{\"ab\":1}", false},
        {"{\"oneOf\":[{\"type\":\"integer\"},{\"minimum\":5}]}", "3", true},
        {"{\"oneOf\":[{\"type\":\"integer\"},{\"minimum\":5}]}", "5", false},
        {"{\"oneOf\":[{\"type\":\"integer\"},{\"minimum\":5}]}", "5.5", true},
        {"{\"oneOf\":[{\"type\":\"integer\"},{\"minimum\":5}]}", "4.5", false},
        {"{\"allOf\":[{\"minimum\":1},{\"maximum\":2}]}", "1", true},
        {"{\"allOf\":[{\"minimum\":1},{\"maximum\":2}]}", "3", false},
        {"{\"if\":{\"minimum\":5},\"then\":{\"maximum\":6}}", "7", false},
        {"{\"if\":{\"minimum\":5},\"then\":{\"maximum\":6}}", "4", true},
        {"{\"if\":{\"minimum\":5}}", "4", true},
        {"{\"$defs\":{\"a\":{\"type\":\"null\"}},\"$ref\":\"#/$defs/a\",\"minimum\":5}", "null", true},
        {"{\"$defs\":{\"a\":{\"type\":\"null\"}},\"$ref\":\"#/$defs/a\",\"type\":\"integer\"}", "7", false},
        /* a property of several texts decides which part applies ... */
        {"{\"allOf\":[{\"if\":{\"properties\":{\"t\":{\"const\":\"a\"}}},\"then\":{\"required\":[\"x\"]}},"
         "{\"if\":{\"properties\":{\"t\":{\"const\":\"b\"}}},\"then\":{\"required\":[\"y\"]}}]}",
         "{\"t\":\"b\",\"x\":1}", false},
        {"{\"allOf\":[{\"if\":{\"properties\":{\"t\":{\"const\":\"a\"}}},\"then\":{\"required\":[\"x\"]}},"
         "{\"if\":{\"properties\":{\"t\":{\"const\":\"b\"}}},\"then\":{\"required\":[\"y\"]}}]}",
         "{\"t\":\"b\",\"y\":1}", true},
        {"{\"allOf\":[{\"if\":{\"properties\":{\"t\":{\"const\":\"a\"}}},\"then\":{\"required\":[\"x\"]}},"
         "{\"if\":{\"properties\":{\"t\":{\"const\":\"b\"}}},\"then\":{\"required\":[\"y\"]}}]}",
         "{\"t\":7}", true},
        /* ... and without it all of them do */
        {"{\"allOf\":[{\"if\":{\"properties\":{\"t\":{\"const\":\"a\"}}},\"then\":{\"required\":[\"x\"]}},"
         "{\"if\":{\"properties\":{\"t\":{\"const\":\"b\"}}},\"then\":{\"required\":[\"y\"]}}]}",
         "{\"x\":1}", false},
        /* two parts for one text: both count */
        {"{\"allOf\":[{\"if\":{\"properties\":{\"t\":{\"const\":\"a\"}}},\"then\":{\"required\":[\"x\"]}},"
         "{\"if\":{\"properties\":{\"t\":{\"const\":\"a\"}}},\"then\":{\"required\":[\"y\"]}}]}",
         "{\"t\":\"a\",\"x\":1}", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct schema *s = NULL;
        struct fault fault = {""};
        if (schema_load(cases[i].schema, strlen(cases[i].schema), &s, &fault) != ERR_OK)
            fail_msg("%s: %s", cases[i].schema, fault.text);
        enum err e = schema_check(s, parse(cases[i].value), &fault);
        if (e != (cases[i].good ? ERR_OK : ERR_SCHEMA))
            fail_msg("%s with %s: %s %s", cases[i].schema, cases[i].value, err_name(e), fault.text);
        schema_free(s);
    }
}

static void a_schema_that_we_do_not_fully_know_is_refused(void **state)
{
    static const struct {
        const char *schema, *why;
    } cases[] = {
        {"{\"minimum\":1,}", "schema, byte "},
        {"[]", "schema, top, a schema: not an object"},
        {"{\"format\":\"date\"}", "schema, top: unknown keyword format"},
        {"{\"properties\":{\"a\":{\"uniqueItems\":true}}}", "schema, top: unknown keyword uniqueItems"},
        {"{\"$defs\":{\"unused\":{\"anyOf\":[]}}}", "schema, unused: unknown keyword anyOf"},
        {"{\"$ref\":\"#/$defs/a\",\"not\":{},\"$defs\":{\"a\":{}}}", "unknown keyword not"},
        {"{\"type\\u0000\":1}", "schema, top: unknown keyword type"},
        {"{\"properties\":{\"a\":true}}", "a schema: not an object"},
        {"{\"$ref\":\"#/properties/a\"}", "does not begin with #/$defs/"},
        {"{\"$ref\":7}", "does not begin with #/$defs/"},
        {"{\"$ref\":\"#/$defs/a\"}", "a: no such definition"},
        {"{\"$defs\":{\"a\":{\"items\":{\"$ref\":\"#/$defs/a\"}}}}", "a: leads back to itself"},
        {"{\"$defs\":{\"a\":{\"$ref\":\"#/$defs/b\"},\"b\":{\"$ref\":\"#/$defs/a\"}}}", "leads back to itself"},
        {"{\"type\":\"int\"}", "type: not a known type"},
        {"{\"type\":[]}", "type: no type at all"},
        {"{\"type\":{}}", "type: not a known type"},
        {"{\"const\":[1]}", "const or enum: not a string"},
        {"{\"enum\":[{}]}", "const or enum: not a string"},
        {"{\"enum\":1}", "enum: not an array"},
        {"{\"pattern\":\"(\"}", "pattern: pattern, byte 1: "},
        {"{\"pattern\":1}", "pattern: not a string"},
        {"{\"minLength\":-1}", "minLength: not an integer of 0 or more"},
        {"{\"maxLength\":1.0}", "maxLength: not an integer of 0 or more"},
        {"{\"minItems\":\"1\"}", "minItems: not an integer of 0 or more"},
        {"{\"maxItems\":null}", "maxItems: not an integer of 0 or more"},
        {"{\"minimum\":\"1\"}", "minimum: not a number"},
        {"{\"maximum\":true}", "maximum: not a number"},
        {"{\"required\":\"a\"}", "required: not an array"},
        {"{\"required\":[1]}", "required: not a string"},
        {"{\"properties\":[]}", "properties: not an object"},
        {"{\"additionalProperties\":[]}", "a schema: not an object"},
        {"{\"propertyNames\":{\"oneOf\":[{}]}}", "propertyNames: allOf, oneOf and if are not supported here"},
        {"{\"oneOf\":[]}", "not an array of schemas"},
        {"{\"allOf\":{}}", "not an array of schemas"},
        {"{\"if\":1}", "a schema: not an object"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct schema *s = NULL;
        struct fault fault = {""};
        assert_int_equal(schema_load(cases[i].schema, strlen(cases[i].schema), &s, &fault), ERR_SCHEMA);
        assert_null(s);
        if (strstr(fault.text, cases[i].why) == NULL)
            fail_msg("%s: \"%s\", not \"%s\"", cases[i].schema, fault.text, cases[i].why);
    }
}

/* Depth counts along references too: a chain of definitions, each inside the next. */
static void depth_is_bounded(void **state)
{
    (void)state;
    for (int depth = SCHEMA_MAX_DEPTH - 1; depth <= SCHEMA_MAX_DEPTH; depth++) {
        char text[8192] = "{\"$defs\":{\"d0\":{}";
        struct schema *s = NULL;
        struct fault fault = {""};
        for (int i = 1; i < depth; i++)
            snprintf(text + strlen(text), sizeof text - strlen(text), ",\"d%d\":{\"items\":{\"$ref\":\"#/$defs/d%d\"}}",
                     i, i - 1);
        snprintf(text + strlen(text), sizeof text - strlen(text), "},\"items\":{\"$ref\":\"#/$defs/d%d\"}}", depth - 1);
        enum err e = schema_load(text, strlen(text), &s, &fault);
        assert_int_equal(e, depth < SCHEMA_MAX_DEPTH ? ERR_OK : ERR_SCHEMA);
        if (e != ERR_OK)
            assert_non_null(strstr(fault.text, "nested too deeply"));
        schema_free(s);
    }
}

static enum err load(const struct buf *text, struct fault *fault)
{
    struct schema *s = NULL;
    assert_int_equal(buf_err(text), ERR_OK);
    enum err e = schema_load(text->data, text->len, &s, fault);
    schema_free(s);
    return e;
}

static void tables_do_not_overflow(void **state)
{
    struct buf text;
    struct fault fault = {""};
    (void)state;
    buf_init(&text, 1 << 16);
    for (unsigned count = SCHEMA_MAX_REQUIRED; count <= SCHEMA_MAX_REQUIRED + 1; count++) {
        buf_reset(&text);
        buf_puts(&text, "{\"required\":[\"r\"");
        for (unsigned i = 1; i < count; i++)
            buf_printf(&text, ",\"r%u\"", i);
        buf_puts(&text, "]}");
        assert_int_equal(load(&text, &fault), count > SCHEMA_MAX_REQUIRED ? ERR_SCHEMA : ERR_OK);
    }
    assert_string_equal(fault.text, "schema, top, required: too many names");
    for (unsigned count = SCHEMA_MAX_PATTERNS; count <= SCHEMA_MAX_PATTERNS + 1; count++) {
        buf_reset(&text);
        buf_puts(&text, "{\"oneOf\":[{\"pattern\":\"p0\"},{\"pattern\":\"p0\"}");
        for (unsigned i = 1; i < count; i++)
            buf_printf(&text, ",{\"pattern\":\"p%u\"}", i);
        buf_puts(&text, "]}");
        assert_int_equal(load(&text, &fault), count > SCHEMA_MAX_PATTERNS ? ERR_SCHEMA : ERR_OK);
    }
    assert_string_equal(fault.text, "schema, top, pattern: too many different patterns");
    buf_wipe(&text);
}

/* "Does not match" would leave one alternative that fits; that nobody can say is a refusal. */
static void a_pattern_without_a_verdict_refuses(void **state)
{
    static const char text[] = "{\"oneOf\":[{\"pattern\":\"(a+|b)+(a+|c)+x\"},{\"type\":\"string\"}]}";
    struct schema *s = NULL;
    struct fault fault = {""};
    (void)state;
    assert_int_equal(schema_load(text, strlen(text), &s, &fault), ERR_OK);
    assert_int_equal(schema_check(s, parse("\"yx\""), &fault), ERR_OK);
    assert_int_equal(schema_check(s, parse("\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaayx\""), &fault), ERR_SCHEMA);
    assert_string_equal(fault.text, "a pattern could not be matched: larger than the limit");
    schema_free(s);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(keywords_mean_what_they_mean_upstream),
        TEST(a_schema_that_we_do_not_fully_know_is_refused),
        TEST(depth_is_bounded),
        TEST(tables_do_not_overflow),
        TEST(a_pattern_without_a_verdict_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
