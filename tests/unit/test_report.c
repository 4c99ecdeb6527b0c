#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/arena.h"
#include "evidence/json.h"
#include "evidence/report.h"

static char *text_of(const struct report *r, bool color)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    report_print(r, out, color);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void assert_text(const struct report *r, const char *wanted)
{
    char *text = text_of(r, false);
    assert_string_equal(text, wanted);
    free(text);
}

static void test_text(void **state)
{
    struct report *r = report_new();
    (void)state;
    report_line(r, REPORT_PASS, "manifest", "%d file(s)", 4);
    report_line(r, REPORT_WARN, "gaps", "one");
    report_problem(r, "seq %d: x", 7);
    report_problem(r, "seq 8: y");
    report_line(r, REPORT_PASS, "isolation", "%s", "");
    report_integrity(r, "VERIFIED TO HEAD %d (open)", 3);
    report_assurance(r, "dev");
    assert_text(r, "[PASS] manifest \xe2\x80\x94 4 file(s)\n"
                   "[WARN] gaps \xe2\x80\x94 one\n"
                   "        seq 7: x\n"
                   "        seq 8: y\n"
                   "[PASS] isolation\n"
                   "\n"
                   "Integrity: VERIFIED TO HEAD 3 (open).\n"
                   "Assurance: dev.\n");
    report_free(r);
}

static void test_color(void **state)
{
    struct report *r = report_new();
    (void)state;
    report_line(r, REPORT_FAIL, "keys", "none");
    char *text = text_of(r, true);
    assert_memory_equal(text, "[\033[31mFAIL\033[0m] keys", 20);
    free(text);
    report_free(r);
}

/* --- verdicts --- */

static void assert_verdict(const struct report *r, int code, int strict_code, const char *integrity)
{
    assert_int_equal(report_exit_code(r, false), code);
    assert_int_equal(report_exit_code(r, true), strict_code);
    assert_string_equal(report_integrity_text(r), integrity);
}

static void test_verdicts(void **state)
{
    struct report *r = report_new();
    (void)state;
    assert_verdict(r, 2, 2, "UNUSABLE BUNDLE");
    assert_string_equal(report_assurance_text(r), "none");
    report_line(r, REPORT_PASS, "manifest", "x");
    assert_verdict(r, 2, 2, "UNUSABLE BUNDLE");
    report_integrity(r, "VERIFIED");
    assert_verdict(r, 0, 0, "VERIFIED");
    report_line(r, REPORT_WARN, "gaps", "x");
    assert_verdict(r, 0, 3, "VERIFIED");
    report_line(r, REPORT_FAIL, "keys", "x");
    assert_verdict(r, 1, 1, "FAILED");
    report_integrity(r, "VERIFIED");
    assert_verdict(r, 1, 1, "FAILED");
    report_unusable(r);
    report_integrity(r, "UNVERIFIABLE (needs tracekit >= 9)");
    assert_verdict(r, 2, 2, "UNVERIFIABLE (needs tracekit >= 9)");
    assert_int_equal(report_failures(r), 1);
    assert_int_equal(report_warnings(r), 1);
    report_free(r);
}

static void test_lines_can_be_read(void **state)
{
    struct report *r = report_new();
    enum report_status status = REPORT_PASS;
    (void)state;
    report_line(r, REPORT_PASS, "manifest", "x");
    report_line(r, REPORT_WARN, "gaps", "x");
    assert_string_equal(report_check(r, 0, &status), "manifest");
    assert_int_equal(status, REPORT_PASS);
    assert_string_equal(report_check(r, 1, &status), "gaps");
    assert_int_equal(status, REPORT_WARN);
    assert_null(report_check(r, 2, &status));
    report_free(r);
}

/* --- problems --- */

static void test_many_problems(void **state)
{
    struct report *r = report_new();
    struct report_problems list = {0};
    (void)state;
    for (int i = 0; i < 1000; i++)
        report_problems_add(&list, "seq %d", i);
    assert_int_equal(list.count, 1000);
    assert_int_equal(list.kept, REPORT_MAX_PROBLEMS);
    report_line(r, REPORT_FAIL, "signatures", "x");
    report_problem(r, "first");
    report_problem_list(r, &list);
    assert_int_equal(list.count, 0);
    char *text = text_of(r, false);
    assert_non_null(strstr(text, "        first\n        seq 0\n"));
    assert_non_null(strstr(text, "        seq 18\n        and 981 more\n"));
    free(text);
    report_free(r);
}

static void test_problems_without_a_line(void **state)
{
    struct report *r = report_new();
    struct report_problems list = {0};
    (void)state;
    report_problem(r, "nowhere");
    report_problems_add(&list, "nowhere");
    report_problem_list(r, &list);
    assert_text(r, "\nIntegrity: UNUSABLE BUNDLE.\nAssurance: none.\n");
    report_free(r);
}

