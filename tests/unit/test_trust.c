/* Trust files: what is read out of a good one, and what is said about each bad one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "evidence/buf.h"
#include "evidence/trust.h"

#define LOG "tracekit.example.org/log/0190f3a0-test+070965d6+AZsfhHkc/HZjBFhU04netcqVRJ2HXydqg4QLBgqznPxx"
#define WITNESS "witness.example.org/w1+257cc7f1+BGG3op9v3HIXXDPBmFc/0CioJHhGCXc+pyvvFPlBZdYO"
#define LOGS "\"logs\":[\"" LOG "\"]"
#define ALGS "\"algs\":[\"ed25519\"]"
#define MINIMAL "{" LOGS "," ALGS "}"

static void a_minimal_file_pins_one_log(void **state)
{
    struct trust *t = NULL;
    struct fault fault = {""};
    (void)state;
    assert_int_equal(trust_parse(MINIMAL, strlen(MINIMAL), &t, &fault), ERR_OK);
    assert_int_equal(t->log_count, 1);
    assert_string_equal(t->logs[0].name, "tracekit.example.org/log/0190f3a0-test");
    assert_int_equal(t->witness_count, 0);
    assert_int_equal(t->witnesses_required, 0);
    assert_true(t->ed25519_allowed);
    assert_false(t->pins_rekor || t->pins_issuers || t->pins_monitors || t->pins_analyzers);
    trust_free(t);
    trust_free(NULL);
}

static void a_full_file_is_read(void **state)
{
    static const char text[] =
        "{" LOGS ", \"algs\": [\"ml-dsa-44\", \"ed25519\"], \"witnesses_required\": 9007199254740991,"
        "\"witnesses\": [{\"vkey\": \"" WITNESS "\", \"class\": \"public\"},"
        "{\"class\": \"customer\", \"vkey\": \"" WITNESS "\"}, {\"vkey\": \"" WITNESS "\", \"class\": \"tracekit\"},"
        "{\"vkey\": \"" WITNESS "\", \"class\": \"operator\"}],"
        "\"rekor\": {\"trusted_root\": {}}, \"monitors\": [{}], \"issuers\": [{}], \"analyzers\": [\"uid:1000\"]}\n";
    static const char *const names[] = {"public", "customer", "tracekit", "operator"};
    struct trust *t = NULL;
    (void)state;
    assert_int_equal(trust_parse(text, strlen(text), &t, NULL), ERR_OK);
    assert_int_equal(t->witness_count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(t->witnesses[i].name, "witness.example.org/w1");
        assert_int_equal(t->witnesses[i].type, NOTE_TYPE_COSIGNATURE);
        assert_string_equal(trust_class_name(t->witness_classes[i]), names[i]);
    }
    assert_true(t->witnesses_required == 9007199254740991);
    assert_true(t->ed25519_allowed);
    assert_true(t->pins_rekor && t->pins_issuers && t->pins_monitors && t->pins_analyzers);
    trust_free(t);
}

static void what_is_empty_pins_nothing(void **state)
{
    static const char text[] = "{" LOGS ",\"algs\":[\"other\"],\"witnesses\":[],\"rekor\":{},\"monitors\":[],"
                               "\"issuers\":[],\"analyzers\":[]}";
    struct trust *t = NULL;
    (void)state;
    assert_int_equal(trust_parse(text, strlen(text), &t, NULL), ERR_OK);
    assert_false(t->ed25519_allowed);
    assert_false(t->pins_rekor || t->pins_issuers || t->pins_monitors || t->pins_analyzers);
    trust_free(t);
}

static void every_fault_names_its_place(void **state)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"", "line 1, column 1: "},
        {"{" LOGS ",\n" ALGS ",}", "line 2, column "},
        {"{" LOGS "," ALGS "," LOGS "}", "a key twice in one object"},
        {"\xef\xbb\xbf" MINIMAL, "line 1, column 1: "},
        {"[]", "not a JSON object"},
        {"\"x\"", "not a JSON object"},
        {"{" LOGS "," ALGS ",\"wittnesses\":[]}", "\"wittnesses\": unknown key"},
        {"{" LOGS "," ALGS ",\"\":[]}", "\"\": unknown key"},
        {"{" LOGS "," ALGS ",\"logs\\u0000\":[]}", "unknown key"},
        {"{" ALGS "}", "logs: missing"},
        {"{\"logs\":[]," ALGS "}", "logs: not an array with at least one element"},
        {"{\"logs\":\"" LOG "\"," ALGS "}", "logs: not an array with at least one element"},
        {"{\"logs\":[\"" LOG "\",7]," ALGS "}", "logs[1]: not a string"},
        {"{\"logs\":[\"" LOG "\\u0000\"]," ALGS "}", "logs[0]: not a string"},
        {"{\"logs\":[\"" LOG "\",\"x\"]," ALGS "}", "logs[1]: verifier key: not of the form name+id+key"},
        {"{\"logs\":[\"" WITNESS "\"]," ALGS "}", "logs[0]: a key of type 0x04; only type 0x01 may stand here"},
        {"{\"logs\":[\"log+070965d6+/5sfhHkc/HZjBFhU04netcqVRJ2HXydqg4QLBgqznPxx\"]," ALGS "}",
         "logs[0]: verifier key: hybrid keys"},
        {"{" LOGS "}", "algs: missing"},
        {"{" LOGS ",\"algs\":[]}", "algs: not an array with at least one element"},
        {"{" LOGS ",\"algs\":\"ed25519\"}", "algs: not an array with at least one element"},
        {"{" LOGS ",\"algs\":[\"ed25519\",null]}", "algs[1]: not a string"},
        {"{" LOGS "," ALGS ",\"witnesses\":{}}", "witnesses: not an array"},
        {"{" LOGS "," ALGS ",\"witnesses\":null}", "witnesses: not an array"},
        {"{" LOGS "," ALGS ",\"witnesses\":[\"" WITNESS "\"]}", "witnesses[0]: not an object of exactly"},
        {"{" LOGS "," ALGS ",\"witnesses\":[{\"vkey\":\"" WITNESS "\"}]}", "witnesses[0]: not an object of exactly"},
        {"{" LOGS "," ALGS ",\"witnesses\":[{\"vkey\":\"" WITNESS "\",\"class\":\"public\",\"x\":1}]}",
         "witnesses[0]: not an object of exactly"},
        {"{" LOGS "," ALGS ",\"witnesses\":[{\"vkey\":\"" WITNESS "\",\"x\":\"public\"}]}",
         "witnesses[0]: not an object of exactly"},
        {"{" LOGS "," ALGS ",\"witnesses\":[{\"vkey\":\"" WITNESS "\",\"class\":\"Public\"}]}",
         "witnesses[0].class: not public, customer, tracekit or operator"},
        {"{" LOGS "," ALGS ",\"witnesses\":[{\"vkey\":\"" WITNESS "\",\"class\":null}]}", "witnesses[0].class: not"},
        {"{" LOGS "," ALGS ",\"witnesses\":[{\"vkey\":\"" LOG "\",\"class\":\"public\"}]}",
         "witnesses[0].vkey: a key of type 0x01; only type 0x04 may stand here"},
        {"{" LOGS "," ALGS ",\"witnesses\":[{\"vkey\":5,\"class\":\"public\"}]}", "witnesses[0].vkey: not a string"},
        {"{" LOGS "," ALGS ",\"witnesses_required\":-1}", "witnesses_required: not an integer"},
        {"{" LOGS "," ALGS ",\"witnesses_required\":1.0}", "witnesses_required: not an integer"},
        {"{" LOGS "," ALGS ",\"witnesses_required\":true}", "witnesses_required: not an integer"},
        {"{" LOGS "," ALGS ",\"witnesses_required\":\"1\"}", "witnesses_required: not an integer"},
        {"{" LOGS "," ALGS ",\"witnesses_required\":9007199254740992}", "line 1, column "},
        {"{" LOGS "," ALGS ",\"rekor\":[]}", "rekor: not an object"},
        {"{" LOGS "," ALGS ",\"rekor\":null}", "rekor: not an object"},
        {"{" LOGS "," ALGS ",\"monitors\":{}}", "monitors: not an array"},
        {"{" LOGS "," ALGS ",\"monitors\":[{},1]}", "monitors[1]: not an object"},
        {"{" LOGS "," ALGS ",\"issuers\":[\"x\"]}", "issuers[0]: not an object"},
        {"{" LOGS "," ALGS ",\"analyzers\":[{}]}", "analyzers[0]: not a string"},
        {"{" LOGS "," ALGS ",\"analyzers\":\"uid:1\"}", "analyzers: not an array"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct trust *t = NULL;
        struct fault fault = {""};
        assert_int_equal(trust_parse(cases[i].text, strlen(cases[i].text), &t, &fault), ERR_TRUST);
        assert_null(t);
        if (strstr(fault.text, cases[i].why) == NULL)
            fail_msg("%s: \"%s\", not \"%s\"", cases[i].text, fault.text, cases[i].why);
    }
}

/* A list of `count` times the log key. */
static void many_logs(struct buf *text, size_t count)
{
    buf_init(text, TRUST_MAX_BYTES);
    buf_puts(text, "{" ALGS ",\"logs\":[");
    for (size_t i = 0; i < count; i++)
        buf_printf(text, "%s\"" LOG "\"", i == 0 ? "" : ",");
    buf_puts(text, "]}");
    assert_int_equal(buf_err(text), ERR_OK);
}

