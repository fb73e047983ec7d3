/* world_split.c -- divides a simulation into partitions, one for each thread of each process; or
 * opens it undivided, with the reason. Owns the clocks, networks and meters of the partitions. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "files_priv.h"
#include "sim/peers.h"

static bool split_refuse(struct world *w, const char *why)
{
    snprintf(w->why_one, sizeof w->why_one, "%s", why);
    return false;
}

/* All rails of a node must be in one partition. */
static bool split_share_nodes(struct world *w)
{
    const struct topo *t = &w->network.topo;
    uint32_t rails = w->network.net.rails, nodes = t->nterms / rails;

    w->node_partition = wr_alloc(nodes * sizeof *w->node_partition);
    for (uint32_t i = 0; i < t->nterms; i++) {
        uint8_t partition = (uint8_t)w->split.partition_of[t->term[i].router];

        if (i % rails && w->node_partition[i / rails] != partition)
            return false;
        w->node_partition[i / rails] = partition;
    }
    return true;
}

static void split_count_busy(const struct world *w, uint32_t node, uint32_t *busy)
{
    busy[w->network.topo.term[(size_t)node * w->network.net.rails].router]++;
}

/* Divides by the work at each router: nodes with traffic, ranks and servers. */
static void split_by_work(struct world *w, uint32_t want)
{
    const struct topo *t = &w->network.topo;
    uint32_t *busy = wr_zalloc(t->nrouters, sizeof *busy);

    for (uint32_t i = 0; w->traffic_on && i < t->nterms / w->network.net.rails; i++)
        split_count_busy(w, i, busy);
    for (uint32_t i = 0; i < w->njobs; i++)
        for (uint32_t k = 0; k < w->job[i].load.ranks; k++)
            split_count_busy(w, w->job[i].node[k], busy);
    for (uint32_t i = 0; w->files && i < w->files->nservers; i++)
        split_count_busy(w, w->files->server[i], busy);
    topo_split(t, want, busy, &w->split);
    free(busy);
}

/* Can this simulation be run with `want` threads, some in each of `processes`? */
static bool split_fits(struct world *w, uint32_t want, uint32_t processes, bool by_itself,
                       uint64_t *ret_lookahead)
{
    if (want < 2)
        return false;
    if (w->network.route.ops->sees_far)
        return split_refuse(w, "its routing looks at routers elsewhere at once");
    if (!w->network.net.rails || w->network.topo.nterms % w->network.net.rails)
        return false; /* the network refuses it, and says why */
    if (!net_may_partition(&w->network.net))
        return split_refuse(w, "its nodes inject a packet in less than a picosecond");
    split_by_work(w, want);
    if (w->split.n < 2)
        return split_refuse(w, "the machine has too few routers to be divided");
    if (w->split.n < processes)
        return split_refuse(w, "the machine has fewer partitions than there are processes");
    if (!split_share_nodes(w))
        return split_refuse(w, "rails of one node would lie in different partitions");
    uint64_t ps = net_lookahead(&w->network.topo, &w->network.net, &w->split);

    if (!ps)
        return split_refuse(w, "links between partitions take no time: give them a latency");
    if (by_itself && !world_threads_pay(w, w->split.n, ps))
        return false;
    *ret_lookahead = ps;
    return true;
}

static bool split_open_one(struct world *w, const struct net_client *client, struct wr_err *err)
{
    struct net_client mine = *client;

    w->npartitions = 1;
    w->partition = wr_zalloc_aligned(1, sizeof *w->partition);
    w->sim = wr_zalloc_aligned(1, sizeof *w->sim);
    sim_init(w->sim);
    w->partition[0] = (struct world_partition){.w = w, .sim = w->sim, .meter = &w->meter};
    mine.ctx = &w->partition[0];
    if (!net_open(&w->net, &w->network.topo, &w->network.route, &w->network.net, w->sim, w->c->seed,
                  &mine, err))
        return false;
    w->partition[0].net = w->net;
    return true;
}

static bool split_open_engine(struct world *w, uint64_t lookahead, struct sim_peers *peers,
                              const struct net_client *client, struct wr_err *err)
{
    struct net *net[SIM_MAX_PARTITIONS];
    struct net_client clients[SIM_MAX_PARTITIONS];

    w->npartitions = w->split.n;
    w->partition = wr_zalloc_aligned(w->npartitions, sizeof *w->partition);
    if (!sim_engine_open(&w->engine, w->npartitions, lookahead, peers, err))
        return false;
    for (uint32_t i = 0; i < w->npartitions; i++) {
        clients[i] = *client;
        clients[i].ctx = &w->partition[i];
    }
    w->sim = sim_engine_partition(w->engine, 0)->sim;
    if (!net_open_partitions(net, &w->network.topo, &w->network.route, &w->network.net, w->engine,
                             w->split.partition_of, w->c->seed, clients, err))
        return false;
    w->net = net[0];
    for (uint32_t i = 0; i < w->npartitions; i++)
        w->partition[i] = (struct world_partition){
            .w = w, .sim = sim_engine_partition(w->engine, i)->sim, .net = net[i]};
    return true;
}

