/* Time divided over causes adds up, whatever was cut off. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/cause.h"
#include "base/rng.h"

static const struct cause_trip trip = {
    .begin_ps = 100, .post_ps = 130, .first_ps = 150, .idle_ps = 40};

static uint64_t sum(const uint64_t *ps)
{
    uint64_t s = 0;

    for (int i = 0; i < CAUSES; i++)
        s += ps[i];
    return s;
}

static void a_whole_trip_has_every_leg(void **state)
{
    uint64_t ps[CAUSES] = {0};

    (void)state;
    cause_split(ps, 60, 250, &trip);
    assert_int_equal(ps[CAUSE_PARTNER], 40);
    assert_int_equal(ps[CAUSE_SOFTWARE], 30);
    assert_int_equal(ps[CAUSE_NIC], 20);
    assert_int_equal(ps[CAUSE_TRANSFER], 40);
    assert_int_equal(ps[CAUSE_NETWORK], 60);
}

static void who_waits_late_sees_the_last_legs_only(void **state)
{
    uint64_t ps[CAUSES] = {0};

    (void)state;
    cause_split(ps, 170, 250, &trip);
    assert_int_equal(ps[CAUSE_TRANSFER], 20);
    assert_int_equal(ps[CAUSE_NETWORK], 60);
    assert_int_equal(sum(ps), 80);
}

static void a_trip_faster_than_idle_has_no_contention(void **state)
{
    uint64_t ps[CAUSES] = {0};

    (void)state;
    cause_split(ps, 140, 170, &trip);
    assert_int_equal(ps[CAUSE_NIC], 10);
    assert_int_equal(ps[CAUSE_TRANSFER], 20);
    assert_int_equal(ps[CAUSE_NETWORK], 0);
}

static void parts_add_up_for_any_times(void **state)
{
    struct wr_rng rng;

    (void)state;
    wr_rng_init(&rng, 7, 1, 2);
    for (int i = 0; i < 10000; i++) {
        uint64_t t[6], ps[CAUSES] = {0};

        for (int k = 0; k < 6; k++)
            t[k] = wr_rng_below(&rng, 1000);
        struct cause_trip any = {t[0], t[1], t[2], t[3]};
        uint64_t from = t[4] < t[5] ? t[4] : t[5], end = t[4] < t[5] ? t[5] : t[4];

        cause_split(ps, from, end, &any);
        assert_int_equal(sum(ps), end - from);
    }
}

static void a_share_keeps_proportions_and_the_sum(void **state)
{
    uint64_t part[CAUSES] = {[CAUSE_NIC] = 10, [CAUSE_DEVICE] = 30, [CAUSE_NETWORK] = 60};
    uint64_t ps[CAUSES] = {0};

    (void)state;
    cause_share(ps, 50, part, 100);
    assert_int_equal(ps[CAUSE_NIC], 5);
    assert_int_equal(ps[CAUSE_DEVICE], 15);
    assert_int_equal(ps[CAUSE_NETWORK], 30);
    memset(ps, 0, sizeof ps);
    cause_share(ps, 7, part, 100);
    assert_int_equal(sum(ps), 7);
    memset(ps, 0, sizeof ps);
    cause_share(ps, UINT64_C(1) << 62, part, 200);
    assert_int_equal(sum(ps), UINT64_C(1) << 62);
    assert_true(ps[CAUSE_SOFTWARE] >= UINT64_C(1) << 61); /* half of the whole has no part */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_trip_has_every_leg),
        cmocka_unit_test(who_waits_late_sees_the_last_legs_only),
        cmocka_unit_test(a_trip_faster_than_idle_has_no_contention),
        cmocka_unit_test(parts_add_up_for_any_times),
        cmocka_unit_test(a_share_keeps_proportions_and_the_sum),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
