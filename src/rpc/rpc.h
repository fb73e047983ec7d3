/* rpc.h -- requests and responses between real processes, over any transport.
 *
 *   client                                   server
 *   rpc_client_start(call) ──── request ──>  answers at once (noop), or moves bulk data by
 *   rpc_client_step: on_done <── response ── RMA first, from or to its memory or storage
 *
 * Nothing is allocated per call and no thread is started: calls and operations live in pools
 * that are sized when a client or server opens, and everything happens inside step().
 */
#ifndef RPC_RPC_H
#define RPC_RPC_H

#include "base/err.h"
#include "rpc/rpc_wire.h"
#include "rpc/transport.h"

/* How an endpoint waits for a message.
 *   block     block in the kernel until it arrives
 *   poll      spin; yield where more processes than processors want to run
 *   adaptive  spin for some microseconds after the last message, then block; block at once where
 *             spinning would keep the processor from the process that is waited for
 *   nap       as adaptive, but instead of blocking sleep for a bounded time, then for a longer one,
 *             and check in between: for transports that cannot wake a process (RPC_TIMED) */
enum rpc_wait { RPC_BLOCK, RPC_POLL, RPC_ADAPTIVE, RPC_TIMED };
extern const char *const rpc_wait_names[]; /* ends with NULL */

/* Answers a call of a service's own: how many bytes it wrote to `reply`, or a number below 0. */
typedef int rpc_handler(void *ctx, unsigned op, const void *bytes, size_t len, void *reply,
                        size_t reply_size);

/* Which NIC a process takes: the one of that name, or by bucket and policy (rpc/nic/nic.h). */
struct rpc_nic {
    const char *name; /* NULL: none */
    const char *only; /* patterns of names that may be picked; NULL: what libfabric offers */
    uint32_t bucket, policy;
    bool pick; /* by bucket and policy */
};

/* How a server or client is opened. Constant afterwards. */
struct rpc_opts {
    const struct rpc_transport *transport;
    const char *provider, *bind, *domain; /* as in struct rpc_ep_opts */
    struct rpc_nic nic;                   /* of a worker, which finds out bind or domain by it */
    struct wr_token token;
    enum rpc_wait wait;
    uint32_t spin_us;    /* adaptive: how long one looks before sleeping */
    bool oversubscribed; /* more processes than processors */
    bool ticks;          /* rpc_tick() was called */
    uint32_t depth;      /* of a client: calls under way at most */
    size_t
        bulk_b; /* of a client: memory offered, for all its calls; of a server: of an operation */
    uint32_t hello_ms;   /* of a client: how long it waits for a server's answer; 0: 10 s */
    uint32_t peers;      /* of a server */
    const char *storage; /* of a server: file or device, NULL: none */
    uint64_t storage_b;  /* how much of it is used */
    bool direct;         /* past the page cache */
    /* Of a server that is a service and no benchmark: */
    uint64_t share_b;    /* memory that GET reads and PUT writes, instead of patterns */
    rpc_handler *handle; /* operations from RPC_OP_OWN on, which it sees from 0 on */
    void *handle_ctx;
};

/* ---- waiting ---- */

/* Whether spinning or blocking is the shorter wait depends on which processes want the processor:
 * sched_yield() is quick among the processes of a benchmark, but hands the processor to unrelated
 * ones for milliseconds. Where the processor of the other side is not known, adaptive measures: it
 * waits one way for a series of waits, now and then for a short series the other way, and keeps
 * what was shorter. */
struct rpc_trial {
    uint64_t began_ns; /* of this wait, after the first looks; 0: none */
    uint64_t sum_ns;   /* of the waits of this series */
    uint32_t n, length;
    bool sleeps, on_trial;        /* how this series waits; is it to try the other way? */
    uint32_t mean_ns[2];          /* of the last series that looked, and that slept; 0: none yet */
    uint32_t series, trial_every; /* until the other way is tried again, and then */
};