/* The number of threads in all processes. All must use the same: process 0 broadcasts its own. */
static bool split_count_threads(struct world *w, uint32_t each, struct sim_peers *peers,
                                uint32_t *ret, struct wr_err *err)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t n = each;

    if (!peers) {
        *ret = each == WORLD_THREADS_AUTO ? world_auto_threads(w) : each;
        return true;
    }
    if (each == WORLD_THREADS_AUTO)
        n = cpus > sim_peers_local(peers) ? (uint64_t)cpus / sim_peers_local(peers) : 1;
    if (!sim_peers_broadcast(peers, &n, sizeof n, err))
        return false;
    n *= sim_peers_size(peers);
    if (n > WORLD_MOST_THREADS)
        return wr_fail(err, WR_INPUT,
                       "%u processes of %llu threads are more than the %d threads there can be; "
                       "start fewer processes, or use fewer threads",
                       sim_peers_size(peers), (unsigned long long)n / sim_peers_size(peers),
                       WORLD_MOST_THREADS);
    *ret = (uint32_t)n;
    return true;
}

bool world_split(struct world *w, uint32_t want, struct sim_peers *peers,
                 const struct net_client *client, struct wr_err *err)
{
    uint32_t processes = peers ? sim_peers_size(peers) : 1, threads;
    bool by_itself = !peers && want == WORLD_THREADS_AUTO;
    uint64_t lookahead;

    if (!split_count_threads(w, want, peers, &threads, err))
        return false;
    if (threads > 1 && !net_has_lookahead(&w->network.topo, &w->network.net)) {
        if (!by_itself)
            return wr_fail(err, WR_INPUT,
                           "this machine can be simulated with one thread only, since its credits "
                           "do not travel over the links (machine.router.credit_on_link: false); "
                           "set that to true, or use one thread: the runs of a study are executed "
                           "side by side");
        threads = 1;
    }
    if (!split_fits(w, threads, processes, by_itself, &lookahead)) {
        w->idle = peers && sim_peers_rank(peers);
        return split_open_one(w, client, err);
    }
    w->peers = peers;
    return split_open_engine(w, lookahead, peers, client, err);
}

void world_split_meters(struct world *w, uint64_t from_ps, uint64_t to_ps)
{
    meter_init(&w->meter, net_nodes(w->net), from_ps, to_ps);
    for (uint32_t i = 0; i < w->npartitions; i++) {
        if (w->engine) {
            w->partition[i].meter = wr_zalloc_aligned(1, sizeof *w->partition[i].meter);
            meter_init_share(w->partition[i].meter, &w->meter);
        }
        net_watch_packets(w->partition[i].net, w->partition[i].meter->packet);
        net_prefetch_arrivals(w->partition[i].net, w->meter.node, sizeof *w->meter.node);
    }
}

void world_gather(struct world *w)
{
    if (!w->engine)
        return;
    meter_clear(&w->meter);
    for (uint32_t i = 0; i < w->npartitions; i++)
        meter_add(&w->meter, w->partition[i].meter);
}

void world_unsplit(struct world *w)
{
    net_close(w->net);
    for (uint32_t i = 0; w->engine && i < w->npartitions; i++)
        if (w->partition[i].meter) {
            meter_fini_share(w->partition[i].meter);
            free(w->partition[i].meter);
        }
    if (w->engine)
        sim_engine_close(w->engine);
    else if (w->sim) {
        sim_fini(w->sim);
        free(w->sim);
    }
    world_flow_close(w);
    topo_split_free(&w->split);
    free(w->node_partition);
    free(w->partition);
}

uint64_t world_events(const struct world *w)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < w->npartitions; i++)
        sum += sim_events(w->partition[i].sim);
    return sum;
}

uint32_t world_threads(const struct world *w)
{
    return w->npartitions;
}

const char *world_why_one(const struct world *w)
{
    return w->why_one[0] ? w->why_one : NULL;
}

uint32_t world_profile(const struct world *w, struct world_profile ret[WORLD_MOST_THREADS])
{
    if (!w->engine) {
        ret[0] = (struct world_profile){.work = {.events = sim_events(w->sim)}};
        return 1;
    }
    for (uint32_t i = 0; i < w->npartitions; i++) {
        const struct sim_partition *p = sim_engine_partition(w->engine, i);

        ret[i] = (struct world_profile){.work = p->work,
                                        .ports = w->split.ports[i],
                                        .lookahead_ps = sim_engine_lookahead(w->engine)};
    }
    return w->npartitions;
}
