/* The event schema: real events pass, and each way to leave it is refused at the right place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/schema.h"
#include "evidence/schema_internal.h"
#include "tests/unit/lines.h"

enum { ARENA_BYTES = 4 << 20, EVENTS = 58, INCOMPLETE_SEQ = 52 };

static struct schema *schema;
static struct arena *arena; /* of one test */

static int set_up(void **state)
{
    (void)state;
    return schema_new(&schema) == ERR_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    schema_free(schema);
    schema_free(NULL);
    return 0;
}

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

/* A copy of an object with one member left out, exchanged or added (value NULL: left out). */
static const struct json *with(const struct json *object, const char *key, const struct json *value)
{
    struct json *copy = json_new_object(arena);
    bool placed = value == NULL;
    for (size_t i = 0; i < json_count(object); i++) {
        const char *name = json_key(object, i, NULL);
        if (strcmp(name, key) != 0)
            json_set(arena, copy, name, json_at(object, i));
        else if (value != NULL)
            json_set(arena, copy, name, value);
        placed = placed || strcmp(name, key) == 0;
    }
    if (!placed)
        json_set(arena, copy, key, value);
    return copy;
}

static void refused(const struct json *event, const char *why)
{
    struct fault fault = {""};
    enum err e = schema_check(schema, event, &fault);
    if (e != ERR_SCHEMA || strcmp(fault.text, why) != 0)
        fail_msg("%s, \"%s\" instead of \"%s\"", err_name(e), fault.text, why);
    assert_int_equal(schema_check(schema, event, NULL), ERR_SCHEMA);
}

static void accepted(const struct json *event)
{
    struct fault fault = {""};
    if (schema_check(schema, event, &fault) != ERR_OK)
        fail_msg("refused: %s", fault.text);
    assert_string_equal(fault.text, "");
}

static void check_line(const struct json *record, void *ctx)
{
    struct fault fault = {""};
    int64_t seq = -1;
    (void)ctx;
    const struct json *event = json_get(record, "event");
    assert_true(json_int(json_get(event, "seq"), &seq));
    enum err e = schema_check(schema, event, &fault);
    if (seq == INCOMPLETE_SEQ) { /* made before the schema asked more of this type */
        assert_int_equal(e, ERR_SCHEMA);
        assert_string_equal(fault.text, "event.data: missing required field observer");
    } else if (e != ERR_OK) {
        fail_msg("seq %d: %s", (int)seq, fault.text);
    }
}

static void real_events_pass(void **state)
{
    (void)state;
    assert_int_equal(lines_each("tests/vectors/example_log.jsonl", check_line, NULL), EVENTS);
}

#define HASH "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define HMAC "hmac-sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define ID "0123456789abcdef0123456789abcdef"

static const struct json *event_of(const char *type, const char *data)
{
    static char text[8192];
    snprintf(text, sizeof text,
             "{\"schema_version\":\"tracekit.event.v2\",\"id\":\"" ID "\",\"seq\":7,\"prev_hash\":\"" HASH "\","
             "\"ts\":\"2026-11-30T12:00:01.000000Z\",\"run_id\":\"run-a\",\"agent_id\":\"main\",\"parent_id\":null,"
             "\"source\":\"signer\",\"type\":\"%s\",\"data\":%s,\"log_id\":\"" ID "\",\"tenant\":\"default\","
             "\"run_seq\":3,\"run_prev_hash\":\"" HASH "\"}",
             type, data);
    return parse(text);
}

static const struct json *decision(void)
{
    return event_of("policy.decision", "{\"tool_use_id\":\"t\",\"decision\":\"deny\",\"rule_ids\":[\"TK-D001\"]}");
}

static void every_required_field_is_required(void **state)
{
    static const char *const fields[] = {
        "schema_version", "id",   "seq",  "prev_hash", "ts",     "run_id",  "agent_id",      "parent_id",
        "source",         "type", "data", "log_id",    "tenant", "run_seq", "run_prev_hash",
    };
    (void)state;
    accepted(decision());
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        char why[64];
        snprintf(why, sizeof why, "event: missing required field %s", fields[i]);
        refused(with(decision(), fields[i], NULL), why);
    }
}

