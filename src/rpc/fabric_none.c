/* fabric_none.c -- without libfabric there is shared memory only. */
#include "rpc/transport.h"

static bool fabric_none_open(struct rpc_ep **ret, const struct rpc_ep_opts *o, struct wr_err *err)
{
    (void)ret;
    (void)o;
    return wr_fail(err, WR_INPUT,
                   "this weir was built without libfabric; install libfabric-dev and build it "
                   "again, or take shm");
}

const struct rpc_transport rpc_fabric = {.name = "fabric",
                                         .summary = "libfabric, which this weir was built without",
                                         .open = fabric_none_open};
