/* load.c -- opens and closes workloads, names of operations, groups of ranks.
 *
 * A workload is chosen by the configuration (struct conf_plugin); the table of all of them is in
 * load/kinds. rank/ calls the operations of an open workload directly.
 */
#include <assert.h>

#include "load/load.h"

const char *const load_coll_names[] = {
    [LOAD_BARRIER] = "barrier",
    [LOAD_BCAST] = "bcast",
    [LOAD_REDUCE] = "reduce",
    [LOAD_ALLREDUCE] = "allreduce",
    [LOAD_ALLGATHER] = "allgather",
    [LOAD_ALLTOALL] = "alltoall",
    [LOAD_GATHER] = "gather",
    [LOAD_SCATTER] = "scatter",
    [LOAD_REDUCE_SCATTER] = "reduce_scatter",
    [LOAD_SCAN] = "scan",
    [LOAD_COLLS] = NULL,
};

bool load_open(struct load *ret, const struct conf_plugin *plug, const struct load_start *how,
               struct wr_err *err)
{
    struct load l = {.ops = (const struct load_ops *)plug->kind, .params = plug->params};

    assert(plug->kind);
    if (!l.ops->open(&l, how, err))
        return false;
    assert(l.ranks && l.rank_size);
    l.rank_size = (l.rank_size + 7) & ~(size_t)7;
    *ret = l;
    return true;
}

void load_close(struct load *l)
{
    if (l->ops)
        l->ops->close(l);
    *l = (struct load){0};
}

int64_t load_group_index(const struct load_group *g, uint32_t rank)
{
    uint32_t lead = g->lead != LOAD_NO_RANK, low = lead, high = g->n + lead;

    if (lead && rank == g->lead)
        return 0;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;

        if (load_member(g, mid) < rank)
            low = mid + 1;
        else
            high = mid;
    }
    return low < g->n + lead && load_member(g, low) == rank ? (int64_t)low : -1;
}

struct load_group load_group_all(uint32_t n)
{
    return (struct load_group){
        .n = n, .step = 1, .hole = UINT32_MAX, .lead = LOAD_NO_RANK, .key = n};
}
