/* topo_torus.c -- a grid of any dimension, wrapped or not per dimension.
 *
 * Dally and Towles, "Principles and Practices of Interconnection Networks",
 * chapter 5. A ring is a torus of one dimension, a hypercube one of sizes 2.
 */
#include "grid_priv.h"
#include "topo_priv.h"

static const struct conf_row torus_rows[] = {TOPO_GRID_ROW_SIZES, TOPO_GRID_ROW_WIDTH,
                                             TOPO_GRID_ROW_WRAP, TOPO_GRID_ROW_NODES, CONF_END};

static const struct conf_row mesh_rows[] = {TOPO_GRID_ROW_SIZES, TOPO_GRID_ROW_WIDTH,
                                            TOPO_GRID_ROW_NODES, CONF_END};

/* Are x = size-1 and x = 0 joined by a cable of their own? With two routers
 * the way round is the way there. */
static bool wraps(const struct topo_dim *d)
{
    return d->wrap && d->size > 2;
}

static uint64_t ports_of(const struct topo_dim *d)
{
    return d->size == 1 ? 0 : d->size == 2 ? d->width : 2 * (uint64_t)d->width;
}

static uint64_t cut(const struct topo_dim *d)
{
    return d->size == 1 ? 0 : (uint64_t)d->width * (wraps(d) ? 2 : 1);
}

static void plug_up(struct topo *t, const struct topo_dim *d, uint32_t r, uint8_t cls)
{
    uint32_t x = r / d->stride % d->size;

    if (x + 1 == d->size && !wraps(d))
        return;
    uint32_t up = x + 1 < d->size ? r + d->stride : r - x * d->stride;

    for (uint32_t k = 0; k < d->width; k++)
        topo_cable(t, (struct topo_end){r, (uint16_t)(topo_torus_port(d, true) + k)},
                   (struct topo_end){up, (uint16_t)(topo_torus_port(d, false) + k)}, cls);
}

static const struct topo_grid_family torus = {
    .may_wrap = true, .ports_of = ports_of, .cut = cut, .plug = plug_up};
static const struct topo_grid_family mesh = {.ports_of = ports_of, .cut = cut, .plug = plug_up};

static bool build_torus(struct topo *t, struct wr_err *err)
{
    return topo_grid_build(t, &torus, err);
}

static bool build_mesh(struct topo *t, struct wr_err *err)
{
    return topo_grid_build(t, &mesh, err);
}

static void add_width(struct topo_ports *ret, const struct topo_dim *d, bool up)
{
    for (uint32_t k = 0; k < d->width; k++)
        topo_ports_put(ret, topo_torus_port(d, up) + k);
}

static uint32_t next(const struct topo *t, uint32_t here, uint32_t dst, uint16_t *ports)
{
    const struct topo_grid *g = t->priv;
    struct topo_ports ret = {.v = ports};

    for (uint32_t i = 0; i < g->ndims; i++) {
        const struct topo_dim *d = &g->dim[i];
        uint32_t x = topo_grid_coord(g, here, i), to = topo_grid_coord(g, dst, i);
        uint32_t ahead = to >= x ? to - x : to + d->size - x; /* steps if going up */

        if (x == to)
            continue;
        bool up = wraps(d) ? 2 * ahead <= d->size : to > x;
        bool down = wraps(d) ? 2 * ahead >= d->size : to < x;

        if (up)
            add_width(&ret, d, true);
        if (down)
            add_width(&ret, d, false);
    }
    return ret.n;
}

static void facts(const struct topo *t, struct topo_facts *ret)
{
    const struct topo_grid *g = topo_grid(t);
    uint64_t n = t->nrouters;
    bool regular = true;

    *ret = (struct topo_facts){.terminals = n * g->nodes, .routers = n};
    for (uint32_t i = 0; i < g->ndims; i++) {
        const struct topo_dim *d = &g->dim[i];

        ret->cables += wraps(d) ? n * d->width : n / d->size * (d->size - 1) * d->width;
        ret->diameter += wraps(d) ? d->size / 2 : d->size - 1;
        ret->degree += (uint32_t)ports_of(d);
        regular &= wraps(d) || d->size <= 2;
    }
    if (!regular)
        ret->degree = 0;
    ret->bisection = topo_grid_bisection(t, cut);
}

const struct topo_ops topo_torus = {
    .kind = {.name = "torus",
             .summary = "a grid of any dimension whose ends are joined",
             .rows = torus_rows,
             .params_size = sizeof(struct topo_grid_params)},
    .build = build_torus,
    .fini = topo_grid_fini,
    .next = next,
    .facts = facts,
    .half = topo_grid_half,
    .router_name = topo_grid_router_name,
};

const struct topo_ops topo_mesh = {
    .kind = {.name = "mesh",
             .summary = "a grid of any dimension with open ends",
             .rows = mesh_rows,
             .params_size = sizeof(struct topo_grid_params)},
    .build = build_mesh,
    .fini = topo_grid_fini,
    .next = next,
    .facts = facts,
    .half = topo_grid_half,
    .router_name = topo_grid_router_name,
};
