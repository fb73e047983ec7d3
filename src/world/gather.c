/* gather.c -- partitions that another process executes: what they have counted, as bytes. */
#include "net/account.h"
#include "world_priv.h"

/* For `--profile`. */
static void pack_work(const struct sim_part *p, struct wr_bytes *out)
{
    wr_bytes_put(out, &p->work, sizeof p->work);
    wr_bytes_u64(out, p->sent);
}

static void take_work(struct sim_part *p, struct wr_reader *in)
{
    wr_read_raw(in, &p->work, sizeof p->work);
    p->sent = wr_read_u64(in);
}

void world_pack_part(const struct world *w, uint32_t i, bool all, struct wr_bytes *out)
{
    const struct world_part *part = &w->part[i];

    wr_bytes_u64(out, part->sim->now);
    wr_bytes_u64(out, sim_events(part->sim));
    net_pack_accounts(part->net, out);
    meter_pack_accounts(part->meter, w->node_part, i, out);
    if (part->rank)
        ranks_pack_accounts(part->rank, all, out);
    if (part->store)
        store_pack_accounts(part->store, out);
    world_flow_pack(part, all, out);
    if (all)
        pack_work(sim_crew_part(w->crew, i), out);
}

bool world_take_part(struct world *w, uint32_t i, bool all, const void *data, size_t bytes,
                     struct wr_err *err)
{
    struct world_part *part = &w->part[i];
    struct wr_reader in = {.at = data, .end = (const unsigned char *)data + bytes};

    part->sim->now = wr_read_u64(&in);
    part->sim->rode = wr_read_u64(&in) + part->sim->unasked - part->sim->queue.popped;
    net_take_accounts(part->net, &in);
    meter_take_accounts(part->meter, w->node_part, i, &in);
    if (part->rank)
        ranks_take_accounts(part->rank, all, &in);
    if (part->store)
        store_take_accounts(part->store, &in);
    world_flow_take(part, all, &in);
    if (all)
        take_work(sim_crew_part(w->crew, i), &in);
    if (!wr_read_all(&in))
        return wr_fail(err, WR_BUG,
                       "what partition %u has counted cannot be read: the processes do not run "
                       "the same weir on the same input; start them with the same program",
                       i);
    return true;
}
