/* net_order.c -- nodes with several NICs, and the order in which packets leave. */
#include "prop/lab.h"

#define CROSSBAR(rails, choice)                                             \
    "topology: {kind: crossbar, nodes: 8}\n"                                \
    "links: {default: {bandwidth: 1 GB/s, latency: 10 ns, buffer: 1 kB}}\n" \
    "nic: {packet: 100 B, rails: " rails ", rail_choice: " choice "}\n"     \
    "router: {delay: 10 ns, switching: store-and-forward}\n"

static uint64_t packets_of_rail(const struct lab *l, uint32_t node, uint32_t rail)
{
    struct net_link_stat s;

    net_link_stat(l->net, l->network.topo.nrouters + node * l->network.net.rails + rail, 0, &s);
    return s.packets;
}

static void two_rails_carry_twice_as_much(void **state)
{
    struct lab one, two;

    (void)state;
    lab_open(&one, CROSSBAR("1", "round-robin"));
    lab_open(&two, CROSSBAR("2", "round-robin"));
    assert_int_equal(net_nodes(one.net), 8);
    assert_int_equal(net_nodes(two.net), 4);
    for (int i = 0; i < 40; i++) {
        lab_post(&one, 0, 0, 1, 100);
        lab_post(&two, 0, 0, 1, 100);
    }
    lab_drain(&one);
    lab_drain(&two);
    assert_int_equal(one.sim.now, 40 * 100000 + 100000 + 10000 + 20000);
    assert_int_equal(two.sim.now, 20 * 100000 + 100000 + 10000 + 20000);
    assert_int_equal(packets_of_rail(&two, 0, 0), 20);
    assert_int_equal(packets_of_rail(&two, 0, 1), 20);
    lab_close(&one);
    lab_close(&two);
}

/* A message keeps its rail: its packets arrive in order at the same rail. */
static void a_message_stays_on_its_rail(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, CROSSBAR("4", "round-robin"));
    lab_post(&l, 0, 0, 1, 1000);
    lab_drain(&l);
    assert_int_equal(packets_of_rail(&l, 0, 0), 10);
    assert_int_equal(l.msgs.v[0].arrived, 1);
    lab_close(&l);
}

static void the_least_loaded_rail_takes_the_next_message(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, CROSSBAR("2", "least-loaded"));
    lab_post(&l, 0, 0, 1, 5000);
    for (int i = 1; i <= 10; i++)
        lab_post(&l, (uint64_t)i, 0, 1, 100);
    lab_drain(&l);
    assert_int_equal(packets_of_rail(&l, 0, 0), 50);
    assert_int_equal(packets_of_rail(&l, 0, 1), 10);
    lab_close(&l);
}

static void a_pair_of_nodes_always_hashes_to_the_same_rail(void **state)
{
    struct lab l;
    uint32_t both = 0;

    (void)state;
    lab_open(&l, CROSSBAR("2", "hash"));
    for (uint32_t dst = 1; dst < 4; dst++)
        for (int i = 0; i < 5; i++)
            lab_post(&l, 0, 0, dst, 100);
    lab_drain(&l);
    for (uint32_t rail = 0; rail < 2; rail++) {
        assert_int_equal(packets_of_rail(&l, 0, rail) % 5, 0);
        both += (uint32_t)packets_of_rail(&l, 0, rail);
    }
    assert_int_equal(both, 15);
    lab_close(&l);
}

static void rails_that_do_not_divide_the_terminals_are_refused(void **state)
{
    struct lab l;
    struct wr_err err = {0};

    (void)state;
    assert_false(lab_try(&l, CROSSBAR("3", "hash"), 1, &(struct net_client){0}, &err));
    assert_int_equal(err.code, WR_INPUT);
    assert_non_null(strstr(err.text, "rails"));
}

