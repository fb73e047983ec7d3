/* world.c -- set-up of a simulation, its traffic sources, and the loop that runs it.
 *
 * world_run advances to the next time slice or check (world_advance with one thread,
 * world_advance_all with partitions), writes slices, and stops when all measured messages have
 * arrived. Invariant: where a run stops does not depend on the number of threads.
 */
#include "world/world.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/signals.h"
#include "load/synth/synth.h"
#include "net/topo/fail.h"
#include "sim/peers.h"
#include "sim/sim.h"
#include "world_priv.h"

enum { CHECK_EVENTS = 1 << 16 }; /* events between two checks of Ctrl-C and the progress line */

/* --- traffic --- */

/* Schedules the next message of `node`. */
static void world_plan(struct world_partition *partition, uint32_t node)
{
    struct world *w = partition->w;
    struct world_source *s = &w->source[node];

    if (w->c->traffic.messages && s->posted >= w->c->traffic.messages)
        return;
    s->next = synth_next(&w->traffic, &s->synth, node);
    if (w->down && s->next.dest != SYNTH_SKIP && w->down[s->next.dest])
        s->next.dest = SYNTH_SKIP;
    sim_at(partition->sim, partition->sim->now + s->next.gap_ps, net_node_lp(w->net, node),
           sim_subkey(WORLD_EV_SOURCE, 0), 0, node, s->next.dest); /* for world_prefetch_source() */
}

static void world_on_source(void *ctx, const struct sim_event *e)
{
    struct world_partition *partition = ctx;
    uint32_t node = e->arg;
    struct world_source *s = &partition->w->source[node];

    if (s->next.dest != SYNTH_SKIP)
        world_partition_send(partition, node, s->next.dest, s->next.bytes,
                             world_traffic_app(partition->w), 0, 0);
    s->posted++;
    if (!partition->rank || !ranks_ended(partition->rank, partition->w->longest_ps))
        world_plan(partition, node);
}

static void world_prefetch_source(const void *ctx, const struct sim_event *e)
{
    const struct world *w = ctx;

    __builtin_prefetch(&w->source[e->arg].next);
    __builtin_prefetch(&w->meter.node[e->arg]);
    if (e->arg2 == SYNTH_SKIP)
        return;
    net_prefetch_node(w->net, e->arg, e->arg2);
    if (w->partition[0].flow)
        __builtin_prefetch(&w->group[e->arg2]);
}

static void world_on_arrived(void *ctx, uint32_t msg)
{
    struct world_partition *partition = ctx;
    struct world *w = partition->w;
    const struct net_msg *m = net_msg_at(partition->net, msg);

    meter_arrived(partition->meter, m->dst, (enum meter_near)m->near, m->bytes, m->t_post_ps,
                  partition->sim->now);
    partition->arrival_ps = partition->sim->now;
    if (m->app == world_traffic_app(w))
        return;
    if (m->cls >= RANK_CLASSES)
        world_files_arrived(partition, m);
    else
        ranks_arrived(partition->rank, m->user, msg);
}

static void world_on_sent(void *ctx, uint32_t msg)
{
    struct world_partition *partition = ctx;
    struct world *w = partition->w;
    const struct net_msg *m = net_msg_at(partition->net, msg);

    if (m->app != world_traffic_app(w) && m->cls < RANK_CLASSES)
        ranks_sent(partition->rank, m->user, msg);
}

/* Messages of ranks and of storage go to other partitions by value. */
_Static_assert((int)RANK_MOST_PACKED <= (int)NET_MOST_USER &&
                   (int)STORE_MOST_PACKED <= (int)NET_MOST_USER,
               "what travels with a message fits");

static uint32_t world_on_pack(void *ctx, const struct net_msg *m, void *buf)
{
    struct world_partition *partition = ctx;

    if (m->app == world_traffic_app(partition->w))
        return 0;
    return m->cls < RANK_CLASSES ? ranks_pack(partition->rank, m->user, buf)
                                 : store_pack(partition->store, m->user, buf);
}

