/* queues.c -- where a link is a queue of the textbook, packets wait as long as
 * the textbook says.
 *
 * Poisson arrivals and packets of one size make a link an M/D/1 queue: the mean
 * wait is load * service / (2 (1 - load)). What is measured is one long run; its
 * batch means give the interval in which the closed form must lie.
 */
#include <math.h>

#include "prop/flow.h"
#include "stat/moments.h"
#include "stat/queue.h"

enum { PACKETS = 120000, SKIP = 2000 };
static const double level = 0.999;

static uint32_t to_last(struct flow *f, uint32_t src, struct wr_rng *g)
{
    (void)src;
    (void)g;
    return net_nodes(f->lab.net) - 1;
}

/* The interval of the mean by batch means (Fishman, 1978): packets queue behind each other, so
 * neighbours are correlated, while the means of long batches are as good as independent. What does
 * not fill a batch is dropped from the front. */
static struct stat_interval batch_interval(const double *x, size_t n)
{
    enum { BATCHES = 16 };
    size_t per = n / BATCHES;
    double mean[BATCHES];

    assert_true(per > 0);
    x += n - BATCHES * per;
    for (size_t i = 0; i < BATCHES; i++)
        mean[i] = stat_mean(x + i * per, per);
    return stat_mean_interval(mean, BATCHES, level);
}

/* The closed form lies in the interval, and the interval is narrow enough to say
 * anything. */
static void assert_wait(const double *wait, size_t n, double load, double service,
                        const char *where)
{
    struct stat_interval b = batch_interval(wait, n);
    double want = stat_wait_md1(load, service);

    print_message("%s at load %.2f: waits %.1f ns, between %.1f and %.1f; M/D/1: %.1f\n", where,
                  load, b.mid / 1e3, b.low / 1e3, b.high / 1e3, want / 1e3);
    assert_true(b.low <= want && want <= b.high);
    assert_true((b.high - b.low) / 2 < 0.12 * want);
}

/* One node, one link: packets of 1000 B take 1 us. */
static const char *const single =
    "topology: {kind: crossbar, nodes: 2}\n"
    "links: {inject: {bandwidth: 1 GB/s, latency: 10 ns, buffer: 100 MB},\n"
    "        eject: {bandwidth: 100 GB/s, latency: 10 ns, buffer: 100 MB}}\n"
    "router: {switching: store-and-forward}\n"
    "nic: {packet: 1000 B}\n";

/* Many nodes whose own links are a hundred times as fast: their arrivals at the
 * ejection link are Poisson again. */
static const char *const many =
    "topology: {kind: crossbar, nodes: 17}\n"
    "links: {inject: {bandwidth: 100 GB/s, latency: 10 ns, buffer: 100 MB},\n"
    "        eject: {bandwidth: 1 GB/s, latency: 10 ns, buffer: 100 MB}}\n"
    "router: {switching: store-and-forward}\n"
    "nic: {packet: 1000 B}\n";

static void wait_at_injection(double load, uint64_t seed)
{
    struct flow_traffic t = {.senders = 1, .gap_ps = 1e6 / load, .bytes = 1000, .dest = to_last};
    struct flow f;

    flow_open(&f, single, &t, seed);
    f.keep = true;
    flow_run(&f, (uint64_t)(PACKETS * t.gap_ps));
    assert_true(f.nic_ps.n > PACKETS - PACKETS / 20);
    assert_wait(f.nic_ps.v + SKIP, f.nic_ps.n - SKIP, load, 1e6, "the NIC's link");
    flow_close(&f);
}

static void wait_at_ejection(double load, uint64_t seed)
{
    struct flow_traffic t = {.senders = 16, .gap_ps = 16e6 / load, .bytes = 1000, .dest = to_last};
    struct flow f;

    flow_open(&f, many, &t, seed);
    uint64_t empty_ps =
        net_hop_ps(f.lab.net, TOPO_INJECT, 1000) + net_hop_ps(f.lab.net, TOPO_EJECT, 1000);

    f.keep = true;
    flow_run(&f, (uint64_t)(PACKETS / 16 * t.gap_ps));
    for (size_t i = 0; i < f.total_ps.n; i++)
        f.total_ps.v[i] -= f.nic_ps.v[i] + (double)empty_ps;
    assert_wait(f.total_ps.v + SKIP, f.total_ps.n - SKIP, load, 1e6, "the ejection link");
    flow_close(&f);
}

static void a_nic_fed_by_poisson_arrivals_is_an_m_d_1_queue(void **state)
{
    (void)state;
    wait_at_injection(0.3, 1);
    wait_at_injection(0.6, 2);
    wait_at_injection(0.8, 3);
}

static void an_ejection_link_fed_by_many_nodes_is_an_m_d_1_queue(void **state)
{
    (void)state;
    wait_at_ejection(0.3, 4);
    wait_at_ejection(0.6, 5);
    wait_at_ejection(0.8, 6);
}

/* Busy time of a link over time is its load, whatever the queue does. */
static void a_link_is_busy_for_its_load(void **state)
{
    struct flow_traffic t = {.senders = 1, .gap_ps = 2e6, .bytes = 1000, .dest = to_last};
    struct net_link_stat s;
    struct flow f;

    (void)state;
    flow_open(&f, single, &t, 7);
    flow_run(&f, 20000 * 1000000ull);
    net_link_stat(f.lab.net, f.lab.network.topo.nrouters, 0, &s);
    double busy = (double)s.busy_ps / (double)f.until_ps;

    /* 10,000 Poisson arrivals: four standard deviations are 4 %. */
    assert_true(fabs(busy - 0.5) < 0.02);
    assert_int_equal(s.busy_ps, s.packets * 1000000);
    assert_int_equal(s.saturated_ps, 0);
    flow_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_nic_fed_by_poisson_arrivals_is_an_m_d_1_queue),
        cmocka_unit_test(an_ejection_link_fed_by_many_nodes_is_an_m_d_1_queue),
        cmocka_unit_test(a_link_is_busy_for_its_load),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