/* The client hears of a message when its last packet has left, and of its arrival once. */
static void sent_comes_when_the_last_packet_has_left(void **state)
{
    struct lab l;
    struct wr_err err = {0};
    struct net_client client = {.ctx = &l, .arrived = lab_arrived, .sent = lab_sent};

    (void)state;
    assert_true(lab_try(&l, CROSSBAR("1", "hash"), 1, &client, &err));
    lab_post(&l, 0, 0, 1, 250);
    sim_run(&l.sim, 250000, UINT64_MAX);
    assert_int_equal(l.msgs.v[0].sent, 0);
    sim_run(&l.sim, 250001, UINT64_MAX);
    assert_int_equal(l.msgs.v[0].sent, 1);
    assert_int_equal(l.msgs.v[0].arrived, 0);
    lab_drain(&l);
    assert_int_equal(l.msgs.v[0].sent, 1);
    assert_int_equal(l.msgs.v[0].arrived, 1);
    lab_close(&l);
}

/* One way, one channel per hop, first in first out. */
static void messages_between_two_nodes_keep_their_order(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, "topology: {kind: torus, sizes: [6], nodes: 2}\n"
                 "links: {default: {bandwidth: 1 GB/s, latency: 10 ns, buffer: 300 B}}\n"
                 "nic: {packet: 100 B}\n"
                 "routing: {kind: minimal, choice: fixed}\n");
    for (uint32_t i = 0; i < 60; i++)
        lab_post(&l, i, i % 6, (i % 6 + 5) % 12, 150);
    lab_drain(&l);
    for (uint32_t i = 6; i < 60; i++)
        assert_true(l.msgs.v[i].t_arrived_ps > l.msgs.v[i - 6].t_arrived_ps);
    lab_close(&l);
}

/* --- which channel an idle link serves next --- */

/* The link between the two routers of a group carries packets that begin in the group
 * (channel 0) and packets that come from another (channel 3). It is slow, so
 * both queue for it. */
#define GROUPS                                                                \
    "topology: {kind: dragonfly, routers: 2, nodes: 2, globals: 1}\n"         \
    "links: {local: {bandwidth: 100 MB/s, latency: 10 ns, buffer: 10 kB},\n"  \
    "        default: {bandwidth: 10 GB/s, latency: 10 ns, buffer: 10 kB}}\n" \
    "nic: {packet: 100 B}\n"                                                  \
    "router: {switching: store-and-forward, arbitration: %s}\n"

enum { EACH = 4 };

/* A node of another group whose packets to node 2 come through router 0. */
static uint32_t node_behind_router_0(struct lab *l)
{
    const struct topo *t = &l->network.topo;
    struct net_link_stat before, after;
    uint16_t port = 0;

    while (topo_port(t, 0, port)->kind != TOPO_ROUTER || topo_port(t, 0, port)->peer != 1)
        port++;
    for (uint32_t src = 4; src < t->nterms; src++) {
        net_link_stat(l->net, 0, port, &before);
        lab_once(l, src, 2, 100);
        net_link_stat(l->net, 0, port, &after);
        if (after.packets > before.packets)
            return src;
    }
    fail_msg("no node is behind router 0");
    return 0;
}

/* How the packets of both channels arrive, as a word: L from the own group, R from
 * another. The first that comes finds the link idle. */
static void arrivals(const char *arbitration, char word[2 * EACH + 2])
{
    char yaml[1024];
    struct lab l;

    snprintf(yaml, sizeof yaml, GROUPS, arbitration);
    lab_open(&l, yaml);
    uint32_t far = node_behind_router_0(&l);
    uint64_t t = l.sim.now + 10000000;
    size_t first = lab_post(&l, t, 0, 2, 100);

    /* All are at router 0 before the first has left it; those from afar are older. */
    for (uint64_t i = 0; i < EACH; i++) {
        lab_post(&l, t + 1000 + i, far, 2, 100);
        lab_post(&l, t + 500000 + i, 0, 2, 100);
    }
    lab_drain(&l);
    for (size_t k = 0; k <= 2 * EACH; k++) {
        size_t best = first;

        for (size_t i = first; i < l.msgs.n; i++)
            if (l.msgs.v[i].arrived == 1 &&
                (l.msgs.v[best].arrived != 1 ||
                 l.msgs.v[i].t_arrived_ps < l.msgs.v[best].t_arrived_ps))
                best = i;
        word[k] = l.msgs.v[best].src == far ? 'R' : 'L';
        l.msgs.v[best].arrived = 2;
    }
    word[2 * EACH + 1] = 0;
    lab_close(&l);
}