static uint64_t world_on_unpack(void *ctx, const struct net_msg *m, const void *buf, uint32_t bytes)
{
    struct world_partition *partition = ctx;

    (void)bytes;
    return m->cls < RANK_CLASSES ? ranks_unpack(partition->rank, buf)
                                 : store_unpack(partition->store, buf);
}

/* The group of each node's first rail, for patterns that speak of groups. */
static uint32_t *world_node_groups(const struct topo *t, uint32_t rails)
{
    uint32_t nodes = t->nterms / rails, *group = wr_alloc(nodes * sizeof *group);

    for (uint32_t i = 0; i < nodes; i++)
        group[i] = t->group[t->term[i * rails].router];
    return group;
}

/* A node is down when a router of any of its rails is dead: messages take all rails
 * in turn, and the rail they leave by is the rail they arrive at. */
static bool world_find_down(struct world *w, const struct conf *conf, struct wr_err *err)
{
    const struct topo *t = &w->network.topo;
    uint32_t rails = w->network.net.rails, nodes = t->nterms / rails;

    w->nodes_up = nodes;
    if (!t->nfailed)
        return true;
    w->down = wr_zalloc(nodes, sizeof *w->down);
    for (uint32_t i = 0; i < nodes; i++) {
        for (uint32_t r = 0; r < rails; r++)
            w->down[i] |= !topo_term_alive(t, i * rails + r);
        w->nodes_up -= w->down[i];
    }
    if (!w->nodes_up)
        return conf_fail(conf, &w->c->machine.failures, err,
                         "no node is left: each has a failed router; declare fewer failures");
    return true;
}

static bool world_open_traffic(struct world *w, const struct conf *conf, struct wr_err *err)
{
    const struct world_traffic *c = &w->c->traffic;
    const struct topo *t = &w->network.topo;
    uint32_t rails = w->network.net.rails;
    double rate = w->network.net.link[TOPO_INJECT].bandwidth * rails;
    struct wr_err inner;

    w->group = world_node_groups(t, rails);
    struct synth_pattern shape = {
        .nnodes = t->nterms / rails, .ngroups = t->ngroups, .group = w->group, .seed = w->c->seed};

    if (!synth_size_open(&w->traffic.size, &c->size, &inner))
        return conf_fail(conf, &c->size, err, "%s", inner.text);
    w->mean_gap_ps = synth_mean_gap_ps(c->load, w->traffic.size.mean, rate);
    double slot_ps = 1e12 * (double)w->network.net.packet_b / rate;

    if (!synth_inject_open(&w->traffic.inject, &c->injection, w->mean_gap_ps, slot_ps, &inner))
        return conf_fail(conf, &c->injection, err, "%s", inner.text);
    if (!synth_pattern_open(&w->traffic.pattern, &c->pattern, &shape, &inner))
        return conf_fail(conf, &c->pattern, err, "%s", inner.text);
    return true;
}

/* --- setting up --- */

static void world_join_partition(struct world_partition *partition)
{
    sim_handle(partition->sim, WORLD_EV_SOURCE, world_on_source, partition);
    partition->sim->queue.prefetch[WORLD_EV_SOURCE] =
        (struct sim_prefetch){.thing = (char *)partition->w->source,
                              .size = sizeof *partition->w->source,
                              .more = world_prefetch_source,
                              .ctx = partition->w};
}

bool world_open(struct world **ret, const struct conf *conf, const struct world_config *c,
                struct wr_err *err)
{
    return world_open_threads(ret, conf, c, 1, err);
}

bool world_open_threads(struct world **ret, const struct conf *conf, const struct world_config *c,
                        uint32_t threads, struct wr_err *err)
{
    return world_open_shared(ret, conf, c, threads, NULL, err);
}

/* The longest delay of a packet or credit between two routers: at least the lookahead, however the
 * machine is divided. Traffic beside jobs goes on for as long after the last of them has ended,
 * which every partition knows by then. */
