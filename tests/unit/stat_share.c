/* Jobs that share a server: the model against what can be worked out by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "stat/share.h"

static void assert_near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-12 * (1 + fabs(want))))
        fail_msg("%.17g where %.17g is right", got, want);
}

static struct stat_share solve(const struct stat_share_job *jobs, size_t n, const double *capacity,
                               size_t ncapacity)
{
    struct stat_share_capacity c = {capacity, ncapacity};
    struct stat_share s;
    struct wr_err err;

    assert_true(stat_share_check_capacity(&c, &err));
    for (size_t i = 0; i < n; i++)
        assert_true(stat_share_check_job(&jobs[i], &err));
    stat_share_solve(&s, jobs, n, &c);
    return s;
}

static void a_job_alone_takes_its_volume_over_the_capacity_or_its_cap(void **state)
{
    struct stat_share_job job = {.volume = 16000, .start = 7, .weight = 3, .cap = INFINITY};
    struct stat_share s = solve(&job, 1, (double[]){100}, 1);

    (void)state;
    assert_near(s.runtime[0], 160);
    assert_near(s.finish[0], 167);
    stat_share_fini(&s);
    job.cap = 20;
    s = solve(&job, 1, (double[]){100}, 1);
    assert_near(s.runtime[0], 800);
    stat_share_fini(&s);
}

static void what_a_capped_job_leaves_is_shared_by_weight(void **state)
{
    struct stat_share_job jobs[] = {
        {600, 0, 1, INFINITY}, {100, 0, 10, 10}, {1200, 0, 2, INFINITY}};
    struct stat_share s = solve(jobs, 3, (double[]){100}, 1);

    (void)state;
    assert_near(s.part[0].rate[0], 30);
    assert_near(s.part[0].rate[1], 10);
    assert_near(s.part[0].rate[2], 60);
    assert_near(s.part[0].to, 10);
    assert_ptr_equal(s.all, &s.part[0]);
    /* 300 and 600 are left at 10, in the same proportion as the weights. */
    assert_int_equal(s.nparts, 2);
    assert_true(isnan(s.part[1].rate[1]));
    assert_near(s.finish[0], 19);
    assert_near(s.finish[2], 19);
    stat_share_fini(&s);
}

static void a_cap_that_binds_because_of_another_cap_is_found(void **state)
{
    /* Equal shares are 30; once A takes 9 only, 40.5 are offered to B, which takes 35. */
    struct stat_share_job jobs[] = {{1e4, 0, 1, INFINITY}, {1e4, 0, 1, 35}, {1e4, 0, 1, 9}};
    struct stat_share s = solve(jobs, 3, (double[]){90}, 1);

    (void)state;
    assert_near(s.part[0].rate[0], 46);
    assert_near(s.part[0].rate[1], 35);
    assert_near(s.part[0].rate[2], 9);
    stat_share_fini(&s);
}

static void capacity_may_depend_on_the_number_of_active_jobs(void **state)
{
    struct stat_share_job jobs[] = {
        {100, 0, 1, INFINITY}, {100, 0, 1, INFINITY}, {300, 0, 1, INFINITY}};
    struct stat_share s = solve(jobs, 3, (double[]){50, 60}, 2);

    (void)state;
    assert_near(s.finish[0], 5); /* the last of the list holds for three */
    assert_near(s.finish[2], 5 + 200.0 / 50);
    stat_share_fini(&s);
}

static void an_idle_time_is_no_part_of_the_schedule(void **state)
{
    struct stat_share_job jobs[] = {{100, 50, 1, INFINITY}, {100, 0, 1, INFINITY}};
    struct stat_share s = solve(jobs, 2, (double[]){10}, 1);

    (void)state;
    assert_int_equal(s.nparts, 2);
    assert_near(s.part[0].to, 10);
    assert_near(s.part[1].from, 50);
    assert_near(s.finish[0], 60);
    assert_null(s.all);
    stat_share_fini(&s);
}

static void a_job_without_volume_is_done_when_it_begins(void **state)
{
    struct stat_share_job jobs[] = {{0, 5, 1, INFINITY}, {100, 0, 1, INFINITY}};
    struct stat_share s = solve(jobs, 2, (double[]){10}, 1);

    (void)state;
    assert_near(s.finish[0], 5);
    assert_near(s.runtime[0], 0);
    assert_near(s.finish[1], 10);
    stat_share_fini(&s);
}

