/* topo_torus.c -- a grid of any dimension, wrapped or not per dimension.
 *
 * Dally and Towles, "Principles and Practices of Interconnection Networks",
 * chapter 5. A ring is a torus of one dimension, a hypercube one of sizes 2.
 */
#include "topo_grid_priv.h"
#include "topo_priv.h"

static const struct conf_row torus_rows[] = {TOPO_GRID_ROW_SIZES, TOPO_GRID_ROW_WIDTH,
                                             TOPO_GRID_ROW_WRAP, TOPO_GRID_ROW_NODES, CONF_END};

static const struct conf_row mesh_rows[] = {TOPO_GRID_ROW_SIZES, TOPO_GRID_ROW_WIDTH,
                                            TOPO_GRID_ROW_NODES, CONF_END};

/* Are x = size-1 and x = 0 joined by a cable of their own? With two routers
 * the way round is the way there. */
static bool torus_wraps(const struct topo_dim *d)
{
    return d->wrap && d->size > 2;
}

static uint64_t torus_ports_of(const struct topo_dim *d)
{
    return d->size == 1 ? 0 : d->size == 2 ? d->width : 2 * (uint64_t)d->width;
}

static uint64_t torus_cut_cables(const struct topo_dim *d)
{
    return d->size == 1 ? 0 : (uint64_t)d->width * (torus_wraps(d) ? 2 : 1);
}

static void torus_plug_up(struct topo *t, const struct topo_dim *d, uint32_t r, uint8_t cls)
{
    uint32_t x = r / d->stride % d->size;

    if (x + 1 == d->size && !torus_wraps(d))
        return;
    uint32_t up = x + 1 < d->size ? r + d->stride : r - x * d->stride;

    for (uint32_t k = 0; k < d->width; k++)
        topo_cable(t, (struct topo_end){r, (uint16_t)(topo_torus_port(d, true) + k)},
                   (struct topo_end){up, (uint16_t)(topo_torus_port(d, false) + k)}, cls);
}

static const struct topo_grid_family torus = {
    .may_wrap = true, .ports_of = torus_ports_of, .cut = torus_cut_cables, .plug = torus_plug_up};
static const struct topo_grid_family mesh = {
    .ports_of = torus_ports_of, .cut = torus_cut_cables, .plug = torus_plug_up};

static bool torus_build(struct topo *t, struct wr_err *err)
{
    return topo_grid_build(t, &torus, err);
}

static bool torus_build_mesh(struct topo *t, struct wr_err *err)
{
    return topo_grid_build(t, &mesh, err);
}

static void torus_add_width(struct topo_ports *ret, const struct topo_dim *d, bool up)
{
    for (uint32_t k = 0; k < d->width; k++)
        topo_ports_put(ret, topo_torus_port(d, up) + k);
}

static uint32_t torus_next(const struct topo *t, uint32_t here, uint32_t dst, uint16_t *ports)
{
    const struct topo_grid *g = t->priv;
    struct topo_ports ret = {.v = ports};

    for (uint32_t i = 0; i < g->ndims; i++) {
        const struct topo_dim *d = &g->dim[i];
        uint32_t x = topo_grid_coord(g, here, i), to = topo_grid_coord(g, dst, i);
        uint32_t ahead = to >= x ? to - x : to + d->size - x; /* steps if going up */

        if (x == to)
            continue;
        bool up = torus_wraps(d) ? 2 * ahead <= d->size : to > x;
        bool down = torus_wraps(d) ? 2 * ahead >= d->size : to < x;

        if (up)
            torus_add_width(&ret, d, true);
        if (down)
            torus_add_width(&ret, d, false);
    }
    return ret.n;
}

static void torus_facts(const struct topo *t, struct topo_facts *ret)
{
    const struct topo_grid *g = topo_grid(t);
    uint64_t n = t->nrouters;
    bool regular = true;

    *ret = (struct topo_facts){.terminals = n * g->nodes, .routers = n};
    for (uint32_t i = 0; i < g->ndims; i++) {
        const struct topo_dim *d = &g->dim[i];

        ret->cables += torus_wraps(d) ? n * d->width : n / d->size * (d->size - 1) * d->width;
        ret->diameter += torus_wraps(d) ? d->size / 2 : d->size - 1;
        ret->degree += (uint32_t)torus_ports_of(d);
        regular &= torus_wraps(d) || d->size <= 2;
    }
    if (!regular)
        ret->degree = 0;
    ret->bisection = topo_grid_bisection(t, torus_cut_cables);
}

const struct topo_ops topo_torus = {
    .kind = {.name = "torus",
             .summary = "a grid of any dimension whose ends are joined",
             .rows = torus_rows,
             .params_size = sizeof(struct topo_grid_params)},
    .build = torus_build,
    .fini = topo_grid_fini,
    .next = torus_next,
    .facts = torus_facts,
    .half = topo_grid_half,
    .router_name = topo_grid_router_name,
};

const struct topo_ops topo_mesh = {
    .kind = {.name = "mesh",
             .summary = "a grid of any dimension with open ends",
             .rows = mesh_rows,
             .params_size = sizeof(struct topo_grid_params)},
    .build = torus_build_mesh,
    .fini = topo_grid_fini,
    .next = torus_next,
    .facts = torus_facts,
    .half = topo_grid_half,
    .router_name = topo_grid_router_name,
};