static void top_level_values_are_checked(void **state)
{
    static const struct {
        const char *key, *value, *why; /* NULL: fine */
    } cases[] = {
        {"schema_version", "\"tracekit.event.v1\"", "event.schema_version: not the one allowed value"},
        {"schema_version", "null", "event.schema_version: not the one allowed value"},
        {"id", "\"" ID "\\n\"", "event.id: does not match ^[0-9a-f]{32}$"},
        {"id", "\"0123456789ABCDEF0123456789abcdef\"", "event.id: does not match ^[0-9a-f]{32}$"},
        {"id", "7", "event.id: of the wrong type"},
        {"log_id", "\"0\"", "event.log_id: does not match ^[0-9a-f]{32}$"},
        {"seq", "0", NULL},
        {"seq", "-0", NULL},
        {"seq", "9007199254740991", NULL},
        {"seq", "-1", "event.seq: below the minimum"},
        {"seq", "7.0", "event.seq: of the wrong type"},
        {"seq", "7e0", "event.seq: of the wrong type"},
        {"seq", "true", "event.seq: of the wrong type"},
        {"seq", "\"7\"", "event.seq: of the wrong type"},
        {"run_seq", "-1", "event.run_seq: below the minimum"},
        {"client_seq", "-1", "event.client_seq: below the minimum"},
        {"client_seq", "5", NULL},
        {"attempt", "null", "event.attempt: of the wrong type"},
        {"prev_hash", "\"" HASH "a\"", "event.prev_hash: too long"},
        {"prev_hash", "\"Sha256:0\"", "event.prev_hash: does not match ^sha256:[0-9a-f]{64}$"},
        {"run_prev_hash", "\"\"", "event.run_prev_hash: does not match ^sha256:[0-9a-f]{64}$"},
        {"args_commitment", "\"" HMAC "\"", NULL},
        {"args_commitment", "\"" HASH "\"", "event.args_commitment: does not match ^hmac-sha256:[0-9a-f]{64}$"},
        {"ts", "\"2026-11-30T12:00:01Z\"",
         "event.ts: does not match ^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{6}Z$"},
        {"ts", "\"2026-11-30T12:00:01.00000\\u0663Z\"",
         "event.ts: does not match ^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{6}Z$"},
        {"run_id", "\"tracekit/signer\"", NULL},
        {"run_id", "\"\"", "event.run_id: too short"},
        {"agent_id", "\"\"", "event.agent_id: too short"},
        {"parent_id", "\"main\"", NULL},
        {"parent_id", "0", "event.parent_id: of the wrong type"},
        {"source", "\"gateway\"", NULL},
        {"source", "\"Hook\"", "event.source: not one of the allowed values"},
        {"source", "1", "event.source: not one of the allowed values"},
        {"type", "\"policy.decisions\"", "event.type: not one of the allowed values"},
        {"type", "null", "event.type: not one of the allowed values"},
        {"data", "[]", "event.data: of the wrong type"},
        {"data", "null", "event.data: of the wrong type"},
        {"tenant", "\"a b\"", "event.tenant: does not match ^[A-Za-z0-9._:-]+$"},
        {"tenant", "\"\"", "event.tenant: too short"},
        {"request_id", "\"r:1\"", NULL},
        {"stream", "\"\xc3\xa9\"", "event.stream: does not match ^[A-Za-z0-9._:-]+$"},
        {"tenant_attested", "1", "event.tenant_attested: of the wrong type"},
        {"tier", "\"T1\"", NULL},
        {"tier", "\"T4\"", "event.tier: not one of the allowed values"},
        {"engine", "\"a@1\"", NULL},
        {"engine", "\"a\"", "event.engine: does not match ^[A-Za-z0-9._-]+@[A-Za-z0-9._+-]+$"},
        {"transcript", "{}", "event.transcript: missing required field path"},
        {"transcript", "{\"path\":\"p\",\"length\":1,\"hash\":\"" HMAC "\",\"prefix_hash\":null}", NULL},
        {"transcript", "{\"path\":\"p\",\"length\":1,\"hash\":\"" HMAC "\",\"prefix_hash\":7}",
         "event.transcript.prefix_hash: fits no alternative"},
        {"transcript", "{\"path\":\"p\",\"length\":1,\"hash\":\"" HMAC "\",\"x\":7}",
         "event.transcript.x: unexpected field"},
        {"ext", "{\"amended\":{\"any\":[\"thing\",1.5,null]}}", NULL},
        {"ext", "{\"Amended\":1}", "event.ext.Amended: does not match ^[a-z][a-z0-9_.-]*$"},
        {"ext", "{\"a\\n\":1}", "event.ext.a\n: does not match ^[a-z][a-z0-9_.-]*$"},
        {"extra", "1", "event.extra: unexpected field"},
        {"", "1", "event.: unexpected field"},
        {"Id", "1", "event.Id: unexpected field"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct json *event = with(decision(), cases[i].key, parse(cases[i].value));
        if (cases[i].why == NULL)
            accepted(event);
        else
            refused(event, cases[i].why);
    }
}

static void what_is_no_object_is_no_event(void **state)
{
    static const char *const values[] = {"null", "[]", "\"x\"", "7", "true"};
    (void)state;
    refused(NULL, "event: of the wrong type");
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        refused(parse(values[i]), "event: of the wrong type");
    refused(parse("{}"), "event: missing required field schema_version");
}

/* Lengths count code points: 200 of them fit a run id, whatever their bytes. */
static void lengths_are_in_code_points(void **state)
{
    static const char *const characters[] = {"a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
    (void)state;
    for (size_t i = 0; i < sizeof characters / sizeof characters[0]; i++) {
        char text[4 * 201 + 1] = "";
        for (size_t k = 0; k < 200; k++)
            strcat(text, characters[i]);
        accepted(with(decision(), "run_id", json_new_string(arena, text)));
        strcat(text, characters[i]);
        refused(with(decision(), "run_id", json_new_string(arena, text)), "event.run_id: too long");
    }
}

static void data_is_checked_by_type(void **state)
{
    static const struct {
        const char *type, *data, *why;
    } cases[] = {
        {"policy.decision", "{}", "event.data: missing required field tool_use_id"},
        {"policy.decision", "{\"tool_use_id\":\"t\",\"decision\":\"maybe\",\"rule_ids\":[]}",
         "event.data.decision: not one of the allowed values"},
        {"policy.decision", "{\"tool_use_id\":\"t\",\"decision\":\"deny\",\"rule_ids\":[\"a\",7]}",
         "event.data.rule_ids[1]: of the wrong type"},
        {"policy.decision", "{\"tool_use_id\":\"t\",\"decision\":\"deny\",\"rule_ids\":[],\"nonce\":\"0\"}",
         "event.data.nonce: does not match ^[0-9a-f]{32}$"},
        {"policy.decision", "{\"tool_use_id\":\"t\",\"decision\":\"deny\",\"rule_ids\":[],\"salt_id\":\"0\"}",
         "event.data.salt_id: unexpected field"},
        {"signer.epoch", "{\"keys\":[{\"kid\":\"sha256:0\",\"alg\":\"ed25519\",\"spki\":\"\"}]}",
         "event.data.keys[0].kid: does not match ^sha256:[0-9a-f]{64}$"},
        {"run.closing", "{\"reason\":\"close_run\"}", NULL},
        {"run.closing", "{\"reason\":\"exit\"}", "event.data.reason: not one of the allowed values"},
        {"key.retire", "{\"kid\":\"" HASH "\",\"last_seq\":0}", NULL},
        {"key.retire", "{\"kid\":\"" HASH "\",\"last_seq\":-1}", "event.data.last_seq: below the minimum"},
        {"user.prompt", "{\"content\":{\"hash\":\"" HMAC "\",\"size\":5,\"redacted\":false}}", NULL},
        {"user.prompt", "{\"content\":{\"value\":{\"any\":1},\"redacted\":true}}", NULL},
        {"user.prompt", "{\"content\":{\"value\":1,\"size\":5,\"redacted\":true}}",
         "event.data.content: fits no alternative"},
        {"capture.gap", "{\"reason\":\"r\",\"kind\":\"no_such_kind\"}",
         "event.data.kind: not one of the allowed values"},
        {"run.registered",
         "{\"agent\":{\"name\":\"a\"},\"identity\":{\"scheme\":\"uid\",\"subject\":\"1\",\"attested\":true},"
         "\"harness\":{\"name\":\"g\",\"exe\":\"e\",\"pid\":1,\"start_time\":null,\"attested\":true}}",
         NULL},
        {"run.registered",
         "{\"agent\":{\"name\":\"a\"},\"identity\":{\"scheme\":\"uid\",\"subject\":\"1\",\"attested\":true},"
         "\"harness\":{\"name\":\"g\",\"exe\":\"e\",\"pid\":1,\"start_time\":null,\"attested\":false}}",
         "event.data.harness.attested: not the one allowed value"},
        /* upstream compares as Python does: true equals 1 */
        {"run.registered",
         "{\"agent\":{\"name\":\"a\"},\"identity\":{\"scheme\":\"uid\",\"subject\":\"1\",\"attested\":true},"
         "\"harness\":{\"name\":\"g\",\"exe\":\"e\",\"pid\":1,\"start_time\":null,\"attested\":1.0}}",
         NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct json *event = event_of(cases[i].type, cases[i].data);
        if (cases[i].why == NULL)
            accepted(event);
        else
            refused(event, cases[i].why);
    }
}

static void long_names_are_cut_in_faults(void **state)
{
    char key[5000];
    struct fault fault = {""};
    (void)state;
    memset(key, 'k', sizeof key);
    key[sizeof key - 1] = '\0';
    assert_int_equal(schema_check(schema, with(decision(), key, json_new_null()), &fault), ERR_SCHEMA);
    assert_int_equal(strlen(fault.text), strlen("event.") + 40 + strlen(": unexpected field"));
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

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(real_events_pass),
        TEST(every_required_field_is_required),
        TEST(top_level_values_are_checked),
        TEST(what_is_no_object_is_no_event),
        TEST(lengths_are_in_code_points),
        TEST(data_is_checked_by_type),
        TEST(long_names_are_cut_in_faults),
        TEST(keywords_mean_what_they_mean_upstream),
        TEST(a_schema_that_we_do_not_fully_know_is_refused),
        TEST(depth_is_bounded),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
