/* share.c -- what holds for any jobs that share a server. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/rng.h"
#include "prop/prop.h"
#include "stat/share.h"

enum { MOST = 8 };

struct problem {
    struct stat_share_job job[MOST];
    double capacity[MOST];
    size_t n, ncapacity;
};

static double draw(struct wr_rng *g, double low, double high)
{
    return low + (high - low) * wr_rng_unit(g);
}

/* Round numbers now and then: ends and starts that coincide are the hard ones. */
static double volume(struct wr_rng *g)
{
    return wr_rng_below(g, 3) ? draw(g, 1, 1000) : 100.0 * (double)wr_rng_below(g, 5);
}

static struct problem any_problem(uint64_t seed, uint32_t number, bool one_capacity)
{
    struct problem p;
    struct wr_rng g;

    wr_rng_init(&g, seed, number, 0x7368);
    p.n = 1 + wr_rng_below(&g, MOST);
    p.ncapacity = one_capacity ? 1 : 1 + wr_rng_below(&g, MOST);
    for (size_t i = 0; i < p.ncapacity; i++)
        p.capacity[i] = draw(&g, 20, 200);
    for (size_t i = 0; i < p.n; i++)
        p.job[i] = (struct stat_share_job){
            .volume = volume(&g),
            .start = wr_rng_below(&g, 2) ? 0 : floor(draw(&g, 0, 20)),
            .weight = 1 + (double)wr_rng_below(&g, 12),
            .cap = wr_rng_below(&g, 2) ? INFINITY : draw(&g, 1, 100),
        };
    return p;
}

static struct stat_share solve(const struct problem *p)
{
    struct stat_share_capacity c = {p->capacity, p->ncapacity};
    struct stat_share s;

    stat_share_solve(&s, p->job, p->n, &c);
    return s;
}

static void for_any(uint32_t cases, bool one_capacity, void (*look)(const struct problem *p))
{
    for (uint32_t i = 0; i < prop_cases(cases); i++) {
        struct problem p = any_problem(prop_seed(), i, one_capacity);

        look(&p);
    }
}

static void look_at_part(const struct problem *p, const struct stat_share_part *part)
{
    size_t active = 0;
    double sum = 0, caps = 0;

    for (size_t i = 0; i < p->n; i++) {
        if (isnan(part->rate[i]))
            continue;
        active++;
        sum += part->rate[i];
        caps += p->job[i].cap;
        assert_true(part->rate[i] > 0 && part->rate[i] <= p->job[i].cap);
        /* A job that gets less than another per weight does so because of its cap. */
        for (size_t j = 0; j < p->n; j++)
            assert_true(isnan(part->rate[j]) || part->rate[i] == p->job[i].cap ||
                        part->rate[i] / p->job[i].weight >=
                            part->rate[j] / p->job[j].weight * (1 - 1e-12));
    }
    assert_true(active > 0);
    double c = p->capacity[(active < p->ncapacity ? active : p->ncapacity) - 1];

    assert_true(fabs(sum - fmin(c, caps)) <= 1e-12 * c);
}

static void conserves(const struct problem *p)
{
    struct stat_share s = solve(p);
    double moved[MOST] = {0};

    for (size_t k = 0; k < s.nparts; k++) {
        const struct stat_share_part *part = &s.part[k];

        assert_true(part->to > part->from);
        assert_true(!k || part->from >= s.part[k - 1].to);
        look_at_part(p, part);
        for (size_t i = 0; i < p->n; i++)
            if (!isnan(part->rate[i])) {
                moved[i] += part->rate[i] * (part->to - part->from);
                assert_true(part->from >= p->job[i].start && part->to <= s.finish[i] + 1e-9);
            }
    }
    for (size_t i = 0; i < p->n; i++)
        assert_true(fabs(moved[i] - p->job[i].volume) <= 1e-9 * (1 + p->job[i].volume));
    stat_share_fini(&s);
}

static void the_server_is_never_idle_and_no_job_exceeds_its_cap(void **state)
{
    (void)state;
    for_any(3000, false, conserves);
}

/* Not so for a capacity that falls when more jobs are active. */
static void is_monotone(const struct problem *p)
{
    struct problem more = *p;
    struct stat_share a = solve(p), b;

    more.capacity[0] *= 1.1;
    b = solve(&more);
    for (size_t i = 0; i < p->n; i++)
        assert_true(b.finish[i] <= a.finish[i] * (1 + 1e-12));
    stat_share_fini(&a);
    stat_share_fini(&b);
}

static void more_capacity_makes_no_job_slower(void **state)
{
    (void)state;
    for_any(3000, true, is_monotone);
}

