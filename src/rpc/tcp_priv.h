/* tcp_priv.h -- a connection over TCP and the endpoint that has it; shared by tcp.c and tcp_conn.c.
 *
 * Of a server every connection is a peer's, which has shown the token.
 */
#ifndef RPC_TCP_PRIV_H
#define RPC_TCP_PRIV_H

#include <string.h>

#include "base/check.h"
#include "rpc/tcp_pending.h"
#include "rpc/transport.h"

enum { IN_B = 16384, OUT_B = 65536, MOVES = 64 };

enum frame_kind { FRAME_MESSAGE = 0x7765, FRAME_WRITE, FRAME_READ, FRAME_DATA };

struct frame {
    uint32_t kind, cookie;
    uint64_t len;
    uint64_t at, key; /* WRITE, READ: of the client's memory */
};

/* Bytes that leave from where they are, after so many of the connection's small ones. */
struct move {
    const uint8_t *at; /* NULL: they were cut off, and zeros leave instead */
    uint64_t left;
    uint32_t after, cookie;
    bool notify; /* on_bulk when they are gone */
};

/* What a server asked for and waits for. */
struct asked {
    uint64_t len;
    uint8_t *at; /* NULL: it was cut off, and goes nowhere */
    uint32_t cookie;
};

/* A connection. Everything changes while it is open. */
struct conn {
    int fd;      /* -1: none */
    bool dead;   /* it failed: nothing is read or sent any more */
    bool listed; /* in dirty[] */
    bool here;   /* of this node */
    bool full;   /* all that was asked for came, and there may be more */
    bool ends;   /* the other end sends no more: read on to the end */
    uint32_t in_from, in_to, out_from, out_to; /* what in[] and out[] hold */
    uint64_t left; /* bytes of a bulk transfer that are yet to come; 0: none is coming */
    uint8_t *into; /* where they go; NULL: nowhere */
    bool notify;   /* they are the first of those that were asked for */
    bool stuck; /* of a server: nothing can leave until epoll reports that the socket is writable */
    bool gated; /* of a server: not read from until an answer fits the buffer */
    uint32_t asked_from, nasked; /* of the ring asked[] */
    struct asked asked[MOVES]; /* a ring: a client sends data in the order it was asked for them */
    uint32_t nmoves;
    struct move move[MOVES];      /* in the order in which they leave */
    uint8_t in[IN_B], out[OUT_B]; /* small messages: received, to be sent */
};

/* An endpoint over TCP. `ep`, `listener`, `epoll`, `peers` and `key` are set up. */
struct tcp {
    struct rpc_ep ep;
    int listener, epoll; /* of a server */
    uint64_t
        paused_ns;  /* since when no connection is accepted for want of descriptors; 0: accepting */
    uint32_t peers; /* as many as there are descriptors for */
    struct rpc_pending *pending;      /* connections whose hello has not been accepted */
    struct rpc_pending_entry *sender; /* the one whose message is being taken */
    struct conn *conn[RPC_PEERS];     /* NULL: never used */
    uint32_t high;                    /* conn[] from here on are empty */
    uint32_t n;                       /* connections */
    uint32_t *dirty, ndirty;          /* connections with something to send */
    uint64_t key;                     /* random: a reference to our memory must have it */
    uint32_t looks;                   /* at the one connection, since one looked elsewhere */
    uint32_t last;                    /* connection that something came from */
};

static inline struct tcp *tcp_of(struct rpc_ep *ep)
{
    return (struct tcp *)(void *)ep;
}

/* ---- tcp_conn.c ---- */

void tcp_conn_adopt(struct tcp *t, uint32_t k, int fd);
void tcp_conn_release(struct tcp *t, uint32_t k);
/* Closed by the peer, or it violated the protocol. alive() is false from now on, until it is
 * released. */
void tcp_conn_drop(struct tcp *t, uint32_t k);
void tcp_conn_watch(const struct tcp *t, uint32_t k);

/* As much as the kernel takes. True: something left. */
bool tcp_conn_push(struct tcp *t, uint32_t k);
uint32_t tcp_conn_push_all(struct tcp *t);
/* Sends what can be sent to make space. false: there is still none. */
bool tcp_conn_reserve_slow(struct tcp *t, uint32_t k, size_t n);

/* What a server takes from a peer it answers with one message at most, or with two later. */
bool tcp_conn_may_answer(struct tcp *t, uint32_t k);
/* How much came. */
uint32_t tcp_conn_take_frames(struct tcp *t, uint32_t k);
uint32_t tcp_conn_pull(struct tcp *t, uint32_t k, int flags);
uint32_t tcp_conn_drain(struct tcp *t, uint32_t k);

/* ---- for every message ---- */

/* Something is to leave. */
static inline void tcp_conn_mark(struct tcp *t, uint32_t k)
{
    if (!t->conn[k]->listed)
        t->dirty[t->ndirty++] = k;
    t->conn[k]->listed = true;
}

/* Makes sure that so many small bytes fit the send buffer. */
static inline bool tcp_conn_reserve(struct tcp *t, uint32_t k, size_t n)
{
    return OUT_B - t->conn[k]->out_to >= n || tcp_conn_reserve_slow(t, k, n);
}

static inline void tcp_conn_put(struct conn *c, const void *bytes, size_t n)
{
    wr_check(n <= OUT_B - c->out_to);
    if (n)
        memcpy(c->out + c->out_to, bytes, n);
    c->out_to += (uint32_t)n;
}

static inline void tcp_conn_put_move(struct conn *c, const uint8_t *at, uint64_t len,
                                     uint32_t cookie, bool notify)
{
    wr_check(c->nmoves < MOVES);
    c->move[c->nmoves++] = (struct move){at, len, c->out_to, cookie, notify};
}

#endif
