#include "evidence/visible.h"

#include <assert.h>

struct range {
    uint32_t first, last;
};

/* What a terminal, or the reader's eye, does not show for what it is. Sorted. */
static const struct range HIDDEN[] = {
    {0x00, 0x1f},       /* C0 */
    {0x7f, 0x9f},       /* DEL, C1 */
    {0xad, 0xad},       /* soft hyphen */
    {0x34f, 0x34f},     /* combining grapheme joiner */
    {0x600, 0x605},     /* Arabic number signs, format characters */
    {0x61c, 0x61c},     /* Arabic letter mark */
    {0x6dd, 0x6dd},     /* Arabic end of ayah, a format character */
    {0x70f, 0x70f},     /* Syriac abbreviation mark */
    {0x890, 0x891},     /* Arabic currency marks */
    {0x8e2, 0x8e2},     /* Arabic disputed end of ayah */
    {0x115f, 0x1160},   /* Hangul fillers */
    {0x17b4, 0x17b5},   /* Khmer inherent vowels */
    {0x180b, 0x180f},   /* Mongolian variation selectors and vowel separator */
    {0x200b, 0x200f},   /* zero-width space and joiners, direction marks */
    {0x2028, 0x202e},   /* line and paragraph separator, embeddings and overrides */
    {0x2060, 0x206f},   /* word joiner, invisible operators, isolates, deprecated format characters */
    {0x3164, 0x3164},   /* Hangul filler */
    {0xd800, 0xdfff},   /* surrogates: never decoded, listed for callers who ask about a bare number */
    {0xe000, 0xf8ff},   /* private use */
    {0xfdd0, 0xfdef},   /* noncharacters */
    {0xfe00, 0xfe0f},   /* variation selectors */
    {0xfeff, 0xfeff},   /* byte order mark */
    {0xffa0, 0xffa0},   /* half-width Hangul filler */
    {0xfff0, 0xfffb},   /* unassigned, interlinear annotation */
    {0xfffe, 0xffff},   /* noncharacters */
    {0x110bd, 0x110bd}, /* Kaithi number signs */
    {0x110cd, 0x110cd},  {0x13430, 0x1345f}, /* Egyptian hieroglyph format controls */
    {0x1bca0, 0x1bca3},                      /* shorthand format controls */
    {0x1d173, 0x1d17a},                      /* musical format controls */
    {0xe0000, 0x10ffff}, /* tags, variation selectors, private use, and all that no standard assigns */
};

enum { ESCAPE_BYTES = 16 };

size_t visible_decode(const uint8_t *bytes, size_t len, uint32_t *code)
{
    assert(len > 0);
    uint8_t lead = bytes[0];
    if (lead < 0x80) {
        *code = lead;
        return 1;
    }
    size_t need = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || need > len)
        return 0;
    uint32_t c = lead & (0x7fU >> need);
    for (size_t i = 1; i < need; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (bytes[i] & 0x3fU);
    }
    if ((need == 3 && c < 0x800) || (need == 4 && c < 0x10000) || (c >= 0xd800 && c <= 0xdfff) || c > 0x10ffff)
        return 0;
    *code = c;
    return need;
}

bool visible_is_plain(uint32_t code)
{
    size_t low = 0, high = sizeof HIDDEN / sizeof HIDDEN[0];
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (code > HIDDEN[mid].last)
            low = mid + 1;
        else if (code < HIDDEN[mid].first)
            high = mid;
        else
            return false;
    }
    return code <= 0x10ffff && (code & 0xfffe) != 0xfffe;
}

/* One character of the source as it is to be shown: `bytes` of text, `chars` code points of it. */
struct unit {
    size_t source_len;
    size_t len;
    size_t chars;
    char text[ESCAPE_BYTES];
};

static void put_hex(struct unit *u, uint32_t v, unsigned min_digits)
{
    unsigned digits = min_digits;
    while (digits < 6 && v >> (4 * digits) != 0)
        digits++;
    while (digits-- > 0)
        u->text[u->len++] = "0123456789abcdef"[v >> (4 * digits) & 0xf];
}

static void escape(struct unit *u, uint32_t code)
{
    u->text[u->len++] = '\\';
    if (code == '\n' || code == '\t' || code == '\r' || code == '\\') {
        u->text[u->len++] = code == '\n' ? 'n' : code == '\t' ? 't' : code == '\r' ? 'r' : '\\';
    } else if (code < 0x80) {
        u->text[u->len++] = 'x';
        put_hex(u, code, 2);
    } else {
        u->text[u->len++] = 'u';
        u->text[u->len++] = '{';
        put_hex(u, code, 2);
        u->text[u->len++] = '}';
    }
    u->chars = u->len;
}

/* The character at the front of the text. With `strip`, what would be escaped becomes nothing. */
static struct unit next_unit(const uint8_t *bytes, size_t len, bool strip)
{
    struct unit u = {.source_len = 1};
    uint32_t code = 0;
    size_t n = visible_decode(bytes, len, &code);
    if (n > 0)
        u.source_len = n;
    if (n > 0 && visible_is_plain(code) && (strip || code != '\\')) {
        for (u.len = 0; u.len < n; u.len++)
            u.text[u.len] = (char)bytes[u.len];
        u.chars = 1;
    } else if (!strip && n > 0) {
        escape(&u, code);
    } else if (!strip) {
        u.text[u.len++] = '\\';
        u.text[u.len++] = 'x';
        put_hex(&u, bytes[0], 2);
        u.chars = u.len;
    }
    return u;
}

/* How many bytes of the text fit into `max_chars` once shown. */
static size_t fitting(const uint8_t *bytes, size_t len, size_t max_chars, bool strip)
{
    size_t at = 0, chars = 0;
    while (at < len) {
        struct unit u = next_unit(bytes + at, len - at, strip);
        if (u.chars > max_chars - chars)
            break;
        chars += u.chars;
        at += u.source_len;
    }
    return at;
}

static void put(struct buf *out, const char *text, size_t len, size_t max_chars, bool strip)
{
    const uint8_t *bytes = (const uint8_t *)text;
    size_t end = max_chars == SIZE_MAX ? len : fitting(bytes, len, max_chars, strip);
    for (size_t at = 0; at < end;) {
        struct unit u = next_unit(bytes + at, len - at, strip);
        buf_put(out, u.text, u.len);
        at += u.source_len;
    }
    size_t more = 0;
    for (size_t at = end; at < len;) {
        struct unit u = next_unit(bytes + at, len - at, strip);
        more += u.chars > 0;
        at += u.source_len;
    }
    if (more > 0)
        buf_printf(out, "... (%zu more characters)", more);
}

void visible_write(struct buf *out, const char *text, size_t len, size_t max_chars)
{
    put(out, text, len, max_chars, false);
}

void visible_strip(struct buf *out, const char *text, size_t len, size_t max_chars)
{
    put(out, text, len, max_chars, true);
}
