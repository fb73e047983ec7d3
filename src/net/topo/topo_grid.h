/* topo_grid.h -- coordinates of the families laid out on a grid: torus, mesh, hyperx.
 *
 *   router = x0 + size0 * (x1 + size1 * (x2 + ...))   dimension 0 runs fastest
 *
 * Ports of a router: terminals 0..nodes-1, then dimension 0, dimension 1, ...
 *
 *   torus, mesh   `width` ports towards x+1, then `width` towards x-1;
 *                 where the size is 2 both are the same neighbour: `width` ports in all
 *   hyperx        `width` ports to each other coordinate, in order
 */
#ifndef NET_TOPO_TOPO_GRID_H
#define NET_TOPO_TOPO_GRID_H

#include <stdbool.h>
#include <stdint.h>

#include "net/topo/topo.h"

extern const struct topo_ops topo_torus, topo_mesh, topo_hyperx;

enum { TOPO_MAX_DIMS = TOPO_MAX_CLASSES - TOPO_OWN };

/* The user's numbers. Lists hold uint32_t, `wrap` bool. */
struct topo_grid_params {
    struct conf_list sizes;
    struct conf_list width; /* one per dimension, or one for all; absent: 1 */
    struct conf_list wrap;  /* the same; absent: true. Only a torus reads it */
    uint32_t nodes;
};

struct topo_dim {
    uint32_t size, stride, width;
    uint32_t first_port;
    bool wrap; /* torus: x = size-1 is next to x = 0 */
};

struct topo_grid {
    uint32_t ndims, nodes;
    struct topo_dim dim[TOPO_MAX_DIMS];
    uint32_t cut; /* the dimension across which the machine is halved */
};

/* NULL when the topology is not of these families. */
const struct topo_grid *topo_grid(const struct topo *t);

static inline uint32_t topo_grid_coord(const struct topo_grid *g, uint32_t router, uint32_t dim)
{
    return router / g->dim[dim].stride % g->dim[dim].size;
}

/* The first of the `width` ports in dimension `dim` from coordinate x to coordinate
 * `to` (hyperx), or one step up or down (torus, mesh). */
static inline uint16_t topo_hyperx_port(const struct topo_dim *d, uint32_t x, uint32_t to)
{
    return (uint16_t)(d->first_port + (to < x ? to : to - 1) * d->width);
}

static inline uint16_t topo_torus_port(const struct topo_dim *d, bool up)
{
    return (uint16_t)(d->first_port + (up || d->size == 2 ? 0 : d->width));
}

#endif
