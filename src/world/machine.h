/* machine.h -- a machine's configuration -> wiring, routing and link numbers. */
#ifndef WORLD_MACHINE_H
#define WORLD_MACHINE_H

#include "net/net.h"
#include "world/config.h"

struct world_parts {
    struct topo topo;
    struct route route;
    struct net_params net;
};

/* `conf` must outlive the parts, and `ret` must not move: the route points into it. */
bool world_parts_open(struct world_parts *ret, const struct conf *conf,
                      const struct world_machine *m, struct wr_err *err);
void world_parts_close(struct world_parts *p);

#endif
