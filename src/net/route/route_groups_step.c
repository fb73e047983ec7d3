/* route_groups_step.c -- steps in a machine of groups where there is a choice. */
#include "base/check.h"
#include "route_groups_priv.h"
#include "route_pick_priv.h"

uint16_t groups_pick_local(const struct route_groups *g, const struct groups_ask *ask,
                           uint64_t cell)
{
    uint32_t first = g->local_first[cell];

    return route_pick_port(g->choice, g->local_port + first, g->local_first[cell + 1] - first,
                           ask->here, ask->dst, ask->view, ask->rng);
}

static const uint8_t *groups_step_dist_of(const struct route_groups *g, uint32_t router)
{
    return g->dist + (uint64_t)router * g->nslots;
}

/* A list of ways out of a group, and how long they are for one packet. Which
 * of two routers a distance is counted from does not matter, so both rows of
 * the table are read along. */
struct ways {
    const struct groups_way *v;
    uint32_t n;
    const uint8_t *near; /* local hops from here to each slot */
    const uint8_t *far;  /* the same from the target, if the ways end in its group; or NULL */
};

static struct ways groups_step_ways_toward(const struct route_groups *g, uint32_t here,
                                           uint32_t list, uint32_t to)
{
    struct ways w = {.v = g->way + g->way_first[list],
                     .n = g->way_first[list + 1] - g->way_first[list],
                     .near = groups_step_dist_of(g, here)};

    if (to != ROUTE_NONE &&
        (g->global_hops == 1 ||
         g->group[topo_port(g->topo, w.v->from, w.v->port)->peer] == g->group[to]))
        w.far = groups_step_dist_of(g, to);
    if (w.n >= UINT16_MAX) /* route_pkt.way counts no farther */
        w.n = UINT16_MAX - 1;
    return w;
}

static uint32_t groups_step_way_hops(const struct ways *w, uint32_t i)
{
    return w->near[w->v[i].slot] + 1u + (w->far ? w->far[w->v[i].land] : 0u);
}

static uint32_t groups_step_way_load(const struct route_groups *g, const struct groups_ask *ask,
                                     const struct groups_way *w)
{
    uint16_t port =
        w->from == ask->here ? w->port : g->local[(uint64_t)ask->here * g->nslots + w->slot];

    return ask->view->load(ask->view, ask->here, port);
}

/* The ways that count: the shortest, or at a gateway that was aimed for the
 * shortest of its own. */
struct eligible {
    uint32_t hops, n;
    bool own;
};

static bool groups_step_is_eligible(const struct ways *w, uint32_t i, const struct eligible *e)
{
    return groups_step_way_hops(w, i) == e->hops && (!e->own || !w->near[w->v[i].slot]);
}

static struct eligible groups_step_find_eligible(const struct ways *w, bool own)
{
    struct eligible e = {.hops = UINT32_MAX, .own = own};

    for (uint32_t i = 0; i < w->n; i++) {
        uint32_t hops = groups_step_way_hops(w, i);

        if (hops > e.hops || (own && w->near[w->v[i].slot]))
            continue;
        e.n = hops < e.hops ? 1 : e.n + 1;
        e.hops = hops;
    }
    return e;
}

static uint32_t groups_step_pick_eligible(const struct route_groups *g,
                                          const struct groups_ask *ask, const struct ways *w,
                                          const struct eligible *e)
{
    uint32_t skip = e->n > 1 ? route_pick_start(g->choice, ask->here, ask->dst, e->n, ask->rng) : 0;
    uint32_t at = 0;

    while (!groups_step_is_eligible(w, at, e) || skip--)
        at++;
    if (g->choice != ROUTE_LEAST || e->n == 1)
        return at;
    uint32_t best = at, load = groups_step_way_load(g, ask, &w->v[at]);

    for (uint32_t i = 1; i < w->n && load; i++) {
        if (++at == w->n)
            at = 0;
        if (!groups_step_is_eligible(w, at, e))
            continue;
        uint32_t l = groups_step_way_load(g, ask, &w->v[at]);

        if (l < load) {
            load = l;
            best = at;
        }
    }
    return best;
}

