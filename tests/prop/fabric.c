/* fabric.c -- whatever the machine, nothing is lost, nothing stands still for ever
 * and every account adds up.
 *
 * Random small machines, with every routing that accepts them, tiny buffers and every kind
 * of router, carry random bursts of messages of awkward sizes. The network's
 * invariants are checked every few events.
 */
#include "base/rng.h"
#include "net/route/route.h"
#include "prop/lab.h"
#include "prop/prop.h"

enum { CASES = 150, DIVIDED_CASES = 20, MESSAGES = 150, YAML_MAX = 2048 };

static uint32_t below(struct wr_rng *g, uint32_t n)
{
    return wr_rng_below(g, n);
}

static uint32_t between(struct wr_rng *g, uint32_t low, uint32_t high)
{
    return low + below(g, high - low + 1);
}

/* --- random machines --- */

typedef void draw_topology(char *text, struct wr_rng *g);

static void draw_dragonfly(char *text, struct wr_rng *g)
{
    static const char *const how[] = {"absolute", "relative", "palmtree", "circulant"};
    uint32_t a = between(g, 1, 4), h = between(g, 1, 3);

    sprintf(text,
            "{kind: dragonfly, groups: %u, routers: %u, nodes: %u, globals: %u, arrangement: %s}",
            between(g, 2, a * h + 1), a, between(g, 1, 3), h, how[below(g, 4)]);
}

static void draw_xc(char *text, struct wr_rng *g)
{
    sprintf(text,
            "{kind: dragonfly-xc, groups: %u, rows: %u, columns: %u, nodes: %u, row_links: 1, "
            "column_links: %u, globals: 1}",
            between(g, 2, 3), between(g, 1, 2), between(g, 2, 3), between(g, 1, 2),
            between(g, 1, 2));
}

static void draw_plus(char *text, struct wr_rng *g)
{
    uint32_t spines = between(g, 1, 3), h = between(g, 1, 2);

    sprintf(text,
            "{kind: dragonfly-plus, groups: %u, leaves: %u, spines: %u, nodes: %u, globals: %u}",
            between(g, 2, spines * h + 1), between(g, 1, 3), spines, between(g, 1, 2), h);
}

static void draw_tree(char *text, struct wr_rng *g)
{
    sprintf(text, "{kind: fat-tree, radix: %u, levels: %u}", 4, between(g, 2, 3));
}

static void draw_grid(char *text, struct wr_rng *g)
{
    static const char *const kind[] = {"torus", "mesh", "hyperx"};

    sprintf(text, "{kind: %s, sizes: [%u, %u], nodes: %u}", kind[below(g, 3)], between(g, 2, 4),
            between(g, 1, 4), between(g, 1, 2));
}

static void draw_ring(char *text, struct wr_rng *g)
{
    sprintf(text, "{kind: torus, sizes: [%u], nodes: %u, width: %u}", between(g, 3, 8),
            between(g, 1, 3), between(g, 1, 2));
}

static void draw_fly(char *text, struct wr_rng *g)
{
    sprintf(text, "{kind: slim-fly, q: 3, nodes: %u}", between(g, 1, 2));
}

static void draw_crossbar(char *text, struct wr_rng *g)
{
    sprintf(text, "{kind: crossbar, nodes: %u}", between(g, 2, 9));
}

static draw_topology *const topologies[] = {
    draw_dragonfly, draw_dragonfly, draw_xc,   draw_plus, draw_tree,
    draw_grid,      draw_grid,      draw_ring, draw_fly,  draw_crossbar,
};

static const char *pick(struct wr_rng *g, const char *const *names)
{
    uint32_t n = 0;

    while (names[n])
        n++;
    return names[below(g, n)];
}

static const char *draw_routing(struct wr_rng *g)
{
    uint32_t n = 0;

    while (route_table[n])
        n++;
    return route_table[below(g, n)]->kind.name;
}

/* Links of uneven speed, buffers from one packet to four. */
static void draw_link(char *text, struct wr_rng *g, const char *name, uint32_t packet)
{
    sprintf(text, "  %s: {bandwidth: %u MB/s, latency: %u ns, buffer: %u B}\n", name,
            between(g, 1, 8) * 500, below(g, 3) * below(g, 200), packet + below(g, 3 * packet));
}

