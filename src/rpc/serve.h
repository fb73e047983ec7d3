/* serve.h -- a server by itself, which others attach to.
 *
 * It writes a ticket when it is ready, serves until a stop is requested or no call came for long,
 * and removes the ticket. How many clients it has, how large transfers are and how much storage is
 * used is bounded by the specification it is given.
 */
#ifndef RPC_SERVE_H
#define RPC_SERVE_H

#include "rpc/spec.h"
#include "rpc/ticket.h"

struct rpc_serve_opts {
    const char *ticket; /* a file's name */
    bool force;
    uint64_t idle_ns; /* so long without a call ends it; 0: never */
    bool (*stop)(void);
    void (*ready)(void *ctx, const struct rpc_ticket *t);
    void *ctx;
};

/* What it did. */
struct rpc_served {
    struct rpc_server_stats stats;
    bool idle; /* it ended because no call came */
};

bool rpc_serve(struct rpc_served *ret, const struct rpc_spec *s, const struct rpc_serve_opts *o,
               struct wr_err *err);

#endif
