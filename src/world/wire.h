/* wire.h -- a simulated fabric as the network between a file system's agents (stack/wire.h). */
#ifndef WORLD_WIRE_H
#define WORLD_WIRE_H

#include "base/err.h"
#include "stack/wire.h"

struct net;

/* Of a machine file. The wire's close() frees it. */
bool world_wire_open(struct stack_wire **ret, const char *machine, uint64_t seed,
                     struct wr_err *err);
const struct net *world_wire_net(const struct stack_wire *w);

#endif
