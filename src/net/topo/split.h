/* split.h -- a machine in parts, for as many threads: whole groups where there are enough of them,
 * neighbouring routers (slabs of a grid) where not. Neighbours stay together, unless groups that
 * are all as far from each other make more even parts when they are dealt out in turn. Terminals
 * are with their router. */
#ifndef NET_TOPO_SPLIT_H
#define NET_TOPO_SPLIT_H

#include "net/topo/topo.h"

enum { TOPO_MAX_PARTS = 256 };

struct topo_split {
    uint32_t n;            /* parts, each of at least one router with a port */
    bool groups_whole;     /* no group lies in two parts */
    uint64_t cables;       /* live cables between parts */
    uint64_t cut_of_class; /* bit c: cables of class c are cut */
    uint64_t *ports;       /* [n] live ports of each part: about its share of the work */
    uint16_t *part;        /* [nrouters] */
};

/* At most `want` parts of about as much work each, fewer where the machine has no more groups or
 * routers. `busy` [nrouters]: what sits at each router and makes work (nodes with traffic, ranks,
 * servers), in any unit; NULL: nobody knows, and live ports count. */
void topo_split(const struct topo *t, uint32_t want, const uint32_t *busy, struct topo_split *ret);
void topo_split_free(struct topo_split *s);

#endif
