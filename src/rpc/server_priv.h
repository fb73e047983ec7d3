/* server_priv.h -- the state of a server, and what each peer may hold of it.
 *
 * A request that is not answered at once is a call. It is in one of these states:
 *
 *   waiting ──> under way (transfer, storage) ──> answered
 *      ^            │                        └──> unsent ──> answered
 *      └── later ───┘
 *
 * Waiting and unsent calls are in lists of their peer; a peer with such a call is in the ring of
 * peers that want something, and is asked in turn. So a peer waits for its own calls alone:
 *
 *   transfers  a peer has RPC_PEER_TRANSFERS under way at most
 *   pieces     memory for data on their way to or from storage, or that are only looked at. A peer
 *              takes one only while it holds fewer than are free: however many one asks for, others
 *              find some. Where none is free, one whose transfer takes too long is taken back.
 *   calls      the same rule; beyond it a request is answered with RPC_BUSY
 *
 * Invariants: the pieces that are free and those of all peers are npieces; p->calls counts all
 * calls of a peer, in whatever state; p->under_way those that were begun.
 */
#ifndef RPC_SERVER_PRIV_H
#define RPC_SERVER_PRIV_H

#include "rpc/rpc.h"
#include "rpc/rpc_store.h"

enum { RPC_PEER_TRANSFERS = 16, RPC_PIECES_LEAST = 16, RPC_PIECES_MOST = 64, RPC_CALLS = 16384 };
enum { RPC_PEER_KEEPS = 64 };
enum { RPC_PIECES_B = 16 << 20 }; /* of all pieces, as long as that is more than the least */
#define RPC_NONE UINT32_MAX

enum call_state { CALL_FREE, CALL_WAITING, CALL_UNDER_WAY, CALL_UNSENT };

/* A call that has not been answered. Changes with its steps. */
struct server_call {
    uint32_t peer, id;  /* the client, and its number of the call */
    uint32_t next;      /* in its list, or of those that are free */
    uint32_t piece;     /* RPC_NONE: it has none */
    uint8_t op, state;  /* enum rpc_op, call_state */
    bool begun;         /* it counts as under way, also while it waits for the transport */
    bool second;        /* the first of two steps is done */
    bool cut_off;       /* its piece was taken back */
    uint32_t status;    /* of the answer */
    uint64_t held_ns;   /* when another call first wanted its piece; 0: none did */
    struct rpc_ref ref; /* the client's memory */
    uint32_t len;       /* of an answer that could not be sent, and a copy of it */
    void *payload;
};

struct server_list {
    uint32_t first, last; /* RPC_NONE: empty */
};

/* Of a client that says nothing. */
struct server_silence {
    bool broken;                 /* it said something since we looked */
    uint32_t unsent;             /* how often in a row it could not even be asked */
    uint64_t asked_ns, pause_ns; /* when it was asked last; how long until it is asked again */
};

/* A client. */
struct server_peer {
    bool met, wants;                    /* its hello was accepted; it is in the ring */
    uint32_t calls, under_way, pieces;  /* not answered; of them begun; pieces that these have */
    uint32_t kept;                      /* payloads of unsent answers */
    struct server_list waiting, unsent; /* calls that are not begun; answers that did not fit */
    struct server_silence silence;
};

/* A server. `o`, `ep` and the addresses of arrays are set up, the rest changes while it runs. */
struct rpc_server {
    struct rpc_opts o;
    struct rpc_ep *ep;
    struct rpc_waiter waiter; /* how it waits for calls */
    struct rpc_store *store;  /* what PUT writes and GET reads */
    struct rpc_server_stats stats;
    struct server_peer *peer;                   /* [o.peers] */
    uint32_t ring[RPC_PEERS], ring_from, nring; /* peers that want something */
    struct server_call *call;                   /* [RPC_CALLS] */
    uint32_t calls_used, free_call, ncalls;     /* calls_used: call[] beyond was never taken */
    uint32_t npieces, nfree; /* pieces of ep->bulk, which transfers use; of them free */
    uint32_t free_piece[RPC_PIECES_MOST], owner[RPC_PIECES_MOST]; /* owner: a call */
    uint32_t turn;                /* of the sources that what is got comes from */
    uint64_t looked_ns;           /* for clients that died */
    uint32_t deaths;              /* that we know of */
    uint32_t steps;               /* so far: every so many, clients are looked after */
    uint32_t messages, last_peer; /* so far; where the last came from */
    bool single;                  /* the last caller has no other call in flight */
    bool several;                 /* of the last messages not all came from one client */
};

/* ---- server_calls.c ---- */

bool server_calls_init(struct rpc_server *s, struct wr_err *err);
void server_calls_fini(struct rpc_server *s);
/* Starts it or puts it in its peer's line. */
void server_call(struct rpc_server *s, uint32_t peer, uint32_t id, enum rpc_op op,
                 const struct rpc_ref *ref);
/* Never waits: what cannot be sent now is sent later. Of RPC_PEER_KEEPS answers the payload is
 * kept, of more RPC_BUSY is all that is sent. */
void server_respond_later(struct rpc_server *s, uint32_t peer, uint32_t id, uint32_t status,
                          const void *payload, uint32_t len);
static inline bool server_send(struct rpc_server *s, uint32_t peer, uint32_t id, uint32_t status,
                               const void *payload, uint32_t len)
{
    struct rpc_head h = rpc_head_of(RPC_RESPONSE, 0, &s->o.token, id, len, status);

    return s->ep->t->send(s->ep, peer, &h, payload);
}

static inline void server_respond(struct rpc_server *s, uint32_t peer, uint32_t id, uint32_t status,
                                  const void *payload, uint32_t len)
{
    s->stats.refused += status != RPC_OK;
    if (__builtin_expect(!server_send(s, peer, id, status, payload, len), 0))
        server_respond_later(s, peer, id, status, payload, len);
}

void server_on_step(void *ctx, uint64_t cookie, bool ok);  /* of bulk data: the cookie is a call */
void server_on_store(void *ctx, uint64_t cookie, bool ok); /* the cookie is a piece */
void server_serve_ring(struct rpc_server *s);
/* Of a peer that is gone: its calls, but for those that are under way. */
void server_calls_purge(struct rpc_server *s, uint32_t peer);

#endif
