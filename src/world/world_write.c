/* world_write.c -- writes the counters of a simulation into the run file: time slices while it
 * runs, everything else at the end. Called in process 0 only. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "world_priv.h"

/* --- time series --- */

enum { SLICE_POSTED, SLICE_ARRIVED, SLICE_IN_FLIGHT, SLICE_QUEUED, SLICE_LINKS };

static const struct {
    const char *metric, *unit;
} slice_rows[] = {
    [SLICE_POSTED] = {"bytes_posted", "B"},
    [SLICE_ARRIVED] = {"bytes_arrived", "B"},
    [SLICE_IN_FLIGHT] = {"packets_in_flight", ""},
    [SLICE_QUEUED] = {"messages_queued", ""},
};

static uint64_t write_bytes_posted(const struct world *w)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < w->meter.nnodes; i++)
        sum += w->meter.node[i].bytes_sent;
    return sum;
}

bool world_slices_open(struct world *w, struct run *run, struct wr_err *err)
{
    int64_t dt = (int64_t)w->c->slice_ps;
    const struct topo *t = &w->network.topo;

    if (!run)
        return true;
    for (uint32_t i = 0; i < SLICE_LINKS; i++)
        if (!run_open_series(
                run, &(struct run_series){"machine", slice_rows[i].metric, slice_rows[i].unit, dt},
                &w->series[i], err))
            return false;
    for (uint32_t c = 0; c < t->nclasses; c++) {
        char entity[64];

        snprintf(entity, sizeof entity, "class:%s", t->class_name[c]);
        if (!run_open_series(run, &(struct run_series){entity, "bytes", "B", dt},
                             &w->series[SLICE_LINKS + c], err))
            return false;
    }
    world_links_open(w);
    return world_sent_open(w, run, err) && (!w->store || world_files_slices_open(w, run, err));
}

/* What flowed since the last slice, and what is there now. */
bool world_slices_put(struct world *w, struct run *run, uint64_t t_ps, struct wr_err *err)
{
    int64_t dt = (int64_t)w->c->slice_ps, from = (int64_t)t_ps - dt;
    struct net_counts count;
    uint64_t now[TOPO_MAX_CLASSES + SLICE_LINKS];

    if (!run)
        return true;
    net_counts(w->net, &count);
    now[SLICE_POSTED] = write_bytes_posted(w);
    now[SLICE_ARRIVED] = count.bytes;
    now[SLICE_IN_FLIGHT] = count.in_flight;
    now[SLICE_QUEUED] = count.queued_messages;
    net_class_bytes(w->net, now + SLICE_LINKS);
    for (uint32_t i = 0; i < SLICE_LINKS + w->network.topo.nclasses; i++) {
        bool level = i == SLICE_IN_FLIGHT || i == SLICE_QUEUED;
        uint64_t value = level ? now[i] : now[i] - w->before[i];

        if (!run_put_slice(run, w->series[i], from, dt, (double)value, err))
            return false;
        w->before[i] = now[i];
    }
    return world_links_put(w, run, t_ps, err) && world_sent_put(w, run, t_ps, err) &&
           (!w->store || world_files_slices_put(w, run, t_ps, err));
}

/* --- the end of a run --- */

/* How much of the measurement was simulated: all of it, unless interrupted. */
static double write_measured_ps(const struct world *w)
{
    uint64_t to = w->end_ps < w->meter.window_to_ps ? w->end_ps : w->meter.window_to_ps;

    return to > w->meter.window_from_ps ? (double)(to - w->meter.window_from_ps) : 1;
}