static void the_lowest_channel_goes_first_if_asked_for(void **state)
{
    char word[2 * EACH + 2];

    (void)state;
    arrivals("lowest-vc", word);
    assert_string_equal(word, "LLLLLRRRR");
}

static void the_oldest_packet_goes_first_if_asked_for(void **state)
{
    char word[2 * EACH + 2];

    (void)state;
    arrivals("age", word);
    assert_string_equal(word, "LRRRRLLLL");
}

static void channels_take_turns_if_asked_for(void **state)
{
    char word[2 * EACH + 2];

    (void)state;
    arrivals("round-robin", word);
    assert_string_equal(word, "LRLRLRLRL");
}

/* A chain of routers with a node each; all send to the first, twice as much together as its links
 * carry: a parking lot, with a ramp at each router. Writes how many messages of each node arrive
 * while all of them still send. */
enum { CHAIN = 8, SENT = 2000 };

static void parking_lot(const char *arbitration, uint32_t arrived[CHAIN])
{
    char yaml[512];
    struct lab l;

    snprintf(yaml, sizeof yaml,
             "topology: {kind: mesh, sizes: [%d], nodes: 1}\n"
             "links: {default: {bandwidth: 1 GB/s, latency: 10 ns, buffer: 1 kB}}\n"
             "nic: {packet: 100 B}\n"
             "router: {delay: 10 ns, arbitration: %s}\n"
             "routing: dimension-order\n", /* one channel on the whole way */
             CHAIN, arbitration);
    lab_open(&l, yaml);
    /* 100 B take 100 ns: one of seven nodes' every 350 ns is two at a time. */
    for (uint64_t i = 0; i < SENT; i++)
        for (uint32_t src = 1; src < CHAIN; src++)
            lab_post(&l, i * 350000 + src, src, 0, 100);
    lab_drain(&l);
    memset(arrived, 0, CHAIN * sizeof *arrived);
    for (size_t i = 0; i < l.msgs.n; i++)
        arrived[l.msgs.v[i].src] += l.msgs.v[i].t_arrived_ps < (uint64_t)SENT * 350000;
    lab_close(&l);
}

/* Turns at each router halve what comes from behind it, again and again. */
static void on_a_chain_of_routers_the_near_get_most_unless_age_decides(void **state)
{
    uint32_t turns[CHAIN], age[CHAIN], all = 0;

    (void)state;
    parking_lot("round-robin", turns);
    parking_lot("age", age);
    assert_true(turns[1] > SENT * 9 / 10);
    assert_true(turns[CHAIN - 1] < SENT / 8);
    for (uint32_t i = 1; i < CHAIN; i++)
        all += age[i];
    assert_in_range(all, SENT * 34 / 10, SENT * 35 / 10); /* as much as the link carries */
    for (uint32_t i = 1; i < CHAIN; i++)
        assert_in_range(age[i], all / 7 * 97 / 100, all / 7 * 103 / 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_rails_carry_twice_as_much),
        cmocka_unit_test(a_message_stays_on_its_rail),
        cmocka_unit_test(the_least_loaded_rail_takes_the_next_message),
        cmocka_unit_test(a_pair_of_nodes_always_hashes_to_the_same_rail),
        cmocka_unit_test(rails_that_do_not_divide_the_terminals_are_refused),
        cmocka_unit_test(sent_comes_when_the_last_packet_has_left),
        cmocka_unit_test(messages_between_two_nodes_keep_their_order),
        cmocka_unit_test(the_lowest_channel_goes_first_if_asked_for),
        cmocka_unit_test(the_oldest_packet_goes_first_if_asked_for),
        cmocka_unit_test(channels_take_turns_if_asked_for),
        cmocka_unit_test(on_a_chain_of_routers_the_near_get_most_unless_age_decides),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
