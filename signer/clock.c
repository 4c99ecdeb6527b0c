#include "signer/clock.h"

#include <string.h>
#include <time.h>

#include "wire/peer.h"

#define US_PER_SECOND INT64_C(1000000)
#define LAST_US (INT64_C(253402300800) * US_PER_SECOND - 1) /* 9999-12-31T23:59:59.999999Z */

struct clock clock_read(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now); /* cannot fail: the clock exists and the pointer is ours */
    return (struct clock){
        .wall_us = (int64_t)now.tv_sec * US_PER_SECOND + now.tv_nsec / 1000,
        .mono_ms = peer_now_ms(),
    };
}

/* Year, month and day of a day since 1970. Counted from 1 March 2000 minus 400-year cycles, so that the leap day comes
 * last in its year. Not gmtime_r: with a "right/" time zone that one counts leap seconds. */
static void civil(int64_t day, int *year, int *month, int *day_of_month)
{
    day += 719468; /* days from 0000-03-01 to 1970-01-01 */
    int64_t era = day / 146097, of_era = day % 146097;
    int64_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t from_march = (5 * of_year + 2) / 153;
    *day_of_month = (int)(of_year - (153 * from_march + 2) / 5 + 1);
    *month = (int)(from_march < 10 ? from_march + 3 : from_march - 9);
    *year = (int)(era * 400 + year_of_era + (*month <= 2));
}

/* `count` decimal digits of `v`. */
static void put(char *out, int count, int v)
{
    for (int i = count - 1; i >= 0; i--, v /= 10)
        out[i] = (char)('0' + v % 10);
}

void clock_text(int64_t wall_us, char out[static CLOCK_TEXT_BYTES])
{
    /* A machine whose clock is that wrong still gets a time text of the right form. */
    int64_t us = wall_us < 0 ? 0 : wall_us > LAST_US ? LAST_US : wall_us;
    int64_t seconds = us / US_PER_SECOND;
    int of_day = (int)(seconds % 86400), year, month, day;
    civil(seconds / 86400, &year, &month, &day);
    memcpy(out, "yyyy-mm-ddThh:mm:ss.uuuuuuZ", CLOCK_TEXT_BYTES);
    put(out, 4, year);
    put(out + 5, 2, month);
    put(out + 8, 2, day);
    put(out + 11, 2, of_day / 3600);
    put(out + 14, 2, of_day / 60 % 60);
    put(out + 17, 2, of_day % 60);
    put(out + 20, 6, (int)(us % US_PER_SECOND));
}
