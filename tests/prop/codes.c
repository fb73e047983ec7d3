/* codes.c -- CODES' dragonfly of 1,056 nodes under uniform traffic: tests/data/codes_curves.csv.
 *
 * All nodes post 200 messages of one packet in lockstep. CODES gives the rate
 * between a node's first and last arrival, averaged over nodes, which is what weir
 * calls accepted in a run by number of messages. The curves are of CODES' main branch, whose ports
 * take their channels in turn (codes-1056.yaml); the branch of the published study sends the
 * lowest first (reference-1056.yaml). docs/models/codes.md has both machines, several seeds, and
 * what differs.
 */
#include "prop/runs.h"

#define CODES "codes-1056.yaml"
#define STUDY "reference-1056.yaml"

static struct world_result *measure(const char *machine, double load)
{
    char file[1024], set[64];
    const char *sets[] = {"traffic.messages=200",
                          "traffic.injection={kind: periodic, phase: lockstep}", set, file};

    snprintf(set, sizeof set, "traffic.load=%g", load);
    snprintf(file, sizeof file, "machine=" WEIR_SOURCE_DIR "/examples/machines/%s", machine);
    return runs_measure("examples/uniform-1056.yaml", sets, sizeof sets / sizeof *sets);
}

static void compare(const struct runs_csv *curves, const char *machine, double load, double within)
{
    struct runs_want want[] = {{"load_frac_of_cn_bw", NULL, load}};
    struct world_result *r = measure(machine, load);
    double accepted = r->accepted * 16; /* GiB/s */

    print_message("%s, load %g %%\n", machine, 100 * load);
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

static void below_saturation_both_agree_within_1_percent(void **state)
{
    compare(*state, CODES, 0.25, 0.01);
#ifndef WEIR_CHECK /* the same code, ten times slower */
    static const double load[] = {0.02, 0.05, 0.10, 0.15, 0.20, 0.23};

    for (size_t i = 0; i < sizeof load / sizeof *load; i++)
        compare(*state, CODES, load[i], 0.01);
#endif
}

static void at_saturation_both_agree_within_2_percent(void **state)
{
#ifndef WEIR_CHECK
    compare(*state, CODES, 0.27, 0.02);
#endif
    compare(*state, CODES, 0.30, 0.02);
}

/* The study's machine is another one, and only where channels compete. */
static void the_studys_machine_differs_at_saturation_only(void **state)
{
    compare(*state, STUDY, 0.25, 0.02);
#ifndef WEIR_CHECK
    compare(*state, STUDY, 0.05, 0.01);
    compare(*state, STUDY, 0.15, 0.01);
    compare(*state, STUDY, 0.27, 0.05);
#endif
    compare(*state, STUDY, 0.30, 0.05);
    struct world_result *codes = measure(CODES, 0.30), *study = measure(STUDY, 0.30);

    assert_true(wr_hist_mean(&study->latency) > 1.02 * wr_hist_mean(&codes->latency));
    free(codes);
    free(study);
}

static int open_curves(void **state)
{
    return runs_open_curves(state, "tests/data/codes_curves.csv");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(below_saturation_both_agree_within_1_percent),
        cmocka_unit_test(at_saturation_both_agree_within_2_percent),
        cmocka_unit_test(the_studys_machine_differs_at_saturation_only),
    };

    return cmocka_run_group_tests(tests, open_curves, runs_close_curves);
}
