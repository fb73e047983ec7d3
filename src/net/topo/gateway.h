/* gateway.h -- the cables between groups, by pair of groups.
 *
 *   start[g * ngroups + d] .. start[g * ngroups + d + 1]   gateways from g to d
 *
 * A list is sorted by router, then port. Memory is groups^2 + cables, never
 * routers^2. Families of groups (dragonfly, dragonfly-xc, dragonfly-plus) have
 * it; t->gateways is NULL for the others. Dead cables are not listed.
 */
#ifndef NET_TOPO_GATEWAY_H
#define NET_TOPO_GATEWAY_H

#include <stdint.h>

#include "net/topo/topo.h"

struct topo_gateway {
    uint32_t router;         /* in the group that is left */
    uint32_t far_router;     /* in the group that is entered */
    uint16_t port, far_port; /* the cable's two ends */
};

struct topo_gateways {
    uint32_t *start; /* [ngroups * ngroups + 1] */
    struct topo_gateway *v;
};

enum { TOPO_MAX_GATEWAY_GROUPS = 16384 };

/* The cables from group `from` to group `to`; how many in *ret_n. */
static inline const struct topo_gateway *topo_gateways(const struct topo *t, uint32_t from,
                                                       uint32_t to, uint32_t *ret_n)
{
    const uint32_t *s = &t->gateways->start[(uint64_t)from * t->ngroups + to];

    *ret_n = s[1] - s[0];
    return &t->gateways->v[s[0]];
}

/* Those of the n gateways that leave from `router`: the first, and how many. */
const struct topo_gateway *topo_gateways_at(const struct topo_gateway *v, uint32_t n,
                                            uint32_t router, uint32_t *ret_n);

/* For build functions, once all cables are plugged; replaces an older list. */
void topo_gateways_build(struct topo *t);
void topo_gateways_free(struct topo_gateways *g);

#endif
