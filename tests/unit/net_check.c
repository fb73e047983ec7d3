/* net_check.c -- the checker of the network's invariants finds what is broken.
 *
 * A checker that never complains is worth nothing: events are stolen, doubled and
 * moved, and each time it must notice.
 */
#include "prop/lab.h"

static const char *const ring =
    "topology: {kind: torus, sizes: [5], nodes: 2}\n"
    "links: {default: {bandwidth: 1 GB/s, latency: 20 ns, buffer: 200 B}}\n"
    "nic: {packet: 100 B}\n"
    "router: {switching: store-and-forward, accounting: slots}\n";

static const char *const ring_cut =
    "topology: {kind: torus, sizes: [5], nodes: 2}\n"
    "links: {default: {bandwidth: 1 GB/s, latency: 20 ns, buffer: 200 B}}\n"
    "nic: {packet: 100 B}\n"
    "router: {switching: cut-through, accounting: slots}\n";

/* A packet is at the next router before its last byte has left. */
static const char *const ring_short =
    "topology: {kind: torus, sizes: [5], nodes: 2}\n"
    "links: {default: {bandwidth: 1 GB/s, latency: 20 ns, buffer: 200 B}}\n"
    "nic: {packet: 100 B}\n"
    "router: {switching: cut-through, accounting: slots, delay: 10 ns}\n";

/* Events of one kind go through a thief. */
struct thief {
    struct lab l;
    sim_handler *fn;
    void *ctx;
    uint32_t countdown; /* the event that is stolen or doubled */
    bool again;         /* doubled, not stolen */
};

static void steal(void *ctx, const struct sim_event *e)
{
    struct thief *t = ctx;

    if (!t->countdown || --t->countdown) {
        t->fn(t->ctx, e);
        return;
    }
    if (t->again) {
        sim_at(&t->l.sim, e->t + 1000, sim_dst(e), (uint32_t)e->key, e->seq, e->arg, e->arg2);
        t->fn(t->ctx, e);
    }
}

/* Every node sends to node 0: queues, stalls and wake-ups. */
static void open_thief_on(struct thief *t, const char *machine, uint32_t kind, uint32_t countdown,
                          bool again)
{
    lab_open(&t->l, machine);
    t->fn = t->l.sim.on[kind].fn;
    t->ctx = t->l.sim.on[kind].ctx;
    t->countdown = countdown;
    t->again = again;
    t->l.sim.on[kind].fn = steal;
    t->l.sim.on[kind].ctx = t;
    for (uint32_t i = 1; i < 10; i++)
        for (int k = 0; k < 6; k++)
            lab_post(&t->l, i * 10, i, 0, 250);
}

static void open_thief(struct thief *t, uint32_t kind, uint32_t countdown, bool again)
{
    open_thief_on(t, ring, kind, countdown, again);
}

/* Runs until the thief has struck, all well so far; then whether anybody notices. */
static bool noticed(struct thief *t, struct wr_err *err)
{
    while (t->countdown) {
        assert_true(sim_run(&t->l.sim, SIM_NEVER, 1));
        if (t->countdown && !net_check(t->l.net, err))
            fail_msg("before anything was stolen: %s", err->text);
    }
    return !net_check(t->l.net, err);
}

static void a_stolen_packet_is_missed(void **state)
{
    struct thief t = {0};
    struct wr_err err = {0};

    (void)state;
    open_thief(&t, NET_EV_ARRIVE, 40, false);
    assert_true(noticed(&t, &err));
    assert_int_equal(err.code, WR_BUG);
    assert_non_null(strstr(err.text, "the network at"));
    lab_close(&t.l);
}

static void a_packet_in_two_places_is_seen(void **state)
{
    struct thief t = {0};
    struct wr_err err = {0};

    (void)state;
    open_thief(&t, NET_EV_ARRIVE, 40, true);
    assert_true(noticed(&t, &err));
    lab_close(&t.l);
}

