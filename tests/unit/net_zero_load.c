/* net_zero_load.c -- one message in an empty machine takes what the model's
 * equations say, to the picosecond.
 */
#include "prop/lab.h"

#include <math.h>

/* The zero-load table of the published study's machine, ns; exact to 0.001. */
static const struct {
    uint64_t bytes;
    double same, local, global, local_global, all; /* LG and GL take the same */
} table[] = {
    {0, 576.837, 1403.446, 1488.475, 2315.084, 3141.693},
    {8, 577.768, 1405.797, 1490.991, 2319.020, 3147.048},
    {128, 591.738, 1441.054, 1528.740, 2378.055, 3227.371},
    {4096, 1053.674, 2606.892, 2776.950, 4330.168, 5883.386},
};

/* The machine: global port k of router i in group g leads to group g + 4i + k + 1,
 * router 7 - i. So from group 0 router 0 port 0 to group 1, router 7. */
enum { NODES = 4, GROUP = 32 };

static uint32_t node(uint32_t group, uint32_t router)
{
    return group * GROUP + router * NODES;
}

static void assert_ns(struct lab *l, uint32_t src, uint32_t dst, uint64_t bytes, double ns)
{
    double got = (double)lab_once(l, src, dst, bytes) / 1e3;

    if (fabs(got - ns) > 0.0001)
        fail_msg("%llu B from %u to %u: %.6f ns, the reference has %.3f ns",
                 (unsigned long long)bytes, src, dst, got, ns);
}

static void the_reference_machine_has_the_published_latencies(void **state)
{
    char *yaml = lab_file("examples/machines/reference-1056.yaml");
    struct lab l;

    (void)state;
    lab_open(&l, yaml);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        uint64_t b = table[i].bytes;

        assert_ns(&l, node(0, 0), node(0, 0) + 1, b, table[i].same);
        assert_ns(&l, node(0, 0), node(0, 3), b, table[i].local);
        assert_ns(&l, node(0, 0), node(1, 7), b, table[i].global);
        assert_ns(&l, node(0, 5), node(1, 7), b, table[i].local_global);
        assert_ns(&l, node(0, 0), node(1, 2), b, table[i].local_global);
        assert_ns(&l, node(0, 5), node(1, 2), b, table[i].all);
    }
    lab_close(&l);
    free(yaml);
}

/* A line of four routers, links of different speeds. */
#define LINE(switching)                                                      \
    "topology: {kind: mesh, sizes: [4], nodes: 1}\n"                         \
    "links:\n"                                                               \
    "  inject: {bandwidth: 2 GB/s, latency: 5 ns, buffer: 8 KiB}\n"          \
    "  eject: {bandwidth: 4 GB/s, latency: 7 ns, buffer: 8 KiB}\n"           \
    "  default: {bandwidth: 1 GB/s, latency: 20 ns, buffer: 8 KiB}\n"        \
    "router: {delay: 30 ns, credit_delay: 1 ns, switching: " switching "}\n" \
    "nic: {packet: 1000 B}\n"

/* Store and forward: every link takes the whole packet; serialisations add up.
 * Cut-through: the head takes the delays, and the tail follows at the pace of the
 * slowest link so far. */
static void cut_through_takes_the_heads_delays_and_one_serialisation(void **state)
{
    static const uint64_t bytes[] = {0, 1, 10, 999, 1000};
    struct lab saf, vct;

    (void)state;
    lab_open(&saf, LINE("store-and-forward"));
    lab_open(&vct, LINE("cut-through"));
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
        for (uint32_t hops = 0; hops < 4; hops++) {
            uint64_t b = bytes[i], delays = 5000 + hops * 50000u + 37000;
            uint64_t slowest = hops ? 1000 : 500; /* ps per byte; ejection is faster */
            uint64_t cut = lab_once(&vct, 0, hops, b), stored = lab_once(&saf, 0, hops, b);

            assert_int_equal(stored, delays + b * 500 + hops * b * 1000 + b * 250);
            assert_int_equal(cut, delays + b * slowest);
            assert_true(cut <= stored);
        }
    lab_close(&saf);
    lab_close(&vct);
}

static void a_fast_link_behind_a_slow_one_is_occupied_until_the_tail_has_passed(void **state)
{
    struct lab l;
    struct net_link_stat out;

    (void)state;
    lab_open(&l, LINE("cut-through"));
    lab_once(&l, 0, 1, 1000);
    net_link_stat(l.net, 1, l.network.topo.term[1].port, &out);
    /* The ejection link could carry it in 250 ns and must wait for the tail,
     * whose head came a router delay before it. */
    assert_int_equal(out.busy_ps, 1000000);
    lab_close(&l);
}

