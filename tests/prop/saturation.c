/* saturation.c -- machines saturate where counting says they must.
 *
 * Each bound follows from counting: what all sources together want of the busiest
 * links cannot exceed what these carry. Sources are offered more than that; what
 * arrives is measured in windows, and the bound must agree with the interval of
 * the windows' mean. Packets are 100 B, links 1 GB/s: 100 ns each. Loads are in
 * packets per 100 ns and node.
 */
#include <math.h>

#include "prop/flow.h"

enum { SLOT_PS = 100000, BYTES = 100 };
static const double link_rate = 1e9, level = 0.99;

static struct stat_interval measure(const char *yaml, struct flow_traffic t, double offered,
                                    uint32_t warmup_slots, uint32_t window_slots)
{
    struct flow f;

    t.gap_ps = SLOT_PS / offered;
    t.bytes = BYTES;
    flow_open(&f, yaml, &t, 11);
    struct stat_interval a = flow_accepted(&f, (uint64_t)warmup_slots * SLOT_PS,
                                           (uint64_t)window_slots * SLOT_PS, level);

    flow_close(&f);
    return (struct stat_interval){a.mid / link_rate, a.low / link_rate, a.high / link_rate};
}

/* Beyond the bound nothing gets through, and `reach` of it does. */
static void assert_bound(const char *what, struct stat_interval got, double bound, double reach)
{
    print_message("%s: accepts %.4f, between %.4f and %.4f; bound %.4f\n", what, got.mid, got.low,
                  got.high, bound);
    assert_true(got.low <= bound);
    assert_true(got.mid <= bound * 1.005);
    assert_true(got.high >= bound * reach);
    assert_true(got.high - got.low < 0.05 * bound);
}

/* --- one router --- */

#define CROSSBAR                                                                             \
    "topology: {kind: crossbar, nodes: %u}\n"                                                \
    "links: {inject: {bandwidth: 1 GB/s, latency: 1 ns, buffer: %u B},\n"                    \
    "        eject: {bandwidth: 1 GB/s, latency: 1 ns, buffer: 1 MB}}\n"                     \
    "nic: {packet: 100 B}\n"                                                                 \
    "router: {delay: 1 ns, credit_delay: 1 ns, switching: store-and-forward, queueing: %s, " \
    "switch_time: 100 ns}\n"

/* Full sources: a queue at critical load grows with the square root of time and
 * falls idle ever less often. */
static void an_output_queued_crossbar_carries_everything(void **state)
{
    char yaml[1024];
    struct flow_traffic t = {.dest = flow_any};

    (void)state;
    snprintf(yaml, sizeof yaml, CROSSBAR, 16u, 1000000u, "output");
    struct stat_interval got = measure(yaml, t, 1.5, 4000, 400);

    assert_bound("output-queued crossbar", got, 1, 0.97);
}

/* Head-of-line blocking: Karol, Hluchyj and Morgan, "Input versus output queueing on a
 * space-division packet switch", IEEE Trans. Comm. 35(12), 1987, table I; for
 * many ports 2 - sqrt(2) = 0.586. */
static void an_input_queued_crossbar_loses_to_blocked_heads(void **state)
{
    static const struct {
        uint32_t ports;
        double accepts, within;
    } table[] = {
        {2, 0.7500, 0.005}, {3, 0.6825, 0.005}, {4, 0.6553, 0.005},
        {6, 0.6302, 0.005}, {8, 0.6184, 0.005}, {64, 0.5858, 0.01}, /* the limit, from above */
    };
    struct flow_traffic t = {.dest = flow_any, .lockstep = true};

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char yaml[1024];

        snprintf(yaml, sizeof yaml, CROSSBAR, table[i].ports, 10000u, "input");
        struct stat_interval got = measure(yaml, t, 1.2, 500, 12000 / table[i].ports);

        print_message("input-queued, %u ports: accepts %.4f, between %.4f and %.4f; %.4f\n",
                      table[i].ports, got.mid, got.low, got.high, table[i].accepts);
        assert_true(got.low <= table[i].accepts * (1 + table[i].within));
        assert_true(got.high >= table[i].accepts * (1 - table[i].within));
        assert_true(fabs(got.mid - table[i].accepts) <
                    (0.005 + table[i].within) * table[i].accepts);
    }
}

/* --- networks; NICs are four times as fast as links, so that they are no limit --- */

#define MACHINE(topology, routing)                                               \
    "topology: " topology "\n"                                                   \
    "links: {inject: {bandwidth: 4 GB/s, latency: 5 ns, buffer: 40 kB},\n"       \
    "        eject: {bandwidth: 4 GB/s, latency: 5 ns, buffer: 40 kB},\n"        \
    "        default: {bandwidth: 1 GB/s, latency: 20 ns, buffer: 40 kB}}\n"     \
    "nic: {packet: 100 B}\n"                                                     \
    "router: {delay: 10 ns, credit_delay: 1 ns, switching: store-and-forward}\n" \
    "routing: " routing "\n"

/* Seven routers: to others 1, 2 or 3 hops, two links each. 2 / mean hops = 1. */
static void a_ring_carries_two_links_over_the_mean_distance(void **state)
{
    struct flow_traffic t = {.dest = flow_other};

    (void)state;
    struct stat_interval got =
        measure(MACHINE("{kind: torus, sizes: [7], nodes: 1}", "minimal"), t, 1.5, 6000, 1500);

    assert_bound("ring of 7", got, 1, 0.99);
}

/* Four by four: a quarter of the traffic of a half crosses each of its two cuts,
 * 8 links each way in all: 16/2 * load/2 <= 8. */
