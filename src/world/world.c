#include "world/world.h"

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

enum { LOOK_EVERY = 1 << 16 }; /* events between two looks at Ctrl-C and the progress line */

/* --- traffic --- */

/* Let `node` post its next message when its gap has passed. */
static void plan(struct world_part *part, uint32_t node)
{
    struct world *w = part->w;
    struct world_source *s = &w->source[node];

    if (w->c->traffic.messages && s->posted >= w->c->traffic.messages)
        return;
    s->next = synth_next(&w->traffic, &s->synth, node);
    if (w->down && s->next.dest != SYNTH_SKIP && w->down[s->next.dest])
        s->next.dest = SYNTH_SKIP;
    sim_at(part->sim, part->sim->now + s->next.gap_ps, net_node_lp(w->net, node),
           sim_lane(WORLD_EV_SOURCE, 0), 0, node, s->next.dest); /* for warm_source() */
}

static void on_source(void *ctx, const struct sim_event *e)
{
    struct world_part *part = ctx;
    uint32_t node = e->arg;
    struct world_source *s = &part->w->source[node];

    if (s->next.dest != SYNTH_SKIP)
        world_part_send(part, node, s->next.dest, s->next.bytes, world_traffic_app(part->w), 0, 0);
    s->posted++;
    if (!part->rank || !ranks_all_over(part->rank, net_node_lp(part->net, node)))
        plan(part, node);
}

static void warm_source(const void *ctx, const struct sim_event *e)
{
    const struct world *w = ctx;

    __builtin_prefetch(&w->source[e->arg].next);
    __builtin_prefetch(&w->meter.node[e->arg]);
    if (e->arg2 == SYNTH_SKIP)
        return;
    net_warm_node(w->net, e->arg, e->arg2);
    if (w->part[0].flow)
        __builtin_prefetch(&w->group[e->arg2]);
}

static void on_arrived(void *ctx, uint32_t msg)
{
    struct world_part *part = ctx;
    struct world *w = part->w;
    const struct net_msg *m = net_msg_at(part->net, msg);

    meter_arrived(part->meter, m->dst, (enum meter_near)m->near, m->bytes, m->t_post_ps,
                  part->sim->now);
    if (m->app == world_traffic_app(w))
        return;
    if (m->cls >= RANK_CLASSES)
        world_files_arrived(part, m);
    else
        ranks_arrived(part->rank, m->user, msg);
}

static void on_sent(void *ctx, uint32_t msg)
{
    struct world_part *part = ctx;
    struct world *w = part->w;
    const struct net_msg *m = net_msg_at(part->net, msg);

    if (m->app != world_traffic_app(w) && m->cls < RANK_CLASSES)
        ranks_sent(part->rank, m->user, msg);
}

/* Messages of ranks and of storage go to other partitions by value. */
_Static_assert((int)RANK_MOST_PACKED <= (int)NET_MOST_USER &&
                   (int)STORE_MOST_PACKED <= (int)NET_MOST_USER,
               "what travels with a message fits");

static uint32_t on_pack(void *ctx, const struct net_msg *m, void *buf)
{
    struct world_part *part = ctx;

    if (m->app == world_traffic_app(part->w))
        return 0;
    return m->cls < RANK_CLASSES ? ranks_pack(part->rank, m->user, buf)
                                 : store_pack(part->store, m->user, buf);
}

static uint64_t on_unpack(void *ctx, const struct net_msg *m, const void *buf, uint32_t bytes)
{
    struct world_part *part = ctx;

    (void)bytes;
    return m->cls < RANK_CLASSES ? ranks_unpack(part->rank, buf) : store_unpack(part->store, buf);
}

/* The group of each node's first rail, for patterns that speak of groups. */
static uint32_t *node_groups(const struct topo *t, uint32_t rails)
{
    uint32_t nodes = t->nterms / rails, *group = wr_alloc(nodes * sizeof *group);

    for (uint32_t i = 0; i < nodes; i++)
        group[i] = t->group[t->term[i * rails].router];
    return group;
}

/* A node is down when a router of any of its rails is dead: messages take all rails
 * in turn, and the rail they leave by is the rail they arrive at. */
