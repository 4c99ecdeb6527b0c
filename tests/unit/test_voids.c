/* What in arguments and in the environment makes the gate void. Known answers come from Gemini CLI itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "evidence/json.h"
#include "harness/voids.h"
#include "tests/unit/lines.h"

enum { MAX_WORDS = 8 };

static bool has(const struct voids *v, const char *what)
{
    for (size_t i = 0; i < v->count; i++)
        if (strcmp(v->list[i].what, what) == 0)
            return true;
    return false;
}

static size_t split(const char *text, char copy[static 256], const char *words[static MAX_WORDS])
{
    size_t count = 0;
    snprintf(copy, 256, "%s", text);
    for (char *at = copy; *at != '\0';) {
        size_t len = strcspn(at, " ");
        bool more = at[len] == ' ';
        at[len] = '\0';
        assert_true(count < MAX_WORDS);
        words[count++] = at;
        at += len + more;
    }
    return count;
}

/* The arguments, with blanks between them, make `what` void; nothing when it is NULL. */
static void expect(const char *text, const char *what)
{
    struct voids v = {.count = 0};
    char copy[256];
    const char *words[MAX_WORDS];
    size_t count = split(text, copy, words);
    voids_arguments(&v, count, words);
    if (v.count != (what != NULL ? 1 : 0) || (what != NULL && !has(&v, what)))
        fail_msg("%s: %zu found, not %s", text, v.count, what != NULL ? what : "nothing");
    assert_true(what == NULL || (v.list[0].why[0] != '\0' && v.list[0].remedy[0] != '\0'));
}

static void arguments_make_the_gate_void(void **state)
{
    (void)state;
    expect("-s", "--sandbox");
    expect("--sandbox", "--sandbox");
    expect("-ys", "--sandbox");
    expect("-sy", "--sandbox");
    expect("-s true", "--sandbox");
    expect("--sandbox=true", "--sandbox");
    expect("--no-sandbox -s", "--sandbox");
    expect("-p hello -s", "--sandbox");
    expect("---sandbox", "--sandbox");
    expect("--sandbox- --no-sandbox", "--sandbox");
    expect("--sandbox.x=false", "--sandbox");
    expect("--no-sandbox.", "--sandbox");
    expect("-r -- -s", "--sandbox");
    expect("--acp", "--acp");
    expect("--acp=true", "--acp");
    expect("--acp mcp", "--acp");
    expect("--acp\nx", "--acp");
    expect("--experimental-acp", "--experimental-acp");
    expect("--experimentalAcp", "--experimental-acp");
}

static void other_arguments_do_not(void **state)
{
    (void)state;
    expect("", NULL);
    expect("-y -p sandbox", NULL);
    expect("--sandbox=docker", NULL); /* which starts none */
    expect("--sandbox=false", NULL);
    expect("-s false", NULL);
    expect("-s --no-sandbox", NULL);
    expect("-- -s --acp", NULL);
    expect("-y -- -s", NULL);
    expect("-r x -- -s", NULL);
    expect("acp sandbox", NULL);
    expect("mcp add -s user x y", NULL);
    expect("hooks migrate", NULL);
    expect("--skip-trust -e none --approval-mode=yolo", NULL);
    expect("-", NULL);
}

static void flags_are_believed_only_when_they_are_sure(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool skip_trust, no_sandbox;
    } cases[] = {
        {"--skip-trust", true, false},
        {"--skipTrust -y", true, false},
        {"--skip-trust=true", true, false},
        {"--skip-trust=1", false, false},
        {"--skip-trust false", false, false},
        {"--skip-trust --no-skip-trust", false, false},
        {"-- --skip-trust", false, false},
        {"---skip-trust", false, false},
        {"-r -- --skip-trust", false, false},
        {"--no-sandbox", false, true},
        {"--no-sandbox -s", false, false},
        {"--sandbox=docker", false, true},
        {"--sandbox.x --no-sandbox", false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct voids_flags flags;
        char copy[256];
        const char *words[MAX_WORDS];
        size_t count = split(cases[i].text, copy, words);
        voids_flags(count, words, &flags);
        if (flags.skip_trust != cases[i].skip_trust || flags.no_sandbox != cases[i].no_sandbox)
            fail_msg("%s: %d %d", cases[i].text, flags.skip_trust, flags.no_sandbox);
    }
}

