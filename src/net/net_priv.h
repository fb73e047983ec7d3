/* net_priv.h -- the state of the network: ports, channels, packets, NICs, partitions.
 *
 * A credit touches only the first cache line of a port, a packet both. Every array is indexed by
 * the number of the port, so that all that a packet will touch can be prefetched when only the
 * packet is known:
 *
 *   port[r * nports + p]            router r's outgoing link p
 *   port[nrouters * nports + t]     terminal t's injection link
 *   cold[port]                      used only when packets wait for the port
 *   vc[port * nvcs + v]             channel v of a port, from NET_NEAR_VCS on
 *
 * Invariants (verified by net_check; WEIR_CHECK builds call it while running):
 *  1. Conservation: a channel's occupancy is the sum of the charges of the packets
 *     admitted to it whose credit has not returned: queued here, on the wire,
 *     waiting downstream, or with the credit in flight (in the ring or as an event).
 *  2. Bounded: occupancy <= capacity, always. A packet larger than the capacity is refused at
 *     set-up.
 *  3. FIFO: packets of one channel leave in the order in which they were admitted, and
 *     are admitted in the order in which they began to wait.
 *  4. No loss: every packet is in exactly one place: in a channel's queue, in a
 *     channel's waiting line, in an input line, on a wire, or in one arrival event.
 *  5. No deadlock: the routing's channel-dependency graph is acyclic (its
 *     contract test), and a terminal accepts every packet that arrives.
 *  6. No lost wake-up: a port with a waiting packet has a credit outstanding downstream, and
 *     the return of that credit is an event.
 *  7. No lost transmission: when a packet is queued or on the wire without an arrival event, an
 *     earlier arrival over the same link is scheduled, or (NET_MODE_SHORT, and cut-through over a
 *     boundary) an event at t_free.
 */
#ifndef NET_NET_PRIV_H
#define NET_NET_PRIV_H

#include <stddef.h>

#include "base/hist.h"
#include "base/pool.h"
#include "base/rng.h"
#include "net/net.h"
#include "sim/engine.h"

/* A packet: in a queue, or on a link. */
struct net_pkt {
    _Alignas(64) uint32_t next; /* in the queue or line that it is in */
    uint32_t msg;               /* the message that it is of */
    uint32_t from;  /* port it came through, by channel route.vc: its credit returns there; on
                       net_port.wire: the number of its arrival, and NET_WIRED */
    uint32_t bytes; /* as links carry them */
    struct route_pkt route; /* what the routing keeps of it: destination, channel, hops */
    uint64_t t_birth;       /* began to leave its NIC */
    uint64_t t_tail;        /* cut-through: when its last byte is here; store and forward, on
                               net_port.wire: when it arrives */
    uint32_t out;       /* port it leaves by, if that was decided when it was sent here; or NIL */
    uint8_t out_vc;     /* channel there */
    bool last;          /* packet of its message */
    uint32_t frac;      /* time of arrival below a picosecond, in 1/2^20 ps: the latency of a path
                           is rounded once, not per hop */
    uint32_t tail_frac; /* the same of t_tail */
};

#define NET_WIRED (UINT32_C(1) << 31) /* no port has this number */

struct net_queue {
    uint32_t head, tail; /* packets, linked by `next`; head WR_NIL: empty */
};

/* A channel; the first NET_NEAR_VCS have theirs in the port and in its net_cold. */
struct net_vc {
    struct net_queue wait;  /* not admitted: no credit, or the switch is busy */
    struct net_queue queue; /* admitted, waiting for the link */
    uint32_t occupancy;     /* bytes charged */
};

/* Input queueing: the packets that arrived over one upstream channel, in order; only the first may
 * request an output. And when the channel's own output side of the switch is free. */
struct net_line {
    struct net_queue in; /* at the downstream router; without the packet that has its request out */
    uint64_t t_in_free;  /* the line sends its next packet not before */
    uint64_t t_out_free; /* the channel accepts its next packet not before */
    bool requested;      /* the first packet has requested its output and waits there */
    bool in_event, out_event; /* events at these two times are scheduled */
};

enum {
    NET_RING = 4,       /* credits that can be in flight without an event */
    NET_RING_ODD = 128, /* a credit for another size than the largest packet's: net.ring_b */
    NET_NEAR_VCS = 4,   /* channels whose state is in the port itself */
};

