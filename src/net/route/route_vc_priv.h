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
};

/* `segments` groups visited in order, `each` channels for each of them. */
bool route_vc_segments(struct route_group_vcs *ret, uint32_t segments, uint32_t each,
                       struct wr_err *err);
/* The reference study's four. */
void route_vc_study(struct route_group_vcs *ret);

/* Refuses what no router of ours has. */
bool route_vc_fits(uint32_t nvcs, struct wr_err *err);

#endif
