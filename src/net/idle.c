/* idle.c -- how long a message would take were it alone: what contention is measured against.
 *
 * Packets of one message follow each other through the links of a minimal way. Stored and
 * forwarded, packet j has left link k at
 *
 *   C[k][j] = max(C[k][j-1], C[k-1][j]) + s[k](size of j)
 *
 * (the links' fixed delays shift all packets alike). All packets but the last are
 * equal, so for them C[k][j] = sum of s up to k + (j-1) * (largest s up to k), and only the last
 * one needs a step per link. Cut through, only the slowest link's serialisation counts.
 */
#include "base/mem.h"
#include "net/topo/paths.h"
#include "net_priv.h"

/* Picoseconds in 1/2^10 parts: hours fit, and a thousand packets are rounded by 1 ps. */
enum { PART = 10, FROM_CLASS = 20 - PART };

struct way {
    const struct net *n;
    uint64_t packets, last_b; /* full ones before the last, and the last one's size */
    uint64_t sum, most;       /* of the full packets' serialisations so far */
    uint64_t done;            /* when the last packet has left the link */
    uint64_t delay, slowest;  /* slowest: of the per-byte times, in 1/2^20 ps */
};

static void pass(struct way *w, uint32_t cls)
{
    const struct net_class *c = &w->n->cls[cls];
    uint64_t full = (c->per_byte * w->n->p.packet_b) >> FROM_CLASS, before = 0;

    w->sum += full;
    w->most = full > w->most ? full : w->most;
    if (w->packets)
        before = w->sum + (w->packets - 1) * w->most;
    w->done = (before > w->done ? before : w->done) + ((c->per_byte * w->last_b) >> FROM_CLASS);
    w->delay += c->delay;
    w->slowest = c->per_byte > w->slowest ? c->per_byte : w->slowest;
}

static struct way begin(const struct net *n, uint64_t bytes)
{
    uint64_t packets = bytes ? (bytes - 1) / n->p.packet_b : 0;
    struct way w = {.n = n, .packets = packets, .last_b = bytes - packets * n->p.packet_b};

    pass(&w, TOPO_INJECT);
    return w;
}

static uint32_t next_port(const struct net *n, uint32_t here, uint32_t dst)
{
    uint16_t port[TOPO_MAX_NEXT];
    uint32_t ways = n->paths ? topo_paths_next(n->paths, here, dst, port)
                             : n->topo->ops->next(n->topo, here, dst, port);

    return ways ? port[0] : TOPO_NONE;
}

bool net_open_idle(struct net *n, struct wr_err *err)
{
    if (n->topo->ops->next && !n->topo->nfailed)
        return true;
    n->paths = wr_zalloc(1, sizeof *n->paths);
    return topo_paths_build(n->paths, n->topo, err);
}

uint64_t net_inject_ps(const struct net *n, uint64_t bytes)
{
    struct way w = begin(n, bytes);

    return w.done >> PART;
}

uint64_t net_idle_ps(const struct net *n, uint32_t src, uint32_t dst, uint64_t bytes)
{
    struct way w = begin(n, bytes);
    uint32_t here = net_node_router(n, src), to = net_node_router(n, dst);

    while (here != to) {
        uint32_t port = next_port(n, here, to);

        if (port == TOPO_NONE)
            break;
        pass(&w, topo_port(n->topo, here, port)->cls);
        here = topo_port(n->topo, here, port)->peer;
    }
    pass(&w, TOPO_EJECT);
    if (n->p.switching == NET_CUT_THROUGH)
        w.done = (w.slowest * bytes) >> FROM_CLASS;
    return ((w.delay >> FROM_CLASS) + w.done) >> PART;
}
