/* account.c -- what a partition has counted, for a process in which the same partition was not run.
 *
 * Every process has all of the machine, and executes some of its partitions. When they meet, the
 * others' accounts are put where they would be had they been counted here, so whoever asks
 * (net_counts, net_link_stat, ...) need not know. Packed is what they answer now, at this clock:
 * nothing is queued or under way where it is taken.
 */
#include "net/account.h"

#include "net_priv.h"

/* Ports of the partition, routers' and terminals'. */
static bool is_mine(const struct net *n, uint32_t index)
{
    uint32_t routers = n->nrouters * n->nports;

    if (!n->parts)
        return true;
    return n->part_of[index < routers ? index / n->nports
                                      : n->topo->term[index - routers].router] == n->me;
}

static void stat_of(const struct net *n, uint32_t index, struct net_link_stat *ret)
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

static void pack_port(const struct net *n, uint32_t index, uint32_t *last, uint64_t *early,
                      struct wr_bytes *out)
{
    const struct net_port *port = &n->port[index];
    struct net_link_stat s;

    stat_of(n, index, &s);
    if (port->cls == TOPO_INJECT) /* a packet that its NIC has sent ahead of time */
        *early += port->packets - s.packets;
    if (!s.packets && !s.saturated_ps)
        return;
    wr_bytes_u64(out, index - *last + 1); /* never 0, which ends them */
    wr_bytes_u64(out, s.bytes);
    wr_bytes_u64(out, s.packets);
    wr_bytes_u64(out, s.saturated_ps);
    wr_bytes_u64(out, net_rare(n, port)->stretched_ps);
    *last = index;
}

void net_pack_accounts(const struct net *n, struct wr_bytes *out)
{
    struct net_counts c = n->count;
    uint32_t last = 0;
    uint64_t early = 0;

    for (uint32_t i = 0; i < n->total_ports; i++)
        if (is_mine(n, i))
            pack_port(n, i, &last, &early, out);
    wr_bytes_u64(out, 0);
    c.in_flight -= early;
    wr_bytes_many(out, (const uint64_t *)&c, COUNTS);
}

void net_take_accounts(struct net *n, struct wr_reader *in)
{
    uint64_t index = 0, gap;

    while ((gap = wr_read_u64(in))) {
        index += gap - 1;
        if (gap > n->total_ports || index >= n->total_ports || !is_mine(n, (uint32_t)index)) {
            in->bad = true;
            return;
        }
        struct net_port *port = &n->port[index];
        struct net_rare *rare = net_rare(n, port);

        port->bytes = wr_read_u64(in);
        port->packets = wr_read_u64(in);
        rare->saturated_ps = wr_read_u64(in);
        rare->stretched_ps = wr_read_u64(in);
    }
    wr_read_many(in, (uint64_t *)&n->count, COUNTS);
}
