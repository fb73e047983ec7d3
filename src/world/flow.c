/* flow.c -- how much each application sent from each group of routers to each other, by where
 * messages begin and end, whatever way they take. Counted once per message (world_flow_count).
 */
#include <stdlib.h>

#include "base/mem.h"
#include "world_priv.h"

enum { FEWEST_GROUPS = 2, MOST_GROUPS = 128, MOST_CELLS = 1 << 21 };

void world_flow_open(struct world *w)
{
    size_t n = w->parts.topo.ngroups, cells = n * n * ((size_t)w->njobs + 1);

    if (n >= FEWEST_GROUPS && n <= MOST_GROUPS && cells <= MOST_CELLS)
        w->flow = wr_zalloc(cells, sizeof *w->flow);
}

bool world_flow_write(const struct world *w, struct run *run, struct wr_err *err)
{
    size_t n = w->parts.topo.ngroups;
    bool ok = true;

    for (size_t i = 0; ok && w->flow && i < n * n * ((size_t)w->njobs + 1); i++)
        if (w->flow[i].msgs)
            ok = run_put_flow(run,
                              &(struct run_flow){.app = (uint32_t)(i / (n * n)),
                                                 .src_group = (uint32_t)(i / n % n),
                                                 .dst_group = (uint32_t)(i % n),
                                                 .msgs = w->flow[i].msgs,
                                                 .bytes = w->flow[i].bytes},
                              err);
    return ok;
}
