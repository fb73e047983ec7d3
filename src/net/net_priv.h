/* net_priv.h -- the data of the network, decided before the code.
 *
 * Ports, hottest first: a credit touches a port's first cache line only, a
 * packet both. A port's channels lie behind each other in `vc`, and where they lie
 * follows from the port's number, so that everything a packet will touch can be
 * asked for by somebody who knows the packet alone:
 *
 *   port[r * nports + p]            router r's outgoing link p
 *   port[nrouters * nports + t]     terminal t's injection link
 *   rare[port]                      what it needs when somebody waits for it
 *   vc[port * nvcs + v]             channel v of a port, from NET_NEAR_VCS on
 *
 * Invariants (checked by net_check, and everywhere in WEIR_CHECK builds):
 *  1. Conservation: a channel's `held` is the sum of the charges of the packets
 *     admitted to it whose credit has not come back: queued here, on the wire,
 *     waiting downstream, or with the credit on its way (in the ring or as an event).
 *  2. Bounded: held <= room, always. A packet larger than the room is refused at
 *     set-up.
 *  3. FIFO: packets of one channel leave in the order they were admitted, and
 *     are admitted in the order they came to wait.
 *  4. No loss: every packet is in exactly one place: in a channel's queue, in a
 *     channel's waiting line, in an input line, on a wire, or in one arrival event.
 *  5. No deadlock: the routing's channel-dependency graph is acyclic (its
 *     contract test), and a terminal always takes what arrives.
 *  6. Nobody sleeps through a credit: a port with a waiting packet has a credit
 *     outstanding downstream, and the credit's return makes an event.
 *  7. Nobody sleeps on a link: when something is queued or on the wire without
 *     an arrival event, an arrival over the same link comes before, or (cut-through) an
 *     event at t_free.
 */
#ifndef NET_NET_PRIV_H
#define NET_NET_PRIV_H

#include <stddef.h>

#include "base/hist.h"
#include "base/pool.h"
#include "base/rng.h"
#include "net/net.h"
#include "sim/crew.h"

struct net_pkt {
    _Alignas(64) uint32_t next; /* in the queue or line it stands in */
    uint32_t msg;
    uint32_t from; /* port it came through, by channel route.vc: where its credit goes */
    uint32_t bytes;
    struct route_pkt route;
    uint64_t t_birth; /* began to leave its NIC */
    uint64_t t_tail;  /* cut-through: when its last byte is here; stored and announced late: when
                         it will be there */
    uint32_t out;     /* port it leaves by, where that is decided when it is sent here; or NIL */
    uint8_t out_vc;
    bool last;     /* of its message */
    uint32_t part; /* it is here so much later, in 1/2^20 ps: a way is rounded once, not per hop */
    uint32_t tail_part; /* of t_tail; announced late: the number of its arrival */
};

struct net_queue {
    uint32_t head, tail;
};

/* A channel; the first NET_NEAR_VCS have theirs in the port and in its net_rare. */
struct net_vc {
    struct net_queue wait;  /* not admitted: no credit, or the switch is busy */
    struct net_queue queue; /* admitted, waiting for the link */
    uint32_t held;          /* bytes charged */
};

/* Input queueing: the packets that arrived over one upstream channel, in
 * order; only the first may ask for an output. And when the channel's own output side is free. */
struct net_line {
    struct net_queue in; /* at the downstream router; the one that asked is not in it */
    uint64_t t_in_free;  /* the line gives its next packet not before */
    uint64_t t_out_free; /* the channel takes its next packet not before */
    bool asked;          /* the first has asked for its output and waits there */
    bool in_event, out_event;
};

enum {
    NET_RING = 4,     /* credits that can be on their way without an event */
    NET_NEAR_VCS = 4, /* channels whose account is in the port itself */
};

