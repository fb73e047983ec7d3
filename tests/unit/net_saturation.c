/* net_saturation.c -- the saturated time of every link is what its definition says:
 * the time during which some packet waits for it without a credit for its channel.
 *
 * The network counts it while it runs. Here it is computed afterwards from a trace
 * of arrivals, by the definition alone. A packet that waits for link L from a on is
 * admitted at
 *
 *   t = the earliest time >= a, not before those ahead of it in its channel, when the bytes
 *       admitted to the channel less the bytes whose credits are back leave capacity
 *
 * and its own credit is back when it is admitted to its next link (or has arrived at its
 * terminal), plus the credit delay. These equations are solved by repetition.
 */
#include "base/rng.h"
#include "prop/lab.h"

/* A packet on one of its links. */
struct stay {
    uint32_t port; /* the link: router * nports + port, or behind them the terminals' */
    uint32_t vc;
    uint64_t charge;
    uint64_t asked; /* waits for the link from then on */
    uint64_t admitted;
    uint64_t there; /* arrived over it */
    size_t next;    /* the same packet's next stay, SIZE_MAX: at its terminal */
    size_t before;  /* the one ahead in the channel */
};

struct case_ {
    struct lab l;
    WR_VEC(struct stay) stays;
    uint64_t *credit_ps, *capacity; /* by link class */
};

static uint32_t port_of_end(const struct topo *t, uint32_t lp, uint32_t door)
{
    uint32_t routers = t->nrouters * t->nports;

    if (lp >= t->nrouters) {
        const struct topo_end *at = &t->term[lp - t->nrouters];

        return at->router * t->nports + at->port;
    }
    const struct topo_port *p = topo_port(t, lp, door);

    return p->kind == TOPO_TERMINAL ? routers + p->peer : p->peer * t->nports + p->peer_port;
}

static uint32_t class_of(const struct topo *t, uint32_t port)
{
    if (port >= t->nrouters * t->nports)
        return TOPO_INJECT;
    return t->port[port].kind == TOPO_TERMINAL ? TOPO_EJECT : t->port[port].cls;
}

/* --- from the trace to stays --- */

/* The bytes of a NIC's packets in the order they leave, and when each became
 * the next to leave. Messages are served in the order they were posted. */
struct nic {
    size_t *msg; /* by time of posting */
    size_t n, at;
    uint64_t unsent, last_start;
};

static struct nic *open_nics(const struct lab *l)
{
    uint32_t nodes = net_nodes(l->net);
    struct nic *nic = wr_zalloc(nodes, sizeof *nic);

    for (uint32_t i = 0; i < nodes; i++)
        nic[i].msg = wr_zalloc(l->msgs.n, sizeof *nic[i].msg);
    for (size_t i = 0; i < l->msgs.n; i++) {
        struct nic *k = &nic[l->msgs.v[i].src];
        size_t at = k->n++;

        for (; at && l->msgs.v[k->msg[at - 1]].t_ps > l->msgs.v[i].t_ps; at--)
            k->msg[at] = k->msg[at - 1];
        k->msg[at] = i;
    }
    for (uint32_t i = 0; i < nodes; i++)
        if (nic[i].n)
            nic[i].unsent = l->msgs.v[nic[i].msg[0]].bytes;
    return nic;
}

static void close_nics(struct nic *nic, uint32_t nodes)
{
    for (uint32_t i = 0; i < nodes; i++)
        free(nic[i].msg);
    free(nic);
}

/* The stay on the injection link of the packet that arrives with `s`. */
static struct stay first_stay(const struct case_ *c, struct nic *k, const struct lab_step *s,
                              uint32_t port)
{
    const struct net_params *p = &c->l.network.net;
    const struct lab_msg *m = &c->l.msgs.v[k->msg[k->at]];
    uint64_t bytes = k->unsent < p->packet_b ? k->unsent : p->packet_b;
    uint64_t serial = p->switching == NET_STORE_AND_FORWARD
                          ? (uint64_t)((double)bytes * 1e12 / p->link[TOPO_INJECT].bandwidth)
                          : 0;
    uint64_t start = s->t_ps - serial - (uint64_t)p->link[TOPO_INJECT].latency_ps;
    struct stay st = {.port = port,
                      .charge = p->accounting == NET_ACCOUNT_SLOTS ? p->packet_b
                                : bytes                            ? bytes
                                                                   : 1,
                      .asked = m->t_ps > k->last_start ? m->t_ps : k->last_start,
                      .there = s->t_ps,
                      .next = SIZE_MAX,
                      .before = SIZE_MAX};

    k->last_start = start;
    k->unsent -= bytes;
    if (!k->unsent && ++k->at < k->n)
        k->unsent = c->l.msgs.v[k->msg[k->at]].bytes;
    return st;
}

