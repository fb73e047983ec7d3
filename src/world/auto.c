/* auto.c -- chooses the number of threads: predicts the speed-up of this run on this computer
 * (sim/speed.h), whose load is measured. Called by world_split.c. */
#include <unistd.h>

#include "sim/speed.h"
#include "world_priv.h"

/* Costs as measured by `make bench-scale`, rounded up. */
static const struct sim_costs usual = {.event_ns = 150, .cross_ns = 200};

enum {
    NODES = 128, /* of a thread, at least */
    EVENTS_PER_PACKET = 6,
    FEW = 300 * 1000,      /* events of a thread that are over before it pays */
    LOOK_NS = 5000 * 1000, /* for so long it is measured how threads get on */
};

static const double job_load = 0.05, least_gain = 1.2;

/* Nodes that have something to do, at most; what a program brings by itself is not counted. */
static uint64_t auto_busy_nodes(const struct world *w)
{
    const struct world_job *job = w->c->jobs.items;
    uint64_t ranks = 0;

    for (size_t i = 0; i < w->c->jobs.n; i++)
        ranks += job[i].ranks;
    return w->traffic_on || ranks > w->network.topo.nterms ? w->network.topo.nterms : ranks;
}

uint32_t world_auto_threads(const struct world *w)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t most = (uint32_t)(auto_busy_nodes(w) / NODES);
    uint32_t n = cpus < WORLD_MOST_THREADS ? (uint32_t)cpus : WORLD_MOST_THREADS;

    return n < most ? n : most;
}

/* Packets that all nodes send in a microsecond; for programs an assumed load. */
static double auto_packets_per_us(const struct world *w)
{
    const struct net_params *p = &w->network.net;
    double nodes = (double)auto_busy_nodes(w) / p->rails, packet = (double)p->packet_b;
    double rate = p->link[TOPO_INJECT].bandwidth / packet / 1e6; /* of one NIC that is busy */

    if (!w->traffic_on || w->mean_gap_ps <= 0)
        return job_load * rate * nodes * p->rails;
    double size = w->traffic.size.mean, each = size > packet ? size / packet : 1;

    return nodes * each * 1e6 / w->mean_gap_ps;
}

/* The number of events of the run, if that is known; programs: unlimited. */
static double auto_events_in_all(const struct world *w, double events_per_us)
{
    if (w->njobs)
        return 1e18;
    if (w->c->traffic.messages)
        return (double)w->c->traffic.messages * w->network.topo.nterms * EVENTS_PER_PACKET;
    return events_per_us * (double)world_horizon_ps(w->c) / 1e6;
}

bool world_threads_pay(const struct world *w, uint32_t threads, uint64_t lookahead_ps)
{
    struct sim_costs costs = usual;
    struct sim_demand d = {.events_per_us = auto_packets_per_us(w) * EVENTS_PER_PACKET,
                           .step_us = (double)lookahead_ps / 1e6,
                           .cross = 0.35};
    double share;

    if (auto_events_in_all(w, d.events_per_us) < (double)FEW * threads)
        return false;
    costs.handover_ns = 100;
    if (sim_speed(&costs, &d, threads) < least_gain) /* not even on a machine to itself */
        return false;
    if (!sim_handover_measure(LOOK_NS, &costs.handover_ns, &share))
        return false;
    return share * sim_speed(&costs, &d, threads) >= least_gain;
}
