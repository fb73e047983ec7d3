/* route_two_priv.h -- by an intermediate: two walks, one after the other.
 *
 * Valiant always goes by one; UGAL decides at the first router whether to.
 */
#ifndef NET_ROUTE_TWO_PRIV_H
#define NET_ROUTE_TWO_PRIV_H

#include "route_walk_priv.h"

struct route_two {
    struct route_walk walk;
    bool by_group;  /* route_pkt.mid is a group, else a router */
    uint32_t *spot; /* routers to draw from */
    uint32_t nspots;
};

bool two_init(struct route *rt, struct route_two *two, uint32_t via, uint32_t choice,
              struct wr_err *err);
void two_fini(struct route_two *two);

/* At the first router: an intermediate, or ROUTE_NONE if the packet has none
 * (it stays in its group, or the draw fell on an end of its path). */
uint32_t two_draw(const struct route_two *two, const struct route_pkt *p, uint32_t here,
                  struct wr_rng *rng);

static inline void two_go_straight(const struct route_two *two, struct route_pkt *p)
{
    p->state = two->walk.straight;
}

static inline void two_go_by(struct route_pkt *p, uint32_t mid)
{
    p->mid = mid;
    p->nonminimal = true;
}

/* The next hop once that is decided. */
struct route_hop two_hop(const struct route_two *two, struct route_pkt *p, uint32_t here,
                         const struct route_view *view, struct wr_rng *rng);

/* Where two_hop() answers without a view, if it can: behind the first router. */
static inline bool two_is_maybe_early(const struct route_two *two)
{
    return two->by_group && !two->walk.groups.local_first;
}

/* Hops from `here` to the destination, by `mid`. */
uint32_t two_hops(const struct route_two *two, uint32_t here, uint32_t mid, uint32_t dst);

#endif