static uint64_t world_longest_delay(const struct world_network *network)
{
    const struct topo *t = &network->topo;
    uint64_t most = 0;

    for (uint32_t c = 0; c < t->nclasses; c++) {
        uint64_t ps =
            1 + (uint64_t)(network->net.link[c].latency_ps + network->net.router_delay_ps);

        if (c != TOPO_INJECT && c != TOPO_EJECT)
            most = ps > most ? ps : most;
    }
    return most;
}

static bool world_open_world(struct world **ret, const struct conf *conf,
                             const struct world_config *c, uint32_t threads,
                             struct sim_peers *peers, struct wr_err *err)
{
    assert(conf && c && threads <= WORLD_MOST_THREADS);
    struct world *w = wr_zalloc_aligned(1, sizeof *w);
    const struct world_traffic *t = &c->traffic;
    uint64_t from = (uint64_t)t->warmup_ps, to = from + (uint64_t)t->measure_ps;
    struct net_client client = {.arrived = world_on_arrived};
    bool jobs = c->jobs.n != 0;

    w->c = c;
    w->conf = conf;
    w->njobs = (uint32_t)c->jobs.n;
    w->traffic_on = !w->njobs || t->beside_jobs;
    if (w->njobs)
        client = (struct net_client){.arrived = world_on_arrived,
                                     .sent = world_on_sent,
                                     .pack = world_on_pack,
                                     .unpack = world_on_unpack};
    if (!world_network_open(&w->network, conf, &c->machine, err)) {
        free(w);
        return false;
    }
    w->longest_ps = world_longest_delay(&w->network);
    if (!world_find_down(w, conf, err) || !world_open_traffic(w, conf, err) ||
        (jobs && !world_jobs_plan(w, conf, err)) || !world_split(w, threads, peers, &client, err)) {
        world_close(w);
        return false;
    }
    if (t->messages || w->njobs) {
        from = 0;
        to = UINT64_MAX;
    }
    uint32_t nodes = net_nodes(w->net);

    world_split_meters(w, from, to);
    w->nsources = nodes;
    w->source = wr_alloc_pages(nodes, sizeof *w->source);
    for (uint32_t i = 0; i < w->npartitions; i++)
        world_join_partition(&w->partition[i]);
    world_flow_open(w);
    if (jobs && !world_jobs_open(w, conf, err)) {
        world_close(w);
        return false;
    }
    for (uint32_t i = 0; i < nodes; i++) {
        if (!w->traffic_on || (w->down && w->down[i]) || !world_runs(w, i))
            continue;
        synth_source_init(&w->source[i].synth, c->seed, i);
        world_plan(world_partition_of(w, i), i);
    }
    *ret = w;
    return true;
}

bool world_open_shared(struct world **ret, const struct conf *conf, const struct world_config *c,
                       uint32_t threads, struct sim_peers *peers, struct wr_err *err)
{
    struct world *w = NULL;
    bool ok = world_open_world(&w, conf, c, threads, peers, err);

    if (!sim_peers_agree(peers, ok, err)) { /* no process runs before all are open */
        world_close(w);
        return false;
    }
    *ret = w;
    return true;
}

void world_close(struct world *w)
{
    if (!w)
        return;
    world_jobs_close(w);
    world_unsplit(w);
    synth_pattern_close(&w->traffic.pattern);
    synth_size_close(&w->traffic.size);
    meter_fini(&w->meter);
    world_network_close(&w->network);
    world_links_close(w);
    wr_free_pages(w->source, w->nsources, sizeof *w->source);
    free(w->group);
    free(w->down);
    free(w);
}

const struct net *world_net(const struct world *w)
{
    return w->net;
}

const struct topo *world_topo(const struct world *w)
{
    return &w->network.topo;
}

const struct store *world_store(const struct world *w)
{
    return w->store;
}

const struct ranks *world_ranks(const struct world *w)
{
    return w->rank;
}

void world_print_logs(const struct world *w, struct wr_str *out)
{
    for (uint32_t i = 0; i < w->njobs; i++) {
        const struct load *l = &w->job[i].load;

        if (w->njobs > 1)
            wr_str_addf(out, "# job %u\n", i);
        if (l->ops->print)
            l->ops->print(l, out);
    }
}