/* Has the router of a list's i-th way no other in the list? Lists are in the order of routers. */
static bool groups_step_is_sole(const struct groups_way *v, uint32_t n, uint32_t i)
{
    return (!i || v[i - 1].from != v[i].from) && (i + 1 == n || v[i + 1].from != v[i].from);
}

bool groups_certain(const struct route_groups *g, uint32_t here, uint32_t group, uint16_t way)
{
    uint32_t mine = g->group[here], list = mine * g->ngroups + group;

    if (g->local_first)
        return false;
    if (mine == group || g->one_way)
        return true;
    const struct groups_way *v = g->way + g->way_first[list];
    uint32_t n = g->way_first[list + 1] - g->way_first[list];

    return way && (v[way - 1].from != here || groups_step_is_sole(v, n, way - 1u));
}

/* A gateway, once chosen, is kept until it is reached, and there only its own
 * links count: one that is as near could be chosen again, by a hop that the
 * order of local hops forbids. */
uint16_t groups_pick_way(const struct route_groups *g, const struct groups_ask *ask, uint32_t list,
                         uint32_t to, uint16_t way)
{
    const struct groups_way *v = g->way + g->way_first[list];
    bool reached = way && v[way - 1].from == ask->here;

    if (way &&
        (!reached || groups_step_is_sole(v, g->way_first[list + 1] - g->way_first[list], way - 1u)))
        return way;
    struct ways w = groups_step_ways_toward(g, ask->here, list, to);
    struct eligible e = groups_step_find_eligible(&w, reached);

    return (uint16_t)(groups_step_pick_eligible(g, ask, &w, &e) + 1);
}

/* Tries are bounded because a handler must end: with failures, some groups may
 * be cut off, and none left in between. */
uint32_t groups_draw(const struct route_groups *g, struct wr_rng *rng, uint32_t a, uint32_t b)
{
    uint32_t lo = a < b ? a : b, hi = a < b ? b : a;

    wr_check(hi < g->ngroups);
    for (uint32_t tries = 0; g->ngroups > 2 && tries < 16; tries++) {
        uint32_t group = wr_rng_below(rng, g->ngroups - (lo == hi ? 1 : 2));

        group += group >= lo;
        group += lo != hi && group >= hi;
        uint32_t list = a * g->ngroups + group;

        if (g->one_way || g->way_first[list + 1] > g->way_first[list])
            return group;
    }
    return ROUTE_NONE;
}

/* The shortest way from *at to the group of `to` (or any router of `group`);
 * moves *at to its other end. */
static uint32_t groups_step_cross(const struct route_groups *g, uint32_t *at, uint32_t group,
                                  uint32_t to)
{
    struct ways w = groups_step_ways_toward(g, *at, g->group[*at] * g->ngroups + group, to);
    uint32_t best = 0;

    for (uint32_t i = 1; i < w.n; i++)
        if (groups_step_way_hops(&w, i) < groups_step_way_hops(&w, best))
            best = i;
    uint32_t hops = w.near[w.v[best].slot] + 1u;

    *at = topo_port(g->topo, w.v[best].from, w.v[best].port)->peer;
    return hops;
}

uint32_t groups_enter(const struct route_groups *g, uint32_t from, uint32_t group,
                      uint32_t *ret_router)
{
    uint32_t hops = 0;

    wr_check(from < g->topo->nrouters && group < g->ngroups);
    while (g->group[from] != group)
        hops += groups_step_cross(g, &from, group, ROUTE_NONE);
    *ret_router = from;
    return hops;
}

uint32_t groups_hops(const struct route_groups *g, uint32_t from, uint32_t to)
{
    uint32_t hops = 0;

    while (g->group[from] != g->group[to])
        hops += groups_step_cross(g, &from, g->group[to], to);
    return hops + groups_step_dist_of(g, from)[g->slot[to]];
}