/* What Gemini took for given is found; what it did not take for given is not believed. */
static void check_line(const struct json *line, void *context)
{
    (void)context;
    const struct json *arguments = json_at(line, 0), *read = json_at(line, 1);
    const char *words[MAX_WORDS];
    struct voids v = {.count = 0};
    struct voids_flags flags;
    size_t count = json_count(arguments), len = 0;
    assert_true(count <= MAX_WORDS);
    for (size_t i = 0; i < count; i++)
        words[i] = json_text(json_at(arguments, i), &len);
    voids_arguments(&v, count, words);
    voids_flags(count, words, &flags);
    if (json_true(json_at(read, 0)) && (!has(&v, "--sandbox") || flags.no_sandbox))
        fail_msg("the sandbox is not found: %s ...", words[0]);
    if (json_true(json_at(read, 1)) && !has(&v, "--acp") && !has(&v, "--experimental-acp"))
        fail_msg("an editor's session is not found: %s ...", words[0]);
    if (json_is(read, JSON_ARRAY) && !json_true(json_at(read, 2)) && flags.skip_trust)
        fail_msg("--skip-trust is believed: %s ...", words[0]);
}

static void nothing_is_missed_that_the_client_takes(void **state)
{
    (void)state;
    assert_true(lines_each("tests/vectors/gemini/arguments.jsonl", check_line, NULL) > 300);
}

static void variables_make_the_gate_void(void **state)
{
    (void)state;
    static const struct {
        const char *name, *value;
        bool voids;
    } cases[] = {
        {"GEMINI_SANDBOX", "1", true},
        {"GEMINI_SANDBOX", "true", true},
        {"GEMINI_SANDBOX", " TRUE\t", true},
        {"GEMINI_SANDBOX", "Docker", true},
        {"GEMINI_SANDBOX", "podman", true},
        {"GEMINI_SANDBOX", "runsc", true},
        {"GEMINI_SANDBOX", "lxc", true},
        {"GEMINI_SANDBOX",
         "\xc2\xa0"
         "docker",
         true},
        {"GEMINI_SANDBOX", "", false},
        {"GEMINI_SANDBOX", "  ", false},
        {"GEMINI_SANDBOX", "0", false},
        {"GEMINI_SANDBOX", "False", false},
        {"GEMINI_SANDBOX", "none", false}, /* Gemini ends with an error */
        {"GEMINI_SANDBOX", "windows-native", false},
        {"SANDBOX", "sandbox-exec", true},
        {"SANDBOX", "1", false},
        {"GEMINI_RESTRICTED_MODE", "true", true},
        {"GEMINI_RESTRICTED_MODE", "1", false},
        {"GEMINI_CLI_TRUST_WORKSPACE", "false", true},
        {"GEMINI_CLI_TRUST_WORKSPACE", "true", false},
        {"LD_TRACE_LOADED_OBJECTS", "", true},
        {"LD_TRACE_PRELINKING", "1", true},
        {"BASH_FUNC_[()", "() { :; }", true},
        {"BASH_ENV", "/x", false}, /* the definition's env closes it */
        {"NODE_OPTIONS", "--max-old-space-size=4096", false},
        {"NODE_OPTIONS", "--trace-warnings -r ./x.js", true},
        {"NODE_OPTIONS", "--require=./x.js", true},
        {"NODE_OPTIONS", "--import ./x.js", true},
        {"NODE_OPTIONS", "--experimental_loader=x", true},
        {"NODE_OPTIONS", "--permission", true},
        {"NODE_OPTIONS", "--report-on-signal", false},
        {"PATH", "true", false},
        {"gemini_sandbox", "true", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct voids v = {.count = 0};
        voids_variable(&v, cases[i].name, cases[i].value);
        if (v.count != (cases[i].voids ? 1 : 0))
            fail_msg("%s=%s: %zu found", cases[i].name, cases[i].value, v.count);
        assert_true(v.count == 0 || strcmp(v.list[0].what, cases[i].name) == 0);
    }
}

static void findings_are_kept_short_and_plain(void **state)
{
    (void)state;
    struct voids v = {.count = 0};
    char name[200];
    memset(name, 'x', sizeof name);
    name[0] = '\x1b';
    name[1] = '\xc3';
    name[sizeof name - 1] = '\0';
    voids_add(&v, name, "why", "remedy");
    assert_int_equal(strlen(v.list[0].what), VOIDS_WHAT_BYTES - 1);
    assert_memory_equal(v.list[0].what, "??xx", 4);
    for (size_t i = 0; i < VOIDS_MAX + 3; i++)
        voids_add(&v, "x", "why", "remedy");
    assert_int_equal(v.count, VOIDS_MAX);
    assert_int_equal(v.missed, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_make_the_gate_void),
        cmocka_unit_test(other_arguments_do_not),
        cmocka_unit_test(flags_are_believed_only_when_they_are_sure),
        cmocka_unit_test(nothing_is_missed_that_the_client_takes),
        cmocka_unit_test(variables_make_the_gate_void),
        cmocka_unit_test(findings_are_kept_short_and_plain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