static void collect(struct case_ *c)
{
    const struct topo *t = &c->l.network.topo;
    uint32_t routers = t->nrouters * t->nports;
    struct nic *nic = open_nics(&c->l);
    size_t *last = wr_alloc((c->l.trace.n + 1) * sizeof *last); /* [packet handle] its last stay */

    for (size_t i = 0; i < c->l.trace.n; i++) {
        const struct lab_step *s = &c->l.trace.v[i];
        uint32_t port = port_of_end(t, s->lp, s->door);
        struct stay st;

        if (port >= routers)
            st = first_stay(c, &nic[port - routers], s, port);
        else {
            struct stay *up = &c->stays.v[last[s->pkt]];

            st = (struct stay){.port = port,
                               .vc = s->vc,
                               .charge = up->charge,
                               .asked = up->there,
                               .there = s->t_ps,
                               .next = SIZE_MAX,
                               .before = SIZE_MAX};
            up->next = c->stays.n;
        }
        last[s->pkt] = c->stays.n;
        wr_vec_push(&c->stays, st);
    }
    free(last);
    close_nics(nic, net_nodes(c->l.net));
}

/* --- the equations --- */

/* Channels' packets in the order they asked. A stay is written down when its
 * packet arrives at the far end; on one channel that is the order of asking. */
static void line_up(struct case_ *c)
{
    for (size_t i = 0; i < c->stays.n; i++) {
        c->stays.v[i].admitted = c->stays.v[i].asked;
        for (size_t j = i; j-- > 0;)
            if (c->stays.v[j].port == c->stays.v[i].port && c->stays.v[j].vc == c->stays.v[i].vc) {
                c->stays.v[i].before = j;
                break;
            }
    }
}

static uint64_t credit_back(const struct case_ *c, const struct stay *s)
{
    uint32_t cls = class_of(&c->l.network.topo, s->port);

    return (s->next == SIZE_MAX ? s->there : c->stays.v[s->next].admitted) + c->credit_ps[cls];
}

/* Bytes still charged to the channel of `s` at time t by those ahead of it. */
static uint64_t held_at(const struct case_ *c, const struct stay *s, uint64_t t)
{
    uint64_t held = 0;

    for (size_t b = s->before; b != SIZE_MAX; b = c->stays.v[b].before)
        if (credit_back(c, &c->stays.v[b]) > t)
            held += c->stays.v[b].charge;
    return held;
}

/* When `s` is admitted, given when the others are. */
static uint64_t admission(const struct case_ *c, const struct stay *s)
{
    uint64_t capacity = c->capacity[class_of(&c->l.network.topo, s->port)], t = s->asked;

    if (s->before != SIZE_MAX && c->stays.v[s->before].admitted > t)
        t = c->stays.v[s->before].admitted;
    while (held_at(c, s, t) + s->charge > capacity) {
        uint64_t soonest = UINT64_MAX;

        for (size_t b = s->before; b != SIZE_MAX; b = c->stays.v[b].before) {
            uint64_t back = credit_back(c, &c->stays.v[b]);

            if (back > t && back < soonest)
                soonest = back;
        }
        assert_true(soonest != UINT64_MAX);
        t = soonest;
    }
    return t;
}

static void solve(struct case_ *c)
{
    bool moved = true;

    for (int round = 0; moved; round++) {
        moved = false;
        assert_true(round < 10000);
        for (size_t i = 0; i < c->stays.n; i++) {
            uint64_t t = admission(c, &c->stays.v[i]);

            moved |= t != c->stays.v[i].admitted;
            c->stays.v[i].admitted = t;
        }
    }
}

/* The length of the union of [asked, admitted) over a link's packets. */
static uint64_t union_of_waits(const struct case_ *c, uint32_t port)
{
    uint64_t sum = 0, covered = 0;

    for (;;) {
        const struct stay *first = NULL;

        for (size_t i = 0; i < c->stays.n; i++) {
            const struct stay *s = &c->stays.v[i];

            if (s->port == port && s->admitted > covered && s->admitted > s->asked &&
                (!first || s->asked < first->asked))
                first = s;
        }
        if (!first)
            return sum;
        sum += first->admitted - (first->asked > covered ? first->asked : covered);
        covered = first->admitted;
    }
}

/* --- cases --- */

static void draw_messages(struct lab *l, uint64_t seed)
{
    struct wr_rng g;
    uint32_t nodes = net_nodes(l->net);

    wr_rng_init(&g, seed, 0, 0x73617475);
    for (int i = 0; i < 70; i++) {
        uint32_t src = wr_rng_below(&g, nodes);
        uint32_t dst = wr_rng_below(&g, 3) ? wr_rng_below(&g, nodes) : 0;

        /* Times of posting differ, so that the order is certain. */
        lab_post(l, (uint64_t)wr_rng_below(&g, 6000) * 1000 + (uint64_t)i, src, dst,
                 1 + wr_rng_below(&g, 300));
    }
}

