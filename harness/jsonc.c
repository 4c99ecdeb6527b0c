#include "harness/jsonc.h"

#include <string.h>

static void blank(char *text, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (strchr(" \t\n\v\f\r", text[i]) == NULL || text[i] == '\0')
            text[i] = ' ';
}

/* Behind the string that begins at `at`; strings end at their quote only, also across lines. */
static size_t skip_string(const char *text, size_t len, size_t at)
{
    size_t i = at + 1;
    while (i < len && text[i] != '"')
        i += text[i] == '\\' ? 2 : 1;
    return i < len ? i + 1 : len;
}

static size_t line_end(const char *text, size_t len, size_t at)
{
    size_t i = at;
    while (i < len && text[i] != '\n')
        i++;
    return i < len && i > at && text[i - 1] == '\r' ? i - 1 : i;
}

static size_t block_end(const char *text, size_t len, size_t at)
{
    for (size_t i = at + 2; i + 1 < len; i++)
        if (text[i] == '*' && text[i + 1] == '/')
            return i + 2;
    return len;
}

void jsonc_strip(char *text, size_t len)
{
    size_t i = 0;
    while (i < len) {
        size_t end = i + 1;
        if (text[i] == '"') {
            end = skip_string(text, len, i);
        } else if (text[i] == '/' && i + 1 < len && (text[i + 1] == '/' || text[i + 1] == '*')) {
            end = text[i + 1] == '/' ? line_end(text, len, i) : block_end(text, len, i);
            blank(text, i, end);
        }
        i = end;
    }
}
