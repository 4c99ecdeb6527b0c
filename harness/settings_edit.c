#include <stdbool.h>
#include <string.h>

#include "harness/settings_internal.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool has_newline(const char *text, size_t from, size_t to)
{
    return to > from && memchr(text + from, '\n', to - from) != NULL;
}

/* White space and nothing else, no comments either. */
static bool is_empty(const char *text, size_t from, size_t to)
{
    while (from < to && (is_blank(text[from]) || text[from] == '\n' || text[from] == '\r'))
        from++;
    return from == to;
}

/* The blanks at the front of the line that holds `at`. */
static struct span line_indent(const char *text, size_t at)
{
    struct span s = {at, at};
    while (s.from > 0 && text[s.from - 1] != '\n')
        s.from--;
    for (s.to = s.from; s.to < at && is_blank(text[s.to]);)
        s.to++;
    return s;
}

/* Behind the comment that begins at `at`, but before the line end of a line comment. */
static size_t comment_end(const char *text, size_t at, size_t end)
{
    bool is_block = at + 1 < end && text[at + 1] == '*';
    for (size_t i = at + 2; i < end; i++) {
        if (is_block && i > at + 2 && text[i - 1] == '*' && text[i] == '/')
            return i + 1;
        if (!is_block && (text[i] == '\n' || (text[i] == '\r' && i + 1 < end && text[i + 1] == '\n')))
            return i;
    }
    return end;
}

/* Behind the comments that follow on the same line. The text before is the end of a value, or an opening bracket. */
static size_t behind_comments(const struct settings *s, size_t at, size_t end)
{
    const char *text = (const char *)s->text.data;
    size_t result = at;
    for (size_t i = at; i < end && (is_blank(text[i]) || text[i] == '/');) {
        i = text[i] == '/' ? comment_end(text, i, end) : i + 1;
        if (text[i - 1] == '/' || !is_blank(text[i - 1]))
            result = i;
    }
    return result;
}

/* Appends a text that is indented by two spaces a step: each line but the first behind the file's line end, `base` and the
 * file's own steps. */
static void put_indented(struct buf *out, const struct settings *s, const struct buf *base, const char *text)
{
    while (*text != '\0') {
        size_t len = strcspn(text, "\n");
        buf_put(out, text, len);
        text += len;
        if (*text == '\0')
            return;
        text++;
        buf_puts(out, s->newline);
        buf_put(out, base->data, base->len);
        for (; text[0] == ' ' && text[1] == ' '; text += 2)
            buf_puts(out, s->unit);
    }
}

void settings_edit_wrap(struct buf *out, const char *key, char open, const char *inner)
{
    if (key != NULL)
        buf_printf(out, "\"%s\": ", key);
    buf_putc(out, (uint8_t)open);
    buf_puts(out, "\n  ");
    for (; *inner != '\0'; inner++) {
        buf_putc(out, (uint8_t)*inner);
        if (*inner == '\n')
            buf_puts(out, "  ");
    }
    buf_puts(out, open == '{' ? "\n}" : "\n]");
}

/* Takes over a text that was put together anew. Owns `text`. */
static enum err take(struct settings *s, struct buf *text, struct fault *fault)
{
    enum err e = buf_err(text);
    if (e != ERR_OK) {
        buf_wipe(text);
        return fault_set(fault, e, "%s", err_text(e));
    }
    buf_wipe(&s->text);
    s->text = *text;
    return settings_refresh(s, fault);
}

/* The same of a text that `base` went into, which is wiped. */
static enum err take_built(struct settings *s, struct buf *text, struct buf *base, struct fault *fault)
{
    enum err e = buf_err(base);
    buf_wipe(base);
    if (e == ERR_OK)
        return take(s, text, fault);
    buf_wipe(text);
    return fault_set(fault, e, "%s", err_text(e));
}

/* How a container is laid out, and where the next item goes. */
struct layout {
    size_t first, last_end, comma; /* of its items; comma: where one has to be added, 0 for nowhere */
    size_t at;                     /* where the new item goes */
    size_t count;
    bool multiline;
};

static void read_layout(const struct settings *s, struct span c, struct layout *out)
{
    struct layout l = {.count = 0};
    struct span_walk walk;
    struct span_item item;
    const char *text = (const char *)s->text.data;
    span_open(&walk, s->plain, c);
    while (span_next(&walk, &item)) {
        if (l.count++ == 0)
            l.first = item.from;
        l.last_end = item.value.to;
    }
    if (l.count > 0) {
        l.multiline = has_newline(s->plain, c.from, l.first) || has_newline(s->plain, l.last_end, c.to);
        l.comma = l.last_end;
        l.at = behind_comments(s, l.last_end, c.to - 1);
    } else {
        l.multiline = true;
        /* Directly before the closing bracket: this marks a container that was there before (settings.h). */
        l.at = s->fresh                               ? c.from + 1
               : is_empty(text, c.from + 1, c.to - 1) ? c.to - 1
                                                      : behind_comments(s, c.from + 1, c.to - 1);
    }
    *out = l;
}

/* What the lines of a new item begin with. */
static void put_base(struct buf *out, const struct settings *s, struct span c, const struct layout *l)
{
    const char *text = (const char *)s->text.data;
    struct span indent = line_indent(text, l->count > 0 && l->multiline ? l->first : c.from);
    bool is_first_on_line = l->count > 0 && l->multiline && indent.to == l->first;
    if (l->count > 0 && l->multiline && !is_first_on_line)
        indent = line_indent(text, c.from);
    buf_put(out, text + indent.from, indent.to - indent.from);
    if (l->multiline && !is_first_on_line)
        buf_puts(out, s->unit);
}

