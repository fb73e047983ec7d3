/* gather.c -- the counters of a partition as bytes, for processes that do not execute it. Called by
 * team.c while no partition runs. */
#include <assert.h>

#include "net/account.h"
#include "world_priv.h"

void world_pack_partition(const struct world *w, uint32_t i, bool all, struct wr_bytes *out)
{
    assert(w->engine && i < w->npartitions);
    const struct world_partition *partition = &w->partition[i];

    wr_bytes_u64(out, partition->sim->now);
    wr_bytes_u64(out, sim_events(partition->sim));
    wr_bytes_u64(out, partition->arrival_ps);
    net_pack_accounts(partition->net, out);
    meter_pack_accounts(partition->meter, w->node_partition, i, out);
    if (partition->rank)
        ranks_pack_accounts(partition->rank, all, out);
    if (partition->store)
        store_pack_accounts(partition->store, out);
    world_flow_pack(partition, all, out);
    if (all)
        wr_bytes_put(out, &sim_engine_partition(w->engine, i)->work, sizeof(struct sim_work));
}

bool world_take_partition(struct world *w, uint32_t i, bool all, const void *data, size_t bytes,
                          struct wr_err *err)
{
    struct world_partition *partition = &w->partition[i];
    struct wr_reader in = {.at = data, .end = (const unsigned char *)data + bytes};

    partition->sim->now = wr_read_u64(&in);
    partition->sim->fifo_events = wr_read_u64(&in) - partition->sim->queue.popped;
    partition->arrival_ps = wr_read_u64(&in);
    net_take_accounts(partition->net, &in);
    meter_take_accounts(partition->meter, w->node_partition, i, &in);
    if (partition->rank)
        ranks_take_accounts(partition->rank, all, &in);
    if (partition->store)
        store_take_accounts(partition->store, &in);
    world_flow_take(partition, all, &in);
    if (all)
        wr_read_raw(&in, &sim_engine_partition(w->engine, i)->work, sizeof(struct sim_work));
    if (!wr_read_all(&in))
        return wr_fail(err, WR_BUG,
                       "what partition %u has counted cannot be read: the processes do not run "
                       "the same weir on the same input; start them with the same program",
                       i);
    return true;
}