struct net_port {
    /* credits and admission */
    _Alignas(128) uint64_t t_free; /* the link is idle from then on */
    uint64_t ring[NET_RING];       /* credits on their way: time << 8 | channel; 2^56 ps are 20 h */
    uint32_t vc_held[NET_NEAR_VCS]; /* bytes charged, by channel */
    uint16_t queued;                /* channels with a non-empty queue, one bit each */
    uint16_t stalled;               /* channels with a non-empty waiting line */
    uint8_t ring_at, ring_n;
    uint8_t cls;
    bool wired : 1;      /* `wire` is not empty */
    bool port_event : 1; /* an event at t_free is under way; NICs and cut-through */
    bool wake_event : 1; /* an event for a credit is under way */
    bool saturated : 1;
    bool seam : 1; /* it leads to another partition; `wire` is its number in net.seam */
    /* sending, and what is seldom needed */
    struct net_queue queue[NET_NEAR_VCS]; /* admitted, waiting for the link, by channel */
    uint64_t bytes, packets;
    uint32_t peer_lp;   /* where the link leads */
    uint16_t peer_door; /* the port number there */
    uint16_t self_door; /* its own number on its router */
    uint32_t wire;      /* packets on it whose arrivals are not announced, a list in order */
    uint16_t t_part;    /* of t_free, in 1/2^16 ps */
    uint8_t last_vc;    /* round robin: the one served last */
    uint8_t nvcs;
};
_Static_assert(sizeof(struct net_port) == 128 && offsetof(struct net_port, queue) == 64,
               "a port is two cache lines");

/* What a port seldom needs, one cache line. */
struct net_rare {
    _Alignas(64) struct net_queue wait[NET_NEAR_VCS]; /* not admitted, by channel */
    uint64_t waiting;                                 /* bytes of them */
    uint64_t saturated_ps; /* while saturated: less the time when that began */
    uint64_t stretched_ps; /* cut-through: busy beyond its own rate, waiting for a tail */
};
_Static_assert(sizeof(struct net_rare) == 64, "what is seldom needed is a cache line");

/* The arithmetic of a link class: picoseconds in 1/2^20 parts. */
struct net_class {
    uint64_t per_byte; /* serialisation */
    uint64_t delay;    /* propagation and router delay */
    uint64_t credit_ps;
    uint32_t room; /* bytes per channel */
    uint32_t belt; /* that arrivals ride: made in order, unless sizes differ ... */
    uint32_t heel; /* ... and those announced by the arrival before */
};

/* How many events ahead on a belt something is asked for: the thing that an event names, and what
 * that leads to. */
enum { NET_FAR = 6, NET_MID = 3 };

struct net_nic {
    _Alignas(64) struct net_queue queue; /* messages */
    uint64_t t_next;                     /* the next message may start not before */
    uint64_t backlog;                    /* bytes of its messages not yet put into packets */
    /* Ahead of now while a credit is on its way: */
    uint64_t t_pumped;  /* what it has done, it did until then */
    uint64_t t_last;    /* its last packet leaves */
    uint32_t last_b;    /* that packet's size */
    uint32_t rail_turn; /* of the node's first rail: whose turn it is */
};

/* ---- partitions: seam.c ---- */

/* Kinds of events between partitions that are none of the simulation. */
enum { NET_PROMISE = SIM_KINDS - 1, NET_WANTED = SIM_KINDS - 2 };
/* Of a port, the last packets that are known. */
enum { NET_PACE = 4 };
/* Arrivals that the sender of a seam remembers, and beginnings. */
enum { NET_SEAM_KNOWN = 32, NET_SEAM_BEGAN = 8 };

/* What is seldom, out of the way of what is not. */
#define NET_APART __attribute__((noinline))

/* A credit that is on its way over a seam. */
struct net_note {
    uint32_t next, charge;
    uint64_t t;
    uint8_t vc;
};

/* A seam for which somebody waits: what says how far its partition may go. All of them are looked
 * through again and again, so this is apart from the rest. */
struct net_stall {
    uint64_t missing; /* not before, a credit is given that has not come: first_missing() */
    uint64_t t_event, credit_ps; /* the seam's */
    uint64_t due;                /* until then a credit may be late; 0: none may (late.c) */
    uint64_t t_looked;           /* when `due` was looked for last */
    uint32_t seam;
    uint16_t to;
};

