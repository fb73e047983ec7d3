/* route_vc_priv.h -- which virtual channel a hop uses, for every routing in one place.
 *
 * A scheme is right when the channel-dependency graph has no cycle: nodes are
 * (link, channel), and an edge joins what a packet may hold to what it may
 * then ask for (Dally & Seitz 1987). Each scheme's argument is in route_vc.c.
 */
#ifndef NET_ROUTE_VC_PRIV_H
#define NET_ROUTE_VC_PRIV_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* Machines of groups: the channel by (is `here` in the destination's group,
 * route_pkt.state before the hop). */
struct route_group_vcs {
    uint8_t vc[2][256];
    uint32_t nvcs;
    bool ejects; /* and the channel of the link to a terminal, by state */
    uint8_t eject[256];
};

/* `segments` groups visited in order, `each` channels for each of them. */
bool route_vc_segments(struct route_group_vcs *ret, uint32_t segments, uint32_t each,
                       struct wr_err *err);
/* The reference study's four. */
void route_vc_study(struct route_group_vcs *ret);

/* A ring: from coordinate x to `to`, going up or down. */
static inline uint32_t route_vc_dateline(uint32_t x, uint32_t to, bool up)
{
    return up ? x <= to : x >= to;
}

/* Refuses what no router of ours has, naming the routing to use instead. */
bool route_vc_fits(uint32_t nvcs, const char *instead, struct wr_err *err);

#endif
