/* life.h -- does a process that introduced itself still live, if it is one of this node?
 *
 * Providers of libfabric tell of few deaths; of a process that it can see the kernel tells of each.
 */
#ifndef RPC_LIFE_H
#define RPC_LIFE_H

#include <stdbool.h>
#include <stdint.h>

struct rpc_life {
    uint64_t node; /* which boot of which kernel, and which of its spaces of process numbers */
    int32_t pid;   /* 0: not told */
    uint32_t spare;
};

struct rpc_life rpc_life_own(void);
/* Seen from a process whose own is `from`. False also where that cannot be known. */
bool rpc_life_is_over(const struct rpc_life *l, const struct rpc_life *from);

#endif
