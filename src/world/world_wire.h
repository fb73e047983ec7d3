/* world_wire.h -- a simulated network between the clients and servers of a file system. */
#ifndef WORLD_WORLD_WIRE_H
#define WORLD_WORLD_WIRE_H

#include "base/err.h"
#include "stack/stack_wire.h"

struct net;

/* Of a machine file. The wire's close() frees it. */
bool world_wire_open(struct stack_wire **ret, const char *machine, uint64_t seed,
                     struct wr_err *err);
const struct net *world_wire_net(const struct stack_wire *w);

#endif