/* How an endpoint waits. `asked`, `oversubscribed` and `spin_ns` are set up, the rest changes with
 * every wait. */
struct rpc_waiter {
    enum rpc_wait asked, policy; /* RPC_TIMED, once blocking was found not to sleep */
    bool
        oversubscribed; /* more processes than processors: looking takes time from the other side */
    uint64_t spin_ns;   /* how long is looked before sleeping */
    struct rpc_trial trial;
    uint32_t look_credit; /* in a crowd: how often one may still look in vain before one gives up */
    uint32_t waits_without_looks; /* waits since then */
    uint32_t turn;        /* in a crowd: how often looking found something since others ran */
    enum rpc_where where; /* the other is, or was when this wait began */
    uint32_t rounds;      /* looks of this wait */
    uint32_t idle_sleeps; /* sleeps since something happened */
    uint64_t sleep_ns;    /* the next one */
    uint64_t sleeps;      /* so far */
    uint64_t idle_wall_ns, idle_cpu_ns; /* of sleeps in vain */
};

void rpc_waiter_init(struct rpc_waiter *w, const struct rpc_opts *o);
/* Nothing happened: wait a little, at most until the timeout; what was taken meanwhile. `busy`:
 * something is under way that would not wake us, so do not sleep long. */
uint32_t rpc_waiter_idle(struct rpc_waiter *w, struct rpc_ep *ep, uint64_t timeout_ns, bool busy);
/* Will it sleep at once, and take what comes? Then a look before would be a system call in vain. */
bool rpc_waiter_blocks_first(const struct rpc_waiter *w, const struct rpc_ep *ep);

/* How often an endpoint may check in a row for a message that is to come: about as long as an
 * answer from another processor takes. On an oversubscribed machine the other side may be running
 * at this moment and answer before another process could be scheduled here. So a few checks are
 * made as long as they find messages (look_credit), are tried now and then if they do not
 * (RPC_LOOK_RETRY), and the endpoint yields after RPC_LOOK_BURST answers in a row. */
enum {
    RPC_LOOKS = 64,
    RPC_LOOKS_SHARED = 16,
    RPC_LOOK_CREDIT = 8,
    RPC_LOOK_RETRY = 64,
    RPC_LOOK_BURST = 64
};
static inline uint32_t rpc_waiter_looks(struct rpc_waiter *w)
{
    if (w->policy == RPC_BLOCK)
        return 0;
    if (w->oversubscribed)
        return w->look_credit || ++w->waits_without_looks % RPC_LOOK_RETRY == 0 ? RPC_LOOKS_SHARED
                                                                                : 0;
    return w->where != RPC_CPU_SAME ? RPC_LOOKS : 0;
}
void rpc_waiter_yield(struct rpc_waiter *w);
/* What came of it; when others may run. */
static inline void rpc_waiter_looked(struct rpc_waiter *w, uint32_t looks, uint32_t found)
{
    if (!w->oversubscribed || !looks)
        return;
    w->look_credit = found ? RPC_LOOK_CREDIT : w->look_credit - (w->look_credit > 0);
    if (found && ++w->turn >= RPC_LOOK_BURST)
        rpc_waiter_yield(w);
}
void rpc_waiter_learn(struct rpc_waiter *w);
static inline void rpc_waiter_happened(struct rpc_waiter *w)
{
    if (w->trial.began_ns || w->idle_sleeps)
        rpc_waiter_learn(w);
    w->rounds = 0;
}

/* Does blocking really sleep? Blocks for a moment and reads the processor time spent; if it does
 * not sleep, the policy becomes RPC_TIMED. Some providers begin to spin only after their first
 * message, so the waiter checks again during long waits. */
void rpc_waiter_test(struct rpc_waiter *w, struct rpc_ep *ep);

