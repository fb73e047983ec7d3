/* Progress against a clock that the test turns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/progress.h"

static uint64_t fake_now;

static uint64_t fake_clock(void)
{
    return fake_now;
}

struct screen {
    struct wr_progress p;
    char *text;
    size_t len;
};

static void screen_init(struct screen *s, const char *unit, double total, bool terminal)
{
    wr_progress_init(&s->p, WR_PROGRESS_ALWAYS, "run", unit, total);
    s->p.to = open_memstream(&s->text, &s->len);
    s->p.rewrite = terminal;
    s->p.now_ns = fake_clock;
    fake_now = 1000;
}

static const char *screen_text(struct screen *s)
{
    fflush(s->p.to);
    return s->text;
}

static void screen_fini(struct screen *s)
{
    fclose(s->p.to);
    free(s->text);
}

static unsigned count(const char *text, char c)
{
    unsigned n = 0;

    for (; *text; text++)
        n += *text == c;
    return n;
}

static void it_prints_how_far_how_fast_and_how_long_still(void **state)
{
    struct screen s;
    (void)state;

    screen_init(&s, "ms", 3, true);
    wr_progress_set(&s.p, 0);
    fake_now += 4000000000;
    wr_progress_set(&s.p, 1.2);
    assert_string_equal(screen_text(&s), "\rrun: 40 %  1.2 ms of 3 ms  0.3 ms/s  6 s left\033[K");
    screen_fini(&s);
}

static void work_that_resumes_is_not_credited_with_what_was_done_before(void **state)
{
    struct screen s;
    (void)state;

    screen_init(&s, "points", 1000, true);
    wr_progress_set(&s.p, 900);
    fake_now += 10000000000;
    wr_progress_set(&s.p, 910);
    assert_non_null(strstr(screen_text(&s), "  1 points/s  90 s left"));
    screen_fini(&s);
}

static void without_a_total_there_is_no_percentage_and_no_end(void **state)
{
    struct screen s;
    (void)state;

    screen_init(&s, "", 0, true);
    wr_progress_set(&s.p, 0);
    fake_now += 1000000000;
    wr_progress_set(&s.p, 2500000);
    assert_string_equal(screen_text(&s), "\rrun: 2.5M  2.5M/s\033[K");
    screen_fini(&s);
}

static void long_times_are_printed_in_minutes_and_hours(void **state)
{
    struct screen s;
    (void)state;

    screen_init(&s, "", 100000, true);
    wr_progress_set(&s.p, 0);
    fake_now += 1000000000;
    wr_progress_set(&s.p, 10);
    assert_non_null(strstr(screen_text(&s), "  2 h 46 min left"));
    fake_now += 1000000000;
    wr_progress_set(&s.p, 100);
    assert_non_null(strstr(screen_text(&s), "  34 min left"));
    screen_fini(&s);
}

static void it_writes_at_most_ten_times_a_second(void **state)
{
    struct screen s;
    (void)state;

    screen_init(&s, "", 1e6, true);
    for (int i = 0; i <= 100000; i++) {
        wr_progress_set(&s.p, i);
        fake_now += 20000; /* 2 s altogether */
    }
    assert_in_range(count(screen_text(&s), '\r'), 19, 20);
    screen_fini(&s);
}

static void it_wipes_its_line_once(void **state)
{
    struct screen s;
    (void)state;

    screen_init(&s, "", 10, true);
    wr_progress_set(&s.p, 1);
    fake_now += 1000000000;
    wr_progress_set(&s.p, 2);
    wr_progress_fini(&s.p);
    wr_progress_fini(&s.p);
    const char *text = screen_text(&s);
    assert_string_equal(text + s.len - 4, "\r\033[K");
    assert_int_equal(count(text, '\r'), 2);
    screen_fini(&s);
}

static void a_log_gets_whole_lines_seconds_apart_and_no_escapes(void **state)
{
    struct screen s;
    (void)state;

    screen_init(&s, "", 100, false);
    for (int i = 0; i < 100; i++) {
        wr_progress_set(&s.p, i);
        fake_now += 200000000; /* 20 s altogether */
    }
    wr_progress_fini(&s.p);
    const char *text = screen_text(&s);
    assert_int_equal(count(text, '\n'), 3);
    assert_int_equal(count(text, '\r') + count(text, '\033'), 0);
    screen_fini(&s);
}

static void quiet_is_quiet(void **state)
{
    struct wr_progress p;
    (void)state;

    wr_progress_init(&p, WR_PROGRESS_NEVER, "run", "", 1);
    assert_null(p.to);
    wr_progress_set(&p, 1);
    wr_progress_fini(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_prints_how_far_how_fast_and_how_long_still),
        cmocka_unit_test(work_that_resumes_is_not_credited_with_what_was_done_before),
        cmocka_unit_test(without_a_total_there_is_no_percentage_and_no_end),
        cmocka_unit_test(long_times_are_printed_in_minutes_and_hours),
        cmocka_unit_test(it_writes_at_most_ten_times_a_second),
        cmocka_unit_test(it_wipes_its_line_once),
        cmocka_unit_test(a_log_gets_whole_lines_seconds_apart_and_no_escapes),
        cmocka_unit_test(quiet_is_quiet),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
