/* machine.h -- builds topology, routing and link parameters from a machine's configuration. */
#ifndef WORLD_MACHINE_H
#define WORLD_MACHINE_H

#include "net/net.h"
#include "world/config.h"

struct world_network {
    struct topo topo;
    struct route route;
    struct net_params net;
};

/* `conf` must outlive `ret`, and `ret` must not move: the route points into it. */
bool world_network_open(struct world_network *ret, const struct conf *conf,
                        const struct world_machine *m, struct wr_err *err);
void world_network_close(struct world_network *p);

#endif
