#include "harness/span.h"

#include <string.h>

static size_t skip_blanks(const char *text, size_t at, size_t end)
{
    while (at < end && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r'))
        at++;
    return at;
}

static size_t string_end(const char *text, size_t at, size_t end)
{
    at++;
    while (at < end && text[at] != '"')
        at += text[at] == '\\' ? 2 : 1;
    return at < end ? at + 1 : end;
}

static size_t container_end(const char *text, size_t at, size_t end)
{
    size_t depth = 0;
    while (at < end) {
        char c = text[at];
        if (c == '"') {
            at = string_end(text, at, end);
            continue;
        }
        at++;
        if (c == '{' || c == '[')
            depth++;
        else if ((c == '}' || c == ']') && --depth == 0)
            break;
    }
    return at;
}

static size_t value_end(const char *text, size_t at, size_t end)
{
    if (at < end && text[at] == '"')
        return string_end(text, at, end);
    if (at < end && (text[at] == '{' || text[at] == '['))
        return container_end(text, at, end);
    while (at < end && strchr(",]} \t\n\r", text[at]) == NULL)
        at++;
    return at;
}

struct span span_whole(const char *text, size_t len)
{
    struct span s = {skip_blanks(text, 0, len), len};
    while (s.to > s.from && strchr(" \t\n\r", text[s.to - 1]) != NULL && text[s.to - 1] != '\0')
        s.to--;
    return s;
}

void span_open(struct span_walk *w, const char *text, struct span container)
{
    bool closed = container.to >= container.from + 2;
    w->text = text;
    w->object = closed && text[container.from] == '{';
    w->at = closed ? container.from + 1 : container.to;
    w->end = closed ? container.to - 1 : container.to;
}

bool span_next(struct span_walk *w, struct span_item *out)
{
    struct span_item item = {{0, 0}, {0, 0}, 0};
    size_t at = skip_blanks(w->text, w->at, w->end);
    if (at < w->end && w->text[at] == ',')
        at = skip_blanks(w->text, at + 1, w->end);
    if (at >= w->end)
        return false;
    item.from = at;
    if (w->object) {
        item.key = (struct span){at, value_end(w->text, at, w->end)};
        at = skip_blanks(w->text, item.key.to, w->end);
        at = skip_blanks(w->text, at < w->end ? at + 1 : at, w->end);
    }
    item.value = (struct span){at, value_end(w->text, at, w->end)};
    /* No value: not a text that the parser accepts. */
    if (item.value.to == item.value.from)
        return false;
    w->at = item.value.to;
    *out = item;
    return true;
}
