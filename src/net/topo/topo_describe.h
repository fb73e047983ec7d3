/* topo_describe.h -- properties of a machine that follow from its wiring alone. */
#ifndef NET_TOPO_TOPO_DESCRIBE_H
#define NET_TOPO_TOPO_DESCRIBE_H

#include <stdbool.h>
#include <stdint.h>

#include "net/topo/cut.h"
#include "net/topo/topo.h"

enum { TOPO_HOPS_MAX = 64 }; /* longer paths are counted with the last */

/* Router-to-router hops on minimal paths (as the topology's next() means it; on
 * shortest ones where it has none, or where something failed), over ordered
 * pairs of distinct live terminals. */
struct topo_hops {
    bool sampled; /* a sample of pairs, because there are too many */
    uint64_t pairs, cut_off;
    uint64_t count[TOPO_HOPS_MAX];
    double mean;
    uint32_t most;
};

struct topo_description {
    uint64_t cables[TOPO_MAX_CLASSES]; /* live ones, by class; inject and eject: live terminals */
    uint64_t dead_cables, dead_terms;
    uint32_t least_ports, most_ports;   /* used ports of a router */
    uint32_t least_degree, most_degree; /* of these, to other routers */
    uint64_t bytes;                     /* memory of the wiring and its tables */
    struct topo_hops hops;
    struct topo_cut cut;
};

void topo_describe(const struct topo *t, struct topo_description *ret);

#endif
