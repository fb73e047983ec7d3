/* driver.h -- a client under a load: a window of time, and what was counted in it.
 *
 *   start        start + warm               start + warm + measure
 *     |  warm-up   |        measured          |  what is under way ends
 *
 * Times are of the real-time clock, so that processes on several machines begin together. What
 * was answered inside the window counts, and nothing else.
 */
#ifndef RPC_DRIVER_H
#define RPC_DRIVER_H

#include "base/hist.h"
#include "rpc/rpc.h"
#include "rpc/usage.h"

struct rpc_load {
    enum rpc_op op;
    size_t size_b;          /* of a bulk transfer, or of a noop's payload */
    uint32_t depth;         /* calls under way; at most the client's */
    uint64_t think_ns;      /* between an answer and the next call */
    double rate;            /* open loop: calls per second at random times; 0: closed */
    uint64_t on_ns, off_ns; /* bursts; off 0: none */
    uint64_t start_ns, warm_ns, measure_ns;
    uint64_t storage_b; /* of the server */
    uint64_t seed;
    uint64_t slice_ns; /* counts per slice of the window; 0: none */
    bool alone;        /* no other client calls meanwhile: the processors suffice */
};

enum { RPC_SLICES = 4096 };

/* What a load did: counted by one client. */
struct rpc_seen {
    struct wr_hist latency_ps; /* of the calls in the window */
    uint64_t calls, bytes;     /* in the window */
    uint64_t failed, bad_data; /* from the start on */
    uint64_t unanswered;       /* at the end; or at the start, and nothing was begun */
    uint64_t elapsed_ns;       /* of the window: shorter if it was cut short, or begun late */
    uint64_t late_ns;          /* how much of the window was over when the first call began */
    uint64_t cpu_ns, user_ns, sys_ns;   /* of this process, in the window */
    uint64_t switches, forced_switches; /* of context, likewise */
    bool server_gone, stopped;          /* it died; stop() asked to end */
    uint32_t nslices;                   /* of load.slice_ns, in the window */
    uint32_t slice_calls[RPC_SLICES];
};

struct rpc_driver;
/* One client, many loads. */
bool rpc_driver_open(struct rpc_driver **ret, const struct rpc_opts *o, const char *address,
                     struct wr_err *err);
void rpc_driver_close(struct rpc_driver *d);
void rpc_drive(struct rpc_driver *d, const struct rpc_load *load, struct rpc_seen *ret,
               bool (*stop)(void));
struct rpc_client *rpc_driver_client(struct rpc_driver *d);
/* What the server used so far, by its own account; false: the server does not report it. */
bool rpc_driver_ask(struct rpc_driver *d, struct rpc_used *ret);

uint64_t rpc_realtime_ns(void);

#endif
