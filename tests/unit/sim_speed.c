/* sim_speed.c -- what the model of speed says where one knows the answer. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "sim/speed.h"

static const struct sim_costs costs = {.event_ns = 100, .cross_ns = 100, .handover_ns = 100};
static const struct sim_demand large = {.events_per_us = 1e6, .step_us = 1, .cross = 0.2};
static const struct sim_fabric fabric = {.latency_ns = 1500, .message_ns = 400};

static void one_worker_is_as_fast_as_one(void **state)
{
    (void)state;
    assert_true(fabs(sim_speed(&costs, &large, 1) - 1) < 1e-12);
    assert_true(fabs(sim_speed_nodes(&costs, &large, &fabric, 1, 1) - 1) < 1e-12);
}

static void threads_of_one_node_are_the_same_by_either_way(void **state)
{
    (void)state;
    for (uint32_t n = 2; n <= 64; n *= 2)
        assert_true(fabs(sim_speed(&costs, &large, n) -
                         sim_speed_nodes(&costs, &large, &fabric, 1, n)) < 1e-9);
}

static void what_costs_nothing_is_divided_by_the_workers(void **state)
{
    const struct sim_costs free_news = {.event_ns = 100};

    (void)state;
    /* All that is left to lose is chance: one part in a thousand for half a million events. */
    assert_true(sim_speed(&free_news, &large, 2) > 1.99);
    assert_true(sim_speed(&free_news, &large, 2) < 2);
}

static void more_workers_gain_until_there_is_too_little_to_do(void **state)
{
    const struct sim_demand small = {.events_per_us = 1e3, .step_us = 0.01, .cross = 0.3};
    double before = 1;

    (void)state;
    for (uint32_t n = 2; n <= 16; n *= 2) {
        double now = sim_speed(&costs, &large, n);

        assert_true(now > before && now < n);
        before = now;
    }
    assert_true(sim_speed(&costs, &small, 16) < 1);
    assert_true(sim_speed_nodes(&costs, &small, &fabric, 16, 1) < sim_speed(&costs, &small, 16));
}

static void handing_over_is_measured(void **state)
{
    double hand, share;

    (void)state;
    if (!sim_handover_measure(1000 * 1000, &hand, &share))
        skip(); /* one processor */
    assert_true(hand > 0 && share > 0 && share <= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_worker_is_as_fast_as_one),
        cmocka_unit_test(threads_of_one_node_are_the_same_by_either_way),
        cmocka_unit_test(what_costs_nothing_is_divided_by_the_workers),
        cmocka_unit_test(more_workers_gain_until_there_is_too_little_to_do),
        cmocka_unit_test(handing_over_is_measured),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