void world_result(const struct world *w, struct world_result *ret)
{
    const struct world_traffic *t = &w->c->traffic;
    double rate = w->network.net.link[TOPO_INJECT].bandwidth * w->network.net.rails;
    double window = t->messages || w->njobs ? 0 : write_measured_ps(w);

    *ret = (struct world_result){0};
    net_counts(w->net, &ret->count);
    meter_all(&w->meter, &ret->latency);
    double packets = (double)ret->count.packets;

    ret->offered =
        window > 0 ? (double)w->meter.window_sent_b / window * 1e12 / w->nodes_up / rate : t->load;
    ret->accepted = meter_accepted(&w->meter, window) * w->meter.nnodes / w->nodes_up / rate;
    ret->packet_mean_ps = wr_hist_mean(w->meter.packet);
    ret->hops_mean = (double)ret->count.hops / packets - 2;
    ret->router_visits = ret->hops_mean + 1;
    ret->nonminimal_frac = (double)ret->count.nonminimal / packets;
    ret->events = world_events(w);
    ret->sim_end_ps = w->end_ps;
    ret->measured = w->meter.measured;
    ret->unfinished = w->meter.unfinished;
}

static bool write_put_summary(const struct world *w, struct run *run, struct wr_err *err)
{
    struct world_result *r = wr_alloc(sizeof *r);

    world_result(w, r);
    const struct net_counts *c = &r->count;
    const struct {
        const char *key;
        uint64_t value;
        const char *unit;
    } counts[] = {
        {"nodes", w->meter.nnodes, ""},
        {"nodes_down", w->meter.nnodes - w->nodes_up, ""},
        {"routers", w->network.topo.nrouters, ""},
        {"groups", w->network.topo.ngroups, ""},
        {"messages", c->messages, ""},
        {"packets", c->packets, ""},
        {"packet_hops", c->hops, ""},
        {"bytes", c->bytes, "B"},
        {"packets_same_router", c->near[NET_NEAR_ROUTER], ""},
        {"packets_same_group", c->near[NET_NEAR_GROUP], ""},
        {"packets_remote", c->near[NET_NEAR_NOT], ""},
        {"packets_minimal", c->minimal, ""},
        {"packets_nonminimal", c->nonminimal, ""},
        {"packets_in_flight", c->in_flight, ""},
        {"messages_measured", r->measured, ""},
        {"messages_unfinished", r->unfinished, ""},
    };
    const struct {
        const char *key;
        double value;
        const char *unit;
    } reals[] = {
        {"sim_end_ns", (double)r->sim_end_ps / 1e3, "ns"},
        {"router_visits_mean", r->router_visits, "routers per packet"},
        {"offered_load", r->offered, "fraction of injection bandwidth"},
        {"accepted_load", r->accepted, "fraction of injection bandwidth"},
    };
    size_t nreals = sizeof reals / sizeof *reals - (w->njobs ? 2 : 0); /* loads are of traffic */
    bool ok = true;

    for (size_t i = 0; ok && i < sizeof counts / sizeof *counts; i++)
        ok = run_put_count(run, counts[i].key, counts[i].value, counts[i].unit, err);
    /* The number of wake-ups without a waiting packet may depend on the number of threads. */
    ok = ok && run_put_volatile(run, "events", (double)r->events, "", err);
    for (size_t i = 0; ok && i < nreals; i++)
        ok = run_put_real(run, reals[i].key, reals[i].value, reals[i].unit, err);
    ok = ok && run_put_text(run, "topology", w->network.topo.ops->kind.name, err) &&
         run_put_text(run, "routing", w->network.route.ops->kind.name, err);
    if (ok && w->traffic_on)
        ok = run_put_text(run, "pattern", w->c->traffic.pattern.kind->name, err);
    if (ok && w->c->title)
        ok = run_put_text(run, "title", w->c->title, err);
    if (ok && w->c->machine.name)
        ok = run_put_text(run, "machine", w->c->machine.name, err);
    free(r);
    return ok;
}

