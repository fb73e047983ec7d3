/* topo_crossbar.h -- the numbers of the smallest machine. */
#ifndef NET_TOPO_TOPO_CROSSBAR_H
#define NET_TOPO_TOPO_CROSSBAR_H

#include <stdint.h>

#include "net/topo/topo.h"

extern const struct topo_ops topo_crossbar;

struct topo_crossbar_params {
    uint32_t nodes;
};

#endif