static void a_lost_wake_up_is_missed(void **state)
{
    struct thief t = {0};
    struct wr_err err = {0};

    (void)state;
    open_thief(&t, NET_EV_WAKE, 5, false);
    assert_true(noticed(&t, &err));
    assert_non_null(strstr(err.text, "wake-up"));
    lab_close(&t.l);
}

static void a_lost_port_event_is_missed(void **state)
{
    struct thief t = {0};
    struct wr_err err = {0};

    (void)state;
    open_thief_on(&t, ring_short, NET_EV_PORT, 5, false);
    assert_true(noticed(&t, &err));
    lab_close(&t.l);
}

static void a_lost_turn_of_a_nic_is_missed(void **state)
{
    struct thief t = {0};
    struct wr_err err = {0};

    (void)state;
    open_thief(&t, NET_EV_NIC, 5, false);
    assert_true(noticed(&t, &err));
    lab_close(&t.l);
}

/* What a link carried is found out late, or when counters are read: results must not depend on it.
 */
static uint64_t busy_hour(const char *machine, bool look)
{
    struct lab l;
    struct wr_err err = {0};
    uint64_t hash = 0;

    lab_open(&l, machine);
    for (uint32_t i = 0; i < 400; i++)
        lab_post(&l, i * 77, i % 10, i * i % 7, 100 + i * 37 % 500);
    for (uint64_t steps = 0; sim_run(&l.sim, SIM_NEVER, 1); steps++) {
        if (look && steps % 3 == 0)
            net_class_bytes(l.net, (uint64_t[TOPO_MAX_CLASSES]){0});
        if (!net_check(l.net, &err))
            fail_msg("%s", err.text);
    }
    for (size_t i = 0; i < l.msgs.n; i++) {
        assert_int_equal(l.msgs.v[i].arrived, 1);
        hash = (hash ^ l.msgs.v[i].t_arrived_ps) * UINT64_C(0x9e3779b97f4a7c15);
    }
    lab_close(&l);
    return hash;
}

static void looking_at_links_changes_nothing(void **state)
{
    (void)state;
    assert_true(busy_hour(ring, true) == busy_hour(ring, false));
    assert_true(busy_hour(ring_cut, true) == busy_hour(ring_cut, false));
    assert_true(busy_hour(ring_short, true) == busy_hour(ring_short, false));
}

/* A NIC with client.sent sends when a credit is on its way, for the time
 * when it comes. No observer sees a difference, at any time. */
enum { LOOK = LAB_POST + 1 };

struct looks {
    struct lab l;
    WR_VEC(uint64_t) seen;
};

static void on_look(void *ctx, const struct sim_event *e)
{
    struct looks *s = ctx;
    struct net_counts c;
    uint64_t bytes[TOPO_MAX_CLASSES];
    struct wr_err err = {0};

    net_counts(s->l.net, &c);
    wr_vec_push(&s->seen, c.in_flight);
    net_class_bytes(s->l.net, bytes);
    wr_vec_push(&s->seen, bytes[TOPO_INJECT]);
    for (uint32_t i = 0; i < 10; i++) {
        struct net_link_stat stat;

        net_link_stat(s->l.net, s->l.network.topo.nrouters + i, 0, &stat);
        wr_vec_push(&s->seen, stat.bytes);
        wr_vec_push(&s->seen, stat.packets);
        wr_vec_push(&s->seen, stat.busy_ps);
        wr_vec_push(&s->seen, stat.saturated_ps);
    }
    if (e->seq % 50 == 0 && !net_check(s->l.net, &err))
        fail_msg("%s", err.text);
}

