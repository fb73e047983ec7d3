/* flow.c -- bytes sent by each application over time, and from each group of routers to each
 * other, by the ends of messages, whatever path they take. Counted once per message
 * (world_flow_count), by the worker of the sender's partition; summed up at the end.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "world_priv.h"

enum { FEWEST_GROUPS = 2, MOST_GROUPS = 128, MOST_CELLS = 1 << 21 };

/* Jobs, and the synthetic traffic. */
static uint32_t flow_apps(const struct world *w)
{
    return w->njobs + 1;
}

static size_t flow_cells(const struct world *w)
{
    size_t n = w->network.topo.ngroups;

    return n * n * flow_apps(w);
}

/* Each partition has its own array; pages that are never written take no memory. */
void world_flow_open(struct world *w)
{
    size_t n = w->network.topo.ngroups;

    for (uint32_t i = 0; i < w->npartitions; i++)
        w->partition[i].sent = wr_zalloc_aligned(flow_apps(w), sizeof *w->partition[i].sent);
    if (n < FEWEST_GROUPS || n > MOST_GROUPS || flow_cells(w) > MOST_CELLS)
        return;
    for (uint32_t i = 0; i < w->npartitions; i++)
        w->partition[i].flow = wr_zalloc(flow_cells(w), sizeof *w->partition[i].flow);
}

void world_flow_close(struct world *w)
{
    for (uint32_t i = 0; w->partition && i < w->npartitions; i++) {
        free(w->partition[i].flow);
        free(w->partition[i].sent);
    }
    free(w->sent_series);
    free(w->sent_before);
}

/* From groups to groups only at the end (`all`). */
void world_flow_pack(const struct world_partition *partition, bool all, struct wr_bytes *out)
{
    size_t last = 0;

    for (uint32_t i = 0; i < flow_apps(partition->w); i++)
        wr_bytes_u64(out, partition->sent[i]);
    if (!all)
        return;
    for (size_t i = 0; partition->flow && i < flow_cells(partition->w); i++)
        if (partition->flow[i].msgs) {
            wr_bytes_u64(out, i - last + 1); /* never 0, which ends them */
            wr_bytes_u64(out, partition->flow[i].msgs);
            wr_bytes_u64(out, partition->flow[i].bytes);
            last = i;
        }
    wr_bytes_u64(out, 0);
}

void world_flow_take(struct world_partition *partition, bool all, struct wr_reader *in)
{
    size_t most = partition->flow ? flow_cells(partition->w) : 0;
    uint64_t at = 0, gap;

    for (uint32_t i = 0; i < flow_apps(partition->w); i++)
        partition->sent[i] = wr_read_u64(in);
    while (all && (gap = wr_read_below(in, most + 1))) {
        at += gap - 1;
        in->bad = in->bad || at >= most;
        if (in->bad)
            return;
        partition->flow[at].msgs = wr_read_u64(in);
        partition->flow[at].bytes = wr_read_u64(in);
    }
}

bool world_flow_write(const struct world *w, struct run *run, struct wr_err *err)
{
    size_t n = w->network.topo.ngroups;
    bool ok = true;

    for (size_t i = 0; ok && w->partition[0].flow && i < flow_cells(w); i++) {
        struct world_flow sum = {0};

        for (uint32_t p = 0; p < w->npartitions; p++) {
            sum.msgs += w->partition[p].flow[i].msgs;
            sum.bytes += w->partition[p].flow[i].bytes;
        }
        if (sum.msgs)
            ok = run_put_flow(run,
                              &(struct run_flow){.app = (uint32_t)(i / (n * n)),
                                                 .src_group = (uint32_t)(i / n % n),
                                                 .dst_group = (uint32_t)(i % n),
                                                 .msgs = sum.msgs,
                                                 .bytes = sum.bytes},
                              err);
    }
    return ok;
}

/* Traffic alone is all that the machine sends, which has a series already. */
bool world_sent_open(struct world *w, struct run *run, struct wr_err *err)
{
    uint32_t n = w->njobs ? w->njobs + w->traffic_on : 0;

    w->sent_series = wr_zalloc(flow_apps(w), sizeof *w->sent_series);
    w->sent_before = wr_zalloc(flow_apps(w), sizeof *w->sent_before);
    for (uint32_t i = 0; i < n; i++) {
        char entity[32];

        snprintf(entity, sizeof entity, "app:%u", i);
        if (!run_open_series(
                run, &(struct run_series){entity, "sent_bytes", "B", (int64_t)w->c->slice_ps},
                &w->sent_series[i], err))
            return false;
    }
    return true;
}

/* A slice that is left out is zero. */
bool world_sent_put(struct world *w, struct run *run, uint64_t t_ps, struct wr_err *err)
{
    uint32_t n = w->njobs ? w->njobs + w->traffic_on : 0;
    int64_t dt = (int64_t)w->c->slice_ps;

    for (uint32_t i = 0; i < n; i++) {
        uint64_t now = 0, before = w->sent_before[i];

        for (uint32_t p = 0; p < w->npartitions; p++)
            now += w->partition[p].sent[i];
        w->sent_before[i] = now;
        if (now > before && !run_put_slice(run, w->sent_series[i], (int64_t)t_ps - dt, dt,
                                           (double)(now - before), err))
            return false;
    }
    return true;
}
