/* route_dor.c -- dimension order: x first, then y, and so on.
 *
 * Dally and Seitz, "Deadlock-free message routing in multiprocessor
 * interconnection networks", 1987; e-cube on the hypercube.
 */
#include "route_priv.h"
#include "route_walk_priv.h"

static bool dor_init(struct route *rt, struct wr_err *err)
{
    return walk_open_plain(rt, walk_init_grid, err);
}

const struct route_ops route_dimension_order = {
    .kind = {.name = "dimension-order",
             .summary = "one dimension after the other (torus, mesh, hyperx)",
             .rows = walk_plain_rows,
             .params_size = sizeof(struct route_plain_params)},
    .init = dor_init,
    .fini = walk_release,
    .decide = walk_decide,
};