static void ends_that_only_rounding_distinguishes_are_one(void **state)
{
    /* 0.1 + 0.2 is not 0.3: ten jobs, all done after 1 / 0.3. */
    struct stat_share_job jobs[10];
    double third = 0;

    (void)state;
    for (int i = 0; i < 10; i++) {
        jobs[i] = (struct stat_share_job){0.1 * (i + 1), 0, 0.3 * (i + 1), INFINITY};
        third += jobs[i].volume;
    }
    struct stat_share s = solve(jobs, 10, (double[]){0.3}, 1);

    assert_int_equal(s.nparts, 1);
    assert_near(s.finish[3], third / 0.3);
    stat_share_fini(&s);
}

static void a_start_far_from_zero_costs_no_digits(void **state)
{
    struct stat_share_job jobs[] = {{1, 1.8e9, 1, INFINITY}, {2, 1.8e9, 1, INFINITY}};
    struct stat_share s = solve(jobs, 2, (double[]){3e3}, 1);

    (void)state;
    assert_near(s.runtime[0] * 1e3, 2e3 / 3e3);
    assert_near(s.runtime[1] * 1e3, 1);
    stat_share_fini(&s);
}

static void the_published_equations_are_the_model_of_two_equal_volumes(void **state)
{
    (void)state;
    for (double w = 1; w <= 64; w *= 2) {
        struct stat_share_job jobs[] = {{16000, 0, 64, INFINITY}, {16000, 0, w, INFINITY}};
        struct stat_share s = solve(jobs, 2, (double[]){95}, 1);
        struct stat_share_pair alone = {16000.0 / 95, 16000.0 / 95}, weight = {64, w};
        struct stat_share_pair got = stat_share_pair_together(alone, weight);
        struct stat_share_pair back = stat_share_pair_alone(got, weight);

        assert_near(got.large, s.runtime[0]);
        assert_near(got.small, s.runtime[1]);
        assert_near(back.large, alone.large);
        assert_near(back.small, alone.small);
        stat_share_fini(&s);
    }
}

static void what_cannot_be_asked_is_reported(void **state)
{
    static const struct {
        struct stat_share_job job;
        const char *text;
    } bad[] = {
        {{-1, 0, 1, 1}, "the volume is -1; "},   {{NAN, 0, 1, 1}, "the volume is not a number; "},
        {{INFINITY, 0, 1, 1}, "the volume is "}, {{1, NAN, 1, 1}, "the start is not a number; "},
        {{1, 1e12, 1, 1}, "the start is "},      {{1, 0, 0, 1}, "the weight is 0; "},
        {{1, 0, -2, 1}, "the weight is -2; "},   {{1, 0, 1, 0}, "the cap is 0; "},
        {{1, 0, 1, -INFINITY}, "the cap is "},
    };
    struct wr_err err;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(stat_share_check_job(&bad[i].job, &err));
        assert_int_equal(err.code, WR_INPUT);
        assert_memory_equal(err.text, bad[i].text, strlen(bad[i].text));
    }
    assert_false(stat_share_check_capacity(&(struct stat_share_capacity){NULL, 0}, &err));
    assert_false(
        stat_share_check_capacity(&(struct stat_share_capacity){(double[]){5, 0}, 2}, &err));
    assert_memory_equal(err.text, "the capacity is 0; ", 19);
}

static void the_general_inverse_is_the_published_one_for_two_jobs(void **state)
{
    struct stat_share_seen seen[] = {{0, 210, 5}, {0, 330, 2}};
    struct stat_share_pair p =
        stat_share_pair_alone((struct stat_share_pair){210, 330}, (struct stat_share_pair){5, 2});
    double alone[2];

    (void)state;
    stat_share_alone(alone, seen, 2);
    assert_near(alone[0], p.large);
    assert_near(alone[1], p.small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_alone_takes_its_volume_over_the_capacity_or_its_cap),
        cmocka_unit_test(what_a_capped_job_leaves_is_shared_by_weight),
        cmocka_unit_test(a_cap_that_binds_because_of_another_cap_is_found),
        cmocka_unit_test(capacity_may_depend_on_the_number_of_active_jobs),
        cmocka_unit_test(an_idle_time_is_no_part_of_the_schedule),
        cmocka_unit_test(a_job_without_volume_is_done_when_it_begins),
        cmocka_unit_test(ends_that_only_rounding_distinguishes_are_one),
        cmocka_unit_test(a_start_far_from_zero_costs_no_digits),
        cmocka_unit_test(the_published_equations_are_the_model_of_two_equal_volumes),
        cmocka_unit_test(what_cannot_be_asked_is_reported),
        cmocka_unit_test(the_general_inverse_is_the_published_one_for_two_jobs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
