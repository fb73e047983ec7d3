/* transport.h -- how messages and memory get from one process to another.
 *
 * A transport owns one decision: the path of bytes. Who may talk, what is asked, and how one waits
 * are decided above it, the same for all. Nothing here allocates after open and connect.
 *
 *   server: open ─> address ─> progress ... (on_msg, on_bulk)
 *   client: open ─> connect ─> send, flush, progress ...
 *
 * A peer is a small number; of a client its server is peer 0.
 */
#ifndef RPC_TRANSPORT_H
#define RPC_TRANSPORT_H

#include "base/err.h"
#include "rpc/wire.h"

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

/* Of another process: on our own processor it cannot run while we look. */
enum rpc_where { RPC_SOMEWHERE, RPC_ELSEWHERE, RPC_BESIDE };

/* What came of a transfer that was asked for. */
enum rpc_moved {
    RPC_MOVES_NOT,   /* refused, as out of the peer's memory */
    RPC_MOVES,       /* on_bulk comes, perhaps it has come already */
    RPC_MOVES_LATER, /* there is no room now: make progress and try again */
};

enum rpc_way { RPC_TO_PEER, RPC_FROM_PEER };

struct rpc_bulk {
    uint32_t peer;
    enum rpc_way way;
    size_t at;          /* in our own memory */
    struct rpc_ref ref; /* the peer's */
    uint64_t cookie;
};

struct rpc_ep {
    const struct rpc_transport *t;
    struct rpc_ep_opts o;
    uint8_t *bulk;   /* o.bulk_b bytes, offered */
    size_t inlined;  /* bytes of payload that fit a message */
    uint32_t eager;  /* how often progress() may look: a single message is to come, and who sends
                        it can run meanwhile. Of several it is better to find more at once. */
    uint32_t deaths; /* so far: alive() tells whose */
    void *ctx;
    void (*on_msg)(void *ctx, uint32_t peer, const void *bytes, size_t len);
    void (*on_bulk)(void *ctx, uint64_t cookie, bool ok);
};

struct rpc_transport {
    const char *name, *summary;
    uint32_t looks; /* progress() in vain before letting others run: a few microseconds */
    /* Messages go through the kernel, which wakes sleepers by the way; else to wake one is a system
     * call more, and two that both sleep are slower than two that look, whatever one tries. */
    bool kernel_wakes;
    bool wait_takes; /* wait() takes what comes, so that who will sleep need not look before */
    /* A server may close a connection before it has heard the hello, because others came in
     * numbers: it is worth while to try again. */
    bool shuts_out;
    bool tells_room; /* wait() also ends when there is room after send() or bulk() had none */
    bool sees_death; /* alive() knows; else it knows only of some deaths */
    bool (*open)(struct rpc_ep **ret, const struct rpc_ep_opts *o, struct wr_err *err);
    void (*close)(struct rpc_ep *ep);
    void (*address)(struct rpc_ep *ep, char into[RPC_ADDRESS]);
    bool (*connect)(struct rpc_ep *ep, const char *address, struct wr_err *err);
    /* What a hello carries so that the server can reach us, and what it does with it. */
    size_t (*introduce)(struct rpc_ep *ep, void *into, size_t size);
    bool (*meet)(struct rpc_ep *ep, uint32_t peer, const void *bytes, size_t len);
    void (*forget)(struct rpc_ep *ep, uint32_t peer);
    /* How others name a byte of our offered memory. */
    struct rpc_ref (*refer)(struct rpc_ep *ep, size_t at, size_t len);
    /* false: there is no room now, make progress and try again. Never waits. */
    bool (*send)(struct rpc_ep *ep, uint32_t peer, const struct rpc_head *head,
                 const void *payload);
    void (*flush)(struct rpc_ep *ep); /* ring the bells of those who sleep */
    uint32_t (*progress)(struct rpc_ep *ep);
    enum rpc_moved (*bulk)(struct rpc_ep *ep, const struct rpc_bulk *b);
    /* What is left of a transfer comes from nowhere or goes nowhere, so that our memory can be used
     * for another; on_bulk comes all the same. NULL: cannot be done, or transfers take no time. */
    void (*cut_off)(struct rpc_ep *ep, uint32_t peer, uint64_t cookie);
    bool (*blocks)(struct rpc_ep *ep); /* can it sleep? */
    /* Sleeps until there is something for progress(), or takes it at once: how much that was. */
    uint32_t (*wait)(struct rpc_ep *ep, uint64_t timeout_ns);
    bool (*alive)(struct rpc_ep *ep, uint32_t peer);
    /* Where is the one we wait for? Also tells it where we are. NULL: nobody knows. */
    enum rpc_where (*where)(struct rpc_ep *ep);
};

/* Between two looks: so that they hinder neither the one who writes what is looked at nor whoever
 * shares the core. */
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
