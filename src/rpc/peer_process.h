/* peer_process.h -- has a peer's process exited, if it runs on this node?
 *
 * Providers of libfabric report few exits of peers. For a process that it can see, the kernel
 * always knows.
 */
#ifndef RPC_PEER_PROCESS_H
#define RPC_PEER_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

struct rpc_process {
    uint64_t node; /* which boot of which kernel, and which of its spaces of process numbers */
    int32_t pid;   /* 0: unknown */
    uint32_t spare;
};

struct rpc_process rpc_process_own(void);
/* Seen from a process whose own is `from`. False also where that cannot be known. */
bool rpc_process_exited(const struct rpc_process *l, const struct rpc_process *from);

#endif