static uint64_t compare(const char *yaml, uint64_t seed)
{
    struct case_ c = {0};
    uint64_t total = 0;

    lab_open(&c.l, yaml);
    lab_trace(&c.l);
    draw_messages(&c.l, seed);
    lab_drain(&c.l);
    const struct topo *t = &c.l.network.topo;
    const struct net_params *p = &c.l.network.net;

    c.credit_ps = wr_zalloc(t->nclasses, sizeof *c.credit_ps);
    c.capacity = wr_zalloc(t->nclasses, sizeof *c.capacity);
    for (uint32_t k = 0; k < t->nclasses; k++) {
        c.credit_ps[k] =
            (uint64_t)(p->credit_delay_ps + (p->credit_on_link ? p->link[k].latency_ps : 0));
        c.capacity[k] = p->link[k].buffer_b;
    }
    collect(&c);
    line_up(&c);
    solve(&c);
    for (uint32_t i = 0; i < t->nrouters * t->nports + t->nterms; i++) {
        bool router = i < t->nrouters * t->nports;
        struct net_link_stat s;

        net_link_stat(c.l.net, router ? i / t->nports : t->nrouters + i - t->nrouters * t->nports,
                      router ? i % t->nports : 0, &s);
        if (s.saturated_ps != union_of_waits(&c, i))
            fail_msg("link %u: saturated for %llu ps, by the definition %llu ps\n%s", i,
                     (unsigned long long)s.saturated_ps, (unsigned long long)union_of_waits(&c, i),
                     yaml);
        total += s.saturated_ps;
    }
    free(c.credit_ps);
    free(c.capacity);
    wr_vec_fini(&c.stays);
    lab_close(&c.l);
    return total;
}

/* Whole nanoseconds and 1 ns per byte: no rounding anywhere. */
#define MACHINE(topology, buffer, accounting, switching, on_link)                 \
    "topology: " topology "\n"                                                    \
    "links: {inject: {bandwidth: 1 GB/s, latency: 7 ns, buffer: " buffer "},\n"   \
    "        eject: {bandwidth: 1 GB/s, latency: 3 ns, buffer: " buffer "},\n"    \
    "        default: {bandwidth: 1 GB/s, latency: 40 ns, buffer: " buffer "}}\n" \
    "nic: {packet: 100 B}\n"                                                      \
    "router: {delay: 11 ns, credit_delay: 5 ns, credit_on_link: " on_link         \
    ", switching: " switching ", accounting: " accounting "}\n"

static void saturated_time_is_the_time_a_packet_waits_without_a_credit(void **state)
{
    static const char *const machines[] = {
        MACHINE("{kind: crossbar, nodes: 4}", "100 B", "slots", "store-and-forward", "false"),
        MACHINE("{kind: crossbar, nodes: 4}", "150 B", "bytes", "cut-through", "true"),
        MACHINE("{kind: torus, sizes: [4], nodes: 1}", "200 B", "slots", "store-and-forward",
                "true"),
        MACHINE("{kind: torus, sizes: [5], nodes: 1}", "130 B", "bytes", "store-and-forward",
                "true"),
        MACHINE("{kind: mesh, sizes: [3, 2], nodes: 1}", "100 B", "slots", "cut-through", "false"),
        MACHINE("{kind: dragonfly, routers: 2, nodes: 2, globals: 1}", "100 B", "slots",
                "store-and-forward", "true"),
        MACHINE("{kind: dragonfly, routers: 2, nodes: 2, globals: 1}", "170 B", "bytes",
                "cut-through", "true"),
    };

    (void)state;
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
        for (uint64_t seed = 1; seed <= 3; seed++) {
            uint64_t total = compare(machines[i], seed);

            /* The test says something only if links were saturated. */
            assert_true(total > 100000);
        }
}

/* Two senders, one receiver, capacity for one packet each: by hand. */
static void two_senders_to_one_wait_for_each_other_by_hand(void **state)
{
    struct net_link_stat s;
    struct lab l;

    (void)state;
    lab_open(&l,
             MACHINE("{kind: crossbar, nodes: 3}", "100 B", "slots", "store-and-forward", "false"));
    lab_post(&l, 0, 0, 2, 100);
    lab_post(&l, 0, 1, 2, 100);
    lab_drain(&l);
    /* Both are at the router at 107 ns. One is sent, is at its terminal at 107 + 100
     * + 11 + 3 = 221 ns, and its credit back at 226 ns. */
    net_link_stat(l.net, 0, l.network.topo.term[2].port, &s);
    assert_int_equal(s.saturated_ps, (226 - 107) * 1000);
    assert_int_equal(s.busy_ps, 200000);
    /* Neither NIC had another packet to send. */
    net_link_stat(l.net, l.network.topo.nrouters, 0, &s);
    assert_int_equal(s.saturated_ps, 0);
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_senders_to_one_wait_for_each_other_by_hand),
        cmocka_unit_test(saturated_time_is_the_time_a_packet_waits_without_a_credit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
