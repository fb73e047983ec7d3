/* route_dor.c -- dimension order: x first, then y, and so on.
 *
 * Dally and Seitz, "Deadlock-free message routing in multiprocessor
 * interconnection networks", 1987; e-cube on the hypercube.
 */
#include "route_priv.h"
#include "route_walk_priv.h"

static const struct conf_row rows[] = {
    ROUTE_ROW_CHOICE(offsetof(struct route_plain_params, choice), "random"),
    CONF_END,
};

static bool init(struct route *rt, struct wr_err *err)
{
    const struct route_plain_params *params = rt->params;
    struct route_walk w;

    if (!walk_init_grid(&w, rt->topo, params->choice, WALK_STRAIGHT, err))
        return false;
    walk_adopt(rt, &w);
    return true;
}

const struct route_ops route_dimension_order = {
    .kind = {.name = "dimension-order",
             .summary = "one dimension after the other (torus, mesh, hyperx)",
             .rows = rows,
             .params_size = sizeof(struct route_plain_params)},
    .init = init,
    .fini = walk_release,
    .decide = walk_decide,
};