static void test_append(void **state)
{
    struct report *r = report_new(), *rest = report_new();
    (void)state;
    report_line(rest, REPORT_WARN, "gaps", "two");
    report_problem(rest, "seq 1");
    report_note(rest, "a note");
    report_integrity(rest, "VERIFIED");
    report_line(r, REPORT_PASS, "manifest", "one");
    report_append(r, rest);
    report_append(r, rest);
    assert_text(r, "[PASS] manifest \xe2\x80\x94 one\n[WARN] gaps \xe2\x80\x94 two\n        seq 1\n\n"
                   "Integrity: VERIFIED.\nAssurance: none.\n");
    assert_text(rest, "\nIntegrity: UNUSABLE BUNDLE.\nAssurance: none.\n");
    report_free(rest);
    report_free(r);
}

/* --- JSON, and hostile text --- */

static const struct json *parse(struct arena *arena, const struct report *r, bool strict)
{
    const struct json *v = NULL;
    struct buf out;
    buf_init(&out, 1 << 20);
    assert_int_equal(report_json(r, strict, &out), ERR_OK);
    assert_int_equal(json_parse(arena, out.data, out.len, &v, NULL), ERR_OK);
    buf_wipe(&out);
    return v;
}

static void test_json(void **state)
{
    struct report *r = report_new();
    struct arena *arena = arena_new(1 << 20);
    int64_t code = -1;
    (void)state;
    report_line(r, REPORT_PASS, "manifest", "a \"b\" \\ c");
    report_line(r, REPORT_WARN, "gaps", "x");
    report_problem(r, "seq 1");
    report_note(r, "a note");
    report_integrity(r, "VERIFIED");
    report_assurance(r, "dev; x");
    const struct json *v = parse(arena, r, true);
    assert_int_equal(json_count(v), 7);
    assert_true(json_int(json_get(v, "exit_code"), &code) && code == 3);
    const struct json *checks = json_get(v, "checks"), *gaps = json_at(checks, 1);
    assert_int_equal(json_count(checks), 2);
    assert_int_equal(json_count(gaps), 4);
    assert_string_equal(json_get_cstr(json_at(checks, 0), "detail"), "a \"b\" \\ c");
    assert_string_equal(json_get_cstr(gaps, "check"), "gaps");
    assert_string_equal(json_get_cstr(gaps, "status"), "warn");
    assert_string_equal(json_cstr(json_at(json_get(gaps, "problems"), 0)), "seq 1");
    assert_int_equal(json_count(json_get(v, "failures")), 0);
    assert_string_equal(json_cstr(json_at(json_get(v, "warnings"), 0)), "gaps");
    assert_string_equal(json_get_cstr(v, "integrity"), "VERIFIED");
    assert_string_equal(json_get_cstr(v, "assurance"), "dev; x");
    assert_string_equal(json_cstr(json_at(json_get(v, "notes"), 0)), "a note");
    arena_free(arena);
    report_free(r);
}

static void test_json_of_an_empty_report(void **state)
{
    struct report *r = report_new();
    struct arena *arena = arena_new(1 << 20);
    (void)state;
    const struct json *v = parse(arena, r, false);
    assert_int_equal(json_count(v), 7);
    assert_true(json_is(json_get(v, "checks"), JSON_ARRAY) && json_is(json_get(v, "notes"), JSON_ARRAY));
    arena_free(arena);
    report_free(r);
}

static void test_hostile_text(void **state)
{
    static const char text[] = "a\033[2Jb\nIntegrity: VERIFIED.\r\xc2\x9b"
                               "c\xe2\x80\xae"
                               "d\xe2\x80\x8b"
                               "e\xff"
                               "f";
    struct report *r = report_new();
    struct arena *arena = arena_new(1 << 20);
    (void)state;
    report_line(r, REPORT_FAIL, "keys", "%s", text);
    report_problem(r, "%s", text);
    report_assurance(r, "%s", text);
    assert_text(r, "[FAIL] keys \xe2\x80\x94 a[2JbIntegrity: VERIFIED.cdef\n"
                   "        a[2JbIntegrity: VERIFIED.cdef\n"
                   "\n"
                   "Integrity: FAILED.\n"
                   "Assurance: a[2JbIntegrity: VERIFIED.cdef.\n");
    assert_string_equal(json_get_cstr(parse(arena, r, false), "assurance"), "a[2JbIntegrity: VERIFIED.cdef");
    arena_free(arena);
    report_free(r);
}

static void test_long_text(void **state)
{
    static char text[200001];
    struct report *r = report_new();
    (void)state;
    memset(text, 'a', sizeof text - 1);
    report_line(r, REPORT_FAIL, "keys", "%s", text);
    char *out = text_of(r, false);
    assert_in_range(strlen(out), 65000, 66000);
    free(out);
    report_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_color),
        cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_lines_can_be_read),
        cmocka_unit_test(test_many_problems),
        cmocka_unit_test(test_problems_without_a_line),
        cmocka_unit_test(test_append),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_json_of_an_empty_report),
        cmocka_unit_test(test_hostile_text),
        cmocka_unit_test(test_long_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
