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

static bool init(struct route *rt, struct wr_err *err)
{
    const struct route_minimal_params *params = rt->params;
    struct route_walk w;

    if (rt->topo->gateways
            ? !walk_init_groups(&w, rt->topo, params->choice, params->channels, WALK_STRAIGHT, err)
            : !walk_init_any(&w, rt->topo, params->choice, WALK_STRAIGHT, err))
        return false;
    const struct route_groups *g = &w.groups;

    rt->early = params->choice == ROUTE_FIXED || (rt->topo->gateways && g->only);
    walk_adopt(rt, &w);
    if (rt->topo->gateways && g->vcs.ejects)
        rt->eject = ((const struct route_walk *)rt->priv)->groups.vcs.eject;
    return true;
}

static struct route_hop decide(const struct route *rt, struct route_pkt *p, uint32_t here,
                               const struct route_view *view, struct wr_rng *rng)
{
    const struct route_walk *w = rt->priv;
    const struct route_groups *g = &w->groups;

    if (!g->topo)
        return w->hop(w, p, here, p->dst_router, view, rng);
    uint32_t home = groups_of(g, p->dst_router);
    struct groups_step step;

    if (g->only)
        step = groups_only(g, here, home, p->dst_router);
    else
        step = groups_toward(
            g, &(struct groups_ask){.here = here, .dst = p->dst_router, .view = view, .rng = rng},
            home, p->dst_router, p->way);
    return groups_take(g, p, step, step.arriving);
}

const struct route_ops route_minimal = {
    .kind = {.name = "minimal",
             .summary = "the shortest way; on a dragonfly local, global, local",
             .rows = rows,
             .params_size = sizeof(struct route_minimal_params)},
    .init = init,
    .fini = walk_release,
    .decide = decide,
};
