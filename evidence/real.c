#include "evidence/real.h"

#include <assert.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 40 };

/* "C" always exists; should the C library refuse it, uselocale(0) leaves the present locale as it is. */
static locale_t enter_c(void)
{
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

double real_parse(const char *text)
{
    locale_t before = enter_c();
    double v = strtod(text, NULL);
    uselocale(before);
    return v;
}

/* The correctly rounded decimal of `count` significant digits. Returns whether it reads back as `v`. */
static bool round_to(double v, int count, struct real_digits *out)
{
    char text[TEXT_BYTES];
    snprintf(text, sizeof text, "%.*e", count - 1, v);
    char *exponent = strchr(text, 'e');
    assert(exponent != NULL);
    out->digits[0] = text[0];
    if (count > 1)
        memcpy(out->digits + 1, text + 2, (size_t)count - 1);
    out->digits[count] = '\0';
    out->count = count;
    out->point = (int)strtol(exponent + 1, NULL, 10) + 1;
    return strtod(text, NULL) == v;
}

/* The next larger decimal of the same length. Returns whether it reads back as `v`. */
static bool step_up(double v, struct real_digits *d)
{
    int i = d->count - 1;
    while (i >= 0 && d->digits[i] == '9')
        d->digits[i--] = '0';
    if (i >= 0) {
        d->digits[i]++;
    } else {
        d->digits[0] = '1';
        d->point++;
    }
    char text[TEXT_BYTES];
    snprintf(text, sizeof text, "%se%d", d->digits, d->point - d->count);
    return strtod(text, NULL) == v;
}

/* Below a power of two the doubles lie half as far apart as above it. There the nearest decimal, just below, may read
 * back as another double while its neighbour above, a little farther off, reads back as this one. */
static bool fits(double v, int count, struct real_digits *out)
{
    if (round_to(v, count, out))
        return true;
    int exponent = 0;
    return frexp(v, &exponent) == 0.5 && step_up(v, out); /* exact comparison: 0.5 is the significand of 2^n */
}

void real_digits(double v, struct real_digits *out)
{
    assert(isfinite(v) && v > 0);
    locale_t before = enter_c();
    /* Any decimal of DBL_DIG digits survives the way through a normal double, so rounding to DBL_DIG digits finds each
     * shorter one too, with zeros behind it. A subnormal has fewer digits to give. */
    int count = v < DBL_MIN ? 1 : DBL_DIG;
    while (count < REAL_MAX_DIGITS && !fits(v, count, out))
        count++;
    if (count == REAL_MAX_DIGITS)
        round_to(v, count, out);
    uselocale(before);
    while (out->count > 1 && out->digits[out->count - 1] == '0')
        out->digits[--out->count] = '\0';
}
