/*
 * real.h - finite doubles as decimal text, whatever the locale of the program.
 *
 * Invariant: real_parse rounds correctly, and the digits of real_digits are the shortest that real_parse turns back
 * into the same double, the nearest to it among those (ECMA-262 6.1.6.1.20, step 5). Both work under the "C" locale of
 * the calling thread and put the thread's own one back.
 */
#ifndef EVIDENCE_REAL_H
#define EVIDENCE_REAL_H

enum { REAL_MAX_DIGITS = 17 };

/* 0.<digits> * 10^point. The last digit is not 0. */
struct real_digits {
    char digits[REAL_MAX_DIGITS + 1]; /* NUL-terminated */
    int count;                        /* 1 to REAL_MAX_DIGITS */
    int point;
};

/* The double nearest to `text`, a NUL-terminated number in JSON's grammar (the caller has checked that). Infinite when
 * it is too large, 0 when too small. Linear in the length of `text`. */
double real_parse(const char *text);

/* The digits of `v`, which is finite and greater than 0. */
void real_digits(double v, struct real_digits *out);

#endif