enum err settings_edit_add(struct settings *s, struct span c, const char *item, struct fault *fault)
{
    const uint8_t *text = s->text.data;
    struct layout l;
    struct buf out, base;
    buf_init(&out, s->text.max);
    buf_init(&base, s->text.max);
    read_layout(s, c, &l);
    put_base(&base, s, c, &l);
    size_t comma = l.count > 0 ? l.comma : l.at;
    buf_put(&out, text, comma);
    if (l.count > 0)
        buf_putc(&out, ',');
    buf_put(&out, text + comma, l.at - comma);
    buf_puts(&out, l.multiline ? s->newline : " ");
    if (l.multiline)
        buf_put(&out, base.data, base.len);
    put_indented(&out, s, &base, item);
    if (s->fresh)
        buf_puts(&out, s->newline);
    s->fresh = false;
    buf_put(&out, text + l.at, s->text.len - l.at);
    return take_built(s, &out, &base, fault);
}

enum err settings_edit_replace(struct settings *s, struct span value, const char *text, struct fault *fault)
{
    struct buf out, base;
    struct span indent = line_indent((const char *)s->text.data, value.from);
    buf_init(&out, s->text.max);
    buf_init(&base, s->text.max);
    buf_put(&base, s->text.data + indent.from, indent.to - indent.from);
    buf_put(&out, s->text.data, value.from);
    put_indented(&out, s, &base, text);
    buf_put(&out, s->text.data + value.to, s->text.len - value.to);
    return take_built(s, &out, &base, fault);
}

/* An item and its neighbours. */
struct slot {
    struct span_item item;
    size_t before; /* end of the item before, or 0 */
    size_t count;
    bool has_next;
};

static bool find_slot(const struct settings *s, struct span c, size_t from, struct slot *out)
{
    struct slot slot = {.count = 0};
    struct span_walk walk;
    struct span_item item;
    bool seen = false;
    span_open(&walk, s->plain, c);
    while (span_next(&walk, &item)) {
        slot.count++;
        if (seen)
            slot.has_next = true;
        if (item.from == from) {
            slot.item = item;
            seen = true;
        } else if (!seen) {
            slot.before = item.value.to;
        }
    }
    if (seen)
        *out = slot;
    return seen;
}

/* Where the white space begins that settings_edit_add put before an item: a line end and blanks, or one space. */
static size_t separator(const char *text, size_t from, size_t bound)
{
    size_t at = from;
    while (at > bound && is_blank(text[at - 1]))
        at--;
    if (at > bound && text[at - 1] == '\n')
        return at - 1 > bound && text[at - 2] == '\r' ? at - 2 : at - 1;
    return from > bound && text[from - 1] == ' ' ? from - 1 : from;
}

/* Whether the text up to `at` ends in a line comment, which would swallow what came behind it on the same line. Between
 * `from` and `at` there is white space, a comma and comments. */
static bool ends_in_comment(const struct settings *s, size_t from, size_t at)
{
    const char *text = (const char *)s->text.data;
    bool is_line = false;
    while (from < at) {
        is_line = text[from] == '/' && text[from + 1] == '/';
        from = text[from] == '/' ? comment_end(text, from, s->text.len) : from + 1;
    }
    return is_line;
}

/* How much of the line stands behind `at`, blanks left out. */
static size_t line_rest(const struct settings *s, size_t at)
{
    const char *text = (const char *)s->text.data;
    size_t n = 0;
    while (at < s->text.len && is_blank(text[at]))
        at++;
    while (at + n < s->text.len && text[at + n] != '\n' && text[at + n] != '\r')
        n++;
    return n;
}

static size_t comma_after(const struct settings *s, size_t at, size_t end)
{
    while (at < end && s->plain[at] != ',')
        at++;
    return at;
}

enum err settings_edit_drop(struct settings *s, struct span c, size_t from, bool *hollow, struct fault *fault)
{
    const char *text = (const char *)s->text.data;
    struct slot slot;
    struct buf out;
    if (!find_slot(s, c, from, &slot))
        return fault_set(fault, ERR_STATE, "an entry is not where it was");
    size_t bound = slot.before > 0 ? slot.before : c.from + 1;
    struct span cut = {separator(text, from, bound), slot.item.value.to};
    size_t comma = s->text.len;
    if (slot.has_next) {
        cut.to = comma_after(s, cut.to, c.to) + 1;
        if (cut.from == from && is_blank(text[cut.to]))
            cut.to++;
    } else if (slot.before > 0) {
        comma = comma_after(s, slot.before, from);
    }
    if (ends_in_comment(s, bound, cut.from) && line_rest(s, cut.to) > 0)
        cut.from = from;
    bool is_hollow = slot.count == 1 && cut.to != c.to - 1 && is_empty(text, c.from + 1, cut.from) &&
                     is_empty(text, cut.to, c.to - 1);
    buf_init(&out, s->text.max);
    buf_put(&out, text, comma < cut.from ? comma : cut.from);
    if (comma < cut.from)
        buf_put(&out, text + comma + 1, cut.from - comma - 1);
    buf_put(&out, text + cut.to, s->text.len - cut.to);
    enum err e = take(s, &out, fault);
    if (e == ERR_OK)
        *hollow = is_hollow;
    return e;
}