static void knows_no_order(const struct problem *p)
{
    struct problem turned = *p;
    struct stat_share a = solve(p), b;

    for (size_t i = 0; i < p->n; i++)
        turned.job[i] = p->job[(i * 3 + 1) % p->n];
    if (p->n % 3 == 0)
        for (size_t i = 0; i < p->n; i++)
            turned.job[i] = p->job[p->n - 1 - i];
    b = solve(&turned);
    assert_int_equal(a.nparts, b.nparts);
    for (size_t i = 0; i < p->n; i++) {
        size_t from = p->n % 3 ? (i * 3 + 1) % p->n : p->n - 1 - i;

        assert_true(fabs(b.finish[i] - a.finish[from]) <= 1e-11 * (1 + a.finish[from]));
    }
    stat_share_fini(&a);
    stat_share_fini(&b);
}

static void the_order_of_jobs_does_not_matter(void **state)
{
    (void)state;
    for_any(3000, false, knows_no_order);
}

static uint32_t active_at(const struct problem *p, const double *left, double t)
{
    uint32_t mask = 0;

    for (size_t i = 0; i < p->n; i++)
        if (left[i] > 0 && p->job[i].start <= t)
            mask |= 1u << i;
    return mask;
}

/* Rates by pouring: the level that uses up the capacity is searched by halving. Knows
 * nothing of sorting. */
static void pour(const struct problem *p, uint32_t mask, double *rate)
{
    size_t active = (size_t)__builtin_popcount(mask);
    double low = 0, high = 1e6;

    for (int step = 0; step < 80; step++) {
        double level = (low + high) / 2, sum = 0;

        for (size_t i = 0; i < p->n; i++) {
            rate[i] = mask >> i & 1 ? fmin(p->job[i].cap, level * p->job[i].weight) : 0;
            sum += rate[i];
        }
        bool over =
            active && sum > p->capacity[(active < p->ncapacity ? active : p->ncapacity) - 1];

        *(over ? &high : &low) = level;
    }
}

static void step_through(const struct problem *p, double dt, double *finish)
{
    double left[MOST], rate[MOST] = {0}, busy = 1;
    uint32_t before = 0;

    for (size_t i = 0; i < p->n; i++) {
        left[i] = p->job[i].volume;
        finish[i] = p->job[i].start;
    }
    for (uint32_t k = 0; busy > 0; k++) {
        uint32_t mask = active_at(p, left, k * dt);

        if (mask != before)
            pour(p, mask, rate);
        before = mask;
        busy = 0;
        for (size_t i = 0; i < p->n; i++) {
            if (rate[i] > 0 && left[i] <= rate[i] * dt)
                finish[i] = k * dt + left[i] / rate[i];
            left[i] = fmax(0, left[i] - rate[i] * dt);
            busy += left[i];
        }
    }
}

/* Starts fall on steps, ends do not: until a step is over, the rates are still those of
 * before the end. Each end so misplaces at most one step's work of the server. */
static void is_what_small_steps_give(const struct problem *p)
{
    static const double dt = 1.0 / 4096, most_capacity = 200;
    struct stat_share s = solve(p);
    double finish[MOST];

    step_through(p, dt, finish);
    for (size_t i = 0; i < p->n; i++) {
        double slowest = INFINITY;

        for (size_t k = 0; k < s.nparts; k++)
            if (!isnan(s.part[k].rate[i]))
                slowest = fmin(slowest, s.part[k].rate[i]);
        assert_true(fabs(finish[i] - s.finish[i]) <=
                    dt + (double)p->n * dt * most_capacity / slowest);
    }
    stat_share_fini(&s);
}

static void a_simulation_in_small_steps_agrees(void **state)
{
    (void)state;
    for_any(60, false, is_what_small_steps_give);
}

/* Jobs that could each fill the server: from their times together follow those alone. */
static void is_undone(const struct problem *p)
{
    struct problem free_jobs = *p;
    struct stat_share_seen seen[MOST];
    double alone[MOST];

    for (size_t i = 0; i < p->n; i++)
        free_jobs.job[i].cap = INFINITY;
    struct stat_share s = solve(&free_jobs);

    for (size_t i = 0; i < p->n; i++)
        seen[i] = (struct stat_share_seen){p->job[i].start, s.finish[i], p->job[i].weight};
    stat_share_alone(alone, seen, p->n);
    for (size_t i = 0; i < p->n; i++)
        if (fabs(alone[i] - p->job[i].volume / p->capacity[0]) > 1e-6)
            fail_msg("job %zu alone takes %.9g, not %.9g", i, p->job[i].volume / p->capacity[0],
                     alone[i]);
    stat_share_fini(&s);
}

static void times_alone_follow_from_times_together(void **state)
{
    (void)state;
    for_any(500, true, is_undone);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_server_is_never_idle_and_no_job_exceeds_its_cap),
        cmocka_unit_test(more_capacity_makes_no_job_slower),
        cmocka_unit_test(the_order_of_jobs_does_not_matter),
        cmocka_unit_test(a_simulation_in_small_steps_agrees),
        cmocka_unit_test(times_alone_follow_from_times_together),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