static uint64_t look_at(struct looks *s, const char *machine, bool notified)
{
    struct wr_err err = {0};

    *s = (struct looks){0};
    if (!lab_try(&s->l, machine, 1,
                 &(struct net_client){
                     .ctx = &s->l, .arrived = lab_arrived, .sent = notified ? lab_sent : NULL},
                 &err))
        fail_msg("%s", err.text);
    sim_handle(&s->l.sim, LOOK, on_look, s);
    for (uint32_t i = 0; i < 10; i++) /* one each: a client that is notified of a message's end may
                                         begin the next only then */
        lab_post(&s->l, i * 7919, i, i * i % 7, 2000 + i * 397 % 3000);
    for (uint32_t i = 0; i < 20000; i++)
        sim_at(&s->l.sim, 3 + i * UINT64_C(997), 0, sim_subkey(LOOK, 0), i, 0, 0);
    sim_run(&s->l.sim, SIM_NEVER, UINT64_MAX);
    return sim_events(&s->l.sim);
}

static void a_nic_ahead_of_time_looks_as_if_it_were_not(void **state)
{
    static const char *const ring_bytes =
        "topology: {kind: torus, sizes: [5], nodes: 2}\n"
        "links: {default: {bandwidth: 1 GB/s, latency: 20 ns, buffer: 250 B}}\n"
        "nic: {packet: 100 B, message_gap: 50 ns}\n"
        "router: {switching: store-and-forward, accounting: bytes, credit_delay: 9 ns}\n";
    const char *const machines[] = {ring, ring_cut, ring_short, ring_bytes};

    (void)state;
    for (size_t m = 0; m < sizeof machines / sizeof *machines; m++) {
        struct looks notified, silent;

        assert_true(look_at(&notified, machines[m], true) < look_at(&silent, machines[m], false));
        assert_int_equal(notified.seen.n, silent.seen.n);
        assert_memory_equal(notified.seen.v, silent.seen.v,
                            notified.seen.n * sizeof *notified.seen.v);
        for (size_t i = 0; i < notified.l.msgs.n; i++) {
            assert_int_equal(notified.l.msgs.v[i].t_arrived_ps, silent.l.msgs.v[i].t_arrived_ps);
            assert_int_equal(notified.l.msgs.v[i].t_first_ps, silent.l.msgs.v[i].t_first_ps);
            assert_int_equal(notified.l.msgs.v[i].sent, 1);
        }
        lab_close(&notified.l);
        lab_close(&silent.l);
        wr_vec_fini(&notified.seen);
        wr_vec_fini(&silent.seen);
    }
}

/* A credit that comes twice makes a channel hold less than it is charged with. */
static void a_forged_credit_is_seen(void **state)
{
    struct lab l;
    struct wr_err err = {0};

    (void)state;
    lab_open(&l, ring);
    lab_post(&l, 0, 0, 5, 100);
    sim_run(&l.sim, 150000, UINT64_MAX); /* on its way to the next router */
    assert_true(net_check(l.net, &err));
    sim_at(&l.sim, l.sim.now, l.network.topo.nrouters, sim_subkey(NET_EV_CREDIT, 0), 0, 100, 0);
    assert_false(net_check(l.net, &err));
    assert_non_null(strstr(err.text, "charged"));
    lab_close(&l);
}

static void an_idle_network_is_sound(void **state)
{
    struct lab l;
    struct wr_err err = {0};

    (void)state;
    lab_open(&l, ring);
    assert_true(net_check(l.net, &err));
    lab_once(&l, 0, 7, 0);
    assert_true(net_check(l.net, &err));
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_idle_network_is_sound),
        cmocka_unit_test(a_stolen_packet_is_missed),
        cmocka_unit_test(a_packet_in_two_places_is_seen),
        cmocka_unit_test(a_lost_wake_up_is_missed),
        cmocka_unit_test(a_lost_port_event_is_missed),
        cmocka_unit_test(a_lost_turn_of_a_nic_is_missed),
        cmocka_unit_test(looking_at_links_changes_nothing),
        cmocka_unit_test(a_nic_ahead_of_time_looks_as_if_it_were_not),
        cmocka_unit_test(a_forged_credit_is_seen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
