/* flow.h -- steady traffic through a machine on the bench, measured in windows
 * whose means give a confidence interval.
 */
#ifndef TESTS_PROP_FLOW_H
#define TESTS_PROP_FLOW_H

#include "base/rng.h"
#include "prop/lab.h"
#include "stat/sample.h"

enum { FLOW_TURN = NET_EV_KINDS + 1 }; /* a node's turn to post */

struct flow;

struct flow_traffic {
    uint32_t senders; /* nodes 0..senders-1 */
    double gap_ps;    /* mean, exponential; with `lockstep` exact and all at once */
    bool lockstep;
    uint64_t bytes;
    uint32_t (*dest)(struct flow *f, uint32_t src, struct wr_rng *g);
};

struct flow {
    struct lab lab;
    struct flow_traffic traffic;
    struct wr_rng *rng; /* [senders] */
    uint64_t arrived_b, until_ps;
    bool keep;             /* latencies of what arrives */
    WR_VEC(double) nic_ps; /* waiting in the NIC, by arrival */
    WR_VEC(double) total_ps;
};

static inline void flow_arrived(void *ctx, uint32_t h)
{
    struct flow *f = ctx;
    const struct net_msg *m = net_msg_at(f->lab.net, h);

    f->arrived_b += m->bytes;
    if (!f->keep)
        return;
    wr_vec_push(&f->nic_ps, (double)(m->t_first_ps - m->t_post_ps));
    wr_vec_push(&f->total_ps, (double)(f->lab.sim.now - m->t_post_ps));
}

static inline void flow_next(struct flow *f, uint32_t node)
{
    double gap = f->traffic.gap_ps * (f->traffic.lockstep ? 1 : wr_rng_exp(&f->rng[node]));

    sim_at(&f->lab.sim, f->lab.sim.now + (uint64_t)(gap + 0.5), net_node_lp(f->lab.net, node),
           sim_subkey(FLOW_TURN, 0), 0, node, 0);
}

static inline void flow_on_turn(void *ctx, const struct sim_event *e)
{
    struct flow *f = ctx;
    uint32_t dest = f->traffic.dest(f, e->arg, &f->rng[e->arg]);

    net_send(f->lab.net, e->arg, dest, f->traffic.bytes, 0, 0, 0);
    flow_next(f, e->arg);
}

static inline void flow_open(struct flow *f, const char *yaml, const struct flow_traffic *traffic,
                             uint64_t seed)
{
    struct wr_err err = {0};
    struct net_client client = {.ctx = f, .arrived = flow_arrived};

    *f = (struct flow){.traffic = *traffic};
    if (!lab_try(&f->lab, yaml, seed, &client, &err))
        fail_msg("%s\n%s", err.text, yaml);
    sim_handle(&f->lab.sim, FLOW_TURN, flow_on_turn, f);
    if (!f->traffic.senders)
        f->traffic.senders = net_nodes(f->lab.net);
    f->rng = wr_zalloc(f->traffic.senders, sizeof *f->rng);
    for (uint32_t i = 0; i < f->traffic.senders; i++) {
        wr_rng_init(&f->rng[i], seed, i, 0x666c6f77);
        flow_next(f, i);
    }
}

static inline void flow_close(struct flow *f)
{
    lab_close(&f->lab);
    free(f->rng);
    wr_vec_fini(&f->nic_ps);
    wr_vec_fini(&f->total_ps);
}

static inline void flow_run(struct flow *f, uint64_t for_ps)
{
    f->until_ps += for_ps;
    sim_run(&f->lab.sim, f->until_ps, UINT64_MAX);
}

enum { FLOW_WINDOWS = 20 };

/* What each sender gets through, in bytes per second: the mean over windows
 * after a warm-up, with its interval. */
static inline struct stat_interval flow_accepted(struct flow *f, uint64_t warmup_ps,
                                                 uint64_t window_ps, double level)
{
    double rate[FLOW_WINDOWS];

    flow_run(f, warmup_ps);
    for (int i = 0; i < FLOW_WINDOWS; i++) {
        uint64_t before = f->arrived_b;

        flow_run(f, window_ps);
        rate[i] = (double)(f->arrived_b - before) / (double)window_ps * 1e12 / f->traffic.senders;
    }
    return stat_mean_interval(rate, FLOW_WINDOWS, level);
}

static inline uint32_t flow_any(struct flow *f, uint32_t src, struct wr_rng *g)
{
    (void)src;
    return wr_rng_below(g, net_nodes(f->lab.net));
}

static inline uint32_t flow_other(struct flow *f, uint32_t src, struct wr_rng *g)
{
    uint32_t d = wr_rng_below(g, net_nodes(f->lab.net) - 1);

    return d + (d >= src);
}

#endif