/* An output port: the state of a link at its sending end. Changes with every packet. */
struct net_port {
    /* credits and admission */
    _Alignas(128) uint64_t t_free; /* the link is idle from then on */
    uint64_t ring[NET_RING];       /* credits in flight: time << 8 | channel, and NET_RING_ODD;
                                      2^56 ps are 20 h */
    uint32_t vc_occupancy[NET_NEAR_VCS]; /* bytes charged, by channel */
    uint16_t queued;                     /* channels with a non-empty queue, one bit each */
    uint16_t stalled;                    /* channels with a non-empty waiting line */
    uint8_t ring_at, ring_n;             /* first credit in the ring, and how many there are */
    uint8_t cls;                         /* in net.cls; constant */
    bool wired : 1;                      /* `wire` is not empty */
    bool port_event : 1; /* an event at t_free is scheduled (NICs, and invariant 7), or the port is
                            in net.busy */
    bool wake_event : 1; /* an event for a credit is scheduled */
    bool saturated : 1;  /* packets wait for credit, since net_cold.saturated_ps */
    bool boundary : 1;   /* it leads to another partition; `wire` is its number in net.boundary */
    /* sending; from peer_lp on constant but for wire, t_frac and last_vc */
    struct net_queue queue[NET_NEAR_VCS]; /* admitted, waiting for the link, by channel */
    uint64_t bytes, packets;              /* sent so far */
    uint32_t peer_lp;                     /* the logical process at the other end of the link */
    uint16_t peer_in_port;                /* the port number there */
    uint16_t self_port;                   /* its own number on its router */
    uint32_t wire;   /* packets on it without an arrival event, a list in order */
    uint16_t t_frac; /* of t_free, in 1/2^16 ps */
    uint8_t last_vc; /* round robin: the one served last */
    uint8_t nvcs;    /* channels of the link */
};
_Static_assert(sizeof(struct net_port) == 128 && offsetof(struct net_port, queue) == 64,
               "a port is two cache lines");

/* The cold state of a port, one cache line; changes when packets wait. */
struct net_cold {
    _Alignas(64) struct net_queue wait[NET_NEAR_VCS]; /* not admitted, by channel */
    uint64_t waiting;                                 /* charges of them */
    uint64_t saturated_ps; /* total time; while saturated: minus the time when that began */
    uint64_t tail_wait_ps; /* cut-through: time busy beyond its own rate, waiting for a tail */
};
_Static_assert(sizeof(struct net_cold) == 64, "cold state is a cache line");

/* Constants of a link class. Times are fixed point, in 1/2^20 ps, where the name has no unit. */
struct net_class {
    uint64_t per_byte;    /* serialisation */
    uint64_t delay;       /* propagation and router delay */
    uint64_t credit_ps;   /* from admission downstream to the credit upstream */
    uint32_t capacity;    /* bytes per channel */
    uint32_t fifo;        /* of arrival events: in order, unless packet sizes differ ... */
    uint32_t follow_fifo; /* ... and of those scheduled by link_follow */
};

/* Prefetch distances, in events of a FIFO: the packet of an event, the ports of that packet, and
 * the packets queued at those ports. */
enum { NET_AHEAD_FAR = 6, NET_AHEAD_MID = 3, NET_AHEAD_NEAR = 1 };

/* A router's random stream. Routers of different partitions share no cache line. */
struct net_rng {
    _Alignas(64) struct wr_rng stream;
};

/* A network interface of a terminal. Changes with every message and packet. */
struct net_nic {
    _Alignas(64) struct net_queue queue; /* messages */
    uint64_t t_next;                     /* the next message may start not before */
    uint64_t backlog;                    /* bytes of its messages not yet put into packets */
    /* Later than now while a packet is sent ahead of its credit (net_nic_pump): */
    uint64_t t_pumped;  /* the NIC's state is that of this time */
    uint64_t t_last;    /* its last packet leaves */
    uint32_t last_b;    /* that packet's size */
    uint32_t rail_turn; /* round robin over the node's rails; used in the first rail's NIC */
};

/* Marks cold paths, which are kept out of line. */
#define NET_COLD __attribute__((noinline))

/* A stand-in (boundary.c) has no occupancy. The same words say where its credits go: the port and
 * its partition. */
enum { NET_STANDIN_PORT, NET_STANDIN_PARTITION };

/* A network, or the part of it that a partition executes. */
struct net {
    /* Set up by net_open, then constant: */
    const struct topo *topo;
    const struct route *route;
    struct net_params p;
    struct sim *sim;          /* of the partition */
    struct net_client client; /* called when messages arrive and have left */
    struct route_view view;   /* occupancies, for routings that look at them */

