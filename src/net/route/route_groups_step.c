/* route_groups_step.c -- steps in a machine of groups where there is a choice. */
#include "route_groups_priv.h"
#include "route_pick_priv.h"

uint16_t groups_pick_local(const struct route_groups *g, const struct groups_ask *ask,
                           uint64_t cell)
{
    uint32_t first = g->local_first[cell];

    return route_pick_port(g->choice, g->local_port + first, g->local_first[cell + 1] - first,
                           ask->here, ask->dst, ask->view, ask->rng);
}

static uint32_t local_dist(const struct route_groups *g, uint32_t from, uint32_t slot)
{
    return g->dist[(uint64_t)from * g->nslots + slot];
}

/* Hops from `from` by way w to router `to`, as far as this group and the next
 * know; the group of `to` unless it is farther. */
static uint32_t way_hops(const struct route_groups *g, const struct groups_way *w, uint32_t from,
                         uint32_t to)
{
    uint32_t hops = local_dist(g, from, w->slot) + 1;

    if (to != ROUTE_NONE && g->group[w->to] == g->group[to])
        hops += local_dist(g, w->to, g->slot[to]);
    return hops;
}

static uint32_t way_load(const struct route_groups *g, const struct groups_ask *ask,
                         const struct groups_way *w)
{
    uint16_t port =
        w->from == ask->here ? w->port : g->local[(uint64_t)ask->here * g->nslots + w->slot];

    return ask->view->load(ask->view, ask->here, port);
}

/* The ways that count: the shortest, or at a gateway that was aimed for its own. */
struct eligible {
    uint32_t hops, n;
    bool own;
};

static bool is_eligible(const struct route_groups *g, const struct groups_ask *ask,
                        const struct groups_way *w, uint32_t to, const struct eligible *e)
{
    return (!e->own || w->from == ask->here) && way_hops(g, w, ask->here, to) == e->hops;
}

static struct eligible find_eligible(const struct route_groups *g, const struct groups_ask *ask,
                                     const struct groups_way *v, uint32_t n, uint32_t to, bool own)
{
    struct eligible e = {.hops = UINT32_MAX, .own = own};

    for (uint32_t i = 0; i < n; i++) {
        if (own && v[i].from != ask->here)
            continue;
        uint32_t hops = way_hops(g, &v[i], ask->here, to);

        if (hops < e.hops) {
            e.hops = hops;
            e.n = 0;
        }
        e.n += hops == e.hops;
    }
    return e;
}

static uint32_t pick_eligible(const struct route_groups *g, const struct groups_ask *ask,
                              const struct groups_way *v, uint32_t n, uint32_t to,
                              const struct eligible *e)
{
    uint32_t skip = e->n > 1 ? route_pick_start(g->choice, ask->here, ask->dst, e->n, ask->rng) : 0;
    uint32_t at = 0;

    while (!is_eligible(g, ask, &v[at], to, e) || skip--)
        at++;
    if (g->choice != ROUTE_LEAST || e->n == 1)
        return at;
    uint32_t best = at, load = way_load(g, ask, &v[at]);

    for (uint32_t i = 1; i < n && load; i++) {
        if (++at == n)
            at = 0;
        if (!is_eligible(g, ask, &v[at], to, e))
            continue;
        uint32_t l = way_load(g, ask, &v[at]);

        if (l < load) {
            load = l;
            best = at;
        }
    }
    return best;
}

/* A gateway, once chosen, is kept until it is reached, and there only its own
 * links count: one that is as near could be chosen again, by a hop that the
 * order of local hops forbids. */
struct groups_step groups_pick_way(const struct route_groups *g, const struct groups_ask *ask,
                                   uint32_t list, uint32_t to, uint16_t way)
{
    const struct groups_way *v = g->way + g->way_first[list];
    uint32_t n = g->way_first[list + 1] - g->way_first[list];

    if (n >= UINT16_MAX) /* route_pkt.way counts no farther */
        n = UINT16_MAX - 1;
    bool aimed = way && v[way - 1].from == ask->here;

    if (!way || aimed) {
        struct eligible e = find_eligible(g, ask, v, n, to, aimed);

        way = (uint16_t)(pick_eligible(g, ask, v, n, to, &e) + 1);
    }
    const struct groups_way *w = &v[way - 1];

    if (w->from == ask->here)
        return (struct groups_step){.port = w->port, .crosses = true};
    return (struct groups_step){.port = groups_local(g, ask, w->slot), .way = way};
}

/* Tries are bounded because a handler must end: with failures, some groups may
 * be cut off, and none left in between. */
uint32_t groups_draw(const struct route_groups *g, struct wr_rng *rng, uint32_t a, uint32_t b)
{
    uint32_t lo = a < b ? a : b, hi = a < b ? b : a;

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

uint32_t groups_enter(const struct route_groups *g, uint32_t from, uint32_t group,
                      uint32_t *ret_router)
{
    uint32_t hops = 0;

    while (g->group[from] != group) {
        uint32_t list = g->group[from] * g->ngroups + group;
        const struct groups_way *best = &g->way[g->way_first[list]];
        uint32_t end = g->way_first[list + 1];

        for (uint32_t i = g->way_first[list]; i < end; i++)
            if (way_hops(g, &g->way[i], from, ROUTE_NONE) < way_hops(g, best, from, ROUTE_NONE))
                best = &g->way[i];
        hops += way_hops(g, best, from, ROUTE_NONE);
        from = best->to;
    }
    *ret_router = from;
    return hops;
}

uint32_t groups_hops(const struct route_groups *g, uint32_t from, uint32_t to)
{
    uint32_t hops = 0;

    while (g->group[from] != g->group[to]) {
        uint32_t list = g->group[from] * g->ngroups + g->group[to];
        const struct groups_way *best = &g->way[g->way_first[list]];
        uint32_t end = g->way_first[list + 1];

        for (uint32_t i = g->way_first[list] + 1; i < end; i++)
            if (way_hops(g, &g->way[i], from, to) < way_hops(g, best, from, to))
                best = &g->way[i];
        hops += local_dist(g, from, best->slot) + 1;
        from = best->to;
    }
    return hops + local_dist(g, from, g->slot[to]);
}