const char *world_log_fault(const struct world *w)
{
    for (uint32_t i = 0; i < w->njobs; i++)
        if (w->job[i].log_fault)
            return w->job[i].log_fault;
    return NULL;
}

uint64_t world_horizon_ps(const struct world_config *c)
{
    return (uint64_t)c->traffic.warmup_ps + (uint64_t)c->traffic.measure_ps;
}

/* --- running --- */

/* Events per call of sim_run. Builds with WEIR_CHECK verify the network's invariants in between,
 * which takes time in proportion to the machine. */
static uint64_t world_events_per_call(const struct world *w)
{
#ifdef WEIR_CHECK
    return 4096 + 16 * (uint64_t)net_lps(w->net);
#else
    (void)w;
    return CHECK_EVENTS;
#endif
}

static bool world_check(const struct world *w, struct wr_err *err)
{
#ifdef WEIR_CHECK
    return w->peers || net_check(w->net, err); /* the state of other processes is not here */
#else
    (void)w;
    (void)err;
    return true;
#endif
}

/* Reports progress, as known in one partition. How much programs still have to do is not known;
 * the number of jobs that have ended is. */
static bool world_report_progress(const struct world_partition *partition, struct run *run,
                                  struct wr_progress *progress, struct wr_err *err)
{
    const struct world *w = partition->w;
    const struct world_traffic *t = &w->c->traffic;
    double us = (double)partition->sim->now * 1e-6;
    double measured = (double)partition->meter->measured * w->npartitions;

    if (progress)
        wr_progress_set(progress, t->messages && !w->njobs ? measured : us);
    if (!run)
        return true;
    if (w->njobs)
        return run_put_progress(run, ranks_jobs_ended(partition->rank), w->njobs > 1 ? w->njobs : 0,
                                "jobs that have ended", err);
    if (t->messages)
        return run_put_progress(run, measured, (double)t->messages * (double)w->nodes_up,
                                "messages", err);
    return run_put_progress(run, us, (double)world_horizon_ps(w->c) * 1e-6, "simulated time", err);
}

/* Executes up to `until`; false when Ctrl-C came or a check failed. Sets
 * *ret_more: events are left. */
static bool world_advance(struct world *w, uint64_t until, struct run *run,
                          struct wr_progress *progress, bool *ret_more, struct wr_err *err)
{
    uint64_t most = world_events_per_call(w);

    for (;;) {
        uint64_t before = sim_events(w->sim);

        *ret_more = sim_run(w->sim, until, most);
        if (!world_check(w, err) || (w->rank && !world_jobs_check(w, err)))
            return false;
        if (!world_report_progress(&w->partition[0], run, progress, err))
            return false;
        if (wr_interrupted())
            return wr_fail(err, WR_INTERRUPTED, "interrupted");
        if (sim_events(w->sim) - before == most)
            continue;
        if (*ret_more)
            w->sim->now = until;
        return true;
    }
}

/* With jobs and traffic, a heartbeat stops the engine at intervals so that all ranks are checked
 * together: a deadlock of jobs does not end the events of the traffic. */
enum { STOP_NS = 250 * 1000 * 1000 };

/* The state of the heartbeat during one run of the engine. */
struct heartbeat {
    struct world *w;
    struct run *run;
    struct wr_progress *progress;
    struct wr_err *err;
    bool failed;
    uint64_t since; /* when the engine was started, ns */
};

static bool world_heartbeat(void *ctx)
{
    struct heartbeat *p = ctx;

    p->failed =
        p->failed || !world_report_progress(&p->w->partition[0], p->run, p->progress, p->err);
    if (p->w->rank &&
        (ranks_any_failed(p->w->rank) || (p->w->traffic_on && wr_clock_ns() - p->since > STOP_NS)))
        return true;
    return p->failed || wr_interrupted();
}

/* May the run continue? Called in the process that decides, with all clocks at one time. */
static bool world_check_end(struct world *w, const struct heartbeat *p, bool interrupted,
                            struct wr_err *err)
{
    if (p->failed || !world_check(w, err) || (w->rank && !world_jobs_check(w, err)))
        return false;
    return !interrupted || wr_fail(err, WR_INTERRUPTED, "interrupted");
}

