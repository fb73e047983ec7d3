/* net_account.c -- the counters of a partition, for a process that does not execute it.
 *
 * A process has the ports of its own partitions. Of the others it keeps the counters
 * (net.foreign_stat), so that net_counts, net_link_stat and net_class_bytes cover the whole
 * machine. Packed are the values at sim->now. Called by world/gather.c while no partition runs.
 */
#include "net/account.h"

#include <assert.h>

#include "net_priv.h"

/* Is a port, of a router or a terminal, in this partition? */
static bool account_is_mine(const struct net *n, uint32_t index)
{
    return !n->npartitions || n->partition_of[net_port_router(n, index)] == n->me;
}

static void account_link_stat(const struct net *n, uint32_t index, struct net_link_stat *ret)
{
    uint32_t routers = n->nrouters * n->nports;

    if (index < routers)
        net_link_stat(n, index / n->nports, index % n->nports, ret);
    else
        net_link_stat(n, n->nrouters + index - routers, 0, ret);
}

enum {
    COUNTS = sizeof(struct net_counts) / sizeof(uint64_t),
};
_Static_assert(sizeof(struct net_counts) == COUNTS * sizeof(uint64_t), "counts are 64-bit words");

static void account_pack_port(const struct net *n, uint32_t index, uint32_t *last, uint64_t *early,
                              struct wr_bytes *out)
{
    const struct net_port *port = &n->port[index];
    struct net_link_stat s;

    account_link_stat(n, index, &s);
    if (port->cls == TOPO_INJECT) /* packets that the NIC has sent ahead of time */
        *early += port->packets - s.packets;
    if (!s.packets && !s.saturated_ps)
        return;
    wr_bytes_u64(out, index - *last + 1); /* never 0, which ends them */
    wr_bytes_u64(out, s.bytes);
    wr_bytes_u64(out, s.packets);
    wr_bytes_u64(out, s.busy_ps);
    wr_bytes_u64(out, s.saturated_ps);
    *last = index;
}

void net_pack_accounts(const struct net *n, struct wr_bytes *out)
{
    struct net_counts c = n->count;
    uint32_t last = 0;
    uint64_t early = 0;

    for (uint32_t i = 0; i < n->total_ports; i++)
        if (account_is_mine(n, i))
            account_pack_port(n, i, &last, &early, out);
    wr_bytes_u64(out, 0);
    c.in_flight -= early;
    wr_bytes_many(out, (const uint64_t *)&c, COUNTS);
}

void net_take_accounts(struct net *n, struct wr_reader *in)
{
    uint64_t index = 0, gap;

    assert(n->npartitions && n->foreign && n->foreign_stat);
    n->foreign[n->me] = true;
    while ((gap = wr_read_u64(in))) {
        index += gap - 1;
        if (gap > n->total_ports || index >= n->total_ports ||
            !account_is_mine(n, (uint32_t)index)) {
            in->bad = true;
            return;
        }
        struct net_link_stat *s = &n->foreign_stat[index];

        s->bytes = wr_read_u64(in);
        s->packets = wr_read_u64(in);
        s->busy_ps = wr_read_u64(in);
        s->saturated_ps = wr_read_u64(in);
    }
    wr_read_many(in, (uint64_t *)&n->count, COUNTS);
}
