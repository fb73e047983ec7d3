/* polling.h -- `weir roofline polling`: what each way to wait costs and brings.
 *
 * Clients call in bursts with gaps between them. For each policy, slice by slice: the rate of
 * calls, processor time of server and clients, and the packages' power where it can be read.
 *
 *   burst            gap               burst
 *   ████████████████                   ████████████████
 *   |slice|slice|slice|slice|slice|slice|...
 */
#ifndef RPC_POLLING_H
#define RPC_POLLING_H

#include "base/hist.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "rpc/rpc.h"
#include "run/run.h"

struct rpc_polling_spec {
    const char *transport, *provider, *bind, *powercap;
    struct conf_list policies; /* of uint32_t, enum rpc_wait; none: block, poll, adaptive */
    uint32_t clients, depth, periods;
    double spindown_ps, burst_ps, gap_ps, slice_ps;
};

extern const struct conf_row rpc_polling_rows[];

bool rpc_polling_check(const struct rpc_polling_spec *s, const struct conf *c, struct wr_err *err);

/* Where a slice lies. The first one of a gap is between the two: waiters may still spin. */
enum rpc_phase { RPC_IN_BURST, RPC_IN_GAP, RPC_BETWEEN };

struct rpc_polled_slice {
    enum rpc_phase phase;
    double rate;                   /* calls per second of all clients */
    double client_cpu, server_cpu; /* processors used */
    double watts;                  /* NaN: not readable */
};

struct rpc_polled {
    enum rpc_wait policy;
    char server_waits[16], client_waits[16]; /* what they really do */
    WR_VEC(struct rpc_polled_slice) slice;
    struct wr_hist latency_ps;
    uint64_t faults;
};

struct rpc_polling_how {
    const char *program; /* weir */
    bool (*stop)(void);
    void (*progress)(const char *what); /* may be NULL */
};

/* One policy: starts a server and its clients, lets them work, ends them. */
bool rpc_polling_measure(struct rpc_polled *ret, const struct rpc_polling_spec *s,
                         enum rpc_wait policy, const struct rpc_polling_how *how,
                         struct wr_err *err);
void rpc_polled_fini(struct rpc_polled *p);

enum rpc_phase rpc_polling_phase(const struct rpc_polling_spec *s, uint32_t slice);
uint32_t rpc_polling_slices(const struct rpc_polling_spec *s);

/* Slices as series of "policy:NAME", what they are on average in `summary`. */
bool rpc_polled_put(struct run *run, const struct rpc_polled *p, const struct rpc_polling_spec *s,
                    struct wr_err *err);

#endif