/* A link whose ends lie in different partitions, as its sender sees it. */
struct net_seam {
    _Alignas(64) uint32_t port;
    uint16_t to; /* partition */
    bool stalled;
    uint32_t place;         /* in net.stalled */
    uint32_t sent, credits; /* packets */
    uint32_t lost;          /* before this number, arrivals may not be remembered */
    uint32_t covered;       /* of those before it, no credit is given before `promise` */
    uint64_t promise;
    uint64_t credit_ps;
    uint32_t ring_at;
    struct net_queue notes;         /* credits on their way, by time */
    uint64_t ring[NET_RING];        /* the times of the last that were not events */
    uint64_t t_unstalled;           /* since when nobody waits */
    uint64_t wanted;                /* credits are foretold until then, if they can be */
    uint64_t t_event;               /* until then a credit is an event that may end a wait */
    uint64_t there[NET_SEAM_KNOWN]; /* arrivals, by number */
    struct {
        uint64_t t;
        uint32_t bytes;
    } began[NET_SEAM_BEGAN]; /* when the last packets began to be sent */
};

/* Which of 64 ports are seams, and the number of the first of them: a table of all ports would not
 * stay in a processor's cache, where it is looked at ahead of time. */
struct net_seam_map {
    uint64_t is;
    uint32_t first;
};

/* A stand-in is charged nothing: in the place of what is charged to its channels it has where its
 * credits go, so that one cache line is all they need. */
enum { NET_STANDIN_ROUTER, NET_STANDIN_LANE, NET_STANDIN_SEAM, NET_STANDIN_PART };

/* The same link as its receiver sees it: inlet.c. What the sender's struct says of it that never
 * changes is here, too, since that one's memory is the other thread's. */
enum { NET_INLET_KNOWN = 24 };

struct net_inlet {
    _Alignas(64) uint32_t number, port; /* of the seam */
    uint16_t from;                      /* partition */
    bool changed;                       /* since the last promise */
    bool unknown;                       /* there were more than are known */
    uint8_t vain, pause; /* searches for a promise in vain; and so many are not tried */
    uint32_t n, place;   /* packets that came over it and wait; in net.inlets */
    uint64_t promised;
    /* foretell.c: */
    uint32_t last, told;       /* numbers of packets: heard of, and with a credit foretold */
    uint32_t coming[NET_PACE]; /* packets, by number */
    uint32_t hope;             /* its place in net.hopes; WR_NIL: none */

    uint32_t pkt[NET_INLET_KNOWN];
};

/* An inlet whose credits are to be foretold until `until`; it is no use to try before `from`. All
 * are looked through again and again, so this is apart from the rest. */
struct net_hope {
    uint64_t from, until;
    uint32_t inlet;
};

/* Packets that came by a channel and wait: all, and those that wait for seams. */
struct net_blocked {
    uint32_t all, seams;
};

/* When the last packets of a port are there, and what they will ask for, by number: inlet.c. */
struct net_pace {
    _Alignas(64) struct {
        uint64_t there; /* << 8 | channel */
        uint32_t out;   /* WR_NIL: nobody knows yet */
        uint32_t out_vc;
    } pkt[NET_PACE];
};

struct net {
    const struct topo *topo;
    const struct route *route;
    struct net_params p;
    struct sim *sim;
    struct net_client client;
    struct route_view view;

    uint32_t nports;   /* of a router */
    uint64_t per_port; /* 2^64 / nports, rounded up: divides any 32-bit number by nports */
    uint32_t nrouters, nterms, nodes;
    uint32_t nvcs; /* of a port */
    uint32_t total_ports, total_vcs;
    struct net_port *port; /* [total_ports], and behind them two stand-ins for each seam: inlet.c */
    struct net_rare *rare; /* [total_ports] */
    struct net_vc *vc;     /* [total_vcs]; NULL: ports have NET_NEAR_VCS or fewer */
    struct net_line *line; /* [total_vcs], input queueing only */
    uint32_t *ring_b; /* [NET_RING] of each port: what a credit gives back; byte accounting only */
    struct net_nic *nic; /* [nterms] */
    struct wr_rng *rng;  /* [nrouters] */
    struct net_class cls[TOPO_MAX_CLASSES];
    uint32_t nic_belt, wake_belt, ahead_belt;
    uint32_t slot_b;      /* what a packet is charged under slot accounting */
    const uint8_t *eject; /* [256] channel of a link to a terminal, by a packet's state; NULL: 0 */
    uint32_t mode;        /* enum net_mode, from the parameters */
    uint64_t switch_ps, gap_ps;