/* The same with partitions, in this process or in others. */
static bool world_advance_all(struct world *w, uint64_t until, struct run *run,
                              struct wr_progress *progress, bool *ret_more, struct wr_err *err)
{
    uint64_t reached = 0;

    *ret_more = true;
    while (*ret_more && reached < until) {
        struct heartbeat p = {
            .w = w, .run = run, .progress = progress, .err = err, .since = wr_clock_ns()};
        bool interrupted, ok;

        *ret_more = sim_engine_run(w->engine, until, world_heartbeat, &p, &reached);
        if (!world_meet(w, !*ret_more, &interrupted, err))
            return false;
        world_gather(w);
        ok = !world_leads(w) || world_check_end(w, &p, interrupted, err);
        if (!world_follow(w, ok, err))
            return false;
    }
    return true;
}

/* Gathers all counters, once, at the end. */
static bool world_finish(struct world *w, struct wr_err *err)
{
    bool ignored;

    if (w->whole)
        return true;
    if (!world_meet(w, true, &ignored, err))
        return false;
    world_gather(w);
    return true;
}

/* Ends a run early: interrupted, with the counters so far, or with an error. */
static bool world_stop(struct world *w, enum world_end *ret, struct wr_err *err)
{
    struct wr_err why;

    *ret = WORLD_INTERRUPTED;
    w->end_ps = w->sim->now;
    if (err->code != WR_INTERRUPTED)
        return false;
    return world_finish(w, &why) || (*err = why, false);
}

static uint64_t world_last_arrival(const struct world *w)
{
    uint64_t last = 0;

    for (uint32_t i = 0; i < w->npartitions; i++)
        last = w->partition[i].arrival_ps > last ? w->partition[i].arrival_ps : last;
    return last;
}

/* The run stops only at fixed times, so that where it ends does not depend on how it is executed.
 */
bool world_run(struct world *w, struct run *run, struct wr_progress *progress, enum world_end *ret,
               struct wr_err *err)
{
    bool by_time = !w->c->traffic.messages && !w->njobs;
    uint64_t horizon = by_time ? world_horizon_ps(w->c) : UINT64_MAX;
    uint64_t limit = by_time ? horizon + (uint64_t)w->c->traffic.drain_ps : UINT64_MAX;
    uint64_t slice = (uint64_t)w->c->slice_ps,
             step = horizon == UINT64_MAX ? horizon : horizon / 64 + 1;
    /* Whether all messages have arrived is checked at these times only: slices change nothing. */
    uint64_t check = horizon;
    uint64_t at = 0, next_slice = slice ? slice : UINT64_MAX;
    bool more = true;

    assert(!w->end_ps); /* a simulation runs once */
    if (w->idle) {
        *ret = WORLD_DONE;
        return true;
    }
    if (slice && !world_slices_open(w, run, err))
        return false;
    while (more && at < limit) {
        uint64_t to = check < next_slice ? check : next_slice;

        if (!(w->engine ? world_advance_all : world_advance)(w, to, run, progress, &more, err))
            return world_stop(w, ret, err);
        at = to;
        if (slice && at == next_slice) {
            if (!world_slices_put(w, run, at, err))
                return false;
            next_slice += slice;
        }
        if (at == check) {
            if (!w->meter.unfinished)
                break;
            check = limit - check < step ? limit : check + step;
        }
    }
    if (!world_finish(w, err))
        return false;
    if (w->store && !more && world_leads(w) && !world_files_check(w, err))
        return false;
    *ret = w->meter.unfinished ? WORLD_DRAIN_LIMIT : WORLD_DONE;
    w->end_ps = more ? at : world_last_arrival(w);
    for (uint32_t i = 0; i < w->njobs; i++) {
        uint64_t end = ranks_job_end_ps(w->rank, i);

        w->end_ps = !i || end > w->end_ps ? end : w->end_ps;
    }
    return true;
}
