#include "evidence/json_lex.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "evidence/real.h"
#include "evidence/visible.h"

enum { MAX_INT_DIGITS = 16, SMALL_TOKEN_BYTES = 64, REPLACEMENT = 0xfffd };

enum err json_lex_fail(struct json_lex *lex, enum err e, size_t offset)
{
    lex->fault_at = offset;
    return e;
}

enum err json_lex_forgive(struct json_lex *lex, enum err e, size_t offset)
{
    if (!lex->loose)
        return json_lex_fail(lex, e, offset);
    if (lex->noted == ERR_OK) {
        lex->noted = e;
        lex->noted_at = offset;
    }
    return ERR_OK;
}

size_t json_utf8_prefix(const void *bytes, size_t len)
{
    const uint8_t *p = bytes;
    size_t at = 0;
    while (at < len) {
        uint64_t eight = 0;
        while (len - at >= sizeof eight) {
            memcpy(&eight, p + at, sizeof eight);
            if ((eight & UINT64_C(0x8080808080808080)) != 0)
                break;
            at += sizeof eight;
        }
        if (at == len)
            break;
        uint32_t code = 0;
        size_t n = visible_decode(p + at, len - at, &code);
        if (n == 0)
            break;
        at += n;
    }
    return at;
}

enum err json_lex_utf8(struct json_lex *lex)
{
    size_t valid = json_utf8_prefix(lex->text, lex->len);
    return valid == lex->len ? ERR_OK : json_lex_fail(lex, ERR_UTF8, valid);
}

int json_lex_peek(struct json_lex *lex)
{
    while (lex->at < lex->len) {
        uint8_t c = lex->text[lex->at];
        if (c != ' ' && c != '\n' && c != '\r' && c != '\t')
            return c;
        lex->at++;
    }
    return -1;
}

/* Four hexadecimal digits, or -1. */
static int hex4(const char *s, size_t len)
{
    if (len < 4)
        return -1;
    int v = 0;
    for (int i = 0; i < 4; i++) {
        char c = s[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return -1;
        v = v << 4 | digit;
    }
    return v;
}

/* Writes at most four bytes; the escape that the code came from is longer. */
static size_t encode(uint32_t code, char *out)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xe0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3f));
        out[2] = (char)(0x80 | (code & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3f));
    out[2] = (char)(0x80 | (code >> 6 & 0x3f));
    out[3] = (char)(0x80 | (code & 0x3f));
    return 4;
}

/* One \u escape, or a surrogate pair of two, at the front of `s`. *used is its length. Errors: SYNTAX,
 * LONE_SURROGATE (with the code still set). */
static enum err unicode_escape(const char *s, size_t len, uint32_t *code, size_t *used)
{
    int first = hex4(s + 2, len - 2);
    if (first < 0)
        return ERR_SYNTAX;
    *used = 6;
    *code = (uint32_t)first;
    if (first < 0xd800 || first > 0xdfff)
        return ERR_OK;
    int second = -1;
    if (first < 0xdc00 && len >= 12 && s[6] == '\\' && s[7] == 'u')
        second = hex4(s + 8, len - 8);
    if (second < 0xdc00 || second > 0xdfff)
        return ERR_LONE_SURROGATE;
    *used = 12;
    *code = 0x10000 + (((uint32_t)first & 0x3ff) << 10 | ((uint32_t)second & 0x3ff));
    return ERR_OK;
}

/* One escape at the front of `s`, which starts with a backslash that has at least one byte behind it. */
static enum err escape(const char *s, size_t len, uint32_t *code, size_t *used)
{
    static const char NAMES[] = "\"\\/bfnrt";
    static const char VALUES[] = "\"\\/\b\f\n\r\t";
    if (s[1] == 'u')
        return unicode_escape(s, len, code, used);
    const char *name = memchr(NAMES, s[1], sizeof NAMES - 1);
    if (name == NULL)
        return ERR_SYNTAX;
    *used = 2;
    *code = (uint8_t)VALUES[name - NAMES];
    return ERR_OK;
}

/* Resolves the escapes in place: the text only gets shorter. `offset` is where `s` stood in the text. */
static enum err unescape(struct json_lex *lex, char *s, size_t *len, size_t offset)
{
    size_t from = 0, to = 0;
    while (from < *len) {
        if (s[from] != '\\') {
            s[to++] = s[from++];
            continue;
        }
        uint32_t code = 0;
        size_t used = 0;
        enum err e = escape(s + from, *len - from, &code, &used);
        if (e == ERR_LONE_SURROGATE) {
            e = json_lex_forgive(lex, e, offset + from);
            code = REPLACEMENT;
        } else if (e != ERR_OK) {
            e = json_lex_fail(lex, e, offset + from);
        }
        if (e != ERR_OK)
            return e;
        to += encode(code, s + to);
        from += used;
    }
    s[to] = '\0';
    *len = to;
    return ERR_OK;
}

