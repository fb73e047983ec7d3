/* flow.c -- how much each application sent from each group of routers to each other, by where
 * messages begin and end, whatever way they take. Counted once per message (world_flow_count).
 */
#include <stdlib.h>

#include "base/mem.h"
#include "world_priv.h"

enum { FEWEST_GROUPS = 2, MOST_GROUPS = 128, MOST_CELLS = 1 << 21 };

static size_t cells(const struct world *w)
{
    size_t n = w->parts.topo.ngroups;

    return n * n * ((size_t)w->njobs + 1);
}

/* Each partition has its own; a page of it that nobody counts in takes no memory. */
void world_flow_open(struct world *w)
{
    size_t n = w->parts.topo.ngroups;

    if (n < FEWEST_GROUPS || n > MOST_GROUPS || cells(w) > MOST_CELLS)
        return;
    for (uint32_t i = 0; i < w->nparts; i++)
        w->part[i].flow = wr_zalloc(cells(w), sizeof *w->part[i].flow);
}

void world_flow_pack(const struct world_part *part, struct wr_bytes *out)
{
    size_t last = 0;

    for (size_t i = 0; part->flow && i < cells(part->w); i++)
        if (part->flow[i].msgs) {
            wr_bytes_u64(out, i - last + 1); /* never 0, which ends them */
            wr_bytes_u64(out, part->flow[i].msgs);
            wr_bytes_u64(out, part->flow[i].bytes);
            last = i;
        }
    wr_bytes_u64(out, 0);
}

void world_flow_take(struct world_part *part, struct wr_reader *in)
{
    size_t most = part->flow ? cells(part->w) : 0;
    uint64_t at = 0, gap;

    while ((gap = wr_read_below(in, most + 1))) {
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
