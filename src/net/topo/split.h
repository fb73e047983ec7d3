/* split.h -- divides a machine into partitions, one per thread.
 *
 * Partitions are whole groups where there are enough of them, otherwise neighbouring routers (slabs
 * of a grid). Neighbours stay together, unless all groups are equally far apart and assigning them
 * round robin balances the load better. Terminals are in the partition of their router. Called by
 * world/split.c; the result decides speed only, never results.
 */
#ifndef NET_TOPO_SPLIT_H
#define NET_TOPO_SPLIT_H

#include "net/topo/topo.h"

enum { TOPO_MAX_PARTITIONS = 256 };

struct topo_split {
    uint32_t n;             /* partitions, each of at least one router with a port */
    bool groups_whole;      /* no group lies in two partitions */
    uint64_t cables;        /* live cables between partitions */
    uint64_t cut_of_class;  /* bit c: cables of class c are cut */
    uint64_t *ports;        /* [n] live ports of each partition: about its share of the work */
    uint16_t *partition_of; /* [nrouters] the partition */
};

/* At most `want` partitions of about equal work, fewer where the machine has fewer groups or
 * routers. `busy` [nrouters]: sources of work at each router (nodes with traffic, ranks, servers),
 * in any unit; NULL: unknown, live ports are counted. */
void topo_split(const struct topo *t, uint32_t want, const uint32_t *busy, struct topo_split *ret);
void topo_split_free(struct topo_split *s);

#endif
