#include "harness/hook_line.h"

#include <stddef.h>
#include <string.h>

static const char PROGRAM[] = "/tracekit-hook";
static const char GUARD[] = "; [ $? = 42 ] && exit 0; echo tracekit: hook failed >&2; exit 2";

const struct hook_line_variable HOOK_LINE_ENVIRONMENT[] = {
    {"BASH_ENV", ""},         {"SHELLOPTS", ""}, {"BASHOPTS", ""},      {"LD_PRELOAD", ""},
    {"LD_LIBRARY_PATH", ""},  {"LD_AUDIT", ""},  {"LD_DEBUG", ""},      {"GLIBC_TUNABLES", ""},
    {"LC_ALL", "C"},          {"SHLVL", "1"},    {"BASH_FUNC_[%%", ""}, {"BASH_FUNC_exit%%", ""},
    {"BASH_FUNC_echo%%", ""}, {NULL, NULL},
};

bool hook_line_is_gate(const char *line)
{
    return strstr(line, PROGRAM + 1) != NULL && strstr(line, "--event BeforeTool") != NULL;
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("-./_", c) != NULL);
}

/* Takes one word off the front: plain characters, and text in single quotes, between which a quote may stand as \'. A $
 * would be replaced by Gemini, quoted or not. */
static bool take_word(const char **at, char out[static HOOK_LINE_PATH_BYTES])
{
    size_t len = 0;
    bool quoted = false;
    const char *c = *at;
    for (; quoted ? *c != '\0' : is_plain(*c) || *c == '\'' || (c[0] == '\\' && c[1] == '\''); c++) {
        if (*c == '\'') {
            quoted = !quoted;
            continue;
        }
        c += !quoted && *c == '\\' ? 1 : 0;
        if (*c == '$' || len == HOOK_LINE_PATH_BYTES - 1)
            return false;
        out[len++] = *c;
    }
    if (quoted || c == *at)
        return false;
    out[len] = '\0';
    *at = c;
    return true;
}

static bool take_number(const char *word, uint32_t *out)
{
    uint64_t value = 0;
    size_t digits = strspn(word, "0123456789");
    if (digits == 0 || digits > 10 || word[digits] != '\0')
        return false;
    for (size_t i = 0; i < digits; i++)
        value = value * 10 + (uint64_t)(word[i] - '0');
    *out = (uint32_t)value;
    return value <= UINT32_MAX;
}

enum { OPTION_SOCKET = 1, OPTION_UID = 2, OPTION_WAIT = 4, OPTION_ALL = 7 };

/* Takes " --NAME VALUE" off the front, each option once. */
static bool take_option(const char **at, struct hook_line *line, unsigned *seen)
{
    char name[HOOK_LINE_PATH_BYTES], value[HOOK_LINE_PATH_BYTES];
    unsigned option = 0;
    bool good = false;
    if (*(*at)++ != ' ' || !take_word(at, name) || *(*at)++ != ' ' || !take_word(at, value))
        return false;
    if (strcmp(name, "--socket") == 0) {
        option = OPTION_SOCKET;
        memcpy(line->socket, value, sizeof value);
        good = value[0] == '/';
    } else if (strcmp(name, "--signer-uid") == 0) {
        option = OPTION_UID;
        good = take_number(value, &line->signer_uid);
    } else if (strcmp(name, "--wait") == 0) {
        option = OPTION_WAIT;
        good = take_number(value, &line->wait_s) && line->wait_s > 0;
    }
    good = good && (*seen & option) == 0;
    *seen |= option;
    return good;
}

static bool is_program(const char *path)
{
    size_t len = strlen(path);
    return path[0] == '/' && len >= sizeof PROGRAM - 1 && strcmp(path + len - (sizeof PROGRAM - 1), PROGRAM) == 0;
}

bool hook_line_read(const char *line, struct hook_line *out)
{
    static const char event[] = " gemini --event BeforeTool";
    struct hook_line read = {.wait_s = 0};
    unsigned seen = 0;
    const char *at = line;
    if (!take_word(&at, read.program) || !is_program(read.program) || strncmp(at, event, sizeof event - 1) != 0)
        return false;
    at += sizeof event - 1;
    while (*at == ' ')
        if (!take_option(&at, &read, &seen))
            return false;
    if (seen != OPTION_ALL || strcmp(at, GUARD) != 0)
        return false;
    *out = read;
    return true;
}
