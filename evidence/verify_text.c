#include "evidence/verify_text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

/* Copies at most `max_chars` code points of `len` bytes of UTF-8. `out` has room for 4 * max_chars + 1 bytes. */
static void cut(const char *text, size_t len, size_t max_chars, char *out)
{
    size_t chars = 0, used = 0;
    for (size_t i = 0; i < len; i++) {
        bool starts = ((unsigned char)text[i] & 0xc0) != 0x80;
        if (starts && chars++ == max_chars)
            break;
        if (text[i] != '\0')
            out[used++] = text[i];
    }
    out[used] = '\0';
}

struct verify_text verify_text(const struct json *v, size_t max_chars)
{
    struct verify_text out;
    size_t len = 0;
    const char *text = json_text(v, &len);
    if (max_chars > VERIFY_TEXT_CHARS)
        max_chars = VERIFY_TEXT_CHARS;
    if (text != NULL)
        cut(text, len, max_chars, out.s);
    else
        memcpy(out.s, v == NULL ? "none" : "?", v == NULL ? 5 : 2);
    return out;
}

void verify_text_count(struct verify_tally *t, const char *name)
{
    char key[sizeof t->item[0].name];
    cut(name, strlen(name), VERIFY_NAME_CHARS, key);
    t->total++;
    size_t at = 0;
    while (at < t->count && strcmp(t->item[at].name, key) < 0)
        at++;
    if (at < t->count && strcmp(t->item[at].name, key) == 0) {
        t->item[at].n++;
        return;
    }
    if (t->count == VERIFY_MAX_NAMES) {
        t->other++;
        return;
    }
    memmove(&t->item[at + 1], &t->item[at], (t->count - at) * sizeof t->item[0]);
    memcpy(t->item[at].name, key, sizeof key);
    t->item[at].n = 1;
    t->count++;
}

void verify_text_tally(const struct verify_tally *t, struct buf *out)
{
    for (size_t i = 0; i < t->count; i++)
        buf_printf(out, "%s%s %" PRIu64, i == 0 ? "" : ", ", t->item[i].name, t->item[i].n);
    if (t->other > 0)
        buf_printf(out, ", other %" PRIu64, t->other);
    if (t->count == 0)
        buf_puts(out, "none");
}

void verify_text_names(const struct verify_tally *t, const char *separator, struct buf *out)
{
    for (size_t i = 0; i < t->count; i++)
        buf_printf(out, "%s%s", i == 0 ? "" : separator, t->item[i].name);
    if (t->other > 0)
        buf_printf(out, "%sother", separator);
    if (t->count == 0)
        buf_puts(out, "none");
}

const char *verify_text_of(struct buf *b)
{
    buf_putc(b, '\0');
    return buf_err(b) == ERR_OK ? (const char *)b->data : "";
}
