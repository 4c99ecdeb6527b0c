#include "policy/scalar.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static bool is_word(const char *text, size_t len, const char *const *words)
{
    for (; *words != NULL; words++)
        if (strlen(*words) == len && memcmp(*words, text, len) == 0)
            return true;
    return false;
}

static bool is_null(const char *text, size_t len)
{
    static const char *const WORDS[] = {"", "~", "null", "Null", "NULL", NULL};
    return is_word(text, len, WORDS);
}

static bool is_bool(const char *text, size_t len, bool *value)
{
    static const char *const YES[] = {"true", "True", "TRUE", NULL};
    static const char *const NO[] = {"false", "False", "FALSE", NULL};
    *value = is_word(text, len, YES);
    return *value || is_word(text, len, NO);
}

static bool is_not_finite(const char *text, size_t len)
{
    static const char *const WORDS[] = {".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN", NULL};
    size_t sign = len > 0 && (text[0] == '+' || text[0] == '-') ? 1 : 0;
    return is_word(text + sign, len - sign, WORDS);
}

/* Digits from the front. */
static size_t digits(const char *text, size_t len)
{
    size_t n = 0;
    while (n < len && text[n] >= '0' && text[n] <= '9')
        n++;
    return n;
}

/* The parts of [-+]? (\.[0-9]+ | [0-9]+ (\.[0-9]*)?) ([eE][-+]?[0-9]+)? */
struct number {
    bool negative, has_point;
    const char *whole, *fraction, *exponent; /* the exponent with its sign */
    size_t whole_len, fraction_len, exponent_len;
};

static bool split_exponent(const char *text, size_t len, struct number *out)
{
    if (len == 0)
        return true;
    if (text[0] != 'e' && text[0] != 'E')
        return false;
    size_t sign = len > 1 && (text[1] == '+' || text[1] == '-') ? 1 : 0;
    size_t n = digits(text + 1 + sign, len - 1 - sign);
    out->exponent = text + 1;
    out->exponent_len = sign + n;
    return n > 0 && 1 + sign + n == len;
}

static bool split(const char *text, size_t len, struct number *out)
{
    *out = (struct number){.negative = len > 0 && text[0] == '-'};
    size_t i = len > 0 && (text[0] == '-' || text[0] == '+') ? 1 : 0;
    out->whole = text + i;
    out->whole_len = digits(text + i, len - i);
    i += out->whole_len;
    if (i < len && text[i] == '.') {
        out->has_point = true;
        out->fraction = text + i + 1;
        out->fraction_len = digits(text + i + 1, len - i - 1);
        i += 1 + out->fraction_len;
    }
    return out->whole_len + out->fraction_len > 0 && split_exponent(text + i, len - i, out);
}

/* Writes the number as JSON would and lets the one parser of numbers read it. */
static enum err decimal(struct arena *arena, const struct number *n, const struct json **out)
{
    char text[SCALAR_MAX_NUMBER_BYTES + 8];
    const char *whole = n->whole;
    size_t whole_len = n->whole_len;
    bool is_integer = !n->has_point && n->exponent == NULL;
    if (is_integer && whole_len > 1 && whole[0] == '0')
        return ERR_SYNTAX;
    for (; whole_len > 1 && whole[0] == '0'; whole_len--)
        whole++;
    int len = snprintf(text, sizeof text, "%s%.*s", n->negative ? "-" : "", whole_len > 0 ? (int)whole_len : 1,
                       whole_len > 0 ? whole : "0");
    if (n->has_point)
        len += snprintf(text + len, sizeof text - (size_t)len, ".%.*s", n->fraction_len > 0 ? (int)n->fraction_len : 1,
                        n->fraction_len > 0 ? n->fraction : "0");
    if (n->exponent != NULL)
        len += snprintf(text + len, sizeof text - (size_t)len, "e%.*s", (int)n->exponent_len, n->exponent);
    return json_parse(arena, text, (size_t)len, out, NULL);
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

/* 0o17 and 0x1F, without a sign. *is_one false: it is no such number. */
static enum err based(struct arena *arena, const char *text, size_t len, bool *is_one, const struct json **out)
{
    int base = len > 2 && text[0] == '0' ? (text[1] == 'x' ? 16 : text[1] == 'o' ? 8 : 0) : 0;
    int64_t v = 0;
    *is_one = base != 0;
    for (size_t i = 2; *is_one && i < len; i++)
        *is_one = digit_of(text[i]) < base;
    for (size_t i = 2; *is_one && i < len; i++) {
        v = v * base + digit_of(text[i]);
        if (v > JSON_MAX_INT)
            return ERR_INT_RANGE;
    }
    if (!*is_one)
        return ERR_OK;
    *out = json_new_int(arena, v);
    return *out == NULL ? ERR_NOMEM : ERR_OK;
}

enum err scalar_resolve(struct arena *arena, const char *text, size_t len, const struct json **out)
{
    const struct json *v = NULL;
    struct number n;
    bool yes = false, is_based = false;
    enum err e = based(arena, text, len, &is_based, &v);
    if (e != ERR_OK)
        return e;
    if (is_not_finite(text, len))
        return ERR_NON_FINITE;
    if (is_null(text, len)) {
        v = json_new_null();
    } else if (is_bool(text, len, &yes)) {
        v = json_new_bool(yes);
    } else if (!is_based && split(text, len, &n)) {
        if (len > SCALAR_MAX_NUMBER_BYTES)
            return ERR_TOO_LARGE;
        e = decimal(arena, &n, &v);
    } else if (!is_based) {
        v = json_new_text(arena, text, len);
    }
    if (e == ERR_OK && v == NULL)
        e = ERR_NOMEM;
    if (e == ERR_OK)
        *out = v;
    return e;
}
