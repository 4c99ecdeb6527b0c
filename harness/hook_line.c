#include "harness/hook_line.h"

#include <string.h>

static const char PROGRAM[] = "/tracekit-hook";
static const char EVENT[] = " gemini --event BeforeTool ";
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

/* Behind the word in single quotes that begins at `at`, or NULL. A quote inside stands as '\''. */
static const char *skip_quoted(const char *at)
{
    static const char inner[] = "'\\''";
    for (at++; *at != '\0'; at++) {
        if (*at != '\'')
            continue;
        if (strncmp(at, inner, sizeof inner - 1) != 0)
            return at + 1;
        at += sizeof inner - 2;
    }
    return NULL;
}

/* Behind the words before the guard, or NULL when something stands there that is more than a word to the shell. */
static const char *skip_words(const char *at)
{
    while (*at != ';') {
        if (*at == '\'') {
            at = skip_quoted(at);
            if (at == NULL)
                return NULL;
        } else if ((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || (*at >= '0' && *at <= '9') ||
                   (*at != '\0' && strchr(" -=./_", *at) != NULL)) {
            at++;
        } else {
            return NULL;
        }
    }
    return at;
}

/* The number behind the option's last place in the words, or -1. */
static long read_wait(const char *words, const char *end)
{
    static const char option[] = " --wait ";
    long value = -1;
    for (const char *at = strstr(words, option); at != NULL && at < end; at = strstr(at + 1, option)) {
        const char *digit = at + sizeof option - 1;
        size_t digits = strspn(digit, "0123456789");
        value = digits > 0 && digits < 6 ? 0 : -1;
        for (size_t i = 0; value >= 0 && i < digits; i++)
            value = value * 10 + (digit[i] - '0');
    }
    return value;
}

bool hook_line_is_whole(const char *line, long *wait_s)
{
    /* What Gemini replaces before it runs a line begins with a dollar sign; the guard has the only one. */
    const char *dollar = strchr(line, '$'), *words = line[0] == '\'' ? skip_quoted(line) : NULL;
    size_t program = sizeof PROGRAM - 1;
    if (words == NULL || words - line < (ptrdiff_t)program + 2 || line[1] != '/' ||
        memcmp(words - 1 - program, PROGRAM, program) != 0 || strncmp(words, EVENT, sizeof EVENT - 1) != 0)
        return false;
    const char *guard = skip_words(words);
    if (guard == NULL || strcmp(guard, GUARD) != 0 || dollar < guard)
        return false;
    long wait = read_wait(words, guard);
    if (wait <= 0)
        return false;
    *wait_s = wait;
    return true;
}
