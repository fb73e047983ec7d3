/* pattern_nearest.c -- every node sends to its neighbours on a grid.
 *
 * Neighbours are counted -x0, +x0, -x1, +x1, ...; those beyond the border of an
 * open grid and the double of a ring of two are left out.
 */
#include <assert.h>
#include <stddef.h>

#include "synth_grid_priv.h"
#include "synth_priv.h"

enum order { ORDER_CYCLE, ORDER_RANDOM };
static const char *const order_names[] = {[ORDER_CYCLE] = "cycle", [ORDER_RANDOM] = "random", NULL};

struct nearest_params {
    struct conf_list grid; /* uint32_t */
    bool periodic;
    uint32_t order;
};

static const struct conf_row nearest_rows[] = {
    {"grid", CONF_LIST, offsetof(struct nearest_params, grid), "", .item = CONF_U32,
     .size = sizeof(uint32_t), .help = "Extents of the grid; the first counts fastest."},
    {"periodic", CONF_BOOL, offsetof(struct nearest_params, periodic), "true",
     .help = "Does the grid close on itself in every dimension."},
    {"order", CONF_CHOICE, offsetof(struct nearest_params, order), "cycle", .names = order_names,
     .help = "Neighbours in turn, or a random one each time."},
    CONF_END,
};

static bool nearest_init(struct synth_pattern *p, struct wr_err *err)
{
    const struct nearest_params *g = p->params;

    if (!synth_grid_check(&g->grid, p->nnodes, err))
        return false;
    if (p->nnodes < 2)
        return wr_fail(err, WR_INPUT, "one node has no neighbour; add nodes");
    return true;
}

/* All neighbours of a node; how many. */
static uint32_t nearest_neighbours(const struct nearest_params *g, uint32_t node,
                                   uint32_t ret[2 * SYNTH_MAX_DIMS])
{
    const uint32_t *extent = g->grid.items;
    uint32_t n = 0, stride = 1, rest = node;

    for (size_t d = 0; d < g->grid.n; d++) {
        uint32_t e = extent[d], x = rest % e;

        if (x > 0)
            ret[n++] = node - stride;
        else if (g->periodic && e > 2)
            ret[n++] = node + (e - 1) * stride;
        if (x < e - 1)
            ret[n++] = node + stride;
        else if (g->periodic && e > 2)
            ret[n++] = node - (e - 1) * stride;
        rest /= e;
        stride *= e;
    }
    return n;
}

static uint32_t nearest_dest(const struct synth_pattern *p, uint32_t src, struct wr_rng *rng,
                             uint64_t nth)
{
    const struct nearest_params *g = p->params;
    uint32_t near[2 * SYNTH_MAX_DIMS];
    uint32_t n = nearest_neighbours(g, src, near);

    assert(n); /* a grid of one node is refused */
    return near[g->order == ORDER_RANDOM ? wr_rng_below(rng, n) : nth % n];
}

const struct synth_pattern_ops synth_pattern_nearest = {
    .kind = {"nearest", "to the neighbours on a grid, in turn or at random", nearest_rows,
             sizeof(struct nearest_params)},
    .init = nearest_init,
    .dest = nearest_dest,
};
