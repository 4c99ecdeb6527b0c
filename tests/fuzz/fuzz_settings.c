/*
 * fuzz_settings.c - the input is a settings file.
 *
 * Property: a file that is opened, and that an installation does not refuse, is valid with it, differs in our parts alone, and a
 * second installation changes nothing; a removal leaves no part of ours and a valid file; and one of a file that had no
 * part of ours before gives the same bytes back.
 */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "tests/unit/settings_rig.h"

enum { MAX_INPUT = 32 << 10, ARENA_BYTES = 64 << 20 };

static bool has_ours(struct settings *s)
{
    struct arena *arena = arena_new(ARENA_BYTES);
    const struct json *hook = NULL;
    struct fault fault = {""};
    enum err e = settings_find_hook(s, definition_is_ours, arena, &hook, &fault);
    FUZZ_CHECK(e == ERR_OK || fault.text[0] != '\0');
    bool found = e == ERR_OK && hook != NULL;
    arena_free(arena);
    return found;
}

/* The text as it is now, opened anew. */
static struct settings *again(const struct settings *s)
{
    struct settings *t = NULL;
    size_t len = 0;
    const char *text = settings_text(s, &len);
    FUZZ_CHECK(settings_open(text, len, &t, NULL) == ERR_OK);
    return t;
}

static bool holds(const uint8_t *data, size_t size, const char *word)
{
    for (size_t i = 0; i + strlen(word) <= size; i++)
        if (memcmp(data + i, word, strlen(word)) == 0)
            return true;
    return false;
}

static void check_removal(struct settings *s, const uint8_t *data, size_t size, bool was_clean)
{
    struct fault fault = {""};
    enum err e = settings_rig_drop(s, &fault);
    FUZZ_CHECK(e == ERR_OK || (e == ERR_TOO_LARGE && fault.text[0] != '\0'));
    if (e != ERR_OK)
        return;
    FUZZ_CHECK(settings_rig_verify(s, &fault) == ERR_OK);
    FUZZ_CHECK(!has_ours(s));
    FUZZ_CHECK(!was_clean || settings_rig_is(s, (const char *)data, size));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fault fault = {""};
    struct settings *s = NULL;
    if (size > MAX_INPUT)
        return 0;
    if (settings_open(data, size, &s, &fault) != ERR_OK) {
        FUZZ_CHECK(fault.text[0] != '\0');
        return 0;
    }
    bool was_clean = !has_ours(s) && !holds(data, size, "LD_TRACE") && !holds(data, size, "\\u");
    if (settings_rig_put(s, SETTINGS_RIG_ID, 8, &fault) == ERR_OK) {
        FUZZ_CHECK(settings_rig_verify(s, &fault) == ERR_OK && has_ours(s));
        struct settings *t = again(s);
        size_t len = 0;
        const char *text = settings_text(s, &len);
        FUZZ_CHECK(settings_rig_put(t, SETTINGS_RIG_ID, 8, &fault) == ERR_OK && settings_rig_is(t, text, len));
        check_removal(t, data, size, was_clean);
        settings_free(t);
    } else {
        FUZZ_CHECK(fault.text[0] != '\0');
    }
    settings_free(s);
    return 0;
}
