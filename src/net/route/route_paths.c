/* route_paths.c -- `kind: table`: shortest paths of whatever wiring there is. */
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

    if (!walk_init_paths(&w, rt->topo, params->choice, WALK_STRAIGHT, err))
        return false;
    walk_adopt(rt, &w);
    return true;
}

const struct route_ops route_table_paths = {
    .kind = {.name = "table",
             .summary = "shortest paths from tables, on any wiring, around failures",
             .rows = rows,
             .params_size = sizeof(struct route_plain_params)},
    .init = init,
    .fini = walk_release,
    .decide = walk_decide,
};
