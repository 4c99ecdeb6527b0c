#include "cli/gate_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/settings_file.h"
#include "evidence/arena.h"
#include "evidence/json.h"
#include "harness/hook_line.h"
#include "harness/jsonc.h"

enum { ARENA_BYTES = 128 << 20 };

void gate_file_path(char out[static PATHS_MAX])
{
    char base[PATHS_MAX];
    struct fault fault;
    int n = -1;
    if (settings_file_base(false, base, &fault) == ERR_OK)
        n = snprintf(out, PATHS_MAX, "%s/.gemini/settings.json", base);
    if (n < 0 || n >= PATHS_MAX)
        out[0] = '\0';
}

/* Without one of these variables a project can end the hook's shell. */
static bool has_environment(const struct json *env)
{
    for (const struct hook_line_variable *v = HOOK_LINE_ENVIRONMENT; v->name != NULL; v++)
        if (!json_equal_cstr(json_get(env, v->name), v->value))
            return false;
    return true;
}

/* A definition's hook, as it was printed, altered, or not ours. */
static enum gate_file judge_hook(const struct json *hook)
{
    struct hook_line line;
    const char *command = json_get_cstr(hook, "command");
    if (!json_equal_cstr(json_get(hook, "type"), "command") || command == NULL || !hook_line_is_gate(command))
        return GATE_FILE_WITHOUT;
    bool is_guarded = hook_line_read(command, &line);
    bool is_sheltered = has_environment(json_get(hook, "env"));
    return is_guarded && is_sheltered ? GATE_FILE_WITH : GATE_FILE_ALTERED;
}

static enum gate_file judge_settings(const struct json *settings)
{
    const struct json *definitions = json_get(json_get(settings, "hooks"), "BeforeTool");
    enum gate_file best = GATE_FILE_WITHOUT;
    for (size_t i = 0; json_is(definitions, JSON_ARRAY) && i < json_count(definitions); i++) {
        const struct json *hooks = json_get(json_at(definitions, i), "hooks");
        for (size_t k = 0; json_is(hooks, JSON_ARRAY) && k < json_count(hooks); k++) {
            enum gate_file found = judge_hook(json_at(hooks, k));
            if (found == GATE_FILE_WITH)
                return found;
            if (found == GATE_FILE_ALTERED)
                best = found;
        }
    }
    return best;
}

enum gate_file gate_file_judge(char *text, size_t len)
{
    struct json_fault loose;
    const struct json *settings = NULL;
    struct arena *arena = arena_new(ARENA_BYTES);
    enum gate_file found = GATE_FILE_UNREADABLE;
    jsonc_strip(text, len);
    if (arena != NULL && json_parse_loose(arena, text, len, &settings, NULL, &loose) == ERR_OK &&
        json_is(settings, JSON_OBJECT))
        found = judge_settings(settings);
    arena_free(arena);
    return found;
}

/* All of a file; false when it is too large or changes its mind. */
static bool read_all(int fd, char *text, size_t len)
{
    for (size_t at = 0; at < len;) {
        ssize_t n = read(fd, text + at, len - at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += (size_t)n;
    }
    return true;
}

enum gate_file gate_file_read(const char *path)
{
    struct stat st;
    enum gate_file found = GATE_FILE_UNREADABLE;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT || errno == ENOTDIR ? GATE_FILE_ABSENT : GATE_FILE_UNREADABLE;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= 0 && st.st_size <= GATE_FILE_MAX_BYTES) {
        size_t len = (size_t)st.st_size;
        char *text = malloc(len + 1);
        if (text != NULL && read_all(fd, text, len))
            found = gate_file_judge(text, len);
        free(text);
    }
    close(fd);
    return found;
}
