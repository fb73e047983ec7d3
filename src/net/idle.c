/* idle.c -- the latency of a message on an idle network, the reference for contention.
 *
 * Called by world/ for each message of a rank or of storage. Packets of one message follow one
 * another through the links of a minimal path. With store and forward, packet j has left link k at
 *
 *   C[k][j] = max(C[k][j-1], C[k-1][j]) + s[k](size of j)
 *
 * (the links' fixed delays shift all packets by the same time). All packets but the last are of
 * equal size, so for them C[k][j] = sum of s up to k + (j-1) * (largest s up to k), and only the
 * last one needs a step per link. With cut-through, only the slowest link's serialisation counts.
 */
#include <assert.h>

#include "base/mem.h"
#include "net/topo/paths.h"
#include "net_priv.h"

/* Fixed point, in 1/2^10 ps: hours fit, and a thousand packets are rounded by 1 ps. */
enum { FRACTION_BITS = 10, FROM_CLASS = 20 - FRACTION_BITS };

/* The links of a path that were added so far. */
struct idle_path {
    const struct net *n;
    uint64_t packets, last_b; /* full packets before the last, and the last one's size */
    uint64_t sum, most;       /* sum and maximum of a full packet's serialisations */
    uint64_t done;            /* when the last packet has left the last link */
    uint64_t delay, slowest;  /* sum of delays; largest per-byte time; in 1/2^20 ps */
};

static void idle_add_link(struct idle_path *w, uint32_t cls)
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

static struct idle_path idle_begin(const struct net *n, uint64_t bytes)
{
    uint64_t packets = bytes ? (bytes - 1) / n->p.packet_b : 0;
    struct idle_path w = {.n = n, .packets = packets, .last_b = bytes - packets * n->p.packet_b};

    idle_add_link(&w, TOPO_INJECT);
    return w;
}

static uint32_t idle_next_port(const struct net *n, uint32_t here, uint32_t dst)
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
    assert(!n->paths); /* called once */
    n->paths = wr_zalloc(1, sizeof *n->paths);
    return topo_paths_build(n->paths, n->topo, err);
}

uint64_t net_inject_ps(const struct net *n, uint64_t bytes)
{
    struct idle_path w = idle_begin(n, bytes);

    return w.done >> FRACTION_BITS;
}

uint64_t net_idle_ps(const struct net *n, uint32_t src, uint32_t dst, uint64_t bytes)
{
    struct idle_path w = idle_begin(n, bytes);
    uint32_t here = net_node_router(n, src), to = net_node_router(n, dst);

    while (here != to) {
        uint32_t port = idle_next_port(n, here, to);

        if (port == TOPO_NONE)
            break;
        idle_add_link(&w, topo_port(n->topo, here, port)->cls);
        here = topo_port(n->topo, here, port)->peer;
    }
    idle_add_link(&w, TOPO_EJECT);
    if (n->p.switching == NET_CUT_THROUGH)
        w.done = (w.slowest * bytes) >> FROM_CLASS;
    return ((w.delay >> FROM_CLASS) + w.done) >> FRACTION_BITS;
}
