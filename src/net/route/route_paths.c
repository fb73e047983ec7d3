/* route_paths.c -- `kind: table`: shortest paths of whatever wiring there is. */
#include "route_priv.h"
#include "route_walk_priv.h"

static bool paths_route_init(struct route *rt, struct wr_err *err)
{
    return walk_open_plain(rt, walk_init_paths, err);
}

const struct route_ops route_table_paths = {
    .kind = {.name = "table",
             .summary = "shortest paths from tables, on any wiring, around failures",
             .rows = walk_plain_rows,
             .params_size = sizeof(struct route_plain_params)},
    .init = paths_route_init,
    .fini = walk_release,
    .decide = walk_decide,
};
