/* pattern_tornado.c -- just under half way around every ring of a grid.
 *
 * In each dimension of extent k the destination is ceil(k/2) - 1 further (Dally and
 * Towles, section 3.2): on a ring, minimal routing sends it all one way round.
 */
#include <stddef.h>

#include "synth_grid_priv.h"
#include "synth_priv.h"

struct tornado_params {
    struct conf_list grid; /* uint32_t */
};

static const struct conf_row tornado_rows[] = {
    {"grid", CONF_LIST, offsetof(struct tornado_params, grid), "", .item = CONF_U32,
     .size = sizeof(uint32_t),
     .help = "Extents of the grid, the first counts fastest; absent: all nodes in one ring."},
    CONF_END,
};

static uint32_t tornado_halfway(uint32_t k)
{
    return (k + 1) / 2 - 1;
}

static bool tornado_init(struct synth_pattern *p, struct wr_err *err)
{
    const struct tornado_params *t = p->params;
    const uint32_t *extent = t->grid.items;
    bool moves = !t->grid.n && tornado_halfway(p->nnodes);

    if (t->grid.n && !synth_grid_check(&t->grid, p->nnodes, err))
        return false;
    for (size_t d = 0; d < t->grid.n; d++)
        moves |= tornado_halfway(extent[d]) > 0;
    if (!moves)
        return wr_fail(err, WR_INPUT, "no ring has more than two nodes; use a larger extent");
    return true;
}

static uint32_t tornado_dest(const struct synth_pattern *p, uint32_t src, struct wr_rng *rng,
                             uint64_t nth)
{
    const struct tornado_params *t = p->params;
    uint32_t ring = p->nnodes;
    const uint32_t *extent = t->grid.n ? t->grid.items : &ring;
    size_t ndims = t->grid.n ? t->grid.n : 1;
    uint32_t dest = 0, stride = 1, rest = src;

    (void)rng;
    (void)nth;
    for (size_t d = 0; d < ndims; d++) {
        uint32_t e = extent[d];

        dest += (rest % e + tornado_halfway(e)) % e * stride;
        rest /= e;
        stride *= e;
    }
    return dest;
}

const struct synth_pattern_ops synth_pattern_tornado = {
    .kind = {"tornado", "just under half way around every ring of a grid", tornado_rows,
             sizeof(struct tornado_params)},
    .init = tornado_init,
    .dest = tornado_dest,
};
