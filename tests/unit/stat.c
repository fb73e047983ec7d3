/* Pure numerics against published values. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "stat/dist.h"
#include "stat/moments.h"
#include "stat/queue.h"
#include "stat/regress.h"
#include "stat/sample.h"

static void close_to(double got, double want, double rel)
{
    if (!(fabs(got - want) <= rel * fabs(want) + (want == 0 ? rel : 0)))
        fail_msg("got %.17g, want %.17g", got, want);
}

/* NIST's data set NumAcc4: the mean is eight digits larger than the spread. */
static void a_small_spread_on_a_large_mean_survives(void **state)
{
    (void)state;
    struct stat_moments whole = {0}, part[2] = {{0}};

    for (int i = 0; i < 1001; i++) {
        double x = i == 0 ? 10000000.2 : i % 2 ? 10000000.1 : 10000000.3;

        stat_moments_add(&whole, x);
        stat_moments_add(&part[i >= 300], x);
    }
    close_to(whole.mean, 10000000.2, 1e-15);
    close_to(stat_moments_stddev(&whole), 0.1, 1e-8);
    stat_moments_merge(&part[0], &part[1]);
    assert_int_equal(part[0].n, 1001);
    close_to(part[0].mean, whole.mean, 1e-15);
    close_to(part[0].m2, whole.m2, 1e-8);
    assert_true(part[0].min == 10000000.1 && part[0].max == 10000000.3);
}

static void one_sample_has_no_variance(void **state)
{
    (void)state;
    struct stat_moments m = stat_moments_of((double[]){3}, 1), none = {0};

    assert_true(isnan(stat_moments_variance(&m)));
    stat_moments_merge(&none, &m);
    assert_true(none.n == 1 && none.mean == 3);
}

static void normal_quantiles_are_those_of_the_tables(void **state)
{
    (void)state;
    close_to(stat_normal_quantile(0.975), 1.959963984540054, 1e-14);
    close_to(stat_normal_quantile(0.5), 0, 0);
    close_to(stat_normal_quantile(1e-12), -7.034483825301132, 1e-13);
    close_to(stat_normal_cdf(1), 0.8413447460685429, 1e-14);
    assert_true(isinf(stat_normal_quantile(1)) && isnan(stat_normal_quantile(1.1)));
}

static void student_quantiles_are_those_of_the_tables(void **state)
{
    (void)state;
    static const struct {
        double p, df, t;
    } table[] = {
        {0.975, 1, 12.706204736174698},
        {0.975, 2, 4.302652729749464},
        {0.975, 10, 2.228138851986275},
        {0.95, 5, 2.015048373333024},
        {0.995, 30, 2.749995653567242},
        {0.975, 1e6, 1.959966356814107},
        {0.75, 1, 1},
        {0.025, 10, -2.228138851986275},
        {0.9995, 3, 12.92397863668748},
    };

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        close_to(stat_student_quantile(table[i].p, table[i].df), table[i].t, 1e-11);
        close_to(stat_student_cdf(table[i].t, table[i].df), table[i].p, 1e-11);
    }
}

static void the_incomplete_beta_function_has_its_closed_forms(void **state)
{
    (void)state;
    close_to(stat_incomplete_beta(0.3, 1, 1), 0.3, 1e-14);
    close_to(stat_incomplete_beta(0.3, 2, 1), 0.09, 1e-13);
    close_to(stat_incomplete_beta(0.3, 1, 3), 1 - 0.7 * 0.7 * 0.7, 1e-14);
    close_to(stat_incomplete_beta(0.5, 7.5, 7.5), 0.5, 1e-12);
    assert_true(isnan(stat_incomplete_beta(1.5, 1, 1)));
}

static void a_lower_median_is_one_of_the_samples(void **state)
{
    const double x[] = {1, 2, 30, 40};

    (void)state;
    close_to(stat_lower_median(x, 4), 2, 0);
    close_to(stat_lower_median(x, 3), 2, 0);
    close_to(stat_lower_median(x, 1), 1, 0);
    assert_true(isnan(stat_lower_median(x, 0)));
}

static void a_central_range_leaves_out_the_same_share_at_both_ends(void **state)
{
    double x[30];

    (void)state;
    for (int i = 0; i < 30; i++)
        x[i] = i;
    for (size_t n = 1; n <= 30; n++) {
        struct stat_interval r = stat_central_range(x, n, 0.1);

        close_to(r.low, x[n / 10], 0);
        close_to(r.high, x[n - 1 - n / 10], 0);
        close_to(r.mid, stat_lower_median(x, n), 0);
    }
}

static void quantiles_are_linear_between_samples(void **state)
{
    (void)state;
    double x[] = {40, 10, 20, 30};

    stat_sort(x, 4);
    close_to(stat_quantile(x, 4, 0), 10, 0);
    close_to(stat_quantile(x, 4, 0.25), 17.5, 1e-15);
    close_to(stat_quantile(x, 4, 0.5), 25, 1e-15);
    close_to(stat_quantile(x, 4, 1), 40, 0);
    assert_true(isnan(stat_quantile(x, 0, 0.5)));
}

static void the_interval_of_a_mean_is_students(void **state)
{
    (void)state;
    double x[] = {1, 2, 3, 4, 5};
    struct stat_interval ci = stat_mean_interval(x, 5, 0.95);

    close_to(ci.mid, 3, 1e-15);
    close_to(ci.high - ci.mid, 2.776445105197793 * sqrt(2.5 / 5), 1e-12);
    close_to(ci.mid - ci.low, ci.high - ci.mid, 1e-12);
    assert_true(isnan(stat_mean_interval(x, 1, 0.95).low));
}

