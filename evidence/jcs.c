#include "evidence/jcs.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "evidence/json_value.h"
#include "evidence/real.h"

/* ECMA-262 writes numbers below 1e21 and from 1e-6 on without an exponent. */
enum { MAX_POINT = 21, MIN_POINT = -5 };

/* A container of which `next` parts have been written. */
struct frame {
    const struct json *value;
    uint32_t next;
};

/* The rule's four shapes, for the digits d of 0.d * 10^point. */
static void shape(const struct real_digits *d, char *out, size_t size)
{
    int count = d->count, point = d->point;
    if (count <= point && point <= MAX_POINT)
        snprintf(out, size, "%s%.*s", d->digits, point - count, "00000000000000000000");
    else if (0 < point && point <= MAX_POINT)
        snprintf(out, size, "%.*s.%s", point, d->digits, d->digits + point);
    else if (MIN_POINT <= point && point <= 0)
        snprintf(out, size, "0.%.*s%s", -point, "00000", d->digits);
    else
        snprintf(out, size, "%.1s%s%se%+d", d->digits, count > 1 ? "." : "", d->digits + 1, point - 1);
}

void jcs_number(double v, char out[static JCS_NUMBER_BYTES])
{
    assert(isfinite(v));
    if (fabs(v) <= (double)JSON_MAX_INT && v == (double)(int64_t)v) {
        snprintf(out, JCS_NUMBER_BYTES, "%lld", (long long)v);
        return;
    }
    struct real_digits digits;
    real_digits(fabs(v), &digits);
    size_t sign = v < 0;
    if (sign > 0)
        out[0] = '-';
    shape(&digits, out + sign, JCS_NUMBER_BYTES - sign);
}

static void put_int(struct buf *out, int64_t v)
{
    char text[24];
    size_t at = sizeof text;
    uint64_t left = v < 0 ? -(uint64_t)v : (uint64_t)v;
    do {
        text[--at] = (char)('0' + left % 10);
        left /= 10;
    } while (left > 0);
    if (v < 0)
        text[--at] = '-';
    buf_put(out, text + at, sizeof text - at);
}

static void put_real(struct buf *out, double v)
{
    char text[JCS_NUMBER_BYTES];
    jcs_number(v, text);
    buf_puts(out, text);
}

static void put_escape(struct buf *out, char c)
{
    static const char VALUES[] = "\"\\\b\f\n\r\t";
    static const char NAMES[] = "\"\\bfnrt";
    const char *value = memchr(VALUES, c, sizeof VALUES - 1);
    if (value == NULL) {
        buf_printf(out, "\\u%04x", (unsigned)c);
        return;
    }
    buf_putc(out, '\\');
    buf_putc(out, (uint8_t)NAMES[value - VALUES]);
}

void jcs_string(struct buf *out, const char *text, size_t len)
{
    buf_putc(out, '"');
    size_t from = 0;
    for (size_t i = 0; i < len; i++) {
        if ((uint8_t)text[i] >= 0x20 && text[i] != '"' && text[i] != '\\')
            continue;
        buf_put(out, text + from, i - from);
        put_escape(out, text[i]);
        from = i + 1;
    }
    buf_put(out, text + from, len - from);
    buf_putc(out, '"');
}

static bool is_container(const struct json *v)
{
    return v->type == JSON_ARRAY || v->type == JSON_OBJECT;
}

static void put_scalar(struct buf *out, const struct json *v)
{
    switch (v->type) {
    case JSON_NULL:
        buf_puts(out, "null");
        break;
    case JSON_FALSE:
        buf_puts(out, "false");
        break;
    case JSON_TRUE:
        buf_puts(out, "true");
        break;
    case JSON_INT:
        put_int(out, v->as.integer);
        break;
    case JSON_REAL:
        put_real(out, v->as.real);
        break;
    case JSON_STRING:
        jcs_string(out, v->as.text, v->len);
        break;
    case JSON_ARRAY:
    case JSON_OBJECT:
        assert(false);
    }
}

/* Writes what stands before the next part, and returns the part; NULL behind the last one, with the bracket closed. */
static const struct json *next_part(struct buf *out, struct frame *f)
{
    const struct json_list *list = f->value->as.list;
    bool object = f->value->type == JSON_OBJECT;
    if (f->next == 0)
        buf_putc(out, object ? '{' : '[');
    if (list == NULL || f->next == list->count) {
        buf_putc(out, object ? '}' : ']');
        return NULL;
    }
    uint32_t at = f->next++;
    if (at > 0)
        buf_putc(out, ',');
    if (!object)
        return &list->items[at];
    const struct json_member *m = &list->members[list->order[at]];
    jcs_string(out, m->key, m->key_len);
    buf_putc(out, ':');
    return &m->value;
}

static void fail(struct buf *out, enum err e)
{
    if (out->err == ERR_OK)
        out->err = e;
}

enum err jcs_write(struct buf *out, const struct json *v)
{
    struct frame frames[JCS_MAX_DEPTH];
    size_t depth = 0;
    if (v == NULL)
        fail(out, ERR_NOMEM);
    while (out->err == ERR_OK) {
        if (!is_container(v)) {
            put_scalar(out, v);
        } else if (v->as.list != NULL && v->as.list->broken) {
            fail(out, ERR_NOMEM);
        } else if (depth == JCS_MAX_DEPTH) {
            fail(out, ERR_TOO_LARGE);
        } else {
            frames[depth++] = (struct frame){.value = v};
        }
        v = NULL;
        while (v == NULL && depth > 0) {
            v = next_part(out, &frames[depth - 1]);
            if (v == NULL)
                depth--;
        }
        if (v == NULL)
            break;
    }
    return buf_err(out);
}
