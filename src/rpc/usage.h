/* usage.h -- what this process took of its machine. */
#ifndef RPC_USAGE_H
#define RPC_USAGE_H

#include <stdint.h>

/* Processor time and context switches of this process so far. */
struct rpc_usage {
    uint64_t user_ns, sys_ns, switches, forced_switches;
};
struct rpc_usage rpc_usage_now(void);

#endif