static enum err string(struct json_lex *lex, struct json *out)
{
    const uint8_t *text = lex->text;
    size_t start = lex->at + 1, at = start;
    bool escaped = false;
    while (at < lex->len && text[at] != '"') {
        if (text[at] < 0x20)
            return json_lex_fail(lex, ERR_SYNTAX, at);
        /* What stands behind a backslash is not a closing quote; unescape judges it. */
        if (text[at] == '\\') {
            escaped = true;
            at++;
        }
        at++;
    }
    if (at >= lex->len)
        return json_lex_fail(lex, ERR_SYNTAX, lex->len);
    size_t len = at - start;
    char *copy = arena_copy(lex->arena, text + start, len);
    if (copy == NULL)
        return json_lex_fail(lex, arena_err(lex->arena), start - 1);
    enum err e = escaped ? unescape(lex, copy, &len, start) : ERR_OK;
    if (e != ERR_OK)
        return e;
    lex->at = at + 1;
    *out = (struct json){.type = JSON_STRING, .len = (uint32_t)len, .as.text = copy};
    return ERR_OK;
}

static bool is_digit(const struct json_lex *lex, size_t at)
{
    return at < lex->len && lex->text[at] >= '0' && lex->text[at] <= '9';
}

/* The end of a run of digits. */
static size_t digits(const struct json_lex *lex, size_t at)
{
    while (is_digit(lex, at))
        at++;
    return at;
}

static enum err real(struct json_lex *lex, size_t end, struct json *out)
{
    char small[SMALL_TOKEN_BYTES];
    size_t len = end - lex->at;
    char *token = small;
    if (len < sizeof small) {
        memcpy(small, lex->text + lex->at, len);
        small[len] = '\0';
    } else {
        token = arena_copy(lex->arena, lex->text + lex->at, len);
        if (token == NULL)
            return json_lex_fail(lex, arena_err(lex->arena), lex->at);
    }
    double v = real_parse(token);
    if (!isfinite(v)) {
        enum err e = json_lex_forgive(lex, ERR_NON_FINITE, lex->at);
        if (e != ERR_OK)
            return e;
        v = v < 0 ? -DBL_MAX : DBL_MAX;
    }
    lex->at = end;
    *out = (struct json){.type = JSON_REAL, .as.real = v};
    return ERR_OK;
}

/* A number token without '.' and exponent, from `first` on its digits. */
static enum err integer(struct json_lex *lex, size_t first, size_t end, struct json *out)
{
    bool in_range = end - first <= MAX_INT_DIGITS;
    int64_t v = 0;
    for (size_t i = first; i < end && in_range; i++)
        v = v * 10 + (lex->text[i] - '0');
    if (!in_range || v > JSON_MAX_INT) {
        enum err e = json_lex_forgive(lex, ERR_INT_RANGE, lex->at);
        return e == ERR_OK ? real(lex, end, out) : e;
    }
    *out = (struct json){.type = JSON_INT, .as.integer = first > lex->at ? -v : v};
    lex->at = end;
    return ERR_OK;
}

static enum err number(struct json_lex *lex, struct json *out)
{
    size_t first = lex->text[lex->at] == '-' ? lex->at + 1 : lex->at;
    if (!is_digit(lex, first))
        return json_lex_fail(lex, ERR_SYNTAX, first);
    size_t end = lex->text[first] == '0' ? first + 1 : digits(lex, first);
    size_t whole = end;
    if (end < lex->len && lex->text[end] == '.') {
        if (!is_digit(lex, end + 1))
            return json_lex_fail(lex, ERR_SYNTAX, end + 1);
        end = digits(lex, end + 1);
    }
    if (end < lex->len && (lex->text[end] == 'e' || lex->text[end] == 'E')) {
        end++;
        if (end < lex->len && (lex->text[end] == '+' || lex->text[end] == '-'))
            end++;
        if (!is_digit(lex, end))
            return json_lex_fail(lex, ERR_SYNTAX, end);
        end = digits(lex, end);
    }
    return end == whole ? integer(lex, first, end, out) : real(lex, end, out);
}

/* Takes `word` if the text goes on with it. */
static bool word(struct json_lex *lex, const char *word)
{
    size_t len = strlen(word);
    if (lex->len - lex->at < len || memcmp(lex->text + lex->at, word, len) != 0)
        return false;
    lex->at += len;
    return true;
}

enum err json_lex_scalar(struct json_lex *lex, int c, struct json *out)
{
    size_t start = lex->at;
    if (c == '"')
        return string(lex, out);
    if (word(lex, "NaN") || word(lex, "Infinity") || word(lex, "-Infinity"))
        return json_lex_fail(lex, ERR_NON_FINITE, start);
    if (c == '-' || (c >= '0' && c <= '9'))
        return number(lex, out);
    enum json_type type = JSON_NULL;
    if (word(lex, "true"))
        type = JSON_TRUE;
    else if (word(lex, "false"))
        type = JSON_FALSE;
    else if (!word(lex, "null"))
        return json_lex_fail(lex, ERR_SYNTAX, start);
    *out = (struct json){.type = type};
    return ERR_OK;
}
