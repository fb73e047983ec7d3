/* The clocks: only what holds on any machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"

static void time_never_goes_back(void **state)
{
    uint64_t last = wr_clock_ns();
    (void)state;

    for (int i = 0; i < 1000; i++) {
        uint64_t now = wr_clock_ns();

        assert_true(now >= last);
        last = now;
    }
}

static void work_costs_processor_time(void **state)
{
    uint64_t before = wr_clock_cpu_ns();
    volatile uint64_t sum = 0;
    (void)state;

    for (uint64_t i = 0; i < 1000000; i++)
        sum += i;
    assert_true(sum > 0);
    assert_true(wr_clock_cpu_ns() > before);
}

static void memory_that_was_touched_is_counted_in_bytes(void **state)
{
    enum { MANY = 64 << 20 };
    char *p = malloc(MANY);
    (void)state;

    assert_non_null(p);
    memset(p, 1, MANY);
    assert_true(wr_max_rss_b() >= MANY);
    assert_true(wr_max_rss_b() < UINT64_C(1) << 45);
    free(p);
}

static void dates_are_written_in_utc(void **state)
{
    char text[WR_CLOCK_TEXT];
    (void)state;

    wr_clock_utc_of(text, 0);
    assert_string_equal(text, "1970-01-01T00:00:00Z");
    wr_clock_utc_of(text, 951826154); /* a leap day */
    assert_string_equal(text, "2000-02-29T12:09:14Z");
    wr_clock_utc(text);
    assert_int_equal(strlen(text), 20);
    assert_true(strcmp(text, "2020") > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_never_goes_back),
        cmocka_unit_test(work_costs_processor_time),
        cmocka_unit_test(memory_that_was_touched_is_counted_in_bytes),
        cmocka_unit_test(dates_are_written_in_utc),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
