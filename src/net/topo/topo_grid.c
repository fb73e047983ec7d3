/* topo_grid.c -- numbering, ports, terminals and bisection of grids: torus, mesh and hyperx. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "topo_grid_priv.h"

static const char *const dim_names[TOPO_MAX_DIMS] = {"x", "y", "z", "w", "v", "u", "t",
                                                     "s", "r", "q", "p", "o", "n", "m"};

const struct topo_grid *topo_grid(const struct topo *t)
{
    return t->ops->half == topo_grid_half ? t->priv : NULL;
}

/* A list per dimension may have one entry for all of them, or none. */
static bool grid_check_list(const char *key, size_t n, uint32_t ndims, struct wr_err *err)
{
    if (n <= 1 || n == ndims)
        return true;
    return wr_fail(err, WR_INPUT,
                   "%s has %zu entries for %u dimensions; give one per dimension or one for all",
                   key, n, ndims);
}

static uint32_t grid_pick(const struct conf_list *list, uint32_t dim)
{
    const uint32_t *v = list->items;

    return !list->n ? 1 : list->n == 1 ? v[0] : v[dim];
}

static bool grid_pick_wrap(const struct conf_list *list, uint32_t dim)
{
    const bool *v = list->items;

    return !list->n ? true : list->n == 1 ? v[0] : v[dim];
}

static bool grid_read_lists(struct topo_grid *ret, const struct topo_grid_params *params,
                            bool may_wrap, struct wr_err *err)
{
    struct topo_grid g = {.ndims = (uint32_t)params->sizes.n, .nodes = params->nodes};
    const uint32_t *size = params->sizes.items;
    uint64_t stride = 1;

    if (!params->sizes.n || params->sizes.n > TOPO_MAX_DIMS)
        return wr_fail(err, WR_INPUT, "sizes has %zu dimensions; give 1 to %u, as in sizes: [4, 4]",
                       params->sizes.n, TOPO_MAX_DIMS);
    if (!grid_check_list("width", params->width.n, g.ndims, err) ||
        (may_wrap && !grid_check_list("wrap", params->wrap.n, g.ndims, err)))
        return false;
    for (uint32_t i = 0; i < g.ndims; i++) {
        g.dim[i] = (struct topo_dim){.size = size[i],
                                     .stride = (uint32_t)stride,
                                     .width = grid_pick(&params->width, i),
                                     .wrap = may_wrap && grid_pick_wrap(&params->wrap, i)};
        if (!size[i] || !g.dim[i].width || !g.nodes)
            return wr_fail(err, WR_INPUT,
                           "nodes and every entry of sizes and width must be at least 1; change "
                           "the one that is 0");
        stride *= size[i];
        if (stride > INT32_MAX)
            return wr_fail(err, WR_INPUT, "sizes make too many routers to count; lower them");
    }
    *ret = g;
    return true;
}

static bool grid_alloc(struct topo *t, const struct topo_grid *g,
                       uint64_t (*ports_of)(const struct topo_dim *d), struct wr_err *err)
{
    struct topo_grid grid = *g;
    const struct topo_dim *last = &grid.dim[grid.ndims - 1];
    uint64_t nrouters = (uint64_t)last->stride * last->size, nports = grid.nodes;

    for (uint32_t i = 0; i < grid.ndims; i++) {
        grid.dim[i].first_port = (uint32_t)nports;
        nports += ports_of(&grid.dim[i]);
        if (!topo_check_size(nrouters, nports, nrouters * grid.nodes, err))
            return false;
    }
    topo_alloc(t, (uint32_t)nrouters, (uint32_t)nports, (uint32_t)nrouters * grid.nodes, 1);
    for (uint32_t i = 0; i < grid.ndims; i++)
        t->class_name[TOPO_OWN + i] = dim_names[i];
    t->nclasses = TOPO_OWN + grid.ndims;
    for (uint32_t i = 0; i < t->nterms; i++)
        topo_attach(t, i, (struct topo_end){i / grid.nodes, (uint16_t)(i % grid.nodes)});
    t->priv = wr_alloc(sizeof grid);
    *(struct topo_grid *)t->priv = grid;
    return true;
}

/* Does halving across dimension a cut fewer cables than across b? cut(d) cables are cut for every
 * `size` routers; compared without division. */
static bool grid_cheaper(const struct topo_dim *a, const struct topo_dim *b,
                         uint64_t (*cut)(const struct topo_dim *d))
{
    return a->size > 1 && (b->size == 1 || cut(a) * b->size < cut(b) * a->size);
}

static void grid_choose_cut(struct topo_grid *g, uint64_t (*cut)(const struct topo_dim *d))
{
    for (uint32_t i = 0; i < g->ndims; i++) {
        const struct topo_dim *best = &g->dim[g->cut], *d = &g->dim[i];

        /* Equal halves first, then few cables. */
        if (d->size % 2 != best->size % 2 ? d->size % 2 == 0 : grid_cheaper(d, best, cut))
            g->cut = i;
    }
}

bool topo_grid_build(struct topo *t, const struct topo_grid_family *f, struct wr_err *err)
{
    struct topo_grid g;

    if (!grid_read_lists(&g, t->params, f->may_wrap, err))
        return false;
    grid_choose_cut(&g, f->cut);
    if (!grid_alloc(t, &g, f->ports_of, err))
        return false;
    for (uint32_t r = 0; r < t->nrouters; r++)
        for (uint32_t i = 0; i < g.ndims; i++)
            f->plug(t, &topo_grid(t)->dim[i], r, (uint8_t)(TOPO_OWN + i));
    return true;
}

uint64_t topo_grid_bisection(const struct topo *t, uint64_t (*cut)(const struct topo_dim *d))
{
    const struct topo_grid *g = topo_grid(t);

    assert(g && g->cut < g->ndims);
    const struct topo_dim *d = &g->dim[g->cut];

    /* If an odd dimension would be cheaper to cut, the best halves have no plane as boundary. */
    for (uint32_t i = 0; i < g->ndims; i++)
        if (grid_cheaper(&g->dim[i], d, cut))
            return 0;
    return d->size % 2 ? 0 : cut(d) * (t->nrouters / d->size);
}

void topo_grid_fini(struct topo *t)
{
    free(t->priv);
}

uint32_t topo_grid_half(const struct topo *t, uint32_t router)
{
    const struct topo_grid *g = topo_grid(t);

    return topo_grid_coord(g, router, g->cut) >= g->dim[g->cut].size / 2;
}

void topo_grid_router_name(const struct topo *t, uint32_t router, char name[TOPO_NAME_MAX])
{
    const struct topo_grid *g = topo_grid(t);
    int n = 0;

    for (uint32_t i = 0; i < g->ndims && n < TOPO_NAME_MAX; i++)
        n += snprintf(name + n, (size_t)(TOPO_NAME_MAX - n), "%s%u", i ? "." : "",
                      topo_grid_coord(g, router, i));
}
