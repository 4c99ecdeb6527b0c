#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "signer/clock.h"

static void says(int64_t wall_us, const char *want)
{
    char text[CLOCK_TEXT_BYTES];
    clock_text(wall_us, text);
    assert_string_equal(text, want);
}

static void known_times(void **state)
{
    (void)state;
    says(0, "1970-01-01T00:00:00.000000Z");
    says(1, "1970-01-01T00:00:00.000001Z");
    says(INT64_C(951782400) * 1000000, "2000-02-29T00:00:00.000000Z");
    says(INT64_C(951868800) * 1000000 - 1, "2000-02-29T23:59:59.999999Z");
    says(INT64_C(951868800) * 1000000, "2000-03-01T00:00:00.000000Z");
    says(INT64_C(4107542400) * 1000000, "2100-03-01T00:00:00.000000Z"); /* 2100 has no leap day */
    says(INT64_C(4107542400) * 1000000 - 1, "2100-02-28T23:59:59.999999Z");
    says(INT64_C(1796067805) * 1000000 + 42, "2026-11-30T19:43:25.000042Z");
    says(INT64_C(253402300799) * 1000000 + 999999, "9999-12-31T23:59:59.999999Z");
}

static void times_out_of_range_keep_the_form(void **state)
{
    (void)state;
    says(-1, "1970-01-01T00:00:00.000000Z");
    says(INT64_MIN, "1970-01-01T00:00:00.000000Z");
    says(INT64_MAX, "9999-12-31T23:59:59.999999Z");
}

/* Every day of the range, against the C library (TZ plays no part: gmtime without leap seconds). */
static void every_day_agrees_with_the_library(void **state)
{
    (void)state;
    for (int64_t day = 0; day < 2932897; day++) {
        time_t seconds = (time_t)(day * 86400 + day % 86400);
        struct tm tm;
        assert_non_null(gmtime_r(&seconds, &tm));
        char want[64], got[CLOCK_TEXT_BYTES];
        strftime(want, sizeof want, "%Y-%m-%dT%H:%M:%S.000007Z", &tm);
        clock_text((int64_t)seconds * 1000000 + 7, got);
        if (strcmp(want, got) != 0)
            assert_string_equal(got, want);
    }
}

static void both_clocks_run(void **state)
{
    (void)state;
    struct clock a = clock_read();
    struct timespec pause = {.tv_nsec = 5000000};
    nanosleep(&pause, NULL);
    struct clock b = clock_read();
    assert_true(b.mono_ms >= a.mono_ms + 4);
    assert_true(b.wall_us != a.wall_us);
    assert_true(llabs(a.wall_us / 1000000 - (int64_t)time(NULL)) <= 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_times),
        cmocka_unit_test(times_out_of_range_keep_the_form),
        cmocka_unit_test(every_day_agrees_with_the_library),
        cmocka_unit_test(both_clocks_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
