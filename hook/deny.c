#include "hook/deny.h"

#include <string.h>

static const char HEAD[] = "{\"decision\":\"deny\",\"reason\":\"";
static const char TAIL[] = "\"}";
enum { HEAD_LEN = sizeof HEAD - 1, TAIL_LEN = sizeof TAIL - 1 };

_Static_assert(DENY_BYTES > HEAD_LEN + DENY_MAX_REASON + TAIL_LEN, "the longest deny fits");

/* Neither JSON nor a terminal needs an escape for these. */
static bool is_plain(char c)
{
    return c >= 0x20 && c <= 0x7e && c != '"' && c != '\\';
}

void deny_begin(struct deny *d)
{
    memcpy(d->text, HEAD, HEAD_LEN);
    d->len = HEAD_LEN;
}

void deny_say(struct deny *d, const char *text)
{
    for (; *text != '\0' && d->len < HEAD_LEN + DENY_MAX_REASON; text++)
        d->text[d->len++] = is_plain(*text) ? *text : '?';
}

void deny_say_number(struct deny *d, uint64_t number)
{
    char digits[21];
    char *at = digits + sizeof digits - 1;
    *at = '\0';
    do
        *--at = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    deny_say(d, at);
}

void deny_end(struct deny *d)
{
    memcpy(d->text + d->len, TAIL, sizeof TAIL);
    d->len += TAIL_LEN;
}

const char *deny_reason(const struct deny *d, size_t *len)
{
    *len = d->len - HEAD_LEN - TAIL_LEN;
    return d->text + HEAD_LEN;
}

/* The length of the escape at the front of `text`, 0 when it is none. */
static size_t escape_len(const uint8_t *text, size_t len)
{
    if (len < 2 || text[0] != '\\')
        return 0;
    if (text[1] != 'u')
        return text[1] != '\0' && strchr("\"\\/bfnrt", text[1]) != NULL ? 2 : 0;
    for (size_t i = 2; i < 6; i++)
        if (i >= len || text[i] == '\0' || strchr("0123456789abcdefABCDEF", text[i]) == NULL)
            return 0;
    return 6;
}

bool deny_is(const uint8_t *text, size_t len)
{
    if (len > 0 && text[len - 1] == '\n')
        len--;
    if (len < HEAD_LEN + TAIL_LEN || memcmp(text, HEAD, HEAD_LEN) != 0 ||
        memcmp(text + len - TAIL_LEN, TAIL, TAIL_LEN) != 0)
        return false;
    size_t end = len - TAIL_LEN;
    for (size_t i = HEAD_LEN; i < end;) {
        size_t step = is_plain((char)text[i]) ? 1 : escape_len(text + i, end - i);
        if (step == 0)
            return false;
        i += step;
    }
    return true;
}
