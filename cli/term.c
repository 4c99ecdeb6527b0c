#include "cli/term.h"

#include <inttypes.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "evidence/jcs.h"
#include "evidence/visible.h"

enum {
    JSON_TEXT_MAX = 16 << 20,
    VISIBLE_TEXT_MAX = 64 << 20,
    MARGIN_COLUMNS = 3, /* "| ", and the last column stays free: some terminals wrap there already */
    ROOM_MIN = 16,
};

static size_t width_of(int fd)
{
    struct winsize size = {0};
    if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return TERM_WIDTH_DEFAULT;
    if (size.ws_col < TERM_WIDTH_MIN)
        return TERM_WIDTH_MIN;
    return size.ws_col > TERM_WIDTH_MAX ? TERM_WIDTH_MAX : size.ws_col;
}

void term_init(struct term *t, FILE *out, bool want_color)
{
    int fd = fileno(out);
    t->out = out;
    t->is_tty = fd >= 0 && isatty(fd);
    t->color = t->is_tty && want_color;
    t->width = t->is_tty ? width_of(fd) : TERM_WIDTH_DEFAULT;
}

static const char *style_code(enum term_style style)
{
    switch (style) {
    case TERM_PLAIN:
        return "";
    case TERM_BOLD:
        return "1";
    case TERM_DIM:
        return "2";
    case TERM_RED:
        return "31";
    case TERM_GREEN:
        return "32";
    case TERM_YELLOW:
        return "33";
    }
    return "";
}

void term_styled(const struct term *t, enum term_style style, const char *words)
{
    if (t->color && style != TERM_PLAIN)
        fprintf(t->out, "\033[%sm%s\033[0m", style_code(style), words);
    else
        fputs(words, t->out);
}

/* Makes a text visible; when memory runs out nothing of it is shown, and that is said. */
static void make_visible(struct buf *out, const char *text, size_t len, size_t max_chars)
{
    buf_init(out, VISIBLE_TEXT_MAX);
    visible_write(out, text, len, max_chars);
    if (buf_err(out) == ERR_OK)
        return;
    buf_wipe(out);
    buf_puts(out, "(too large to be shown)");
}

void term_text(const struct term *t, const char *text, size_t len, size_t max_chars)
{
    struct buf b;
    make_visible(&b, text, len, max_chars);
    if (b.len > 0)
        fwrite(b.data, 1, b.len, t->out);
    buf_wipe(&b);
}

/* How many bytes of a visible text fit into `columns`, and how many columns they take. */
static size_t fitting(const uint8_t *bytes, size_t len, size_t columns, size_t *taken)
{
    size_t at = 0, used = 0;
    while (at < len) {
        uint32_t code = 0;
        size_t n = visible_decode(bytes + at, len - at, &code);
        size_t wide = code >= 0x1100 ? 2 : 1;
        if (n == 0 || used + wide > columns)
            break;
        at += n;
        used += wide;
    }
    *taken = used;
    return at;
}

size_t term_fit(const struct term *t, const char *text, size_t len, size_t columns)
{
    static const char dots[] = "...";
    enum { DOTS = sizeof dots - 1 };
    /* No character is shown in less than one column and none has more than four bytes: more of the text cannot show. */
    size_t enough = 4 * columns + 4, used = 0;
    struct buf b;
    make_visible(&b, text, len < enough ? len : enough, SIZE_MAX);
    size_t shown = fitting(b.data, b.len, columns, &used);
    bool cut = shown < b.len;
    if (cut)
        shown = fitting(b.data, b.len, columns > DOTS ? columns - DOTS : 0, &used);
    if (shown > 0)
        fwrite(b.data, 1, shown, t->out);
    if (cut && columns >= DOTS) {
        fputs(dots, t->out);
        used += DOTS;
    }
    buf_wipe(&b);
    return used;
}

/* Prints one line of a text in as many lines of the terminal as it needs, each with a mark of ours before it: `first`
 * (which is there already when it is NULL), then ':' in its last column. */
