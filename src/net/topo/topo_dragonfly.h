/* topo_dragonfly.h -- what routing may know of a one-dimensional dragonfly.
 *
 *   router r = group * routers + index in group
 *   ports of a router: terminals 0..nodes-1, local, global
 *
 * The cables between two groups are in gateway.h.
 */
#ifndef NET_TOPO_TOPO_DRAGONFLY_H
#define NET_TOPO_TOPO_DRAGONFLY_H

#include <stdint.h>

#include "net/topo/topo.h"

extern const struct topo_ops topo_dragonfly;

/* The user's numbers (t->params). groups may be 0 there: t->ngroups is what was built. */
struct topo_dragonfly_params {
    uint32_t groups, routers, nodes, globals, arrangement;
};

static inline const struct topo_dragonfly_params *topo_dragonfly_params(const struct topo *t)
{
    return t->params;
}

/* The port of `here` that leads to `there`, another router of the same group. */
static inline uint16_t topo_dragonfly_local_port(const struct topo *t, uint32_t here,
                                                 uint32_t there)
{
    const struct topo_dragonfly_params *d = topo_dragonfly_params(t);

    /* The locals are the other routers of the group in order, so counting
     * from the group's first router cancels out of the difference. */
    uint32_t first = t->group[here] * d->routers;

    return (uint16_t)(d->nodes + there - first - (there > here));
}

/* The first global port of every router; there are `globals` of them. */
static inline uint16_t topo_dragonfly_first_global(const struct topo *t)
{
    const struct topo_dragonfly_params *d = topo_dragonfly_params(t);

    return (uint16_t)(d->nodes + d->routers - 1);
}

#endif
