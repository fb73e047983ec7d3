/* route_minimal.c -- the shortest way, or on a machine of groups L?GL?.
 *
 * This is what most packets of most runs ask, so machines of groups, where it
 * is a few loads, do not take the way over a function pointer.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "route_priv.h"
#include "route_walk_priv.h"

#define AT(field) offsetof(struct route_minimal_params, field)

static const struct conf_row rows[] = {
    ROUTE_ROW_CHOICE(AT(choice), "random"),
    ROUTE_ROW_CHANNELS(AT(channels)),
    CONF_END,
};

static bool minimal_init(struct route *rt, struct wr_err *err)
{
    const struct route_minimal_params *params = rt->params;
    struct route_walk w;

    if (rt->topo->gateways
            ? !walk_init_groups(&w, rt->topo, params->choice, params->channels, WALK_STRAIGHT, err)
            : !walk_init_any(&w, rt->topo, params->choice, WALK_STRAIGHT, err))
        return false;
    const struct route_groups *g = &w.groups;

    rt->early = params->choice == ROUTE_FIXED || (rt->topo->gateways && g->only);
    rt->maybe_early = !rt->early && rt->topo->gateways && !g->local_first;
    walk_adopt(rt, &w);
    if (rt->topo->gateways && g->vcs.ejects)
        rt->eject = ((const struct route_walk *)rt->priv)->groups.vcs.eject;
    return true;
}

static __attribute__((noinline)) struct route_hop minimal_decide_any(const struct route *rt,
                                                                     struct route_pkt *p,
                                                                     uint32_t here,
                                                                     const struct route_view *view,
                                                                     struct wr_rng *rng)
{
    const struct route_walk *w = rt->priv;
    const struct route_groups *g = &w->groups;

    if (!g->topo)
        return w->hop(w, p, here, p->dst_router, view, rng);
    struct groups_ask ask = {.here = here, .dst = p->dst_router, .view = view, .rng = rng};
    uint32_t home = g->group[p->dst_router];

    if (!view && !rt->early && !groups_certain(g, here, home, p->way))
        return (struct route_hop){.port = ROUTE_LATER};
    struct groups_step step = groups_toward(g, &ask, home, p->dst_router, p->way);

    return groups_take(g, p, step, step.arriving);
}

static struct route_hop minimal_decide(const struct route *rt, struct route_pkt *p, uint32_t here,
                                       const struct route_view *view, struct wr_rng *rng)
{
    const struct route_groups *g = &((const struct route_walk *)rt->priv)->groups;

    if (!g->alike)
        return minimal_decide_any(rt, p, here, view, rng);
    struct groups_step step = groups_alike(g, here, groups_div(g, p->dst_router), p->dst_router);

    return groups_take(g, p, step, step.arriving);
}

const struct route_ops route_minimal = {
    .kind = {.name = "minimal",
             .summary = "the shortest way; on a dragonfly local, global, local",
             .rows = rows,
             .params_size = sizeof(struct route_minimal_params)},
    .init = minimal_init,
    .fini = walk_release,
    .decide = minimal_decide,
};
