#include "cli/gate_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "evidence/arena.h"
#include "evidence/json.h"
#include "harness/jsonc.h"

enum { ARENA_BYTES = 128 << 20 };

void gate_file_path(char out[static PATHS_MAX])
{
    const char *home = getenv("HOME");
    int n = home != NULL && home[0] == '/' ? snprintf(out, PATHS_MAX, "%s/.gemini/settings.json", home) : -1;
    if (n < 0 || n >= PATHS_MAX)
        out[0] = '\0';
}

static bool is_ours(const struct json *hook)
{
    const char *command = json_get_cstr(hook, "command");
    return json_equal_cstr(json_get(hook, "type"), "command") && command != NULL &&
           strstr(command, "tracekit-hook") != NULL && strstr(command, "BeforeTool") != NULL;
}

static bool has_gate(const struct json *settings)
{
    const struct json *definitions = json_get(json_get(settings, "hooks"), "BeforeTool");
    for (size_t i = 0; json_is(definitions, JSON_ARRAY) && i < json_count(definitions); i++) {
        const struct json *hooks = json_get(json_at(definitions, i), "hooks");
        for (size_t k = 0; json_is(hooks, JSON_ARRAY) && k < json_count(hooks); k++)
            if (is_ours(json_at(hooks, k)))
                return true;
    }
    return false;
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
        found = has_gate(settings) ? GATE_FILE_WITH : GATE_FILE_WITHOUT;
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
