/* Which repetitions are left out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stat/outlier.h"

static void a_value_beyond_so_many_deviations_is_left_out(void **state)
{
    /* Mean 12, standard deviation 4.47: 20 is 1.79 of them away. */
    static const double x[] = {10, 10, 10, 10, 20};
    bool drop[5];

    (void)state;
    assert_int_equal(stat_outliers(drop, x, 5, STAT_OUTLIER_DEVIATION, 1.5), 4);
    assert_true(drop[4]);
    assert_false(drop[0]);
    assert_int_equal(stat_outliers(drop, x, 5, STAT_OUTLIER_DEVIATION, 1.8), 5);
    assert_int_equal(stat_outliers(drop, x, 5, STAT_OUTLIER_NONE, 1.5), 5);
    assert_false(drop[4]);
}

/* Two outliers of seven hide each other from the standard deviation, not from the median. */
static void the_median_of_deviations_does_not_follow_outliers(void **state)
{
    static const double x[] = {10, 10.1, 9.9, 10.2, 9.8, 30, 31};
    bool drop[7];

    (void)state;
    assert_int_equal(stat_outliers(drop, x, 7, STAT_OUTLIER_DEVIATION, 2), 7);
    assert_int_equal(stat_outliers(drop, x, 7, STAT_OUTLIER_MAD, 3), 5);
    assert_true(drop[5] && drop[6] && !drop[0]);
}

static void few_values_and_equal_values_stay(void **state)
{
    static const double x[] = {1, 100}, same[] = {5, 5, 5, 5};
    bool drop[4];

    (void)state;
    assert_int_equal(stat_outliers(drop, x, 2, STAT_OUTLIER_DEVIATION, 0.1), 2);
    assert_int_equal(stat_outliers(drop, same, 4, STAT_OUTLIER_DEVIATION, 0.1), 4);
    assert_int_equal(stat_outliers(drop, same, 4, STAT_OUTLIER_MAD, 0.1), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_beyond_so_many_deviations_is_left_out),
        cmocka_unit_test(the_median_of_deviations_does_not_follow_outliers),
        cmocka_unit_test(few_values_and_equal_values_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
