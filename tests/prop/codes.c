/* codes.c -- the published study's machine under uniform traffic, as CODES
 * simulates it: tests/data/codes_curves.csv.
 *
 * All nodes post 200 messages of one packet in lockstep. CODES gives the rate
 * between a node's first and last arrival, averaged over nodes, which is what weir
 * calls accepted in a run by number of messages. docs/models/codes.md has all
 * loads, several seeds, and what differs.
 */
#include "prop/runs.h"

static void compare(const struct runs_csv *curves, double load, double within)
{
    char set[64];
    const char *sets[] = {"traffic.messages=200",
                          "traffic.injection={kind: periodic, phase: lockstep}", set};
    struct runs_want want[] = {{"load_frac_of_cn_bw", NULL, load}};

    snprintf(set, sizeof set, "traffic.load=%g", load);
    struct world_result *r = runs_measure("examples/uniform-1056.yaml", sets, 3);
    double accepted = r->accepted * 16; /* GiB/s */

    print_message("load %g %%\n", 100 * load);
    assert_int_equal(r->count.messages, 200 * 1056);
    runs_assert_near("accepted, GiB/s", accepted, runs_lookup(curves, want, 1, "observed_GiBs"),
                     within);
    runs_assert_near("packet latency, us", r->packet_mean_ps / 1e6,
                     runs_lookup(curves, want, 1, "mean_chunk_latency_us"), within);
    runs_assert_near("message latency, us", wr_hist_mean(&r->latency) / 1e6,
                     runs_lookup(curves, want, 1, "mean_msg_latency_us"), within);
    runs_assert_near("routers visited", r->router_visits,
                     runs_lookup(curves, want, 1, "avg_router_visits"), 0.005);
    free(r);
}

static void below_saturation_both_agree_within_2_percent(void **state)
{
    compare(*state, 0.25, 0.02);
#ifndef WEIR_CHECK /* the same code, ten times slower */
    compare(*state, 0.05, 0.02);
    compare(*state, 0.15, 0.02);
#endif
}

static void at_saturation_both_agree_within_5_percent(void **state)
{
#ifndef WEIR_CHECK
    compare(*state, 0.27, 0.05);
#endif
    compare(*state, 0.30, 0.05);
}

static int open_curves(void **state)
{
    return runs_open_curves(state, "tests/data/codes_curves.csv");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(below_saturation_both_agree_within_2_percent),
        cmocka_unit_test(at_saturation_both_agree_within_5_percent),
    };

    return cmocka_run_group_tests(tests, open_curves, runs_close_curves);
}
