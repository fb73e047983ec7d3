/* topo_hyperx.c -- a grid in which every line of routers is joined all-to-all.
 *
 * Ahn, Binkert, Davis, McLaren, Schreiber, "HyperX: Topology, Routing, and
 * Packaging of Efficient Large-Scale Networks", SC 2009. One dimension is a
 * full mesh; two are a flattened butterfly.
 */
#include "topo_grid_priv.h"
#include "topo_priv.h"

static const struct conf_row rows[] = {TOPO_GRID_ROW_SIZES, TOPO_GRID_ROW_WIDTH,
                                       TOPO_GRID_ROW_NODES, CONF_END};

static uint64_t hyperx_ports_of(const struct topo_dim *d)
{
    return (uint64_t)(d->size - 1) * d->width;
}

static uint64_t hyperx_cut_cables(const struct topo_dim *d)
{
    return (uint64_t)d->width * (d->size / 2) * (d->size - d->size / 2);
}

static void hyperx_plug_line(struct topo *t, const struct topo_dim *d, uint32_t r, uint8_t cls)
{
    uint32_t x = r / d->stride % d->size;

    for (uint32_t y = x + 1; y < d->size; y++)
        for (uint32_t k = 0; k < d->width; k++)
            topo_cable(t, (struct topo_end){r, (uint16_t)(topo_hyperx_port(d, x, y) + k)},
                       (struct topo_end){r + (y - x) * d->stride,
                                         (uint16_t)(topo_hyperx_port(d, y, x) + k)},
                       cls);
}

static const struct topo_grid_family family = {
    .ports_of = hyperx_ports_of, .cut = hyperx_cut_cables, .plug = hyperx_plug_line};

static bool hyperx_build(struct topo *t, struct wr_err *err)
{
    return topo_grid_build(t, &family, err);
}

static uint32_t hyperx_next(const struct topo *t, uint32_t here, uint32_t dst, uint16_t *ports)
{
    const struct topo_grid *g = t->priv;
    struct topo_ports ret = {.v = ports};

    for (uint32_t i = 0; i < g->ndims; i++) {
        uint32_t x = topo_grid_coord(g, here, i), to = topo_grid_coord(g, dst, i);

        for (uint32_t k = 0; x != to && k < g->dim[i].width; k++)
            topo_ports_put(&ret, topo_hyperx_port(&g->dim[i], x, to) + k);
    }
    return ret.n;
}

static void hyperx_facts(const struct topo *t, struct topo_facts *ret)
{
    const struct topo_grid *g = topo_grid(t);
    uint64_t n = t->nrouters;

    *ret = (struct topo_facts){.terminals = n * g->nodes, .routers = n};
    for (uint32_t i = 0; i < g->ndims; i++) {
        ret->degree += (uint32_t)hyperx_ports_of(&g->dim[i]);
        ret->diameter += g->dim[i].size > 1;
    }
    ret->cables = n * ret->degree / 2;
    ret->bisection = topo_grid_bisection(t, hyperx_cut_cables);
}

const struct topo_ops topo_hyperx = {
    .kind = {.name = "hyperx",
             .summary = "a grid in which every line of routers is joined all-to-all",
             .rows = rows,
             .params_size = sizeof(struct topo_grid_params)},
    .build = hyperx_build,
    .fini = topo_grid_fini,
    .next = hyperx_next,
    .facts = hyperx_facts,
    .half = topo_grid_half,
    .router_name = topo_grid_router_name,
};
