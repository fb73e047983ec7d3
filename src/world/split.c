/* split.c -- a world in partitions, one for each thread of each process; or in one, with the
 * reason. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "files_priv.h"
#include "sim/peers.h"

static bool no(struct world *w, const char *why)
{
    snprintf(w->why_one, sizeof w->why_one, "%s", why);
    return false;
}

/* All rails of a node must be in one partition. */
static bool share_nodes(struct world *w)
{
    const struct topo *t = &w->parts.topo;
    uint32_t rails = w->parts.net.rails, nodes = t->nterms / rails;

    w->node_part = wr_alloc(nodes * sizeof *w->node_part);
    for (uint32_t i = 0; i < t->nterms; i++) {
        uint8_t part = (uint8_t)w->split.part[t->term[i].router];

        if (i % rails && w->node_part[i / rails] != part)
            return false;
        w->node_part[i / rails] = part;
    }
    return true;
}

static void count_busy(const struct world *w, uint32_t node, uint32_t *busy)
{
    busy[w->parts.topo.term[(size_t)node * w->parts.net.rails].router]++;
}

/* Who makes work where: nodes with traffic, ranks and servers. */
static void split_by_work(struct world *w, uint32_t want)
{
    const struct topo *t = &w->parts.topo;
    uint32_t *busy = wr_zalloc(t->nrouters, sizeof *busy);

    for (uint32_t i = 0; w->traffic_on && i < t->nterms / w->parts.net.rails; i++)
        count_busy(w, i, busy);
    for (uint32_t i = 0; i < w->njobs; i++)
        for (uint32_t k = 0; k < w->job[i].load.ranks; k++)
            count_busy(w, w->job[i].node[k], busy);
    for (uint32_t i = 0; w->files && i < w->files->nservers; i++)
        count_busy(w, w->files->server[i], busy);
    topo_split(t, want, busy, &w->split);
    free(busy);
}

/* Can this world be run by `want` threads, some for each of `processes`? */
static bool fits(struct world *w, uint32_t want, uint32_t processes, bool by_itself,
                 uint64_t **ret_lookahead)
{
    if (want < 2)
        return false;
    if (w->parts.route.ops->sees_far)
        return no(w, "its routing looks at routers elsewhere at once");
    if (!w->parts.net.rails || w->parts.topo.nterms % w->parts.net.rails)
        return false; /* the network refuses it, and says why */
    if (!net_may_part(&w->parts.net))
        return no(w, "its nodes inject a packet in less than a picosecond");
    split_by_work(w, want);
    if (w->split.n < 2)
        return no(w, "the machine has too few routers to be divided");
    if (w->split.n < processes)
        return no(w, "the machine has fewer parts than there are processes");
    if (!share_nodes(w))
        return no(w, "rails of one node would lie in different parts of the machine");
    uint64_t *ps = net_lookahead(&w->parts.topo, &w->parts.net, &w->split);

    uint64_t least = SIM_NEVER;

    for (uint32_t i = 0; i < w->split.n * w->split.n; i++)
        least = ps[i] < least ? ps[i] : least;
    if (!least || (by_itself && !world_threads_pay(w, w->split.n, least))) {
        free(ps);
        return least ? false : no(w, "links between its parts take no time: give them a latency");
    }
    *ret_lookahead = ps;
    return true;
}

static bool open_one(struct world *w, const struct net_client *client, struct wr_err *err)
{
    struct net_client mine = *client;

    w->nparts = 1;
    w->part = wr_zalloc(1, sizeof *w->part);
    w->sim = wr_zalloc_aligned(1, sizeof *w->sim);
    sim_init(w->sim);
    w->part[0] = (struct world_part){.w = w, .sim = w->sim, .meter = &w->meter};
    mine.ctx = &w->part[0];
    if (!net_open(&w->net, &w->parts.topo, &w->parts.route, &w->parts.net, w->sim, w->c->seed,
                  &mine, err))
        return false;
    w->part[0].net = w->net;
    return true;
}

