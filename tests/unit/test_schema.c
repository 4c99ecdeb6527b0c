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
        size_t len = strlen(characters[i]);
        for (size_t k = 0; k < 200; k++)
            memcpy(text + k * len, characters[i], len + 1);
        accepted(with(decision(), "run_id", json_new_string(arena, text)));
        memcpy(text + 200 * len, characters[i], len + 1);
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
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
