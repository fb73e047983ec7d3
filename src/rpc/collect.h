/* collect.h -- `weir roofline collect`: all cases of a specification, in one launch.
 *
 *   limits ─> start servers, clients ─> case 1, case 2, ... ─> end ─> limits ─> run file
 *             each says when it is ready     one common start and window each
 */
#ifndef RPC_COLLECT_H
#define RPC_COLLECT_H

#include "base/hist.h"
#include "rpc/limits.h"
#include "rpc/peak.h"
#include "rpc/spec.h"
#include "run/run.h"

struct rpc_collected {
    WR_VEC(struct rpc_window) window;
    struct wr_hist *latency_ps; /* by case */
    struct rpc_limits before, after;
    struct rpc_span client[RPC_METRICS], server[RPC_METRICS]; /* C and S */
    WR_VEC(char *) trouble;                                   /* what went wrong, in words */
    WR_VEC(char *) nic;                                       /* "server.0 hsn3" */
    char waits[16];   /* how servers wait after their self-test */
    uint64_t dropped; /* messages that servers dropped */
    bool interrupted;
};

struct rpc_collect_opts {
    const char *program; /* weir, as it is called on all hosts */
    bool (*stop)(void);
    void (*progress)(void *ctx, const char *what); /* may be NULL */
    void *ctx;
};

/* Fails only if nothing could be measured. */
bool rpc_collect(struct rpc_collected *ret, const struct rpc_spec *s,
                 const struct rpc_collect_opts *o, struct wr_err *err);
void rpc_collected_fini(struct rpc_collected *c, const struct rpc_spec *s);

bool rpc_collected_put(struct run *run, const struct rpc_collected *c, const struct rpc_spec *s,
                       struct wr_err *err);

/* What a case is a part of, in percent of the machine's limit; NaN: unknown. */
double rpc_of_limit(const struct rpc_collected *c, const struct rpc_spec *s,
                    const struct rpc_case *k, const struct rpc_window *w);

#endif
