/* booksim.c -- the dragonfly of BookSim 2, an independent flit-level simulator:
 * tests/data/booksim_curves.csv.
 *
 * A load is BookSim's injection rate in flits per node and cycle; a cycle is one
 * nanosecond. Few and short points; docs/models/booksim.md has all of them, and
 * what differs.
 */
#include "prop/runs.h"

#define VALIANT "{kind: valiant, via: node}"
#define UGAL "{kind: ugal-l, via: node, factor: 2, bias: 1920 B, weight: port}"

static const struct point {
    const char *name, *routing; /* as BookSim's curves call it, and as weir does */
    const char *traffic, *pattern;
    double rate;
    const char *warmup, *measure;
    double latency_within, accepted_within; /* 0: not compared */
    bool quick;
} points[] = {
    /* next to no load */
    {"min", NULL, "uniform", NULL, 0.05, "300 ns", "400 ns", 0.05, 0, true},
    {"min", NULL, "bad_dragon", "group", 0.005, "300 ns", "2 us", 0.05, 0, true},
    {"val", VALIANT, "uniform", NULL, 0.05, "500 ns", "300 ns", 0.05, 0, true},
    /* half-way */
    {"min", NULL, "uniform", NULL, 0.5, "300 ns", "150 ns", 0.05, 0, false},
    {"min", NULL, "bad_dragon", "group", 0.025, "1 us", "2 us", 0.05, 0, false},
    {"val", VALIANT, "uniform", NULL, 0.3, "500 ns", "150 ns", 0.05, 0, false},
    {"ugal", UGAL, "uniform", NULL, 0.2, "500 ns", "200 ns", 0.10, 0, false},
    {"ugal", UGAL, "bad_dragon", "group", 0.1, "1200 ns", "500 ns", 0.10, 0, false},
    /* beyond saturation: what is accepted */
    {"min", NULL, "bad_dragon", "group", 0.05, "1 us", "1 us", 0, 0.05, true},
    {"min", NULL, "uniform", NULL, 0.9, "350 ns", "150 ns", 0, 0.05, false},
};

static void compare(const struct runs_csv *curves, const struct point *p)
{
    char load[64], warmup[64], measure[64], routing[128], pattern[64], what[96];
    const char *sets[8] = {load, warmup, measure};
    size_t n = 3;
    struct runs_want want[] = {
        {"routing", p->name, 0}, {"traffic", p->traffic, 0}, {"rate", NULL, p->rate}};

    snprintf(load, sizeof load, "traffic.load=%g", p->rate);
    snprintf(warmup, sizeof warmup, "traffic.warmup=%s", p->warmup);
    snprintf(measure, sizeof measure, "traffic.measure=%s", p->measure);
    snprintf(routing, sizeof routing, "machine.routing=%s", p->routing ? p->routing : "");
    snprintf(pattern, sizeof pattern, "traffic.pattern=%s", p->pattern ? p->pattern : "");
    if (p->routing)
        sets[n++] = routing;
    if (p->pattern)
        sets[n++] = pattern;
    if (p->accepted_within > 0)
        sets[n++] = "traffic.drain=0";
    struct world_result *r = runs_measure("examples/booksim-1056.yaml", sets, n);

    snprintf(what, sizeof what, "%s %s %g", p->name, p->traffic, p->rate);
    if (p->latency_within > 0) {
        runs_assert_near(what, wr_hist_mean(&r->latency) / 1e3,
                         runs_lookup(curves, want, 3, "lat_avg"), p->latency_within);
        /* Hops as BookSim counts them: routers. */
        runs_assert_near("  routers visited", r->router_visits,
                         runs_lookup(curves, want, 3, "hops_avg"), 0.03);
    }
    if (p->accepted_within > 0)
        runs_assert_near(what, r->accepted, runs_lookup(curves, want, 3, "accepted_avg"),
                         p->accepted_within);
    free(r);
}

static void latencies_and_saturation_agree(void **state)
{
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
#ifdef WEIR_CHECK /* the same code, ten times slower */
        if (!points[i].quick)
            continue;
#endif
        compare(*state, &points[i]);
    }
}

static int open_curves(void **state)
{
    return runs_open_curves(state, "tests/data/booksim_curves.csv");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(latencies_and_saturation_agree),
    };

    return cmocka_run_group_tests(tests, open_curves, runs_close_curves);
}
