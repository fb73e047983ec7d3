/* func.c -- the table of the functions of the language.
 *
 * One row per function: its arguments, what its value depends on, and its implementations in
 * func_math.c for integer and floating-point context. Parser, checker and compiler read it.
 */
#include "func_priv.h"

#include <stddef.h>

#define ROW(kw_, min_, max_, shape_, local_, map_, in_, dn_)                              \
    {                                                                                     \
        NK_##kw_, #kw_, min_, max_, NC_SHAPE_##shape_, local_, map_, in_, dn_, #in_, #dn_ \
    }
#define PLAIN(kw_, min_, max_, in_, dn_) ROW(kw_, min_, max_, PLAIN, false, false, in_, dn_)
#define LOCAL(kw_, min_, max_, in_, dn_) ROW(kw_, min_, max_, PLAIN, true, false, in_, dn_)

/* Without a floating-point meaning of its own a function truncates its arguments. */
static const struct nc_func funcs[] = {
    PLAIN(ABS, 1, 1, nc_f_abs, nc_d_abs),
    PLAIN(BITS, 1, 1, nc_f_bits, NULL),
    PLAIN(CBRT, 1, 1, nc_f_cbrt, nc_d_cbrt),
    PLAIN(CEILING, 1, 1, nc_f_same, nc_d_ceiling),
    PLAIN(FACTOR10, 1, 1, nc_f_factor10, nc_d_factor10),
    PLAIN(FLOOR, 1, 1, nc_f_same, nc_d_floor),
    PLAIN(LOG10, 1, 1, nc_f_log10, nc_d_log10),
    PLAIN(MAX, 1, NC_MOST_ARGS, nc_f_max, nc_d_max),
    PLAIN(MIN, 1, NC_MOST_ARGS, nc_f_min, nc_d_min),
    PLAIN(ROOT, 2, 2, nc_f_root, nc_d_root),
    PLAIN(ROUND, 1, 1, nc_f_same, nc_d_round),
    PLAIN(SQRT, 1, 1, nc_f_sqrt, nc_d_sqrt),
    PLAIN(TREE_PARENT, 1, 2, nc_f_tree_parent, NULL),
    PLAIN(TREE_CHILD, 2, 3, nc_f_tree_child, NULL),
    PLAIN(KNOMIAL_PARENT, 1, 3, nc_f_knomial_parent, NULL),
    PLAIN(KNOMIAL_CHILD, 2, 4, nc_f_knomial_child, NULL),
    PLAIN(KNOMIAL_CHILDREN, 1, 3, nc_f_knomial_children, NULL),
    ROW(MESH_NEIGHBOR, 7, 7, MESH, false, false, nc_f_mesh_neighbor, NULL),
    ROW(MESH_COORDINATE, 5, 5, MESH, false, false, nc_f_mesh_coordinate, NULL),
    ROW(MESH_DISTANCE, 5, 5, MESH, false, false, nc_f_mesh_distance, NULL),
    ROW(PROCESSOR_OF, 1, 1, PLAIN, false, true, nc_f_processor_of, NULL),
    ROW(TASK_OF, 1, 1, PLAIN, false, true, nc_f_task_of, NULL),
    LOCAL(RANDOM_UNIFORM, 2, 2, nc_f_random_uniform, nc_d_random_uniform),
    LOCAL(RANDOM_GAUSSIAN, 2, 2, nc_f_random_gaussian, nc_d_random_gaussian),
    LOCAL(RANDOM_POISSON, 1, 1, nc_f_random_poisson, nc_d_random_poisson),
    LOCAL(RANDOM_PARETO, 2, 3, nc_f_random_pareto, nc_d_random_pareto),
    ROW(FILE_DATA, 2, 2, FILE, true, false, NULL, NULL),
    ROW(STATIC_FILE_DATA, 2, 2, FILE, false, false, NULL, NULL),
};

const struct nc_func *nc_func_find(enum nc_kw kw)
{
    for (size_t i = 0; i < sizeof funcs / sizeof funcs[0]; i++)
        if (funcs[i].kw == kw)
            return &funcs[i];
    return NULL;
}
