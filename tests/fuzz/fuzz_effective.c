/*
 * fuzz_effective.c - the input is a settings file of Gemini CLI, the rules of its trusted folders, a .env file, and the
 * command line of a hook.
 *
 * Property: what can be read can be merged, on top of which a system file that switches hooks off is always found; what
 * is refused is refused with words. A value of a .env file fits its limit. A line that is taken for our gate ends with
 * the guard.
 */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "harness/dotenv.h"
#include "harness/folders.h"
#include "harness/hook_line.h"
#include "harness/voids_settings.h"

enum { MAX_INPUT = 64 << 10, MEMORY_BYTES = 256 << 20 };

static const char OFF[] = "{\"hooksConfig\":{\"enabled\":false}}";

static const char *look_up(void *context, const char *name)
{
    (void)context;
    return name[0] == 'A' ? "a\xff$A" : NULL;
}

static bool resolve(void *context, const char *path, char out[static FOLDERS_PATH_BYTES])
{
    (void)context;
    size_t len = strlen(path);
    FUZZ_CHECK(len > 0 && len < FOLDERS_PATH_BYTES && path[0] == '/');
    memcpy(out, path, len + 1);
    return len % 2 == 0;
}

static void check_value(void *context, const char *value)
{
    (void)context;
    FUZZ_CHECK(strlen(value) < DOTENV_VALUE_BYTES);
}

static void check_settings(struct arena *arena, const struct settings_file *file)
{
    const struct settings_environment env = {look_up, NULL};
    const struct settings_file off = {"off", OFF, sizeof OFF - 1};
    struct settings_node *files[SETTINGS_SCOPES] = {NULL}, *merged = NULL;
    struct voids v = {.count = 0};
    struct fault fault = {""};
    const char *line = NULL;
    enum err e = effective_read(arena, file, SETTINGS_USER, &env, &files[SETTINGS_USER], &fault);
    FUZZ_CHECK((e == ERR_OK) == (fault.text[0] == '\0') && (e == ERR_OK) == (files[SETTINGS_USER] != NULL));
    if (e != ERR_OK)
        return;
    FUZZ_CHECK(effective_read(arena, &off, SETTINGS_SYSTEM, &env, &files[SETTINGS_SYSTEM], NULL) == ERR_OK);
    FUZZ_CHECK(effective_merge(arena, files, &merged) == ERR_OK);
    FUZZ_CHECK(voids_settings(&v, arena, merged, true, &line) == ERR_OK);
    bool found = v.missed > 0;
    for (size_t i = 0; i < v.count; i++)
        found = found || strcmp(v.list[i].what, "hooksConfig.enabled (system settings)") == 0;
    FUZZ_CHECK(found);
}

static void check_line(const char *text)
{
    struct hook_line line;
    if (!hook_line_read(text, &line))
        return;
    FUZZ_CHECK(strlen(text) > 20 && strcmp(text + strlen(text) - 8, "; exit 2") == 0);
    FUZZ_CHECK(line.program[0] == '/' && line.socket[0] == '/' && line.wait_s > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > MAX_INPUT)
        return 0;
    char *text = malloc(size + 1);
    struct arena *arena = arena_new(MEMORY_BYTES);
    const struct settings_file file = {"file", text, size};
    const struct folders_place place = {"/a/b", resolve, NULL};
    enum folders_answer answer = FOLDERS_UNKNOWN;
    struct fault fault = {""};
    FUZZ_CHECK(text != NULL && arena != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    check_settings(arena, &file);
    enum err e = folders_judge(arena, &file, &place, &answer, &fault);
    FUZZ_CHECK((e == ERR_OK) == (fault.text[0] == '\0'));
    dotenv_values(text, size, "A", check_value, NULL);
    check_line(text);
    arena_free(arena);
    free(text);
    return 0;
}