/* The machine of a case, as YAML; the number of rails in *rails. */
static void draw_machine(char yaml[YAML_MAX], struct wr_rng *g, uint32_t rails)
{
    static const char *const classes[] = {"inject", "eject", "default"};
    static const uint32_t packets[] = {1, 64, 100, 256};
    uint32_t packet = packets[below(g, 4)];
    char topology[256];
    int n;

    topologies[below(g, sizeof topologies / sizeof *topologies)](topology, g);
    n = sprintf(yaml, "topology: %s\nlinks:\n", topology);
    for (int i = 0; i < 3; i++) {
        draw_link(yaml + n, g, classes[i], packet);
        n += (int)strlen(yaml + n);
    }
    n += sprintf(
        yaml + n,
        "router: {delay: %u ns, credit_delay: %u ns, credit_on_link: %s, switch_time: %u ns, "
        "queueing: %s, arbitration: %s, accounting: %s, switching: %s}\n",
        below(g, 50), below(g, 50), below(g, 2) ? "true" : "false", below(g, 3) * 20,
        pick(g, net_queueing_names), pick(g, net_arbitration_names), pick(g, net_accounting_names),
        pick(g, net_switching_names));
    n += sprintf(yaml + n, "nic: {packet: %u B, message_gap: %u ns, rails: %u, rail_choice: %s}\n",
                 packet, below(g, 2) * below(g, 100), rails, pick(g, net_rail_names));
    sprintf(yaml + n, "routing: %s\n", draw_routing(g));
}

/* --- random traffic --- */

/* Bursts, pairs that talk a lot, a node that every other sends to, silence. */
static void draw_traffic(struct lab *l, struct wr_rng *g)
{
    uint32_t nodes = net_nodes(l->net), hot = below(g, nodes),
             packet = (uint32_t)l->network.net.packet_b;
    uint32_t span_ns = 1u << between(g, 4, 14);

    for (int i = 0; i < MESSAGES; i++) {
        const uint64_t sizes[] = {0, 1, packet - 1, packet, packet + 1, 5 * packet + 3};
        uint32_t src = below(g, nodes), kind = below(g, 8);
        uint32_t dst = kind == 0 ? src : kind <= 2 ? hot : below(g, nodes);

        lab_post(l, (uint64_t)below(g, span_ns) * (below(g, 2) ? 1000 : 1), src, dst,
                 sizes[below(g, 6)]);
    }
}

/* --- what must hold --- */

static void run_with_checks(struct lab *l, struct wr_rng *g, const char *yaml)
{
    struct wr_err err = {0};
    bool more = true;

    while (more) {
        more = sim_run(&l->sim, SIM_NEVER, 1 + below(g, 60));
        if (!net_check(l->net, &err))
            fail_msg("%s\n%s", err.text, yaml);
    }
}

static void assert_all_arrived(const struct lab *l, const char *yaml)
{
    uint64_t bytes = 0, packets = 0, packet = l->network.net.packet_b;
    struct net_counts c;

    net_counts(l->net, &c);
    if (c.in_flight || c.queued_messages)
        fail_msg("deadlock: %llu packets and %llu messages never arrive\n%s",
                 (unsigned long long)c.in_flight, (unsigned long long)c.queued_messages, yaml);
    for (size_t i = 0; i < l->msgs.n; i++) {
        const struct lab_msg *m = &l->msgs.v[i];

        bytes += m->bytes;
        packets += m->bytes ? (m->bytes + packet - 1) / packet : 1;
        if (m->arrived != 1 || (l->client.sent && m->sent != 1) || m->t_arrived_ps < m->t_ps)
            fail_msg("message %zu arrived %u times and was sent %u times\n%s", i, m->arrived,
                     m->sent, yaml);
    }
    assert_int_equal(c.messages, l->msgs.n);
    assert_int_equal(c.bytes, bytes);
    assert_int_equal(c.packets, packets);
    assert_int_equal(c.near[0] + c.near[1] + c.near[2], packets);
    assert_int_equal(c.minimal + c.nonminimal, packets);
}

/* What flows into a router flows out of it, and nothing is carried faster than
 * its link can. */