    uint32_t nports;   /* of a router */
    uint64_t per_port; /* 2^64 / nports, rounded up: divides any 32-bit number by nports */
    uint32_t nrouters, nterms, nodes; /* terminals are NICs; a node has one per rail */
    uint32_t nvcs;                    /* of a port */
    uint32_t total_ports, total_vcs;  /* of routers and terminals */
    struct net_port *port; /* [total_ports], and behind them a stand-in for each boundary link */
    struct net_cold *cold; /* [total_ports] */
    struct net_vc *vc;     /* [total_vcs]; NULL: ports have NET_NEAR_VCS or fewer */
    struct net_line *line; /* [total_vcs], input queueing only */
    uint32_t *ring_b;    /* [NET_RING] of each port: bytes of an odd credit; byte accounting only */
    struct net_nic *nic; /* [nterms] */
    struct net_rng *rng; /* [nrouters] */
    struct net_class cls[TOPO_MAX_CLASSES];
    uint32_t nic_fifo, wake_fifo,
        ahead_fifo;       /* of sim: FIFOs of NIC events, credits, pumped packets */
    uint32_t slot_b;      /* the charge of a packet under slot accounting */
    const uint8_t *eject; /* [256] channel of a link to a terminal, by a packet's state; NULL: 0 */
    uint32_t mode;        /* enum net_mode, from the parameters */
    uint64_t switch_ps,
        gap_ps; /* a packet through the switch; between starts of messages at a NIC */

    struct topo_paths *paths;    /* of idle.c; NULL: closed forms */
    struct wr_pool pkts, msgs;   /* change while running, as do the objects in the arrays above */
    struct wr_hist *packet_hist; /* of net_watch_packets; NULL: not wanted */
    bool large;           /* ports do not fit a core's own cache: prefetching farther ahead pays */
    const char *arrivals; /* [nodes] of net_prefetch_arrivals(), arrivals_b each */
    size_t arrivals_b;
    uint64_t per_rail; /* 2^32 / rails, rounded up: divides the number of a terminal by rails */
    struct net_counts count; /* changes while running */

    /* Partitions: each has a struct net of its own with its own pools, counts and clock. Arrays
     * are shared, and an element is touched by its own partition only. */
    uint32_t npartitions, me;        /* number of partitions, 0: not divided; this one's */
    struct net **all;                /* [npartitions] */
    struct sim_partition *partition; /* NULL: not divided */
    const uint16_t *partition_of;    /* [nrouters] */
    /* Partitions that other processes execute. Of their ports, this process has only the counts,
     * once these were gathered (net_take_accounts). */
    bool *foreign;                      /* [npartitions] */
    struct net_link_stat *foreign_stat; /* [total_ports] */
    uint32_t *boundary;                 /* [nboundaries] the ports that lead to other partitions */
    uint32_t nboundaries;
    uint32_t boundary_fifo, idle_fifo; /* of sim: arrivals over boundaries, links that get idle */
    uint32_t *busy, nbusy;             /* boundary links of this partition with something queued */
    /* serial.c: */
    uint32_t *bucket; /* [2^(64 - bucket_shift)] records of messages that came over a boundary */
    uint32_t bucket_shift;
    struct wr_pool payloads; /* of messages that pass through this partition */
    net_other *other;        /* receives events that are not the network's */
    void *other_ctx;
};

/* Packets and messages are a cache line each: found by a shift, not by the pool's size. */
enum { NET_THING_B = 64 };
_Static_assert(sizeof(struct net_pkt) == NET_THING_B && sizeof(struct net_msg) == NET_THING_B,
               "packets and messages are a cache line");

static inline void *net_thing(const struct wr_pool *pool, uint32_t h)
{
    return pool->base + (size_t)h * NET_THING_B;
}

static inline struct net_pkt *net_pkt(const struct net *n, uint32_t h)
{
    return net_thing(&n->pkts, h);
}

/* net_msg.flags */
enum net_msg_flag {
    NET_MSG_STARTED = 1,
    NET_MSG_SENT = 2,
    NET_MSG_ARRIVED = 4,  /* or, to another partition, all its packets have left */
    NET_MSG_COPY = 8,     /* a copy for one packet that passes through this partition */
    NET_MSG_KNOWN = 16,   /* ... whose record in the receiver's partition is `unsent` */
    NET_MSG_PAYLOAD = 32, /* ... and `user` is in net.payloads */
    NET_MSG_FOUND = 64,   /* by its packets, through net.bucket */
};

/* The options of the model as one constant: the inner functions take it as an argument, so that
 * common machines get code without branches on it. */