/* For processes of a benchmark that share processors: a process that is woken waits until the one
 * that woke it has done its work, instead of preempting it (SCHED_BATCH). That halves the context
 * switches, and a server finds more requests at once. */
void rpc_share_processors(void);

/* Interrupts this process now and then (SIGALRM), so that it may sleep without a limit. To limit
 * every sleep costs a timer for every call. Only for processes that are ours alone. False: no. */
bool rpc_tick(void);

/* ---- server ---- */

/* Pieces of memory that what is got comes from, in turn. */
enum { RPC_SOURCES = 4 };

struct rpc_server_stats {
    uint64_t calls[RPC_OPS], dropped[RPC_DROPS];
    uint64_t handled; /* calls of a service's own */
    uint64_t refused; /* calls that were answered with an error */
    uint64_t bytes;   /* of bulk data */
    uint64_t peers;   /* that said hello, in all */
    uint64_t left;    /* that said goodbye */
};

struct rpc_server;
bool rpc_server_open(struct rpc_server **ret, const struct rpc_opts *o, struct wr_err *err);
void rpc_server_close(struct rpc_server *s); /* NULL is fine */
void rpc_server_address(struct rpc_server *s, char into[RPC_ADDRESS]);
/* Serves what there is; waits at most so long if there is nothing. */
void rpc_server_step(struct rpc_server *s, uint64_t timeout_ns);
const struct rpc_server_stats *rpc_server_stats(const struct rpc_server *s);
enum rpc_wait rpc_server_waits(const struct rpc_server *s); /* as found out by now */
struct rpc_used rpc_server_used(const struct rpc_server *s);
struct rpc_ep *rpc_server_ep(struct rpc_server *s);
uint8_t *rpc_server_shared(struct rpc_server *s);
uint64_t rpc_server_sleeps(const struct rpc_server *s); /* how often it slept so far */

/* The eight bytes at `place`, a multiple of eight, of what GET brings and PUT must bring, and of
 * storage: so that the receiver can check them. */
static inline uint64_t rpc_pattern(uint64_t place)
{
    uint64_t h = place / 8 * UINT64_C(0x9e3779b97f4a7c15);

    return (h ^ h >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
}
static inline uint64_t rpc_storage_pattern(uint64_t place)
{
    return rpc_pattern(place & ((UINT64_C(1) << 20) - 1));
}

/* ---- client ---- */

struct rpc_call {
    enum rpc_op op;
    uint64_t cookie;
    const void *payload; /* noop, usage, and a service's own */
    uint32_t len;
    size_t at, bulk_len; /* get, put, sread, swrite: of the client's offered memory */
    uint64_t place;      /* in the server's memory or storage */
};

typedef void rpc_done(void *ctx, uint64_t cookie, enum rpc_status status, const void *payload,
                      uint32_t len);

struct rpc_client;
/* Connects and says hello. */
bool rpc_client_open(struct rpc_client **ret, const struct rpc_opts *o, const char *address,
                     rpc_done *done, void *ctx, struct wr_err *err);
void rpc_client_close(struct rpc_client *c); /* NULL is fine */
uint8_t *rpc_client_bulk(struct rpc_client *c);
size_t rpc_client_inlined(const struct rpc_client *c);
/* false: as many calls as may be are under way. */
bool rpc_client_start(struct rpc_client *c, const struct rpc_call *call);
void rpc_client_flush(struct rpc_client *c); /* after one or more starts */
/* Takes answers; without any waits at most so long. How many there were. */
uint32_t rpc_client_step(struct rpc_client *c, uint64_t timeout_ns);
uint32_t rpc_client_under_way(const struct rpc_client *c);
void rpc_client_set_oversubscribed(struct rpc_client *c, bool oversubscribed); /* from now on */
bool rpc_client_server_alive(struct rpc_client *c);
enum rpc_wait rpc_client_waits(const struct rpc_client *c);
uint64_t rpc_client_sleeps(const struct rpc_client *c); /* how often it slept so far */

#endif
