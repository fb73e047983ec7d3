/* flow.c -- how much each application sent, over time; and from each group of routers to each
 * other, by where messages begin and end, whatever way they take. Counted once per message
 * (world_flow_count).
 */
#include <stdlib.h>

#include "base/mem.h"
#include "world_priv.h"

enum { FEWEST_GROUPS = 2, MOST_GROUPS = 128, MOST_CELLS = 1 << 21 };

/* Jobs, and the synthetic traffic. */
static uint32_t apps(const struct world *w)
{
    return w->njobs + 1;
}

static size_t cells(const struct world *w)
{
    size_t n = w->parts.topo.ngroups;

    return n * n * apps(w);
}

/* Each partition has its own; a page of it that nobody counts in takes no memory. */
void world_flow_open(struct world *w)
{
    size_t n = w->parts.topo.ngroups;

    for (uint32_t i = 0; i < w->nparts; i++)
        w->part[i].sent = wr_zalloc_aligned(apps(w), sizeof *w->part[i].sent);
    if (n < FEWEST_GROUPS || n > MOST_GROUPS || cells(w) > MOST_CELLS)
        return;
    for (uint32_t i = 0; i < w->nparts; i++)
        w->part[i].flow = wr_zalloc(cells(w), sizeof *w->part[i].flow);
}

void world_flow_close(struct world *w)
{
    for (uint32_t i = 0; w->part && i < w->nparts; i++) {
        free(w->part[i].flow);
        free(w->part[i].sent);
    }
    free(w->sent_series);
    free(w->sent_before);
}

/* From groups to groups only at the end (`all`). */
void world_flow_pack(const struct world_part *part, bool all, struct wr_bytes *out)
{
    size_t last = 0;

    for (uint32_t i = 0; i < apps(part->w); i++)
        wr_bytes_u64(out, part->sent[i]);
    if (!all)
        return;
    for (size_t i = 0; part->flow && i < cells(part->w); i++)
        if (part->flow[i].msgs) {
            wr_bytes_u64(out, i - last + 1); /* never 0, which ends them */
            wr_bytes_u64(out, part->flow[i].msgs);
            wr_bytes_u64(out, part->flow[i].bytes);
            last = i;
        }
    wr_bytes_u64(out, 0);
}

void world_flow_take(struct world_part *part, bool all, struct wr_reader *in)
{
    size_t most = part->flow ? cells(part->w) : 0;
    uint64_t at = 0, gap;

    for (uint32_t i = 0; i < apps(part->w); i++)
        part->sent[i] = wr_read_u64(in);
    while (all && (gap = wr_read_below(in, most + 1))) {
        at += gap - 1;
        in->bad = in->bad || at >= most;
        if (in->bad)
            return;
        part->flow[at].msgs = wr_read_u64(in);
        part->flow[at].bytes = wr_read_u64(in);
    }
}

bool world_flow_write(const struct world *w, struct run *run, struct wr_err *err)
{
    size_t n = w->parts.topo.ngroups;
    bool ok = true;

    for (size_t i = 0; ok && w->part[0].flow && i < cells(w); i++) {
        struct world_flow sum = {0};

        for (uint32_t p = 0; p < w->nparts; p++) {
            sum.msgs += w->part[p].flow[i].msgs;
            sum.bytes += w->part[p].flow[i].bytes;
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

    w->sent_series = wr_zalloc(apps(w), sizeof *w->sent_series);
    w->sent_before = wr_zalloc(apps(w), sizeof *w->sent_before);
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

        for (uint32_t p = 0; p < w->nparts; p++)
            now += w->part[p].sent[i];
        w->sent_before[i] = now;
        if (now > before && !run_put_slice(run, w->sent_series[i], (int64_t)t_ps - dt, dt,
                                           (double)(now - before), err))
            return false;
    }
    return true;
}
