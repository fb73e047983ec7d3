/* transport.h -- how messages and memory get from one process to another.
 *
 * A transport owns one decision: the path of bytes. Authentication, operations and waiting are
 * decided above it, the same for all. Nothing here allocates after open and connect.
 *
 *   server: open ─> address ─> progress ... (on_msg, on_bulk)
 *   client: open ─> connect ─> send, flush, progress ...
 *
 * A peer is a small number; of a client its server is peer 0.
 */
#ifndef RPC_TRANSPORT_H
#define RPC_TRANSPORT_H

#include "base/err.h"
#include "rpc/rpc_wire.h"

enum { RPC_ADDRESS = 1024, RPC_PEERS = 1024 };

struct rpc_ep_opts {
    bool server;
    const char *provider; /* of libfabric; NULL: any */
    const char *bind;     /* address of an interface, perhaps with :PORT; NULL: loopback */
    const char *domain;   /* of libfabric: a device, as cxi0; NULL: any */
    uint32_t depth;       /* calls of a client under way at most */
    uint32_t peers;       /* of a server */
    size_t bulk_b;        /* bytes of memory that is offered to RMA */
    bool may_block;       /* wait() will be called */
    bool ticks;           /* signals end every sleep soon: it needs no limit of its own */
};

/* The processor of another process: on our own it cannot run while we spin. */
enum rpc_where { RPC_CPU_UNKNOWN, RPC_CPU_OTHER, RPC_CPU_SAME };

/* What came of a transfer that was asked for. */
enum rpc_moved {
    RPC_MOVES_NOT,   /* refused, as out of the peer's memory */
    RPC_MOVES,       /* on_bulk comes, perhaps it has come already */
    RPC_MOVES_LATER, /* the queue is full: make progress and try again */
};

enum rpc_way { RPC_TO_PEER, RPC_FROM_PEER };

/* A transfer between our offered memory and a peer's. */
struct rpc_bulk {
    uint32_t peer;
    enum rpc_way way;
    size_t at;          /* in our own memory */
    struct rpc_ref ref; /* the peer's */
    uint64_t cookie;    /* given to on_bulk when it has ended */
};

/* An endpoint. Set up by open(); `eager` is set by the owner at any time, `deaths` only grows. */
struct rpc_ep {
    const struct rpc_transport *t;
    struct rpc_ep_opts o;
    uint8_t *bulk;   /* o.bulk_b bytes, offered */
    size_t inlined;  /* bytes of payload that fit a message */
    uint32_t eager;  /* how often progress() may check in a row: one message is to come, and its
                        sender runs on another processor. With several to come it is better to find
                        more at once. */
    uint32_t deaths; /* so far: alive() says whose */
    void *ctx;       /* of the next two, which progress() and wait() call */
    void (*on_msg)(void *ctx, uint32_t peer, const void *bytes, size_t len);
    void (*on_bulk)(void *ctx, uint64_t cookie, bool ok);
};

/* A transport: constants, and its functions. None blocks but wait(). */
struct rpc_transport {
    const char *name, *summary;
    uint32_t looks; /* progress() in vain before letting others run: a few microseconds */
    /* Messages go through the kernel, which wakes sleepers by the way; else to wake one is a system
     * call more, and two that both sleep are slower than two that look, whatever one tries. */
    bool kernel_wakes;
    bool
        wait_takes; /* wait() handles messages itself, so progress() need not be called before it */
    /* A server may close a connection before it has heard the hello, because others came in
     * numbers: it is worth while to try again. */
    bool may_close_early;
    bool signals_space; /* wait() also returns when send() or bulk() can proceed again */
    bool detects_exit;  /* alive() knows; else it knows only of some deaths */
    bool (*open)(struct rpc_ep **ret, const struct rpc_ep_opts *o, struct wr_err *err);
    void (*close)(struct rpc_ep *ep);
    void (*address)(struct rpc_ep *ep, char into[RPC_ADDRESS]); /* of a server, for clients */
    bool (*connect)(struct rpc_ep *ep, const char *address, struct wr_err *err);
    /* What a hello carries so that the server can reach us, and what it does with it. */
    size_t (*introduce)(struct rpc_ep *ep, void *into, size_t size);
    bool (*meet)(struct rpc_ep *ep, uint32_t peer, const void *bytes, size_t len);
    void (*forget)(struct rpc_ep *ep, uint32_t peer);
    /* How others name a byte of our offered memory. */
    struct rpc_ref (*refer)(struct rpc_ep *ep, size_t at, size_t len);
    /* false: the queue is full, make progress and try again. Never waits. */
    bool (*send)(struct rpc_ep *ep, uint32_t peer, const struct rpc_head *head,
                 const void *payload);
    void (*flush)(struct rpc_ep *ep); /* wakes peers that block */
    /* Calls on_msg and on_bulk for what has come; how many. */
    uint32_t (*progress)(struct rpc_ep *ep);
    enum rpc_moved (*bulk)(struct rpc_ep *ep, const struct rpc_bulk *b);
    /* What is left of a transfer comes from nowhere or goes nowhere, so that our memory can be used
     * for another; on_bulk comes all the same. NULL: cannot be done, or transfers take no time. */
    void (*cut_off)(struct rpc_ep *ep, uint32_t peer, uint64_t cookie);
    bool (*blocks)(struct rpc_ep *ep); /* can it sleep? */
    /* Sleeps until there is something for progress(), or takes it at once: how much that was. */
    uint32_t (*wait)(struct rpc_ep *ep, uint64_t timeout_ns);
    bool (*alive)(struct rpc_ep *ep, uint32_t peer); /* false: the peer is gone for sure */
    /* On which processor is the peer that is waited for? Also publishes our own. NULL: not known.
     */
    enum rpc_where (*where)(struct rpc_ep *ep);
};

/* Between two checks of a spin loop: leaves the memory line to its writer and the core to its other
 * hardware thread. */
static inline void rpc_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

extern const struct rpc_transport rpc_shm, rpc_tcp, rpc_fabric;

/* NULL, with an error that names those there are. */
const struct rpc_transport *rpc_transport_find(const char *name, struct wr_err *err);
extern const struct rpc_transport *const rpc_transports[]; /* ends with NULL */

#endif