static bool write_put_ranks(const struct world *w, struct run *run, struct wr_err *err)
{
    if (!w->traffic_on)
        return true;
    if (!run_put_app(run,
                     &(struct run_app){.app = world_traffic_app(w),
                                       .name = "traffic",
                                       .ranks = w->meter.nnodes,
                                       .workload = w->c->traffic.pattern.kind->name},
                     err))
        return false;
    /* With jobs, what a node sent is theirs as well as the traffic's. */
    for (uint32_t i = 0; !w->njobs && i < w->meter.nnodes; i++) {
        const struct meter_node *n = &w->meter.node[i];
        struct run_rank r = run_rank_unknown(0, i);

        r.node = i;
        r.msgs_sent = (int64_t)n->msgs_sent;
        r.bytes_sent = (int64_t)n->bytes_sent;
        r.msgs_recvd = (int64_t)n->msgs_recvd;
        r.bytes_recvd = (int64_t)n->bytes_recvd;
        r.elapsed_ps = (int64_t)n->t_last_ps;
        if (!run_put_rank(run, &r, err))
            return false;
    }
    return true;
}

static bool write_put_latencies(const struct world *w, struct run *run, struct wr_err *err)
{
    static const char *const cls[] = {"message_same_router", "message_same_group",
                                      "message_remote"};
    struct wr_hist *all = wr_alloc(sizeof *all);
    int64_t app = w->njobs ? RUN_ALL_APPS : 0;
    bool ok;

    meter_all(&w->meter, all);
    ok = run_put_latency(run, app, "message", all, err) &&
         run_put_latency(run, RUN_ALL_APPS, "packet", w->meter.packet, err);
    for (int i = 0; ok && i < METER_NEARS; i++)
        if (w->meter.latency[i].n)
            ok = run_put_latency(run, app, cls[i], &w->meter.latency[i], err);
    free(all);
    return ok;
}

static bool write_put_link(const struct world *w, struct run *run, uint32_t r, uint32_t p,
                           struct run_link link, uint32_t cls, struct wr_err *err)
{
    struct net_link_stat s;

    net_link_stat(w->net, r, p, &s);
    link.cls = w->network.topo.class_name[cls];
    link.bytes = s.bytes;
    link.packets = s.packets;
    link.busy_ps = s.busy_ps;
    link.saturated_ps = s.saturated_ps;
    link.bytes_per_s = w->network.net.link[cls].bandwidth;
    return run_put_link(run, &link, err);
}

static bool write_put_links(const struct world *w, struct run *run, struct wr_err *err)
{
    const struct topo *t = &w->network.topo;

    for (uint32_t i = 0; i < t->nterms; i++) {
        struct run_link l = {.src_kind = "node",
                             .dst_kind = "router",
                             .src = i / w->network.net.rails,
                             .dst = t->term[i].router,
                             .port = (uint16_t)(i % w->network.net.rails)};

        if (!write_put_link(w, run, t->nrouters + i, 0, l, TOPO_INJECT, err))
            return false;
    }
    for (uint32_t r = 0; r < t->nrouters; r++)
        for (uint32_t p = 0; p < t->nports; p++) {
            const struct topo_port *tp = topo_port(t, r, p);
            bool term = tp->kind == TOPO_TERMINAL;

            if (!term && tp->kind != TOPO_ROUTER)
                continue;
            struct run_link l = {.src_kind = "router",
                                 .dst_kind = term ? "node" : "router",
                                 .src = r,
                                 .dst = term ? tp->peer / w->network.net.rails : tp->peer,
                                 .port = (uint16_t)p};

            if (!write_put_link(w, run, r, p, l, term ? TOPO_EJECT : tp->cls, err))
                return false;
        }
    return true;
}

bool world_write(const struct world *w, struct run *run, struct wr_err *err)
{
    return write_put_summary(w, run, err) && (!w->rank || world_jobs_write(w, run, err)) &&
           (!w->store || world_files_write(w, run, err)) && write_put_ranks(w, run, err) &&
           write_put_latencies(w, run, err) && write_put_links(w, run, err) &&
           world_flow_write(w, run, err);
}
