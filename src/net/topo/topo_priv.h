/* topo_priv.h -- the topologies of the table, global arrangements (arrange.c), and lists of ports
 * for next(). */
#ifndef NET_TOPO_TOPO_PRIV_H
#define NET_TOPO_TOPO_PRIV_H

#include "net/topo/topo.h"

extern const struct topo_ops topo_dragonfly;
extern const struct topo_ops topo_dragonfly_xc, topo_dragonfly_plus;
extern const struct topo_ops topo_torus, topo_mesh, topo_hyperx;
extern const struct topo_ops topo_fat_tree, topo_slim_fly, topo_crossbar, topo_file;

/* Which global port of a group leads to which port of which other group; the global ports of a
 * group's routers are numbered through. Sources in docs/models/topologies.md. */
enum topo_arrangement {
    TOPO_ABSOLUTE,
    TOPO_RELATIVE,
    TOPO_PALMTREE,
    TOPO_CIRCULANT,
    TOPO_REFERENCE,
};
extern const char *const topo_arrangement_names[];

struct topo_far {
    uint32_t group, index; /* group == TOPO_NONE: the port stays empty */
};

/* The far end of global port `index` (0 .. nglobals-1) of `group`. */
struct topo_far topo_arrange(enum topo_arrangement how, uint32_t ngroups, uint32_t nglobals,
                             uint32_t group, uint32_t index);

/* Can ngroups groups of nrouters x globals global ports each be joined? Fills
 * *ngroups when it is 0: as many as possible. */
bool topo_arrange_check(enum topo_arrangement how, uint32_t *ngroups, uint32_t nrouters,
                        uint32_t globals, struct wr_err *err);

/* The result of next() while it is built. topo_ports_add ignores a port that is in the list;
 * topo_ports_put is for ports that cannot be. */
struct topo_ports {
    uint16_t *v;
    uint32_t n;
};

static inline void topo_ports_put(struct topo_ports *ports, uint32_t port)
{
    if (ports->n < TOPO_MAX_NEXT)
        ports->v[ports->n++] = (uint16_t)port;
}

static inline void topo_ports_add(struct topo_ports *ports, uint32_t port)
{
    for (uint32_t i = 0; i < ports->n; i++)
        if (ports->v[i] == port)
            return;
    topo_ports_put(ports, port);
}

#endif
