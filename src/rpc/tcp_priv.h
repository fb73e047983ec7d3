/* tcp_priv.h -- a connection over TCP and the endpoint that has it; shared by tcp.c and tcp_conn.c.
 *
 * Of a server every connection is a peer's, which has shown the token.
 */
#ifndef RPC_TCP_PRIV_H
#define RPC_TCP_PRIV_H

#include <string.h>

#include "rpc/tcp_guests.h"
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
    bool tell; /* on_bulk when they are gone */
};

/* What a server asked for and waits for. */
struct asked {
    uint64_t len;
    uint8_t *at; /* NULL: it was cut off, and goes nowhere */
    uint32_t cookie;
};

struct conn {
    int fd; /* -1: none */
    bool dead;
    bool listed; /* in dirty[] */
    bool here;   /* of this node */
    bool full;   /* all that was asked for came, and there may be more */
    bool ends;   /* the other end sends no more: read on to the end */
    uint32_t in_from, in_to, out_from, out_to;
    uint64_t left; /* bytes of a bulk transfer that are yet to come; 0: none is coming */
    uint8_t *into; /* where they go; NULL: nowhere */
    bool tell;     /* they are the first of those that were asked for */
    bool stuck;    /* of a server: nothing can leave until the kernel tells so */
    bool gated;    /* of a server: not read from until there is room for an answer */
    uint32_t asked_from, nasked;
    struct asked asked[MOVES]; /* a ring: a client sends data in the order it was asked for them */
    uint32_t nmoves;
    struct move move[MOVES];
    uint8_t in[IN_B], out[OUT_B];
};

struct tcp {
    struct rpc_ep ep;
    int door, epoll;  /* of a server */
    uint64_t shut_ns; /* since when nobody is let in for want of descriptors; 0: the door is open */
    uint32_t peers;   /* as many as there are descriptors for */
    struct rpc_guests *guests;
    struct rpc_guest *speaks; /* the one whose message is being taken */
    struct conn *conn[RPC_PEERS];
    uint32_t high; /* conn[] from here on are empty */
    uint32_t n;    /* connections */
    uint32_t *dirty, ndirty;
    uint64_t key;
    uint32_t looks; /* at the one connection, since one looked elsewhere */
    uint32_t last;  /* connection that something came from */
};

static inline struct tcp *tcp_of(struct rpc_ep *ep)
{
    return (struct tcp *)(void *)ep;
}

/* ---- tcp_conn.c ---- */

void tcp_conn_adopt(struct tcp *t, uint32_t k, int fd);
void tcp_conn_release(struct tcp *t, uint32_t k);
/* Gone, or not one of ours. Whoever has met it is told by alive(), and forgets it. */
void tcp_conn_drop(struct tcp *t, uint32_t k);
void tcp_conn_watch(const struct tcp *t, uint32_t k);

/* As much as the kernel takes. True: something left. */
bool tcp_conn_push(struct tcp *t, uint32_t k);
uint32_t tcp_conn_push_all(struct tcp *t);
/* By what leaves. false: there is still none. */
bool tcp_conn_gain_room(struct tcp *t, uint32_t k, size_t n);

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

/* Room at the end for so many small bytes. */
static inline bool tcp_conn_make_room(struct tcp *t, uint32_t k, size_t n)
{
    return OUT_B - t->conn[k]->out_to >= n || tcp_conn_gain_room(t, k, n);
}

static inline void tcp_conn_put(struct conn *c, const void *bytes, size_t n)
{
    if (n)
        memcpy(c->out + c->out_to, bytes, n);
    c->out_to += (uint32_t)n;
}

static inline void tcp_conn_put_move(struct conn *c, const uint8_t *at, uint64_t len,
                                     uint32_t cookie, bool tell)
{
    c->move[c->nmoves++] = (struct move){at, len, c->out_to, cookie, tell};
}

#endif