static double median(double *x, size_t n, void *arg)
{
    (void)arg;
    stat_sort(x, n);
    return stat_quantile(x, n, 0.5);
}

static double mean(double *x, size_t n, void *arg)
{
    (void)arg;
    return stat_moments_of(x, n).mean;
}

static void the_bootstrap_of_a_mean_agrees_with_student(void **state)
{
    (void)state;
    enum { N = 400 };
    double x[N];
    struct wr_rng rng;

    wr_rng_init(&rng, 5, 0, 1);
    for (int i = 0; i < N; i++)
        x[i] = 100 + 7 * wr_rng_normal(&rng);
    struct stat_interval t = stat_mean_interval(x, N, 0.9);
    struct stat_interval b = stat_bootstrap(x, N, mean, NULL, 4000, 0.9, 1);
    struct stat_interval again = stat_bootstrap(x, N, mean, NULL, 4000, 0.9, 1);
    struct stat_interval m = stat_bootstrap(x, N, median, NULL, 1000, 0.9, 1);

    close_to(b.mid, t.mid, 1e-12);
    close_to(b.high - b.low, t.high - t.low, 0.05);
    assert_memory_equal(&b, &again, sizeof b);
    /* The median of normal samples is sqrt(pi/2) times as uncertain as the mean. */
    close_to(m.high - m.low, (t.high - t.low) * sqrt(M_PI / 2), 0.3);
}

static void queues_wait_as_pollaczek_and_khinchine_say(void **state)
{
    (void)state;
    close_to(stat_wait_md1(0.5, 10), 5, 1e-15);
    close_to(stat_wait_mm1(0.5, 10), 10, 1e-15);
    close_to(stat_wait_mg1(0.8, 1, 3), 8, 1e-15);
    close_to(stat_wait_md1(0, 10), 0, 0);
    assert_true(isinf(stat_wait_md1(1, 10)) && isnan(stat_wait_mm1(-0.1, 1)));
}

/* NIST's data set Norris with its certified values. */
static void a_line_through_the_norris_data_has_the_certified_values(void **state)
{
    (void)state;
    static const double yx[][2] = {
        {0.1, 0.2},     {338.8, 337.4}, {118.1, 118.2}, {888.0, 884.6}, {9.2, 10.1},
        {228.1, 226.5}, {668.5, 666.3}, {998.5, 996.3}, {449.1, 448.6}, {778.9, 777.0},
        {559.2, 558.2}, {0.3, 0.4},     {0.1, 0.6},     {778.1, 775.5}, {668.8, 666.9},
        {339.3, 338.0}, {448.9, 447.5}, {10.8, 11.6},   {557.7, 556.0}, {228.3, 228.1},
        {998.0, 995.8}, {888.8, 887.6}, {119.6, 120.2}, {0.3, 0.3},     {0.6, 0.3},
        {557.6, 556.8}, {339.3, 339.1}, {888.0, 887.2}, {998.5, 999.0}, {778.9, 779.0},
        {10.2, 11.1},   {117.6, 118.3}, {228.9, 229.2}, {668.4, 669.1}, {449.2, 448.9},
        {0.2, 0.5},
    };
    enum { N = sizeof yx / sizeof *yx };
    double x[N], y[N];
    struct stat_line l;
    struct wr_err err;

    for (size_t i = 0; i < N; i++) {
        y[i] = yx[i][0];
        x[i] = yx[i][1];
    }
    assert_true(stat_fit_line(x, y, N, &l, &err));
    close_to(l.intercept, -0.262323073774029, 1e-10);
    close_to(l.slope, 1.00211681802045, 1e-13);
    close_to(l.intercept_sd, 0.232818234301152, 1e-10);
    close_to(l.slope_sd, 0.429796848199937e-3, 1e-10);
    close_to(l.r2, 0.999993745883712, 1e-13);
    close_to(l.residual_sd, 0.884796396144373, 1e-10);
}

static void a_line_needs_two_different_places(void **state)
{
    (void)state;
    double x[] = {1, 1}, y[] = {2, 3};
    struct stat_line l = {.slope = 7};
    struct wr_err err;

    assert_false(stat_fit_line(x, y, 2, &l, &err));
    assert_non_null(strstr(err.text, "same x"));
    assert_false(stat_fit_line(x, y, 1, &l, &err));
    assert_true(l.slope == 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_spread_on_a_large_mean_survives),
        cmocka_unit_test(one_sample_has_no_variance),
        cmocka_unit_test(normal_quantiles_are_those_of_the_tables),
        cmocka_unit_test(student_quantiles_are_those_of_the_tables),
        cmocka_unit_test(the_incomplete_beta_function_has_its_closed_forms),
        cmocka_unit_test(quantiles_are_linear_between_samples),
        cmocka_unit_test(a_lower_median_is_one_of_the_samples),
        cmocka_unit_test(a_central_range_leaves_out_the_same_share_at_both_ends),
        cmocka_unit_test(the_interval_of_a_mean_is_students),
        cmocka_unit_test(the_bootstrap_of_a_mean_agrees_with_student),
        cmocka_unit_test(queues_wait_as_pollaczek_and_khinchine_say),
        cmocka_unit_test(a_line_through_the_norris_data_has_the_certified_values),
        cmocka_unit_test(a_line_needs_two_different_places),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
