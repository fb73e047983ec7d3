/* take_nic.h -- a worker takes its NIC: by name, or by bucket and policy among those of its job. */
#ifndef RPC_TAKE_NIC_H
#define RPC_TAKE_NIC_H

#include "rpc/nic/nic.h"
#include "rpc/rpc.h"

struct rpc_taken_nic {
    char name[NIC_NAME]; /* "": left to the library */
    char address[64];    /* of its interface, or "" */
    char domain[NIC_NAME];
    bool picked; /* among those of its job, whose table has us as an owner */
};

/* Fills in bind or domain of `o`, which then point into `ret`. */
bool rpc_take_nic(struct rpc_taken_nic *ret, struct rpc_opts *o, struct wr_err *err);
/* Before the process ends, so that its job's table does not stay behind. */
void rpc_leave_nic(const struct rpc_taken_nic *nic);

#endif