static void a_torus_carries_what_crosses_its_middle(void **state)
{
    struct flow_traffic t = {.dest = flow_any};

    (void)state;
    struct stat_interval got =
        measure(MACHINE("{kind: torus, sizes: [4, 4], nodes: 1}", "minimal"), t, 2.4, 3000, 600);

    assert_bound("torus 4 x 4", got, 2, 0.98);
}

/* Four ports down and two up: of 16 nodes a node sends 12/15 outside its leaf, so
 * load * 4 * 12/15 <= 2. */
static void a_tapered_tree_carries_what_fits_its_uplinks(void **state)
{
    struct flow_traffic t = {.dest = flow_other};

    (void)state;
    struct stat_interval got =
        measure(MACHINE("{kind: fat-tree, down: [4, 4], up: [2]}", "minimal"), t, 0.9, 6000, 1500);

    assert_bound("tapered tree", got, 0.625, 0.97);
}

/* Groups of a routers with p nodes send to the next group, over one global link:
 * 1/(a p) each (Kim et al., ISCA 2008). */
static uint32_t to_next_group(struct flow *f, uint32_t src, struct wr_rng *g)
{
    uint32_t per_group = net_nodes(f->lab.net) / f->lab.network.topo.ngroups;

    return ((src / per_group + 1) * per_group + wr_rng_below(g, per_group)) % net_nodes(f->lab.net);
}

static void a_dragonfly_gives_its_worst_case_one_link_per_group(void **state)
{
    struct flow_traffic t = {.dest = to_next_group};

    (void)state;
    struct stat_interval got =
        measure(MACHINE("{kind: dragonfly, routers: 4, nodes: 2, globals: 2}", "minimal"), t, 0.3,
                4000, 1000);

    assert_bound("dragonfly a=4 p=2, minimal", got, 1.0 / 8, 0.99);
}

/* --- bisection: the links of the cut are as busy as counting says --- */

/* Busy part of the links between the two halves, in one direction, lately. */
static double cut_busy_ps(const struct flow *f, uint32_t width, uint32_t *ret_links)
{
    const struct topo *t = &f->lab.network.topo;
    double busy = 0;

    *ret_links = 0;
    for (uint32_t r = 0; r < t->nrouters; r++)
        for (uint32_t p = 0; p < t->nports; p++) {
            struct net_link_stat s;

            if (topo_port(t, r, p)->kind != TOPO_ROUTER || r % width >= width / 2 ||
                topo_port(t, r, p)->peer % width < width / 2)
                continue;
            net_link_stat(f->lab.net, r, p, &s);
            busy += (double)s.busy_ps;
            ++*ret_links;
        }
    return busy;
}

/* Uniform load on a mesh of k x k: half of half the nodes' traffic crosses k
 * links, so these are busy for load * k / 4, and 4 / k is the most there can be. */
static void the_cut_of_a_mesh_is_busy_for_a_quarter_of_its_width(void **state)
{
    enum { K = 6 };
    struct flow_traffic t = {.gap_ps = SLOT_PS / 0.5, .bytes = BYTES, .dest = flow_any};
    double busy[FLOW_WINDOWS];
    struct flow f;
    uint32_t links;

    (void)state;
    flow_open(&f, MACHINE("{kind: mesh, sizes: [6, 6], nodes: 1}", "dimension-order"), &t, 12);
    flow_run(&f, 500ull * SLOT_PS);
    for (int i = 0; i < FLOW_WINDOWS; i++) {
        double before = cut_busy_ps(&f, K, &links);

        flow_run(&f, 500ull * SLOT_PS);
        busy[i] = (cut_busy_ps(&f, K, &links) - before) / links / (500.0 * SLOT_PS);
    }
    struct stat_interval got = stat_mean_interval(busy, FLOW_WINDOWS, level);

    print_message("mesh 6 x 6: the cut is busy for %.4f, between %.4f and %.4f; 0.75\n", got.mid,
                  got.low, got.high);
    assert_int_equal(links, K);
    assert_true(got.low <= 0.75 && 0.75 <= got.high && got.high - got.low < 0.03);
    flow_close(&f);
}

static void a_mesh_accepts_all_below_four_over_its_width_and_not_above(void **state)
{
    struct flow_traffic t = {.dest = flow_any};
    const char *yaml = MACHINE("{kind: mesh, sizes: [6, 6], nodes: 1}", "dimension-order");

    (void)state;
    struct stat_interval below = measure(yaml, t, 0.9 * 4 / 6, 1500, 500);
    struct stat_interval above = measure(yaml, t, 1.2 * 4 / 6, 3000, 300);

    print_message("mesh 6 x 6: of 0.600 accepts %.4f to %.4f, of 0.800 %.4f to %.4f\n", below.low,
                  below.high, above.low, above.high);
    assert_true(below.low <= 0.6 && 0.6 <= below.high);
    assert_true(above.high < 0.76);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_output_queued_crossbar_carries_everything),
        cmocka_unit_test(an_input_queued_crossbar_loses_to_blocked_heads),
        cmocka_unit_test(a_ring_carries_two_links_over_the_mean_distance),
        cmocka_unit_test(a_torus_carries_what_crosses_its_middle),
        cmocka_unit_test(a_tapered_tree_carries_what_fits_its_uplinks),
        cmocka_unit_test(a_dragonfly_gives_its_worst_case_one_link_per_group),
        cmocka_unit_test(the_cut_of_a_mesh_is_busy_for_a_quarter_of_its_width),
        cmocka_unit_test(a_mesh_accepts_all_below_four_over_its_width_and_not_above),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
