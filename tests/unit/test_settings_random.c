/* Random settings: an installation and its removal give the same bytes back, and touch no other value in between. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/unit/settings_rig.h"

enum { ROUNDS = 4000, MAX_TEXT = 16 << 10, MAX_DEPTH = 4 };

static uint64_t seed;
static struct buf text;
static const char *newline;

static uint32_t draw(uint32_t bound)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % bound;
}

/* White space and comments, as people and programs leave them. */
static void put_gap(void)
{
    static const char *const gaps[] = {"", "", "", " ", "  ", "\t", "/**/", " /* x, } */ ", "/* \"a\": [ */"};
    for (uint32_t n = draw(3); n > 0; n--) {
        buf_puts(&text, gaps[draw(sizeof gaps / sizeof gaps[0])]);
        if (draw(4) == 0) {
            if (draw(3) == 0)
                buf_puts(&text, "// y ] */ \"");
            buf_puts(&text, newline);
            for (uint32_t k = draw(5); k > 0; k--)
                buf_putc(&text, draw(6) == 0 ? '\t' : ' ');
        }
    }
}

static void put_scalar(void)
{
    static const char *const scalars[] = {"1",
                                          "-0.5e3",
                                          "true",
                                          "false",
                                          "null",
                                          "\"\"",
                                          "\"// no\"",
                                          "\"a\\\"}\\\\\"",
                                          "\"\\u00e9/*\"",
                                          "1e999",
                                          "12345678901234567890"};
    buf_puts(&text, scalars[draw(sizeof scalars / sizeof scalars[0])]);
}

static void put_value(int depth);

static void put_list(int depth, char open, const char *const *keys)
{
    uint32_t count = draw(4);
    buf_putc(&text, (uint8_t)open);
    put_gap();
    for (uint32_t i = 0; i < count && (keys == NULL || keys[i] != NULL); i++) {
        if (i > 0) {
            buf_putc(&text, ',');
            put_gap();
        }
        if (open == '{') {
            if (keys != NULL)
                buf_printf(&text, "\"%s\"", keys[i]);
            else
                buf_printf(&text, "\"k%u\"", i);
            put_gap();
            buf_putc(&text, ':');
            put_gap();
        }
        put_value(depth + 1);
        put_gap();
    }
    buf_putc(&text, open == '{' ? '}' : ']');
}

static void put_value(int depth)
{
    uint32_t kind = depth >= MAX_DEPTH ? 2 : draw(4);
    if (kind > 1)
        put_scalar();
    else
        put_list(depth, kind == 0 ? '{' : '[', NULL);
}

/* A member whose value is a container: `fill` writes what is in it. */
static void put_member(const char *key, char open, void (*fill)(void), bool *first)
{
    if (draw(3) == 0)
        return;
    if (!*first) {
        buf_putc(&text, ',');
        put_gap();
    }
    *first = false;
    buf_printf(&text, "\"%s\":", key);
    put_gap();
    buf_putc(&text, (uint8_t)open);
    put_gap();
    if (draw(3) > 0)
        fill();
    buf_putc(&text, open == '{' ? '}' : ']');
    put_gap();
}

static void fill_event(void)
{
    buf_puts(&text, draw(2) == 0 ? "{\"hooks\":[{\"type\":\"command\",\"command\":\"x\"}],\"matcher\":\"*\"}" : "{}");
    put_gap();
    if (draw(2) == 0) {
        buf_putc(&text, ',');
        put_gap();
        put_value(MAX_DEPTH);
        put_gap();
    }
}

static void fill_hooks(void)
{
    static const char *const names[] = {"BeforeTool", "AfterTool", "SessionStart", "BeforeModel"};
    bool first = true;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        put_member(names[i], '[', fill_event, &first);
}

static void fill_words(void)
{
    buf_puts(&text, draw(2) == 0 ? "\"DEBUG\"" : "\"A\", \"B\"");
    put_gap();
}

static void fill_advanced(void)
{
    bool first = true;
    put_member("excludedEnvVars", '[', fill_words, &first);
    put_member("other", '{', put_gap, &first);
}

static void put_document(void)
{
    bool first = true;
    newline = draw(3) == 0 ? "\r\n" : "\n";
    buf_reset(&text);
    put_gap();
    buf_putc(&text, '{');
    put_gap();
    put_member("k", '{', put_gap, &first);
    put_member("hooks", '{', fill_hooks, &first);
    put_member("l", '[', put_gap, &first);
    put_member("advanced", '{', fill_advanced, &first);
    if (draw(2) == 0) {
        if (!first)
            buf_putc(&text, ',');
        buf_puts(&text, "\"z\":");
        put_list(0, draw(2) == 0 ? '[' : '{', NULL);
        put_gap();
    }
    buf_putc(&text, '}');
    put_gap();
    if (draw(2) == 0)
        buf_puts(&text, newline);
    assert_int_equal(buf_err(&text), ERR_OK);
}

static void fails(const char *what, uint64_t from, const struct fault *fault, const struct settings *s)
{
    size_t len = 0;
    const char *now = s != NULL ? settings_text(s, &len) : "";
    fail_msg("TEST_SEED=%ju: %s: %s\n--- before\n%.*s\n--- now\n%.*s", (uintmax_t)from, what, fault->text,
             (int)text.len, (const char *)text.data, (int)len, now);
}

static void round_trip(uint64_t from)
{
    struct fault fault = {""};
    struct settings *s = NULL;
    size_t len = 0;
    put_document();
    if (settings_open(text.data, text.len, &s, &fault) != ERR_OK)
        fails("open", from, &fault, NULL);
    if (settings_rig_put(s, SETTINGS_RIG_ID, 8, &fault) != ERR_OK || settings_rig_verify(s, &fault) != ERR_OK)
        fails("put", from, &fault, s);
    const char *now = settings_text(s, &len);
    char *copy = malloc(len);
    assert_non_null(copy);
    memcpy(copy, now, len);
    settings_free(s);
    s = NULL;
    if (settings_open(copy, len, &s, &fault) != ERR_OK)
        fails("open again", from, &fault, NULL);
    if (settings_rig_put(s, SETTINGS_RIG_ID, 8, &fault) != ERR_OK || !settings_rig_is(s, copy, len))
        fails("put again", from, &fault, s);
    if (settings_rig_drop(s, &fault) != ERR_OK || settings_rig_verify(s, &fault) != ERR_OK ||
        !settings_rig_is(s, (const char *)text.data, text.len) || settings_is_bare(s))
        fails("drop", from, &fault, s);
    settings_free(s);
    free(copy);
}

static void it_comes_back(void **state)
{
    (void)state;
    const char *wish = getenv("TEST_SEED");
    seed = wish != NULL ? strtoull(wish, NULL, 10) : (uint64_t)time(NULL);
    print_message("TEST_SEED=%ju\n", (uintmax_t)seed);
    buf_init(&text, MAX_TEXT);
    for (int i = 0; i < ROUNDS; i++)
        round_trip(seed);
    buf_wipe(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(it_comes_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