static bool find_down(struct world *w, const struct conf *conf, struct wr_err *err)
{
    const struct topo *t = &w->parts.topo;
    uint32_t rails = w->parts.net.rails, nodes = t->nterms / rails;

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

static bool open_traffic(struct world *w, const struct conf *conf, struct wr_err *err)
{
    const struct world_traffic *c = &w->c->traffic;
    const struct topo *t = &w->parts.topo;
    uint32_t rails = w->parts.net.rails;
    double rate = w->parts.net.link[TOPO_INJECT].bandwidth * rails;
    struct wr_err inner;

    w->group = node_groups(t, rails);
    struct synth_pattern shape = {
        .nnodes = t->nterms / rails, .ngroups = t->ngroups, .group = w->group, .seed = w->c->seed};

    if (!synth_size_open(&w->traffic.size, &c->size, &inner))
        return conf_fail(conf, &c->size, err, "%s", inner.text);
    w->mean_gap_ps = synth_mean_gap_ps(c->load, w->traffic.size.mean, rate);
    double slot_ps = 1e12 * (double)w->parts.net.packet_b / rate;

    if (!synth_inject_open(&w->traffic.inject, &c->injection, w->mean_gap_ps, slot_ps, &inner))
        return conf_fail(conf, &c->injection, err, "%s", inner.text);
    if (!synth_pattern_open(&w->traffic.pattern, &c->pattern, &shape, &inner))
        return conf_fail(conf, &c->pattern, err, "%s", inner.text);
    return true;
}

/* --- setting up --- */

static void join_part(struct world_part *part)
{
    sim_handle(part->sim, WORLD_EV_SOURCE, on_source, part);
    part->sim->queue.warm[WORLD_EV_SOURCE] = (struct sim_warm){.thing = (char *)part->w->source,
                                                               .size = sizeof *part->w->source,
                                                               .more = warm_source,
                                                               .ctx = part->w};
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

static bool open_world(struct world **ret, const struct conf *conf, const struct world_config *c,
                       uint32_t threads, struct sim_peers *peers, struct wr_err *err)
{
    struct world *w = wr_zalloc_aligned(1, sizeof *w);
    const struct world_traffic *t = &c->traffic;
    uint64_t from = (uint64_t)t->warmup_ps, to = from + (uint64_t)t->measure_ps;
    struct net_client client = {.arrived = on_arrived};
    bool jobs = c->jobs.n != 0;

    w->c = c;
    w->conf = conf;
    w->njobs = (uint32_t)c->jobs.n;
    w->traffic_on = !w->njobs || t->beside_jobs;
    if (w->njobs)
        client = (struct net_client){
            .arrived = on_arrived, .sent = on_sent, .pack = on_pack, .unpack = on_unpack};
    if (!world_parts_open(&w->parts, conf, &c->machine, err)) {
        free(w);
        return false;
    }
    if (!find_down(w, conf, err) || !open_traffic(w, conf, err) ||
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
    w->source = wr_zalloc_aligned(nodes, sizeof *w->source);
    for (uint32_t i = 0; i < w->nparts; i++)
        join_part(&w->part[i]);
    world_flow_open(w);
    if (jobs && !world_jobs_open(w, conf, err)) {
        world_close(w);
        return false;
    }
    for (uint32_t i = 0; i < nodes; i++) {
        synth_source_init(&w->source[i].synth, c->seed, i);
        if (w->traffic_on && (!w->down || !w->down[i]) && world_runs(w, i))
            plan(world_part_of(w, i), i);
    }
    *ret = w;
    return true;
}

bool world_open_shared(struct world **ret, const struct conf *conf, const struct world_config *c,
                       uint32_t threads, struct sim_peers *peers, struct wr_err *err)
{
    struct world *w = NULL;
    bool ok = open_world(&w, conf, c, threads, peers, err);

    if (!sim_peers_agree(peers, ok, err)) { /* nobody runs before all are open */
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
    world_parts_close(&w->parts);
    world_links_close(w);
    free(w->source);
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
    return &w->parts.topo;
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

/* Builds with WEIR_CHECK look at the network's invariants now and then: a look
 * takes time in proportion to the machine, so a large one is looked at less often. */
static uint64_t stretch(const struct world *w)
{
#ifdef WEIR_CHECK
    return 4096 + 16 * (uint64_t)net_lps(w->net);
#else
    (void)w;
    return LOOK_EVERY;
#endif
}

static bool check(const struct world *w, struct wr_err *err)
{
#ifdef WEIR_CHECK
    return w->peers || net_check(w->net, err); /* of what others have, nothing is known here */
#else
    (void)w;
    (void)err;
    return true;
#endif
}

/* How far the run is, as seen by one partition. What programs still have to do is not known; that
 * jobs have ended is. */
static bool tell(const struct world_part *part, struct run *run, struct wr_progress *progress,
                 struct wr_err *err)
{
    const struct world *w = part->w;
    const struct world_traffic *t = &w->c->traffic;
    double us = (double)part->sim->now * 1e-6;
    double measured = (double)part->meter->measured * w->nparts;

    if (progress)
        wr_progress_set(progress, t->messages && !w->njobs ? measured : us);
    if (!run)
        return true;
    if (w->njobs)
        return run_put_progress(run, ranks_jobs_ended(part->rank), w->njobs > 1 ? w->njobs : 0,
                                "jobs that have ended", err);
    if (t->messages)
        return run_put_progress(run, measured, (double)t->messages * (double)w->nodes_up,
                                "messages", err);
    return run_put_progress(run, us, (double)world_horizon_ps(w->c) * 1e-6, "simulated time", err);
}

/* Executes up to `until`; false when Ctrl-C came or a check failed. Sets
 * *ret_more: events are left. */
static bool advance(struct world *w, uint64_t until, struct run *run, struct wr_progress *progress,
                    bool *ret_more, struct wr_err *err)
{
    uint64_t most = stretch(w);

    for (;;) {
        uint64_t before = sim_events(w->sim);

        *ret_more = sim_run(w->sim, until, most);
        if (!check(w, err) || (w->rank && !world_jobs_check(w, err)))
            return false;
        if (!tell(&w->part[0], run, progress, err))
            return false;
        if (wr_interrupted())
            return wr_fail(err, WR_INTERRUPTED, "interrupted");
        if (!*ret_more || sim_events(w->sim) - before < most)
            return true;
    }
}

/* A pulse may end a stretch of a run with jobs and traffic, so that all partitions are looked at
 * together: jobs may have come to a standstill that the traffic hides. */
enum { LOOK_NS = 250 * 1000 * 1000 };

struct pulse {
    struct world *w;
    struct run *run;
    struct wr_progress *progress;
    struct wr_err *err;
    bool failed;
    uint64_t since; /* the last look */
};

static bool pulse(void *ctx)
{
    struct pulse *p = ctx;

    p->failed = p->failed || !tell(&p->w->part[0], p->run, p->progress, p->err);
    if (p->w->rank &&
        (ranks_any_failed(p->w->rank) || (p->w->traffic_on && wr_clock_ns() - p->since > LOOK_NS)))
        return true;
    return p->failed || wr_interrupted();
}

/* May it go on? Asked of the process that decides, when all partitions stand at one time. */
static bool judge(struct world *w, const struct pulse *p, bool interrupted, struct wr_err *err)
{
    if (p->failed || !check(w, err) || (w->rank && !world_jobs_check(w, err)))
        return false;
    return !interrupted || wr_fail(err, WR_INTERRUPTED, "interrupted");
}

/* The same with a thread for each partition, in this process or in others. */
static bool advance_all(struct world *w, uint64_t until, struct run *run,
                        struct wr_progress *progress, bool *ret_more, struct wr_err *err)
{
    uint64_t reached = 0;

    *ret_more = true;
    while (*ret_more && reached < until) {
        struct pulse p = {
            .w = w, .run = run, .progress = progress, .err = err, .since = wr_clock_ns()};
        bool interrupted, ok;

        *ret_more = sim_crew_run(w->crew, until, pulse, &p, &reached);
        if (!world_meet(w, !*ret_more, &interrupted, err))
            return false;
        world_gather(w);
        ok = !world_leads(w) || judge(w, &p, interrupted, err);
        if (!world_follow(w, ok, err))
            return false;
    }
    return true;
}

/* What is counted where, when there is nothing more to be executed. */
static bool finish(struct world *w, struct wr_err *err)
{
    bool ignored;

    if (w->whole)
        return true;
    if (!world_meet(w, true, &ignored, err))
        return false;
    world_gather(w);
    return true;
}

/* It ends before its time, with what was counted so far or with an error. */
static bool stop(struct world *w, enum world_end *ret, struct wr_err *err)
{
    struct wr_err why;

    *ret = WORLD_INTERRUPTED;
    w->end_ps = w->sim->now;
    if (err->code != WR_INTERRUPTED)
        return false;
    return finish(w, &why) || (*err = why, false);
}

/* The run is cut at fixed times, so where it ends does not depend on how it is executed. */
bool world_run(struct world *w, struct run *run, struct wr_progress *progress, enum world_end *ret,
               struct wr_err *err)
{
    bool by_time = !w->c->traffic.messages && !w->njobs;
    uint64_t horizon = by_time ? world_horizon_ps(w->c) : UINT64_MAX;
    uint64_t limit = by_time ? horizon + (uint64_t)w->c->traffic.drain_ps : UINT64_MAX;
    uint64_t slice = (uint64_t)w->c->slice_ps,
             step = horizon == UINT64_MAX ? horizon : horizon / 64 + 1;
    /* Whether all has arrived is looked at at these times only: slices change nothing. */
    uint64_t look = horizon;
    uint64_t at = 0, next_slice = slice ? slice : UINT64_MAX;
    bool more = true;

    if (w->idle) {
        *ret = WORLD_DONE;
        return true;
    }
    if (slice && !world_slices_open(w, run, err))
        return false;
    while (more && at < limit) {
        uint64_t to = look < next_slice ? look : next_slice;

        if (!(w->crew ? advance_all : advance)(w, to, run, progress, &more, err))
            return stop(w, ret, err);
        at = to;
        if (slice && at == next_slice) {
            if (!world_slices_put(w, run, at, err))
                return false;
            next_slice += slice;
        }
        if (at == look) {
            if (!w->meter.unfinished)
                break;
            look = limit - look < step ? limit : look + step;
        }
    }
    if (!finish(w, err))
        return false;
    if (w->store && !more && world_leads(w) && !world_files_check(w, err))
        return false;
    *ret = w->meter.unfinished ? WORLD_DRAIN_LIMIT : WORLD_DONE;
    w->end_ps = more ? at : w->sim->now;
    for (uint32_t i = 0; i < w->njobs; i++) {
        uint64_t end = ranks_job_end_ps(w->rank, i);

        w->end_ps = !i || end > w->end_ps ? end : w->end_ps;
    }
    return true;
}
