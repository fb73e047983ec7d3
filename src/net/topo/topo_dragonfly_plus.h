/* topo_dragonfly_plus.h -- dragonfly+ (megafly): groups of two levels.
 *
 *   a group       spine 0   spine 1  ...      globals cables each to other groups
 *                    |   X     |
 *                 leaf 0    leaf 1   ...      every leaf to every spine
 *                  |||       |||              terminals
 *
 *   router = group * (leaves + spines) + index; leaves first, then spines
 *   ports of a leaf: terminals, spines; of a spine: leaves, global
 */
#ifndef NET_TOPO_TOPO_DRAGONFLY_PLUS_H
#define NET_TOPO_TOPO_DRAGONFLY_PLUS_H

#include <stdbool.h>
#include <stdint.h>

#include "net/topo/topo.h"

extern const struct topo_ops topo_dragonfly_plus;

/* groups may be 0 here: t->ngroups is what was built. */
struct topo_dragonfly_plus_params {
    uint32_t groups, leaves, spines, nodes, globals, arrangement;
};

/* 0 .. leaves-1: a leaf; from there: a spine. */
static inline uint32_t topo_plus_index(const struct topo *t, uint32_t router)
{
    const struct topo_dragonfly_plus_params *m = t->params;

    return router - t->group[router] * (m->leaves + m->spines);
}

static inline bool topo_plus_is_spine(const struct topo *t, uint32_t router)
{
    const struct topo_dragonfly_plus_params *m = t->params;

    return topo_plus_index(t, router) >= m->leaves;
}

#endif