    struct topo_paths *paths; /* idle.c's; NULL: closed forms */
    struct wr_pool pkts, msgs;
    struct wr_hist *packet_hist;
    bool large;           /* more than a processor's own cache holds: fetching more ahead pays */
    const char *arrivals; /* [nodes] the client's, arrivals_b each: net_warm_arrivals() */
    size_t arrivals_b;
    uint64_t per_rail; /* 2^32 / rails, rounded up: divides the number of a terminal by rails */
    struct net_counts count;

    /* Partitions: each has a struct net of its own with its own pools, counts and clock; arrays
     * are shared, and a thing in them is touched by its own partition only. */
    uint32_t parts, me; /* 0: not divided */
    struct net **all;   /* [parts] */
    struct sim_part *part;
    const uint16_t *part_of;   /* [nrouters] */
    struct net_seam *seam;     /* [nseams] */
    struct net_stall *stalled; /* [nstalled] seams for which somebody waits here */
    uint32_t nseams, nstalled, seam_belt, idle_belt;
    struct net_seam_map *seam_map; /* of 64 ports each */
    struct net_inlet *inlet;       /* [nseams] */
    uint32_t *inlets;              /* [ninlets] numbers of those with packets that wait here */
    uint32_t ninlets;
    struct net_pace *pace;  /* [total_ports + nseams]; NULL: nothing is promised */
    uint32_t *feeds;        /* [nrouters * nports] the port that leads to a door, or WR_NIL */
    struct net_hope *hopes; /* [nhopes] */
    uint32_t nhopes;
    uint64_t near_ps; /* between routers no packet takes less; 0: nothing can be foretold */
    struct net_blocked *blocked; /* [total_ports * nvcs] */
    bool overdue;                /* credits have come that should be taken in as of before */
    uint64_t t_spilt;            /* until then a credit may be on its way that is in no ring */
    struct wr_pool notes;
    /* parcel.c: */
    uint32_t *bucket; /* [2^(64 - bucket_shift)] records of messages from elsewhere, by hash */
    uint32_t bucket_shift;
    struct wr_pool boxes;
    net_other *other; /* takes in events that are not the network's */
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
    NET_MSG_ARRIVED = 4, /* or, for another partition, left */
    NET_MSG_COPY = 8,    /* of a record elsewhere, for one packet that passes through */
    NET_MSG_KNOWN = 16,  /* ... whose record in the receiver's partition is `unsent` */
    NET_MSG_BOXED = 32,  /* ... and `user` is in net.boxes */
    NET_MSG_FOUND = 64,  /* by its packets, through net.bucket */
};

/* The model's switches, as one constant: the inner functions take it as an
 * argument, so that the common machines get code without branches on it. */
enum net_mode {
    NET_MODE_BYTES = 1,
    NET_MODE_CUT = 2,
    NET_MODE_INPUT = 4,
    NET_MODE_EARLY = 8,     /* all choices of the routing are early, ... */
    NET_MODE_FORESEES = 16, /* ... or some */
    NET_MODE_PARTS = 32,    /* the machine is divided into partitions, ... */
    NET_MODE_SEAM = 64,     /* ... and the port at hand may be a seam */
};

static inline uint32_t net_charge(const struct net *n, const struct net_pkt *k, uint32_t mode)
{
    if (!(mode & NET_MODE_BYTES))
        return n->slot_b;
    return k->bytes ? k->bytes : 1;
}

void net_parcel_forget(struct net *n, uint32_t msg);

/* One side of a message is done; its record ends with the other. */
static inline void net_msg_end(struct net *n, uint32_t h, enum net_msg_flag side)
{
    const uint8_t both = NET_MSG_SENT | NET_MSG_ARRIVED;
    struct net_msg *m = net_thing(&n->msgs, h);

    m->flags |= (uint8_t)side;
    if ((m->flags & both) != both)
        return;
    if (__builtin_expect(m->flags & NET_MSG_FOUND, 0))
        net_parcel_forget(n, h);
    wr_pool_give(&n->msgs, h);
}

/* Did a packet come over a seam, that is through a stand-in? Through the second one, when its
 * credit has been foretold. */
static inline bool net_over_seam(const struct net *n, uint32_t from)
{
    return from >= n->total_ports;
}

static inline bool net_is_paid(const struct net *n, uint32_t from)
{
    return from >= n->total_ports + n->nseams;
}

