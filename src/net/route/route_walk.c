/* route_walk.c -- walks on machines of groups, and along any shortest way. */
#include "route_walk_priv.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "route_pick_priv.h"
#include "route_priv.h"

static struct route_hop walk_groups_hop(const struct route_walk *w, struct route_pkt *p,
                                        uint32_t here, uint32_t to, const struct route_view *view,
                                        struct wr_rng *rng)
{
    const struct route_groups *g = &w->groups;
    struct groups_ask ask = {.here = here, .dst = p->dst_router, .view = view, .rng = rng};
    struct groups_step step = groups_toward(g, &ask, g->group[to], to, p->way);

    return groups_take(g, p, step, g->group[here] == g->group[p->dst_router]);
}

static uint32_t walk_groups_count(const struct route_walk *w, uint32_t from, uint32_t to)
{
    return groups_hops(&w->groups, from, to);
}

/* Segments: a straight path visits global_hops + 1 groups. By a group, the
 * first walk ends where the second begins; by a router, that group counts for both. */
bool walk_init_groups(struct route_walk *w, const struct topo *t, uint32_t choice,
                      uint32_t channels, enum walk_turns turns, struct wr_err *err)
{
    *w = (struct route_walk){
        .topo = t, .choice = choice, .hop = walk_groups_hop, .hops = walk_groups_count};
    struct route_groups *g = &w->groups;

    if (!t->gateways)
        return wr_fail(err, WR_INPUT,
                       "it needs a machine of groups (dragonfly, dragonfly-xc, dragonfly-plus); "
                       "use one of these");
    if (!groups_init(g, t, choice, err))
        return false;
    uint32_t straight = g->global_hops + 1;

    w->second = turns == WALK_BY_ROUTER ? straight : turns == WALK_BY_GROUP ? straight - 1 : 0;
    w->turned = w->straight = (uint8_t)(GROUPS_LAST | w->second);
    /* Between leaves and spines a segment must always start on the same side. */
    if (turns == WALK_BY_GROUP && g->shape == GROUPS_LEAVES)
        w->straight = GROUPS_LAST;
    if (!groups_channels(g, turns == WALK_STRAIGHT ? channels : ROUTE_PHASE, w->second + straight,
                         err))
        return walk_fini(w), false;
    w->nvcs = g->vcs.nvcs;
    w->max_hops = groups_max_hops(g, g->global_hops);
    return true;
}

static uint32_t walk_closed_ports(const struct route_walk *w, uint32_t here, uint32_t to,
                                  uint16_t *ports)
{
    return w->topo->ops->next(w->topo, here, to, ports);
}

static struct route_hop walk_shortest_hop(const struct route_walk *w, struct route_pkt *p,
                                          uint32_t here, const uint16_t *ports, uint32_t n,
                                          const struct route_view *view, struct wr_rng *rng)
{
    uint32_t vc = w->counted ? p->hops : p->state & GROUPS_LAST ? w->second : 0;

    return (struct route_hop){
        .port = route_pick_port(w->choice, ports, n, here, p->dst_router, view, rng),
        .vc = (uint8_t)vc};
}

static struct route_hop walk_next_hop(const struct route_walk *w, struct route_pkt *p,
                                      uint32_t here, uint32_t to, const struct route_view *view,
                                      struct wr_rng *rng)
{
    uint16_t ports[TOPO_MAX_NEXT];
    uint32_t n = walk_closed_ports(w, here, to, ports);

    return walk_shortest_hop(w, p, here, ports, n, view, rng);
}

/* Every shortest way is as long, so follow the first. */
static uint32_t walk_next_count(const struct route_walk *w, uint32_t from, uint32_t to)
{
    uint16_t ports[TOPO_MAX_NEXT];
    uint32_t hops = 0;

    for (; from != to; hops++) {
        walk_closed_ports(w, from, to, ports);
        from = topo_port(w->topo, from, ports[0])->peer;
    }
    return hops;
}

static struct route_hop walk_paths_hop(const struct route_walk *w, struct route_pkt *p,
                                       uint32_t here, uint32_t to, const struct route_view *view,
                                       struct wr_rng *rng)
{
    uint16_t ports[TOPO_MAX_NEXT];
    uint32_t n = topo_paths_next(&w->paths, here, to, ports);

