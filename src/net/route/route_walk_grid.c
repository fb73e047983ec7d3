/* route_walk_grid.c -- torus, mesh and hyperx, one dimension after the other. */
#include <stdlib.h>

#include "base/mem.h"
#include "route_pick_priv.h"
#include "route_priv.h"
#include "route_walk_priv.h"

static bool walk_grid_wraps(const struct topo_dim *d)
{
    return d->wrap && d->size > 2;
}

/* Steps from x up to `to` on a ring. */
static uint32_t walk_grid_ahead(const struct topo_dim *d, uint32_t x, uint32_t to)
{
    return to >= x ? to - x : to + d->size - x;
}

static uint32_t walk_grid_steps(const struct walk_grid *g, const struct topo_dim *d, uint32_t x,
                                uint32_t to)
{
    uint32_t up = walk_grid_ahead(d, x, to);

    if (x == to)
        return 0;
    if (g->all_to_all)
        return 1;
    if (!walk_grid_wraps(d))
        return x < to ? to - x : x - to;
    return up <= d->size - up ? up : d->size - up;
}

/* The live ones of a dimension's parallel cables; usually all. */
static uint32_t walk_grid_add_live(const struct topo *t, uint32_t here, uint16_t first,
                                   uint32_t width, uint16_t *ports, uint32_t n)
{
    for (uint32_t k = 0; k < width && n < TOPO_MAX_NEXT; k++)
        if (topo_port(t, here, first + k)->kind == TOPO_ROUTER)
            ports[n++] = (uint16_t)(first + k);
    return n;
}

/* All ports towards `to` in one dimension. Half-way round a ring is both ways. */
static uint32_t walk_grid_ports_in(const struct route_walk *w, const struct topo_dim *d,
                                   uint32_t here, uint32_t x, uint32_t to, uint16_t *ports)
{
    const struct topo *t = w->topo;

    if (w->grid.all_to_all)
        return walk_grid_add_live(t, here, topo_hyperx_port(d, x, to), d->width, ports, 0);
    uint32_t up = walk_grid_ahead(d, x, to), n = 0;

    if (walk_grid_wraps(d) ? 2 * up <= d->size : x < to)
        n = walk_grid_add_live(t, here, topo_torus_port(d, true), d->width, ports, n);
    if (walk_grid_wraps(d) ? 2 * up >= d->size : x > to)
        n = walk_grid_add_live(t, here, topo_torus_port(d, false), d->width, ports, n);
    return n;
}

static struct route_hop walk_grid_hop(const struct route_walk *w, struct route_pkt *p,
                                      uint32_t here, uint32_t to, const struct route_view *view,
                                      struct wr_rng *rng)
{
    const struct topo_grid *g = w->grid.grid;
    const uint32_t *a = w->grid.coord + (uint64_t)here * g->ndims;
    const uint32_t *b = w->grid.coord + (uint64_t)to * g->ndims;
    uint32_t i = 0, base = p->state & GROUPS_LAST ? w->second : 0;
    uint16_t ports[TOPO_MAX_NEXT];

    while (a[i] == b[i])
        i++;
    const struct topo_dim *d = &g->dim[i];
    uint32_t n = walk_grid_ports_in(w, d, here, a[i], b[i], ports);
    uint16_t port = route_pick_port(w->choice, ports, n, here, p->dst_router, view, rng);
    bool up = port < d->first_port + d->width;
    uint32_t vc = walk_grid_wraps(d) ? route_vc_dateline(a[i], b[i], up) : 0;

    return (struct route_hop){.port = port, .vc = (uint8_t)(base + vc)};
}

static uint32_t walk_grid_count(const struct route_walk *w, uint32_t from, uint32_t to)
{
    const struct topo_grid *g = w->grid.grid;
    const uint32_t *a = w->grid.coord + (uint64_t)from * g->ndims;
    const uint32_t *b = w->grid.coord + (uint64_t)to * g->ndims;
    uint32_t hops = 0;

    for (uint32_t i = 0; i < g->ndims; i++)
        hops += walk_grid_steps(&w->grid, &g->dim[i], a[i], b[i]);
    return hops;
}

/* Dimension order has one neighbour to go to, so it must still be there. */
static bool walk_grid_check_cables(const struct route_walk *w, struct wr_err *err)
{
    const struct topo *t = w->topo;

    for (uint32_t r = 0; t->nfailed && r < t->nrouters; r++)
        for (uint32_t p = 0; p < t->nports; p++) {
            const struct topo_port *dead = topo_port(t, r, p);
            char a[TOPO_NAME_MAX], b[TOPO_NAME_MAX];
            bool joined = dead->kind != TOPO_DEAD || dead->cls == TOPO_EJECT;

            for (uint32_t q = 0; !joined && q < t->nports; q++)
                joined = topo_port(t, r, q)->kind == TOPO_ROUTER &&
                         topo_port(t, r, q)->peer == dead->peer;
            if (joined)
                continue;
            topo_router_name(t, r, a);
            topo_router_name(t, dead->peer, b);
            return wr_fail(err, WR_INPUT,
                           "no cable is left between %s and %s, and dimension order cannot go "
                           "round; use `kind: table`, or `kind: updown` on a large machine",
                           a, b);
        }
    return true;
}

bool walk_init_grid(struct route_walk *w, const struct topo *t, uint32_t choice,
                    enum walk_turns turns, struct wr_err *err)
{
    const struct topo_grid *g = topo_grid(t);
    uint32_t each = 1;

    *w = (struct route_walk){
        .topo = t, .choice = choice, .hop = walk_grid_hop, .hops = walk_grid_count};
    if (!g)
        return wr_fail(err, WR_INPUT,
                       "it needs coordinates (torus, mesh, hyperx); use `kind: minimal` here");
    if (!walk_grid_check_cables(w, err))
        return false;
    w->grid = (struct walk_grid){.grid = g, .all_to_all = t->ops == &topo_hyperx};
    w->grid.coord = wr_alloc((size_t)t->nrouters * g->ndims * sizeof *w->grid.coord);
    for (uint32_t i = 0; i < g->ndims; i++) {
        const struct topo_dim *d = &g->dim[i];

        for (uint32_t r = 0; r < t->nrouters; r++)
            w->grid.coord[(uint64_t)r * g->ndims + i] = topo_grid_coord(g, r, i);
        w->max_hops += w->grid.all_to_all   ? d->size > 1
                       : walk_grid_wraps(d) ? d->size / 2
                                            : d->size - 1;
        if (walk_grid_wraps(d))
            each = 2;
    }
    w->turned = w->straight = GROUPS_LAST;
    w->second = turns == WALK_STRAIGHT ? 0 : each;
    w->nvcs = w->second + each;
    return true;
}