static inline struct net_inlet *net_inlet(const struct net *n, uint32_t from)
{
    return &n->inlet[from - n->total_ports - (net_is_paid(n, from) ? n->nseams : 0)];
}

/* The port that a packet came through; it may be another partition's. */
static inline uint32_t net_from(const struct net *n, const struct net_pkt *k, uint32_t mode)
{
    return mode & NET_MODE_PARTS && net_over_seam(n, k->from) ? net_inlet(n, k->from)->port
                                                              : k->from;
}

static inline bool net_is_seam(const struct net_port *port, uint32_t mode)
{
    return mode & NET_MODE_SEAM && port->seam;
}

static inline uint64_t net_pass_ps(const struct net_class *c, uint32_t bytes)
{
    return (c->per_byte * bytes + c->delay + (1u << 19)) >> 20;
}

static inline uint32_t net_vc0(const struct net *n, const struct net_port *port)
{
    return (uint32_t)(port - n->port) * n->nvcs;
}

static inline uint32_t *net_held(const struct net *n, struct net_port *port, uint32_t vc)
{
    if (__builtin_expect(vc >= NET_NEAR_VCS, 0))
        return &n->vc[net_vc0(n, port) + vc].held;
    return &port->vc_held[vc];
}

static inline struct net_queue *net_queue_of(const struct net *n, struct net_port *port,
                                             uint32_t vc)
{
    if (__builtin_expect(vc >= NET_NEAR_VCS, 0))
        return &n->vc[net_vc0(n, port) + vc].queue;
    return &port->queue[vc];
}

static inline struct net_rare *net_rare(const struct net *n, const struct net_port *port)
{
    return &n->rare[port - n->port];
}

static inline uint32_t net_self_lp(const struct net *n, const struct net_port *port)
{
    uint32_t index = (uint32_t)(port - n->port), routers = n->nrouters * n->nports;

    if (index >= routers)
        return n->nrouters + (index - routers);
    return (uint32_t)((unsigned __int128)index * n->per_port >> 64);
}

/* WR_NIL: it is none. Touches no port. */
static inline uint32_t net_seam_at(const struct net *n, uint32_t port)
{
    const struct net_seam_map *m = &n->seam_map[port / 64];
    uint64_t bit = UINT64_C(1) << port % 64;

    return m->is & bit ? m->first + (uint32_t)__builtin_popcountll(m->is & (bit - 1)) : WR_NIL;
}

/* Whose packets stand at a port. */
static inline struct net *net_of_port(const struct net *n, uint32_t index)
{
    uint32_t routers = n->nrouters * n->nports;

    if (!n->parts)
        return (struct net *)n;
    return n->all[n->part_of[index < routers ? index / n->nports
                                             : n->topo->term[index - routers].router]];
}

static inline struct net_queue *net_wait_of(const struct net *n, const struct net_port *port,
                                            uint32_t vc)
{
    if (__builtin_expect(vc >= NET_NEAR_VCS, 0))
        return &n->vc[net_vc0(n, port) + vc].wait;
    return &net_rare(n, port)->wait[vc];
}

/* Bytes charged, over all channels. */
static inline uint32_t net_held_all(const struct net *n, struct net_port *port)
{
    uint32_t sum = 0;

    for (uint32_t vc = 0; vc < NET_NEAR_VCS; vc++) /* those that are not there hold nothing */
        sum += port->vc_held[vc];
    for (uint32_t vc = NET_NEAR_VCS; vc < port->nvcs; vc++)
        sum += *net_held(n, port, vc);
    return sum;
}

static inline bool net_has_room(const struct net *n, struct net_port *port, uint32_t vc,
                                uint32_t charge)
{
    return *net_held(n, port, vc) + charge <= n->cls[port->cls].room;
}

/* A packet is as old as its message, and within it by when it left its NIC. What a message waits in
 * the NIC counts: else those that come from afar, of which more are under way, would get more. */
static inline bool net_is_older(const struct net *n, const struct net_pkt *a,
                                const struct net_pkt *b)
{
    uint64_t post_a = net_msg_at(n, a->msg)->t_post_ps, post_b = net_msg_at(n, b->msg)->t_post_ps;

    return post_a != post_b ? post_a < post_b : a->t_birth < b->t_birth;
}

