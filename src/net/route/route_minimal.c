/* route_minimal.c -- the shortest way, or on a machine of groups L?GL?. */
#include <stdlib.h>

#include "base/mem.h"
#include "route_groups_priv.h"
#include "route_pick_priv.h"
#include "route_priv.h"

#define AT(field) offsetof(struct route_minimal_params, field)

static const struct conf_row rows[] = {
    {.key = "choice",
     .type = CONF_CHOICE,
     .offset = AT(choice),
     .def = "random",
     .names = route_choice_names,
     .help = "Among equally short ways: always the same one for a destination, a random one, or "
             "the least loaded."},
    {.key = "channels",
     .type = CONF_CHOICE,
     .offset = AT(channels),
     .def = "study",
     .names = route_channels_names,
     .help = "Virtual channels of a machine of groups: as the reference study numbers them (4), or "
             "one for each group visited (2)."},
    CONF_END,
};

static bool init(struct route *rt, struct wr_err *err)
{
    const struct route_minimal_params *params = rt->params;

    if (!rt->topo->gateways)
        return wr_fail(err, WR_INPUT, "it needs a machine of groups; use `topology: dragonfly`");
    struct route_groups *g = wr_zalloc(1, sizeof *g);

    if (!groups_init(g, rt->topo, params->choice, err) ||
        !groups_channels(g, params->channels, g->global_hops + 1, err)) {
        groups_fini(g);
        free(g);
        return false;
    }
    rt->priv = g;
    rt->nvcs = g->vcs.nvcs;
    rt->max_hops = groups_max_hops(g, g->global_hops);
    return true;
}

static void fini(struct route *rt)
{
    groups_fini(rt->priv);
    free(rt->priv);
}

static struct route_hop decide(const struct route *rt, struct route_pkt *p, uint32_t here,
                               const struct route_view *view, struct wr_rng *rng)
{
    const struct route_groups *g = rt->priv;
    struct groups_ask ask = {.here = here, .dst = p->dst_router, .view = view, .rng = rng};
    uint32_t home = g->group[p->dst_router];
    struct groups_step step = groups_toward(g, &ask, home, p->dst_router, p->way);

    return groups_take(g, p, step, step.arriving);
}

const struct route_ops route_minimal = {
    .kind = {.name = "minimal",
             .summary = "the shortest way; on a dragonfly local, global, local",
             .rows = rows,
             .params_size = sizeof(struct route_minimal_params)},
    .init = init,
    .fini = fini,
    .decide = decide,
};