/* A message of n packets: the packets follow each other at the pace of the
 * slowest link. */
static void packets_of_a_message_follow_at_the_pace_of_the_slowest_link(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, LINE("store-and-forward"));
    uint64_t one = lab_once(&l, 0, 3, 1000);

    assert_int_equal(lab_once(&l, 0, 3, 5000), one + 4 * 1000000);
    /* A short last packet catches up with the one before it at the ejection link
     * and cannot overtake it. */
    assert_int_equal(lab_once(&l, 0, 3, 3001), lab_once(&l, 0, 3, 3000) + 250);
    lab_close(&l);
}

/* What contention is measured against is what an empty machine does. */
static void an_idle_message_takes_what_net_idle_ps_says(void **state)
{
    static const char *const line[] = {LINE("store-and-forward"), LINE("cut-through")};
    static const uint64_t bytes[] = {0, 1, 999, 1000, 1001, 3001, 12000};
    char *reference = lab_file("examples/machines/reference-1056.yaml");
    struct wr_err err;
    struct lab l;

    (void)state;
    for (int k = 0; k < 2; k++) {
        lab_open(&l, line[k]);
        assert_true(net_open_idle(l.net, &err));
        for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
            for (uint32_t to = 0; to < 4; to++)
                assert_in_range(net_idle_ps(l.net, 0, to, bytes[i]) + 1,
                                lab_once(&l, 0, to, bytes[i]), lab_once(&l, 0, to, bytes[i]) + 2);
        lab_close(&l);
    }
    lab_open(&l, reference);
    assert_true(net_open_idle(l.net, &err));
    for (uint32_t to = 1; to < 1056; to += 101) {
        uint64_t took = lab_once(&l, 3, to, 1000000);

        /* a NIC starts each of the 245 packets on a whole picosecond */
        assert_in_range(net_idle_ps(l.net, 3, to, 1000000), took - 245, took);
    }
    lab_close(&l);
    free(reference);
}

/* Failures leave no closed form: then the ways come from tables. */
static void with_a_dead_cable_the_idle_way_goes_round_it(void **state)
{
    struct wr_err err;
    struct lab l;

    (void)state;
    lab_open(&l, "topology: {kind: torus, sizes: [4], nodes: 1}\n"
                 "links: {default: {bandwidth: 1 GB/s, latency: 20 ns}}\n"
                 "failures: [{router: 0, to: 1}]\n");
    assert_true(net_open_idle(l.net, &err));
    assert_true(net_idle_ps(l.net, 0, 1, 100) > net_idle_ps(l.net, 0, 2, 100));
    assert_in_range(net_idle_ps(l.net, 0, 1, 100) + 1, lab_once(&l, 0, 1, 100),
                    lab_once(&l, 0, 1, 100) + 2);
    lab_close(&l);
}

static void messages_of_one_nic_start_a_gap_apart(void **state)
{
    char yaml[1024];
    struct lab l;

    (void)state;
    snprintf(yaml, sizeof yaml, "%s", LINE("store-and-forward"));
    char *nic = strstr(yaml, "packet:");

    assert_non_null(nic);
    strcpy(nic, "packet: 1000 B, message_gap: 100 ns}\n");
    lab_open(&l, yaml);
    for (int i = 0; i < 3; i++)
        lab_post(&l, 0, 0, 1, 10);
    lab_drain(&l);
    assert_int_equal(l.msgs.v[0].t_first_ps, 0);
    assert_int_equal(l.msgs.v[1].t_first_ps, 100000);
    assert_int_equal(l.msgs.v[2].t_first_ps, 200000);
    lab_close(&l);
}

static void a_node_reaches_itself_through_its_own_router(void **state)
{
    struct lab l;
    struct net_counts c;

    (void)state;
    lab_open(&l, LINE("store-and-forward"));
    assert_int_equal(lab_once(&l, 2, 2, 100), 5000 + 37000 + 100 * 750);
    net_counts(l.net, &c);
    assert_int_equal(c.near[NET_NEAR_ROUTER], 1);
    assert_int_equal(c.hops, 2);
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_reference_machine_has_the_published_latencies),
        cmocka_unit_test(cut_through_takes_the_heads_delays_and_one_serialisation),
        cmocka_unit_test(a_fast_link_behind_a_slow_one_is_occupied_until_the_tail_has_passed),
        cmocka_unit_test(packets_of_a_message_follow_at_the_pace_of_the_slowest_link),
        cmocka_unit_test(an_idle_message_takes_what_net_idle_ps_says),
        cmocka_unit_test(with_a_dead_cable_the_idle_way_goes_round_it),
        cmocka_unit_test(messages_of_one_nic_start_a_gap_apart),
        cmocka_unit_test(a_node_reaches_itself_through_its_own_router),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