static void assert_bytes_conserved(const struct lab *l)
{
    const struct topo *t = &l->network.topo;
    uint64_t *bytes = wr_zalloc(t->nrouters, sizeof *bytes), hops = 0;
    uint64_t *packets = wr_zalloc(t->nrouters, sizeof *packets);
    struct net_link_stat s;
    struct net_counts c;

    for (uint32_t i = 0; i < t->nterms; i++) {
        net_link_stat(l->net, t->nrouters + i, 0, &s);
        bytes[t->term[i].router] += s.bytes;
        packets[t->term[i].router] += s.packets;
        hops += s.packets;
    }
    for (uint32_t r = 0; r < t->nrouters; r++)
        for (uint32_t p = 0; p < t->nports; p++) {
            net_link_stat(l->net, r, p, &s);
            assert_true(s.busy_ps <= l->sim.now && s.saturated_ps <= l->sim.now);
            bytes[r] -= s.bytes;
            packets[r] -= s.packets;
            hops += s.packets;
            if (topo_port(t, r, p)->kind == TOPO_ROUTER) {
                bytes[topo_port(t, r, p)->peer] += s.bytes;
                packets[topo_port(t, r, p)->peer] += s.packets;
            }
        }
    for (uint32_t r = 0; r < t->nrouters; r++)
        assert_true(!bytes[r] && !packets[r]);
    net_counts(l->net, &c);
    assert_int_equal(c.hops, hops);
    free(bytes);
    free(packets);
}

/* Packets that come by one channel and leave by one channel do so in the same
 * order; an arrival's number on its link says when it left. */
struct passage {
    uint32_t in_lp, in_door, in_vc, in_seq;
    uint32_t out_lp, out_door, out_vc, out_seq;
};

static int by_channels_then_arrival(const void *a, const void *b)
{
    const struct passage *x = a, *y = b;
    const uint32_t kx[] = {x->in_lp,    x->in_door, x->in_vc, x->out_lp,
                           x->out_door, x->out_vc,  x->in_seq};
    const uint32_t ky[] = {y->in_lp,    y->in_door, y->in_vc, y->out_lp,
                           y->out_door, y->out_vc,  y->in_seq};

    for (int i = 0; i < 7; i++)
        if (kx[i] != ky[i])
            return kx[i] < ky[i] ? -1 : 1;
    return 0;
}

static bool same_channels(const struct passage *a, const struct passage *b)
{
    return a->in_lp == b->in_lp && a->in_door == b->in_door && a->in_vc == b->in_vc &&
           a->out_lp == b->out_lp && a->out_door == b->out_door && a->out_vc == b->out_vc;
}

static void assert_fifo(const struct lab *l, const char *yaml)
{
    WR_VEC(struct passage) all = {0};
    uint32_t npkts = 0;

    for (size_t i = 0; i < l->trace.n; i++)
        if (l->trace.v[i].pkt >= npkts)
            npkts = l->trace.v[i].pkt + 1;
    /* The last router a packet handle was seen at; handles are used again only
     * after their packet has come to a terminal. */
    size_t *last = wr_alloc((npkts + 1) * sizeof *last);

    memset(last, 0xff, (npkts + 1) * sizeof *last);
    for (size_t i = 0; i < l->trace.n; i++) {
        const struct lab_step *s = &l->trace.v[i];

        if (last[s->pkt] != SIZE_MAX) {
            const struct lab_step *f = &l->trace.v[last[s->pkt]];

            wr_vec_push(&all, (struct passage){f->lp, f->door, f->vc, f->seq, s->lp, s->door, s->vc,
                                               s->seq});
        }
        last[s->pkt] = s->lp >= l->network.topo.nrouters ? SIZE_MAX : i;
    }
    if (all.n)
        qsort(all.v, all.n, sizeof *all.v, by_channels_then_arrival);
    for (size_t i = 1; i < all.n; i++)
        if (same_channels(&all.v[i - 1], &all.v[i]) && all.v[i - 1].out_seq >= all.v[i].out_seq)
            fail_msg("a packet overtook another in its channel at router %u\n%s", all.v[i].in_lp,
                     yaml);
    free(last);
    wr_vec_fini(&all);
}

/* One case; false when the machine was refused. */
static bool try_case(uint64_t seed, uint32_t nth)
{
    char yaml[YAML_MAX];
    struct wr_rng g;
    struct wr_err err = {0};
    struct lab l;

    wr_rng_init(&g, seed, nth, 0x70726f70);
    uint32_t rails = below(&g, 4) ? 1 : 2;

    draw_machine(yaml, &g, rails);
    struct net_client client = {
        .ctx = &l, .arrived = lab_arrived, .sent = below(&g, 2) ? lab_sent : NULL};

    if (!lab_try(&l, yaml, seed + nth, &client, &err))
        return false;
    lab_trace(&l);
    draw_traffic(&l, &g);
    run_with_checks(&l, &g, yaml);
    assert_all_arrived(&l, yaml);
    assert_bytes_conserved(&l);
    assert_fifo(&l, yaml);
    lab_close(&l);
    return true;
}