static bool open_crew(struct world *w, const uint64_t *lookahead, struct sim_peers *peers,
                      const struct net_client *client, struct wr_err *err)
{
    struct net *net[SIM_MAX_PARTS];
    struct net_client clients[SIM_MAX_PARTS];

    w->nparts = w->split.n;
    w->part = wr_zalloc(w->nparts, sizeof *w->part);
    if (!sim_crew_open(&w->crew, w->nparts, lookahead, peers, err))
        return false;
    for (uint32_t i = 0; i < w->nparts; i++) {
        clients[i] = *client;
        clients[i].ctx = &w->part[i];
    }
    w->sim = sim_crew_part(w->crew, 0)->sim;
    if (!net_open_parts(net, &w->parts.topo, &w->parts.route, &w->parts.net, w->crew, w->split.part,
                        w->c->seed, clients, err))
        return false;
    w->net = net[0];
    for (uint32_t i = 0; i < w->nparts; i++)
        w->part[i] =
            (struct world_part){.w = w, .sim = sim_crew_part(w->crew, i)->sim, .net = net[i]};
    return true;
}

/* How many threads in all. Processes must find the same, whatever else is at work where they are:
 * what one cannot know, the first tells the others. */
static bool count_threads(struct world *w, uint32_t each, struct sim_peers *peers, uint32_t *ret,
                          struct wr_err *err)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t n = each;

    if (!peers) {
        *ret = each == WORLD_THREADS_AUTO ? world_auto_threads(w) : each;
        return true;
    }
    if (each == WORLD_THREADS_AUTO)
        n = cpus > sim_peers_local(peers) ? (uint64_t)cpus / sim_peers_local(peers) : 1;
    if (!sim_peers_tell(peers, &n, sizeof n, err))
        return false;
    n *= sim_peers_size(peers);
    if (n > WORLD_MOST_THREADS)
        return wr_fail(err, WR_INPUT,
                       "%u processes of %llu threads are more than the %d threads there can be; "
                       "start fewer, or give a smaller -j",
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
    uint64_t *lookahead;

    if (!count_threads(w, want, peers, &threads, err))
        return false;
    if (!fits(w, threads, processes, by_itself, &lookahead)) {
        w->idle = peers && sim_peers_rank(peers);
        return open_one(w, client, err);
    }
    w->peers = peers;
    bool ok = open_crew(w, lookahead, peers, client, err);

    free(lookahead);
    return ok;
}

void world_split_meters(struct world *w, uint64_t from_ps, uint64_t to_ps)
{
    meter_init(&w->meter, net_nodes(w->net), from_ps, to_ps);
    for (uint32_t i = 0; i < w->nparts; i++) {
        if (w->crew) {
            w->part[i].meter = wr_zalloc_aligned(1, sizeof *w->part[i].meter);
            meter_init_share(w->part[i].meter, &w->meter);
        }
        net_watch_packets(w->part[i].net, w->part[i].meter->packet);
        net_warm_arrivals(w->part[i].net, w->meter.node, sizeof *w->meter.node);
    }
}

void world_gather(struct world *w)
{
    if (!w->crew)
        return;
    meter_clear(&w->meter);
    for (uint32_t i = 0; i < w->nparts; i++)
        meter_add(&w->meter, w->part[i].meter);
}

void world_unsplit(struct world *w)
{
    net_close(w->net);
    for (uint32_t i = 0; w->crew && i < w->nparts; i++)
        if (w->part[i].meter) {
            meter_fini_share(w->part[i].meter);
            free(w->part[i].meter);
        }
    if (w->crew)
        sim_crew_close(w->crew);
    else if (w->sim) {
        sim_fini(w->sim);
        free(w->sim);
    }
    world_flow_close(w);
    topo_split_free(&w->split);
    free(w->node_part);
    free(w->part);
}

uint64_t world_events(const struct world *w)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < w->nparts; i++)
        sum += sim_events(w->part[i].sim);
    return sum;
}

uint32_t world_threads(const struct world *w)
{
    return w->nparts;
}

const char *world_why_one(const struct world *w)
{
    return w->why_one[0] ? w->why_one : NULL;
}

uint32_t world_profile(const struct world *w, struct world_profile ret[WORLD_MOST_THREADS])
{
    if (!w->crew) {
        ret[0] = (struct world_profile){.work = {.events = sim_events(w->sim)}};
        return 1;
    }
    for (uint32_t i = 0; i < w->nparts; i++) {
        const struct sim_part *p = sim_crew_part(w->crew, i);

        ret[i] = (struct world_profile){
            .work = p->work, .ports = w->split.ports[i], .lookahead_ps = SIM_NEVER};
        ret[i].work.sent = p->sent;
        for (uint32_t q = 0; q < w->nparts; q++)
            if (q != i && p->reach[q] < ret[i].lookahead_ps)
                ret[i].lookahead_ps = p->reach[q];
    }
    return w->nparts;
}