static size_t wrap_line(const struct term *t, unsigned indent, const char *first, const char *line, size_t len)
{
    struct buf b;
    make_visible(&b, line, len, SIZE_MAX);
    const uint8_t *shown = b.data != NULL ? b.data : (const uint8_t *)"";
    size_t taken = indent + MARGIN_COLUMNS, room = t->width > taken + ROOM_MIN ? t->width - taken : ROOM_MIN;
    size_t at = 0, lines = 0, n = 0;
    do {
        size_t used = 0;
        n = fitting(shown + at, b.len - at, room, &used);
        if (lines > 0)
            fprintf(t->out, "%*s: ", (int)indent, "");
        else if (first != NULL)
            fprintf(t->out, "%*s%s", (int)indent, "", first);
        fwrite(shown + at, 1, n, t->out);
        fputc('\n', t->out);
        at += n;
        lines++;
    } while (at < b.len && n > 0);
    buf_wipe(&b);
    return lines;
}

size_t term_wrap(const struct term *t, unsigned indent, const char *text, size_t len)
{
    size_t lines = 0;
    const char *end = text + len;
    for (;;) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline != NULL ? newline : end;
        lines += wrap_line(t, indent, "| ", text, (size_t)(stop - text));
        /* A newline at the very end shows as an empty last line: it is part of the text. */
        if (newline == NULL)
            return lines;
        text = newline + 1;
    }
}

void term_fact(const struct term *t, const char *label, const char *text, size_t len)
{
    fprintf(t->out, "  %-*s ", TERM_LABEL_COLUMNS - 3, label);
    wrap_line(t, TERM_LABEL_COLUMNS - 2, NULL, text, len);
}

/* Writes canonical JSON so that each character which is not plain is a \u escape: in JSON text these stand in strings
 * only, so the value stays the same. */
static void escape_json(FILE *out, const uint8_t *bytes, size_t len)
{
    for (size_t at = 0; at < len;) {
        uint32_t code = 0;
        size_t n = visible_decode(bytes + at, len - at, &code);
        if (n == 0)
            return; /* canonical JSON is valid UTF-8 */
        if ((code >= 0x20 && code < 0x7f) || visible_is_plain(code))
            fwrite(bytes + at, 1, n, out);
        else if (code < 0x10000)
            fprintf(out, "\\u%04" PRIx32, code);
        else
            fprintf(out, "\\u%04" PRIx32 "\\u%04" PRIx32, 0xd800 + ((code - 0x10000) >> 10),
                    0xdc00 + ((code - 0x10000) & 0x3ff));
        at += n;
    }
}

enum err term_json(const struct term *t, const struct json *value)
{
    struct buf b;
    buf_init(&b, JSON_TEXT_MAX);
    enum err e = jcs_write(&b, value);
    if (e == ERR_OK && t->is_tty)
        escape_json(t->out, b.data, b.len);
    else if (e == ERR_OK)
        fwrite(b.data, 1, b.len, t->out);
    if (e == ERR_OK)
        fputc('\n', t->out);
    buf_wipe(&b);
    return e;
}

void term_duration(int64_t seconds, char out[static TERM_DURATION_BYTES])
{
    int64_t s = seconds < 0 ? 0 : seconds;
    if (s < 60)
        snprintf(out, TERM_DURATION_BYTES, "%" PRId64 "s", s);
    else if (s < 3600)
        snprintf(out, TERM_DURATION_BYTES, "%" PRId64 "m", s / 60);
    else if (s < 86400 && s % 3600 < 60)
        snprintf(out, TERM_DURATION_BYTES, "%" PRId64 "h", s / 3600);
    else if (s < 86400)
        snprintf(out, TERM_DURATION_BYTES, "%" PRId64 "h %" PRId64 "m", s / 3600, s % 3600 / 60);
    else
        snprintf(out, TERM_DURATION_BYTES, "%" PRId64 "d %" PRId64 "h", s / 86400, s % 86400 / 3600);
}
