/* paths.h -- shortest paths of any wiring, from tables; and breadth-first search.
 *
 *   hops[dst * nrouters + here]   router-to-router hops, one byte each (two
 *                                 when the machine is wider than 254 hops)
 *
 * For topologies without a closed form and for machines with failed cables,
 * where the closed form no longer holds. The next ports are not stored: a port is on a shortest
 * path when its peer is one hop nearer, and testing the ports of a router reads one row.
 */
#ifndef NET_TOPO_PATHS_H
#define NET_TOPO_PATHS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "net/topo/topo.h"

struct topo_paths {
    const struct topo *topo;
    uint8_t *hops8;    /* UINT8_MAX: no path. One of the two is NULL */
    uint16_t *hops16;  /* UINT16_MAX: no path */
    uint32_t diameter; /* over pairs with a path */
};

/* Bytes the tables of this many routers take; at most TOPO_PATHS_MAX_BYTES are built. */
#define TOPO_PATHS_MAX_BYTES (UINT64_C(1) << 30)

bool topo_paths_build(struct topo_paths *ret, const struct topo *t, struct wr_err *err);
void topo_paths_free(struct topo_paths *p);

/* TOPO_NONE: no live path. */
static inline uint32_t topo_paths_hops(const struct topo_paths *p, uint32_t here, uint32_t dst)
{
    uint64_t at = (uint64_t)dst * p->topo->nrouters + here;

    if (p->hops8)
        return p->hops8[at] == UINT8_MAX ? TOPO_NONE : p->hops8[at];
    return p->hops16[at] == UINT16_MAX ? TOPO_NONE : p->hops16[at];
}

/* The live ports of `here` on shortest paths to `dst` (here != dst), lowest
 * port first, at most TOPO_MAX_NEXT; 0: cut off. */
uint32_t topo_paths_next(const struct topo_paths *p, uint32_t here, uint32_t dst, uint16_t *ports);

/* Called for each router that a search reaches: bit i of `sources` is set when `router` is exactly
 * `hops` away from the i-th source. */
typedef void topo_visit(void *arg, uint32_t router, uint64_t sources, uint32_t hops);

/* Breadth-first search from up to 64 routers at once over live cables. Each
 * router is visited in the order of hops, the sources themselves with 0. */
void topo_search(const struct topo *t, const uint32_t *sources, uint32_t n, topo_visit *visit,
                 void *arg);

#endif