static void no_more_keys_than_the_limit(void **state)
{
    struct trust *t = NULL;
    struct fault fault = {""};
    struct buf text;
    (void)state;
    many_logs(&text, TRUST_MAX_KEYS);
    assert_int_equal(trust_parse(text.data, text.len, &t, &fault), ERR_OK);
    assert_int_equal(t->log_count, TRUST_MAX_KEYS);
    trust_free(t);
    buf_wipe(&text);
    t = NULL;
    many_logs(&text, TRUST_MAX_KEYS + 1);
    assert_int_equal(trust_parse(text.data, text.len, &t, &fault), ERR_TOO_LARGE);
    assert_string_equal(fault.text, "logs: 257 elements, at most 256 are allowed");
    assert_null(t);
    buf_wipe(&text);
}

/* Writes `len` bytes to a new file. */
static void make_file(char path[static 32], const void *bytes, size_t len)
{
    snprintf(path, 32, "/tmp/tracekit-trust-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, len), len);
    close(fd);
}

static void files_are_read_to_the_limit(void **state)
{
    char path[32];
    struct trust *t = NULL;
    struct fault fault = {""};
    char *text = malloc(TRUST_MAX_BYTES + 1);
    (void)state;
    assert_non_null(text);
    memset(text, ' ', TRUST_MAX_BYTES + 1);
    memcpy(text, MINIMAL, strlen(MINIMAL));

    make_file(path, text, TRUST_MAX_BYTES);
    assert_int_equal(trust_load(path, &t, &fault), ERR_OK);
    trust_free(t);
    unlink(path);
    t = NULL;

    make_file(path, text, TRUST_MAX_BYTES + 1);
    assert_int_equal(trust_load(path, &t, &fault), ERR_TOO_LARGE);
    assert_string_equal(fault.text, "over 1048576 bytes");
    unlink(path);

    make_file(path, text, 0);
    assert_int_equal(trust_load(path, &t, &fault), ERR_TRUST);
    unlink(path);
    assert_int_equal(trust_load(path, &t, &fault), ERR_IO);
    assert_non_null(strstr(fault.text, "cannot open: "));
    assert_int_equal(trust_load("/", &t, &fault), ERR_IO);
    assert_non_null(strstr(fault.text, "cannot read: "));
    assert_null(t);
    free(text);
}

/* Many small values, and as deep as can be: bounded memory, a fault and no crash. */
static void hostile_shapes_are_refused(void **state)
{
    static const char *const pieces[] = {"[", "{\"a\":", "0,", "[[0],", "\"\\u0000\"", "1e5,"};
    char *text = malloc(TRUST_MAX_BYTES);
    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        struct trust *t = NULL;
        size_t len = strlen(pieces[i]);
        text[0] = '[';
        for (size_t at = 1; at < TRUST_MAX_BYTES; at++)
            text[at] = pieces[i][(at - 1) % len];
        assert_int_equal(trust_parse(text, TRUST_MAX_BYTES, &t, NULL), ERR_TRUST);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_minimal_file_pins_one_log), cmocka_unit_test(a_full_file_is_read),
        cmocka_unit_test(what_is_empty_pins_nothing),  cmocka_unit_test(every_fault_names_its_place),
        cmocka_unit_test(no_more_keys_than_the_limit), cmocka_unit_test(files_are_read_to_the_limit),
        cmocka_unit_test(hostile_shapes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