enum net_mode {
    NET_MODE_BYTES = 1,
    NET_MODE_CUT = 2,
    NET_MODE_INPUT = 4,
    NET_MODE_EARLY = 8,        /* all choices of the routing depend on the packet alone, ... */
    NET_MODE_MAYBE_EARLY = 16, /* ... or some */
    NET_MODE_SHORT = 32, /* cut-through: a packet may be there before its last byte has left */
    NET_MODE_WAKES = 64, /* the event being handled comes before those of NET_EV_PORT */
};

static inline uint32_t net_charge(const struct net *n, const struct net_pkt *k, uint32_t mode)
{
    if (!(mode & NET_MODE_BYTES))
        return n->slot_b;
    return k->bytes ? k->bytes : 1;
}

void net_serial_forget(struct net *n, uint32_t msg);

/* One side of a message is done; its record is freed when both are. */
static inline void net_msg_end(struct net *n, uint32_t h, enum net_msg_flag side)
{
    const uint8_t both = NET_MSG_SENT | NET_MSG_ARRIVED;
    struct net_msg *m = net_thing(&n->msgs, h);

    m->flags |= (uint8_t)side;
    if ((m->flags & both) != both)
        return;
    if (__builtin_expect(m->flags & NET_MSG_FOUND, 0))
        net_serial_forget(n, h);
    wr_pool_give(&n->msgs, h);
}

/* Is it a stand-in for a port of another partition? */
static inline bool net_is_standin(const struct net *n, uint32_t from)
{
    return from >= n->total_ports;
}

/* The port that a packet came through; it may be in another partition. */
static inline uint32_t net_from(const struct net *n, const struct net_pkt *k)
{
    return net_is_standin(n, k->from) ? n->boundary[k->from - n->total_ports] : k->from;
}

static inline uint64_t net_pass_ps(const struct net_class *c, uint32_t bytes)
{
    return (c->per_byte * bytes + c->delay + (1u << 19)) >> 20;
}

static inline uint32_t net_vc0(const struct net *n, const struct net_port *port)
{
    return (uint32_t)(port - n->port) * n->nvcs;
}

/* The channel of a credit in a port's ring, and the bytes that it returns. */
static inline uint32_t net_credit_vc(uint64_t credit)
{
    return credit & (NET_RING_ODD - 1);
}

static inline uint32_t net_credit_b(const struct net *n, const struct net_port *port, uint32_t at,
                                    uint32_t mode)
{
    if (mode & NET_MODE_BYTES && port->ring[at] & NET_RING_ODD)
        return n->ring_b[(size_t)(port - n->port) * NET_RING + at];
    return n->slot_b;
}

static inline uint32_t *net_occupancy(const struct net *n, struct net_port *port, uint32_t vc)
{
    if (__builtin_expect(vc >= NET_NEAR_VCS, 0))
        return &n->vc[net_vc0(n, port) + vc].occupancy;
    return &port->vc_occupancy[vc];
}

static inline struct net_queue *net_queue_of(const struct net *n, struct net_port *port,
                                             uint32_t vc)
{
    if (__builtin_expect(vc >= NET_NEAR_VCS, 0))
        return &n->vc[net_vc0(n, port) + vc].queue;
    return &port->queue[vc];
}

static inline struct net_cold *net_cold(const struct net *n, const struct net_port *port)
{
    return &n->cold[port - n->port];
}

static inline uint32_t net_self_lp(const struct net *n, const struct net_port *port)
{
    uint32_t index = (uint32_t)(port - n->port), routers = n->nrouters * n->nports;

    if (index >= routers)
        return n->nrouters + (index - routers);
    return (uint32_t)((unsigned __int128)index * n->per_port >> 64);
}

/* The partition whose packets are at a port. */
static inline struct net *net_of_port(const struct net *n, uint32_t index)
{
    uint32_t routers = n->nrouters * n->nports;

    if (!n->npartitions)
        return (struct net *)n;
    return n->all[n->partition_of[index < routers ? index / n->nports
                                                  : n->topo->term[index - routers].router]];
}

static inline uint32_t net_port_router(const struct net *n, uint32_t index)
{
    uint32_t routers = n->nrouters * n->nports;

    return index < routers ? index / n->nports : n->topo->term[index - routers].router;
}

/* Does another process execute the port's partition? */
static inline bool net_is_foreign(const struct net *n, uint32_t index)
{
    return n->foreign && n->foreign[n->partition_of[net_port_router(n, index)]];
}

