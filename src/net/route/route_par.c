/* route_par.c -- progressive adaptive routing on machines of groups.
 *
 * Jiang, Kim, Dally, "Indirect adaptive routing on large scale interconnection
 * networks", ISCA 2009: a packet that left its source minimally may still turn
 * away at a later router of the source group. The first router draws an
 * intermediate group; every router of the source group compares the port of the
 * minimal path with the port of the way to that group. A later router that has
 * no link of its own to it draws again among the links it has, so the packet
 * makes no second detour inside the group.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "route_groups_priv.h"
#include "route_priv.h"

#define AT(field) offsetof(struct route_par_params, field)

static const struct conf_row rows[] = {
    ROUTE_ROW_FACTOR(AT(rule.factor), "2"),    ROUTE_ROW_BIAS(AT(rule.bias)),
    ROUTE_ROW_WEIGHT(AT(rule.weight), "port"), ROUTE_ROW_CHOICE(AT(choice), "least-loaded"),
    ROUTE_ROW_CHANNELS(AT(channels)),          CONF_END,
};

static bool par_init(struct route *rt, struct wr_err *err)
{
    const struct route_par_params *params = rt->params;

    if (!rt->topo->gateways)
        return wr_fail(err, WR_INPUT,
                       "it needs a machine of groups (dragonfly, dragonfly-xc, dragonfly-plus); "
                       "use `kind: ugal-l` here");
    struct route_groups *g = wr_zalloc(1, sizeof *g);

    if (!groups_init(g, rt->topo, params->choice, err) ||
        !groups_channels(g, params->channels, 2 * g->global_hops + 1, err)) {
        groups_fini(g);
        free(g);
        return false;
    }
    rt->priv = g;
    rt->nvcs = g->vcs.nvcs;
    rt->eject = g->vcs.ejects ? g->vcs.eject : NULL;
    rt->max_hops = groups_max_hops(g, 2 * g->global_hops);
    rt->maybe_early = g->only;
    return true;
}

static void par_fini(struct route *rt)
{
    groups_fini(rt->priv);
    free(rt->priv);
}

/* One of the router's own global links, not to `home`. */
static struct groups_step par_redraw(const struct route_groups *g, const struct groups_ask *ask,
                                     uint32_t home, uint32_t *ret_group)
{
    const struct groups_exit *v = g->exit + g->exit_first[ask->here];
    uint32_t n = g->exit_first[ask->here + 1] - g->exit_first[ask->here];
    const struct groups_exit *e;

    /* It has links to two groups, so at least one draw in n succeeds. */
    do
        e = &v[wr_rng_below(ask->rng, n)];
    while (e->group == home);
    *ret_group = e->group;
    return (struct groups_step){.port = e->port, .crosses = true};
}

static bool par_stays_minimal(const struct route *rt, const struct groups_ask *ask, uint32_t mid,
                              struct groups_step min, struct groups_step non)
{
    const struct route_par_params *params = rt->params;
    const struct route_groups *g = rt->priv;
    double q_min = ask->view->load(ask->view, ask->here, (uint16_t)min.port);
    double q_non = ask->view->load(ask->view, ask->here, (uint16_t)non.port);

    if (params->rule.weight == ROUTE_BY_HOPS) {
        uint32_t at, hops = groups_enter(g, ask->here, mid, &at);

        q_min *= groups_hops(g, ask->here, ask->dst);
        q_non *= hops + groups_hops(g, at, ask->dst);
    }
    return route_rule_minimal(&params->rule, q_min, q_non);
}

/* `only` is a constant: a machine with one path to anywhere gets code without choices. */
#define EITHER static inline __attribute__((always_inline))

EITHER struct groups_step par_toward(const struct route_groups *g, const struct groups_ask *ask,
                                     uint32_t group, uint32_t to, uint16_t way, bool only)
{
    return only ? groups_only(g, ask->here, group, to) : groups_toward(g, ask, group, to, way);
}

/* In the source group, still minimal. */
EITHER struct groups_step par_compare(const struct route *rt, struct route_pkt *p,
                                      const struct groups_ask *ask, bool only)
{
    const struct route_groups *g = rt->priv;
    uint32_t home = groups_of_router(g, p->dst_router);
    bool first = p->state < GROUPS_LOCAL;
    struct groups_step min = par_toward(g, ask, home, p->dst_router, p->way, only);

    if (first)
        p->mid = groups_draw(g, ask->rng, groups_of_router(g, ask->here), home);
    if (p->mid == ROUTE_NONE)
        return min;
    struct groups_step non = par_toward(g, ask, p->mid, ROUTE_NONE, 0, only);

    if (!first && !non.crosses) {
        if (!g->exits_differ[ask->here])
            return min;
        non = par_redraw(g, ask, home, &p->mid);
    }
    if (par_stays_minimal(rt, ask, p->mid, min, non))
        return min;
    p->nonminimal = true;
    return non;
}

/* Apart from the rest, which is asked more often and needs less. */
static __attribute__((noinline)) struct route_hop par_compare_only(const struct route *rt,
                                                                   struct route_pkt *p,
                                                                   uint32_t here,
                                                                   const struct route_view *view,
                                                                   struct wr_rng *rng)
{
    struct groups_ask ask = {.here = here, .dst = p->dst_router, .view = view, .rng = rng};

    return groups_take(rt->priv, p, par_compare(rt, p, &ask, true), false);
}

/* Where the packet goes now: a group, and the router there; false: that must be compared. */
EITHER bool aim(const struct route_groups *g, struct route_pkt *p, uint32_t mine, uint32_t *group,
                uint32_t *to)
{
    if (p->nonminimal && mine == p->mid)
        p->state |= GROUPS_LAST;
    if (p->nonminimal && !(p->state & GROUPS_LAST)) {
        *group = p->mid;
        *to = ROUTE_NONE;
        return true;
    }
    *group = groups_of_router(g, p->dst_router);
    *to = p->dst_router;
    return mine == *group || (p->state & GROUPS_SEGMENT);
}

static __attribute__((noinline)) struct route_hop par_decide_any(const struct route *rt,
                                                                 struct route_pkt *p, uint32_t here,
                                                                 const struct route_view *view,
                                                                 struct wr_rng *rng)
{
    const struct route_groups *g = rt->priv;
    struct groups_ask ask = {.here = here, .dst = p->dst_router, .view = view, .rng = rng};
    uint32_t mine = groups_of_router(g, here), group, to;
    struct groups_step step = aim(g, p, mine, &group, &to)
                                  ? groups_toward(g, &ask, group, to, p->way)
                                  : par_compare(rt, p, &ask, false);

    return groups_take(g, p, step, mine == groups_of_router(g, p->dst_router));
}

static struct route_hop par_decide(const struct route *rt, struct route_pkt *p, uint32_t here,
                                   const struct route_view *view, struct wr_rng *rng)
{
    const struct route_groups *g = rt->priv;
    uint32_t mine = groups_of_router(g, here), group, to;

    if (!g->only)
        return par_decide_any(rt, p, here, view, rng);
    if (!aim(g, p, mine, &group, &to))
        return view ? par_compare_only(rt, p, here, view, rng) : (struct route_hop){ROUTE_LATER, 0};
    return groups_take(g, p, groups_only(g, here, group, to),
                       mine == groups_of_router(g, p->dst_router));
}

const struct route_ops route_par = {
    .kind = {.name = "par",
             .summary = "progressive adaptive: every router of the source group may turn away",
             .rows = rows,
             .params_size = sizeof(struct route_par_params)},
    .init = par_init,
    .fini = par_fini,
    .decide = par_decide,
};
