/*
 * clock.h - the two times that the signer works with, read once per batch.
 *
 * Everything that happens in one batch (one transaction) happens at one moment. Code below the loop never asks the
 * kernel for the time: it is told, so that tests can let an hour pass.
 */
#ifndef SIGNER_CLOCK_H
#define SIGNER_CLOCK_H

#include <stdint.h>

struct clock {
    int64_t wall_us; /* microseconds since 1970, UTC: what records say */
    int64_t mono_ms; /* milliseconds of CLOCK_MONOTONIC: what deadlines are measured by */
};

enum { CLOCK_TEXT_BYTES = 28 }; /* "2026-11-30T19:43:25.000000Z" and NUL */

struct clock clock_read(void);

/* The format's time text of microseconds since 1970 (years 1970 to 9999). */
void clock_text(int64_t wall_us, char out[static CLOCK_TEXT_BYTES]);

#endif
