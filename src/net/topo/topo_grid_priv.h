/* topo_grid_priv.h -- configuration rows and building blocks of torus, mesh and hyperx. */
#ifndef NET_TOPO_TOPO_GRID_PRIV_H
#define NET_TOPO_TOPO_GRID_PRIV_H

#include "net/topo/topo_grid.h"

#define TOPO_GRID_ROW_SIZES                                                           \
    {                                                                                 \
        .key = "sizes", .type = CONF_LIST, .min = 1, .max = 1 << 24,                  \
        .offset = offsetof(struct topo_grid_params, sizes), .item = CONF_U32,         \
        .size = sizeof(uint32_t),                                                     \
        .help = "Routers in each dimension; the first runs fastest in the numbering." \
    }
#define TOPO_GRID_ROW_WIDTH                                                              \
    {                                                                                    \
        .key = "width", .type = CONF_LIST, .def = "", .min = 1, .max = 1024,             \
        .offset = offsetof(struct topo_grid_params, width), .item = CONF_U32,            \
        .size = sizeof(uint32_t),                                                        \
        .help = "Parallel cables per pair: one number per dimension, or one for all; 1." \
    }
#define TOPO_GRID_ROW_WRAP                                                               \
    {                                                                                    \
        .key = "wrap", .type = CONF_LIST, .def = "",                                     \
        .offset = offsetof(struct topo_grid_params, wrap), .item = CONF_BOOL,            \
        .size = sizeof(bool),                                                            \
        .help = "Whether a dimension's ends are joined: one each, or one for all; true." \
    }
#define TOPO_GRID_ROW_NODES                                                         \
    {                                                                               \
        .key = "nodes", .type = CONF_U32, .def = "1",                               \
        .offset = offsetof(struct topo_grid_params, nodes), .min = 1, .max = 60000, \
        .help = "Terminals per router."                                             \
    }

/* What differs between the families: the ports of a dimension, the cables cut when a line of it is
 * halved, and the cables that start at a router. */
struct topo_grid_family {
    bool may_wrap;
    uint64_t (*ports_of)(const struct topo_dim *d);
    uint64_t (*cut)(const struct topo_dim *d);
    void (*plug)(struct topo *t, const struct topo_dim *d, uint32_t r, uint8_t cls);
};

/* Reads the lists into a grid, numbers the ports, attaches the terminals, names a class per
 * dimension and plugs all cables; the cheapest even dimension to cut becomes the grid's cut. */
bool topo_grid_build(struct topo *t, const struct topo_grid_family *f, struct wr_err *err);
/* Closed form of the bisection: 0 when the cut is not into equal halves. */
uint64_t topo_grid_bisection(const struct topo *t, uint64_t (*cut)(const struct topo_dim *d));

void topo_grid_fini(struct topo *t);
uint32_t topo_grid_half(const struct topo *t, uint32_t router);
void topo_grid_router_name(const struct topo *t, uint32_t router, char name[TOPO_NAME_MAX]);

#endif