/* port.c */
void net_port_wake_at(struct net *n, struct net_port *port, uint64_t t);
void net_port_at(struct net *n, struct net_port *port, uint64_t t, uint32_t next);
void net_port_call_wake(struct net *n, struct net_port *port);
void net_port_settle(struct net *n, struct net_port *port);
void net_port_send_next(struct net *n, struct net_port *port);
uint32_t net_port_choose(const struct net *n, struct net_port *port);
void net_port_credit_comes(struct net *n, struct net_port *port);
void net_port_saturation(struct net *n, struct net_port *port, bool is, uint64_t at);
void net_on_port(void *ctx, const struct sim_event *e);
void net_warm_port(const void *ctx, const struct sim_event *e);

/* router.c */
void net_router_handlers(uint32_t mode, sim_handler **ret_arrive, sim_handler **ret_wake);
void net_warm(const void *ctx, const struct sim_event *e);
void net_on_switch(void *ctx, const struct sim_event *e);
void net_on_credit(void *ctx, const struct sim_event *e);

/* nic.c */
void net_nic_pump(struct net *n, uint32_t term, uint64_t at);
void net_on_nic(void *ctx, const struct sim_event *e);
void net_warm_nic(const void *ctx, const struct sim_event *e);
void net_nic_deliver(struct net *n, uint32_t pkt);

/* net.c */
uint64_t net_delay_ps(const struct net_params *p, uint32_t cls);

/* seam.c */
uint32_t net_seams_count(const struct topo *t, const uint16_t *part_of);
void net_seams_open(struct net *n);
void net_seams_join(struct net *n);
void net_seams_close(struct net *n);
void net_seam_send(struct net *n, struct net_port *port, uint64_t there, uint32_t seq, uint32_t h,
                   const struct net_pkt *k);
bool net_seam_absorb(struct net *n, struct net_port *port, uint64_t now);
uint64_t net_seam_note_ps(const struct net *n, const struct net_port *port); /* the next one's */
bool net_seam_ask(struct net *n, struct net_port *port);
void net_seam_stalled(struct net *n, struct net_port *port, uint64_t at);
void net_seam_due(struct net *n, struct net_port *port);
uint64_t net_seam_nth_ps(const struct net_seam *s, uint32_t nth);
bool net_seam_idle_wake(const struct net *n, const struct net_port *port);

/* late.c */
/* Does what is decided depend on room alone? */
static inline bool net_may_be_late(const struct net *n)
{
    return n->mode & NET_MODE_EARLY && !(n->mode & (NET_MODE_CUT | NET_MODE_INPUT)) && n->blocked;
}
uint64_t net_late_due(const struct net *n, const struct net_seam *s);
bool net_late_may_wait(const struct net *n, struct net_port *port, uint32_t vc,
                       const struct net_pkt *k);
void net_late_wait(const struct net *n, struct net_pkt *k);
void net_late_serve(struct net *n, struct net_port *port, uint32_t vc, uint64_t t);
void net_late_hear(struct net *n, const struct net_port *up, uint32_t vc);
void net_late_tighten(struct net *n, const struct net_port *up, uint32_t vc);

/* parcel.c */
void net_parcel_send(struct net *n, uint32_t to, const struct sim_event *e, uint32_t pkt);
uint32_t net_parcel_open(struct net *n, const struct sim_event *e, const void *data,
                         uint32_t bytes); /* the packet */
void net_parcels_open(struct net *n);
void net_parcels_close(struct net *n);

/* inlet.c */
void net_inlets_open(struct net *n);
void net_inlets_tell(struct net *n);
void net_inlet_credit(struct net *n, struct net_port *standin);
void net_inlet_send_credit(struct net *n, const struct net_port *standin, uint64_t t,
                           uint32_t charge, uint32_t vc);
void net_inlet_wait(struct net *n, const struct net_port *port, uint32_t h,
                    const struct net_pkt *k);
void net_inlet_leave(struct net *n, const struct net_port *port, uint32_t h,
                     const struct net_pkt *k);
uint64_t net_seam_credit_ps(const struct net *n, const struct net_port *port);

/* foretell.c */
void net_foretell_open(struct net *n);
void net_foretell_comes(struct net *n, const struct sim_event *e, uint32_t h);
void net_foretell_wanted(struct net *n, uint32_t seam, uint64_t until);
void net_foretell(struct net *n, uint64_t clock);

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
