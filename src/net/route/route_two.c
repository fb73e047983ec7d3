/* route_two.c -- two walks in sequence, by an intermediate router or group: Valiant and UGAL. */
#include "route_two_priv.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

static void two_list_spots(struct route_two *two, const struct topo *t, bool by_node)
{
    uint8_t *listed = wr_zalloc(t->nrouters, 1);

    two->spot = wr_alloc(t->nterms * sizeof *two->spot);
    for (uint32_t i = 0; i < t->nterms; i++) {
        uint32_t r = t->term[i].router;

        if (topo_port(t, r, t->term[i].port)->kind != TOPO_TERMINAL || (listed[r] && !by_node))
            continue;
        listed[r] = 1;
        two->spot[two->nspots++] = r;
    }
    free(listed);
}

/* Dimension order needs the fewest channels on a grid, but cannot go round a
 * failure; shortest paths can. */
static bool two_init_walk(struct route_walk *w, const struct topo *t, uint32_t choice,
                          enum walk_turns turns, struct wr_err *err)
{
    if (t->gateways)
        return walk_init_groups(w, t, choice, ROUTE_PHASE, turns, err);
    if (topo_grid(t) && walk_init_grid(w, t, choice, turns, err))
        return true;
    return walk_init_any(w, t, choice, turns, err);
}

bool two_init(struct route *rt, struct route_two *two, uint32_t via, uint32_t choice,
              struct wr_err *err)
{
    const struct topo *t = rt->topo;

    if (via == ROUTE_VIA_AUTO)
        via = t->gateways ? ROUTE_VIA_GROUP : ROUTE_VIA_ROUTER;
    if (via == ROUTE_VIA_GROUP && !t->gateways)
        return wr_fail(err, WR_INPUT,
                       "via: group needs a machine of groups (dragonfly, dragonfly-xc, "
                       "dragonfly-plus); use `via: router`");
    *two = (struct route_two){.by_group = via == ROUTE_VIA_GROUP};
    if (!two_init_walk(&two->walk, t, choice, two->by_group ? WALK_BY_GROUP : WALK_BY_ROUTER, err))
        return false;
    two_list_spots(two, t, via == ROUTE_VIA_NODE);
    assert(two->nspots || !t->nterms || t->nfailed);
    rt->nvcs = two->walk.nvcs;
    rt->max_hops = two->by_group
                       ? groups_max_hops(&two->walk.groups, 2 * two->walk.groups.global_hops)
                       : 2 * two->walk.max_hops;
    return true;
}

void two_fini(struct route_two *two)
{
    walk_fini(&two->walk);
    free(two->spot);
}

uint32_t two_draw(const struct route_two *two, const struct route_pkt *p, uint32_t here,
                  struct wr_rng *rng)
{
    const struct route_groups *g = &two->walk.groups;

    if (g->topo && g->group[here] == g->group[p->dst_router])
        return ROUTE_NONE;
    if (two->by_group)
        return groups_draw(g, rng, g->group[here], g->group[p->dst_router]);
    uint32_t mid = two->spot[wr_rng_below(rng, two->nspots)];

    return mid == here || mid == p->dst_router ? ROUTE_NONE : mid;
}

/* By a group. The packet is not changed if the result is ROUTE_LATER. */
static struct route_hop two_hop_by_group(const struct route_two *two, struct route_pkt *p,
                                         uint32_t here, const struct route_view *view,
                                         struct wr_rng *rng)
{
    const struct route_groups *g = &two->walk.groups;
    struct groups_ask ask = {.here = here, .dst = p->dst_router, .view = view, .rng = rng};
    uint32_t mine = g->group[here], home = g->group[p->dst_router];
    bool last = p->state & GROUPS_LAST, turns = !last && mine == p->mid;
    uint32_t group = last || turns ? home : p->mid;
    uint16_t way = turns ? 0 : p->way;

    if (!view && !groups_certain(g, here, group, way))
        return (struct route_hop){.port = ROUTE_LATER};
    if (turns)
        p->state = two->walk.turned;
    if (!last && !turns)
        return groups_take(g, p, groups_toward(g, &ask, group, ROUTE_NONE, way), false);
    return groups_take(g, p, groups_toward(g, &ask, home, p->dst_router, way), mine == home);
}

struct route_hop two_hop(const struct route_two *two, struct route_pkt *p, uint32_t here,
                         const struct route_view *view, struct wr_rng *rng)
{
    const struct route_walk *w = &two->walk;

    if (two->by_group)
        return two_hop_by_group(two, p, here, view, rng);
    if (!(p->state & GROUPS_LAST)) {
        if (here != p->mid)
            return w->hop(w, p, here, p->mid, view, rng);
        p->state = w->turned;
        p->way = 0;
    }
    return w->hop(w, p, here, p->dst_router, view, rng);
}

uint32_t two_hops(const struct route_two *two, uint32_t here, uint32_t mid, uint32_t dst)
{
    const struct route_walk *w = &two->walk;
    uint32_t at = mid, hops;

    if (two->by_group)
        hops = groups_enter(&w->groups, here, mid, &at);
    else
        hops = w->hops(w, here, mid);
    return hops + w->hops(w, at, dst);
}