static void every_message_arrives_and_every_account_adds_up(void **state)
{
    uint32_t cases = prop_cases(CASES), done = 0, nth = 0;

    (void)state;
    for (; done < cases && nth < 20 * cases; nth++)
        done += try_case(prop_seed(), nth);
    print_message("%u machines, %u more refused their routing or rails\n", done, nth - done);
    assert_int_equal(done, cases);
}

/* --- by several threads --- */

/* All that a run leaves of the network. */
struct left {
    struct world_result r;
    WR_VEC(struct net_link_stat) links;
};

/* The machine of a case under synthetic traffic, by some threads; false when it was refused. */
static bool run_divided(const char *yaml, uint32_t threads, struct left *ret, uint32_t *ret_threads)
{
    struct world_config c = {0};
    struct wr_err err = {0};
    struct conf *conf;
    struct world *w;
    enum world_end end;

    if (!conf_load_text(&conf, &c, world_rows, "test", yaml, strlen(yaml), NULL, 0, &err))
        return false; /* the machine's wiring does not fit its routing */
    bool ok = world_open_threads(&w, conf, &c, threads, &err);

    if (ok) {
        assert_true(world_run(w, NULL, NULL, &end, &err));
        if (!net_check(world_net(w), &err))
            fail_msg("%s, by %u threads\n%s", err.text, threads, yaml);
        *ret = (struct left){0};
        world_result(w, &ret->r);
        *ret_threads = world_threads(w);
        const struct topo *t = world_topo(w);

        for (uint32_t r = 0; r < t->nrouters + t->nterms; r++)
            for (uint32_t p = 0; p < (r < t->nrouters ? t->nports : 1); p++) {
                struct net_link_stat s;

                net_link_stat(world_net(w), r, p, &s);
                wr_vec_push(&ret->links, s);
            }
        world_close(w);
    }
    conf_close(conf);
    return ok;
}

static void compare_left(const struct left *a, const struct left *b, const char *yaml)
{
    if (memcmp(&a->r.count, &b->r.count, sizeof a->r.count) ||
        memcmp(&a->r.latency, &b->r.latency, sizeof a->r.latency) ||
        a->r.sim_end_ps != b->r.sim_end_ps)
        fail_msg("more threads, other results\n%s", yaml);
    if (memcmp(a->links.v, b->links.v, a->links.n * sizeof *a->links.v))
        fail_msg("more threads, other links\n%s", yaml);
}

/* 1: it ran; 2: in several partitions. */
static uint32_t try_divided(uint64_t seed, uint32_t nth)
{
    static const char *const loads[] = {"10 %", "50 %", "100 %"};
    char machine[YAML_MAX], yaml[2 * YAML_MAX] = "machine:\n", *save = NULL;
    struct left one, *more = &(struct left){0};
    struct wr_rng g;
    uint32_t threads;

    wr_rng_init(&g, seed, nth, 0x70726f71);
    draw_machine(machine, &g, 1);
    for (char *line = strtok_r(machine, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        strcat(yaml, "  ");
        strcat(yaml, line);
        strcat(yaml, "\n");
    }
    sprintf(yaml + strlen(yaml),
            "seed: %u\ntraffic: {load: %s, size: {kind: uniform, min: 1 B, max: 900 B}, ", nth,
            loads[below(&g, 3)]);
    strcat(yaml, below(&g, 2) ? "messages: 6}\n" : "warmup: 1 us, measure: 2 us, drain: 3 us}\n");
    if (!run_divided(yaml, 1, &one, &threads))
        return 0;
    uint32_t most = 1;

    for (uint32_t n = 2; n <= 3; n++) {
        if (!run_divided(yaml, n, more, &threads)) { /* credits leave no lookahead */
            assert_non_null(strstr(yaml, "credit_on_link: false"));
            break;
        }
        compare_left(&one, more, yaml);
        wr_vec_fini(&more->links);
        most = threads > most ? threads : most;
    }
    wr_vec_fini(&one.links);
    return most > 1 ? 2 : 1;
}

static void any_number_of_threads_gives_the_same_bits(void **state)
{
    uint32_t cases = prop_cases(DIVIDED_CASES), done = 0, nth = 0;

    (void)state;
    for (; done < cases && nth < 40 * cases; nth++)
        done += try_divided(prop_seed(), nth) == 2;
    print_message("%u machines were divided, of %u\n", done, nth);
    assert_int_equal(done, cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_message_arrives_and_every_account_adds_up),
        cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