static inline struct net_queue *net_wait_of(const struct net *n, const struct net_port *port,
                                            uint32_t vc)
{
    if (__builtin_expect(vc >= NET_NEAR_VCS, 0))
        return &n->vc[net_vc0(n, port) + vc].wait;
    return &net_cold(n, port)->wait[vc];
}

/* Bytes charged, over all channels. */
static inline uint32_t net_occupancy_all(const struct net *n, struct net_port *port)
{
    uint32_t sum = 0;

    for (uint32_t vc = 0; vc < NET_NEAR_VCS; vc++) /* channels that do not exist have 0 */
        sum += port->vc_occupancy[vc];
    for (uint32_t vc = NET_NEAR_VCS; vc < port->nvcs; vc++)
        sum += *net_occupancy(n, port, vc);
    return sum;
}

static inline bool net_has_credit(const struct net *n, struct net_port *port, uint32_t vc,
                                  uint32_t charge)
{
    return *net_occupancy(n, port, vc) + charge <= n->cls[port->cls].capacity;
}

/* The age of a packet is that of its message; within a message, packets compare by when they left
 * the NIC. Time in the NIC counts: otherwise messages with a long path, of which more packets are
 * in flight, would get a larger share. */
static inline bool net_is_older(const struct net *n, const struct net_pkt *a,
                                const struct net_pkt *b)
{
    uint64_t post_a = net_msg_at(n, a->msg)->t_post_ps, post_b = net_msg_at(n, b->msg)->t_post_ps;

    return post_a != post_b ? post_a < post_b : a->t_birth < b->t_birth;
}

/* port.c */
void net_port_at(struct net *n, struct net_port *port, uint64_t t, uint32_t next);
void net_port_call_wake(struct net *n, struct net_port *port);
void net_port_flush(struct net *n, struct net_port *port, uint64_t until);
uint32_t net_port_choose(const struct net *n, struct net_port *port);
void net_port_credit_comes(struct net *n, struct net_port *port);
void net_port_saturation(struct net *n, struct net_port *port, bool is, uint64_t at);
void net_on_port(void *ctx, const struct sim_event *e);
void net_prefetch_port(const void *ctx, const struct sim_event *e);

/* router.c */
struct net_handlers {
    sim_handler *arrive, *wake, *turn_switch;
};
void net_router_handlers(uint32_t mode, struct net_handlers *ret);
void net_prefetch_packet(const void *ctx, const struct sim_event *e);
void net_on_credit(void *ctx, const struct sim_event *e);

/* nic.c */
void net_nic_pump(struct net *n, uint32_t term, uint64_t at);
void net_on_nic(void *ctx, const struct sim_event *e);
void net_prefetch_nic(const void *ctx, const struct sim_event *e);
void net_nic_deliver(struct net *n, uint32_t pkt);

/* net.c */
uint64_t net_delay_ps(const struct net_params *p, uint32_t cls);

uint64_t net_credit_ps(const struct net_params *p, uint32_t cls);

/* boundary.c */
uint32_t net_boundaries_count(const struct topo *t, const uint16_t *partition_of);
void net_boundaries_open(struct net *n);
void net_boundaries_join(struct net *n);
void net_boundaries_leave(struct net *n);
void net_boundary_send(struct net *n, const struct net_port *port, uint64_t there, uint32_t seq,
                       uint32_t h, const struct net_pkt *k);
void net_boundary_queued(struct net *n, struct net_port *port);
void net_boundary_credit(struct net *n, struct net_port *standin);

/* serial.c */
void net_serial_send(struct net *n, uint32_t to, const struct sim_event *e, uint32_t pkt);
uint32_t net_serial_receive(struct net *n, const struct sim_event *e, const void *data,
                            uint32_t bytes); /* the packet */
void net_serial_open(struct net *n);
void net_serial_close(struct net *n);

static inline void net_queue_init(struct net_queue *q)
{
    q->head = q->tail = WR_NIL;
}

static inline void net_queue_put(const struct wr_pool *pool, struct net_queue *q, uint32_t h)
{
    *(uint32_t *)net_thing(pool, h) =
        WR_NIL; /* `next` is the first member of packets and messages */
    if (q->head == WR_NIL)
        q->head = h;
    else
        *(uint32_t *)net_thing(pool, q->tail) = h;
    q->tail = h;
}

static inline uint32_t net_queue_get(const struct wr_pool *pool, struct net_queue *q)
{
    uint32_t h = q->head;

    q->head = *(uint32_t *)net_thing(pool, h);
    return h;
}

#endif
