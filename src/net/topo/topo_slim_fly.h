/* topo_slim_fly.h -- the numbers of a slim fly; nodes may be 0: chosen. */
#ifndef NET_TOPO_TOPO_SLIM_FLY_H
#define NET_TOPO_TOPO_SLIM_FLY_H

#include <stdint.h>

#include "net/topo/topo.h"

extern const struct topo_ops topo_slim_fly;

struct topo_slim_fly_params {
    uint32_t q, nodes;
};

#endif