    return walk_shortest_hop(w, p, here, ports, n, view, rng);
}

static uint32_t walk_paths_count(const struct route_walk *w, uint32_t from, uint32_t to)
{
    return topo_paths_hops(&w->paths, from, to);
}

/* A fat tree's shortest ways go up, then down, whichever is chosen. */
static bool walk_is_tree(const struct topo *t)
{
    return !strcmp(t->ops->kind.name, "fat-tree");
}

/* What copes with long paths. */
static const char *walk_instead_of_counting(const struct topo *t, enum walk_turns turns)
{
    if (t->nfailed || !strcmp(t->ops->kind.name, "file"))
        return "updown";
    return topo_grid(t) || turns == WALK_STRAIGHT ? "dimension-order" : "minimal";
}

static bool walk_number_channels(struct route_walk *w, enum walk_turns turns, bool tree,
                                 struct wr_err *err)
{
    uint32_t walks = turns == WALK_STRAIGHT ? 1 : 2;

    w->turned = w->straight = GROUPS_LAST;
    w->counted = !tree;
    w->second = tree ? walks - 1 : 0;
    w->nvcs = tree ? walks : walks * w->max_hops;
    if (!w->nvcs)
        w->nvcs = 1;
    return route_vc_fits(w->nvcs, walk_instead_of_counting(w->topo, turns), err);
}

bool walk_init_paths(struct route_walk *w, const struct topo *t, uint32_t choice,
                     enum walk_turns turns, struct wr_err *err)
{
    *w = (struct route_walk){
        .topo = t, .choice = choice, .hop = walk_paths_hop, .hops = walk_paths_count};
    if (!topo_paths_build(&w->paths, t, err))
        return false;
    w->max_hops = w->paths.diameter;
    if (!walk_number_channels(w, turns, false, err))
        return walk_fini(w), false;
    return true;
}

bool walk_init_any(struct route_walk *w, const struct topo *t, uint32_t choice,
                   enum walk_turns turns, struct wr_err *err)
{
    struct topo_facts facts = {0};

    if (!t->nfailed && t->ops->facts)
        t->ops->facts(t, &facts);
    if (t->nfailed || !t->ops->next || t->ops->minimal != TOPO_SHORTEST || !facts.diameter)
        return walk_init_paths(w, t, choice, turns, err);
    *w = (struct route_walk){.topo = t,
                             .choice = choice,
                             .hop = walk_next_hop,
                             .hops = walk_next_count,
                             .max_hops = facts.diameter};
    return walk_number_channels(w, turns, walk_is_tree(t), err);
}

void walk_fini(struct route_walk *w)
{
    groups_fini(&w->groups);
    free(w->grid.coord);
    topo_paths_free(&w->paths);
    *w = (struct route_walk){0};
}

void walk_adopt(struct route *rt, const struct route_walk *w)
{
    assert(!rt->priv && w->hop && w->hops && w->nvcs);
    struct route_walk *keep = wr_alloc(sizeof *keep);

    *keep = *w;
    rt->priv = keep;
    rt->nvcs = w->nvcs;
    rt->max_hops = w->max_hops;
}

const struct conf_row walk_plain_rows[] = {
    ROUTE_ROW_CHOICE(offsetof(struct route_plain_params, choice), "random"),
    CONF_END,
};

bool walk_open_plain(struct route *rt, walk_init *init, struct wr_err *err)
{
    const struct route_plain_params *params = rt->params;
    struct route_walk w;

    if (!init(&w, rt->topo, params->choice, WALK_STRAIGHT, err))
        return false;
    walk_adopt(rt, &w);
    return true;
}

void walk_release(struct route *rt)
{
    walk_fini(rt->priv);
    free(rt->priv);
}

struct route_hop walk_decide(const struct route *rt, struct route_pkt *p, uint32_t here,
                             const struct route_view *view, struct wr_rng *rng)
{
    const struct route_walk *w = rt->priv;

    return w->hop(w, p, here, p->dst_router, view, rng);
}
