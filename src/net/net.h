/* net.h -- messages -> packets -> messages, over one kind of NIC, link and router.
 *
 *   node --send--> NIC ==inject==> router ==class==> router ==eject==> node --arrived-->
 *
 * A topology says how ports are connected, a routing says which port comes next; this module moves
 * the packets. A NIC's injection link and a router's outgoing link are both ports, the same struct
 * with the same credit loop. Clients (world/) send messages from inside event handlers and get the
 * callbacks of struct net_client.
 */
#ifndef NET_NET_H
#define NET_NET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "net/route/route.h"
#include "net/topo/split.h"
#include "sim/sim.h"

/* Event kinds of this module, in the order in which they happen at one time. */
enum net_event_kind {
    NET_EV_CREDIT,
    NET_EV_WAKE,
    NET_EV_PORT,
    NET_EV_NIC,
    NET_EV_SWITCH,
    NET_EV_ARRIVE,
    NET_EV_KINDS
};

enum net_arbitration { NET_ARB_ROUND_ROBIN, NET_ARB_LOWEST_VC, NET_ARB_AGE };
enum net_accounting { NET_ACCOUNT_SLOTS, NET_ACCOUNT_BYTES };
enum net_switching { NET_STORE_AND_FORWARD, NET_CUT_THROUGH };
enum net_queueing { NET_QUEUE_OUTPUT, NET_QUEUE_INPUT };
enum net_ejection { NET_EJECT_ONE, NET_EJECT_ROUTED };
enum net_rail_choice { NET_RAIL_ROUND_ROBIN, NET_RAIL_HASH, NET_RAIL_LEAST_LOADED };

extern const char *const net_arbitration_names[], *const net_accounting_names[];
extern const char *const net_switching_names[], *const net_queueing_names[];
extern const char *const net_rail_names[], *const net_ejection_names[];

struct net_link_params {
    double bandwidth;  /* bytes per second */
    double latency_ps; /* propagation */
    uint64_t buffer_b; /* capacity of a channel, from admission here to admission downstream */
};

/* Parameters of links, routers and NICs, from keys of `machine`. Constant after reading. */
struct net_params {
    struct net_link_params link[TOPO_MAX_CLASSES]; /* by class */
    double router_delay_ps;                        /* of a packet through a router */
    double credit_delay_ps; /* from admission downstream to the credit upstream ... */
    bool credit_on_link;    /* ... plus the link's own latency */
    double switch_time_ps;  /* input queueing: one packet per channel and this time */
    uint32_t arbitration, accounting, switching, queueing, ejection; /* enums above */
    uint64_t packet_b;                                               /* largest packet */
    double message_gap_ps;       /* between the starts of two messages of one NIC */
    uint32_t rails, rail_choice; /* NICs of a node; enum net_rail_choice */
};

struct net_msg;
/* The user of the network. Its functions are called from inside handlers, at sim->now. */
struct net_client {
    void *ctx;
    /* The last packet of a message has left its NIC. May be NULL. */
    void (*sent)(void *ctx, uint32_t msg);
    /* The whole message is at its destination; the handle ends with the call. */
    void (*arrived)(void *ctx, uint32_t msg);
    /* With partitions: a message leaves for its receiver's partition. Writes what the client there
     * must know of it into `buf` and returns the number of bytes, a multiple of 8 and at most
     * NET_MOST_USER; 0: the word `user` is sent as it is. Called once, when the last packet
     * leaves, which may be before `sent`. NULL: always 0. */
    uint32_t (*pack)(void *ctx, const struct net_msg *m, void *buf);
    /* The same message reaches its receiver's partition, before it arrives and perhaps during
     * another event. Returns `user` for that partition. Called once for each packed message. */
    uint64_t (*unpack)(void *ctx, const struct net_msg *m, const void *buf, uint32_t bytes);
};

enum { NET_MOST_USER = 360 };

/* A message, from net_send() to its arrival. */
struct net_msg {
    uint32_t next;      /* in its NIC's queue */
    uint32_t src, dst;  /* nodes */
    uint32_t unarrived; /* packets still to arrive, or to leave for the receiver's partition */
    uint64_t bytes;
    uint64_t unsent;                /* bytes still to be put into packets; the sender's */
    uint64_t t_post_ps, t_first_ps; /* handed to the NIC; first packet begins to leave */
    uint64_t user;                  /* the client's */
    uint16_t app;                   /* the client's, as is the class */
    uint8_t cls;
    uint8_t rail;  /* the NIC of its node */
    uint8_t near;  /* enum net_near */
    uint8_t flags; /* NET_MSG_... */
};

/* The counters of a link. */
struct net_link_stat {
    uint64_t bytes, packets, busy_ps, saturated_ps;
};

/* How far a message goes. */
enum net_near { NET_NEAR_ROUTER, NET_NEAR_GROUP, NET_NEAR_NOT, NET_NEARS };

struct net_counts {
    uint64_t messages, packets, bytes; /* arrived */
    uint64_t hops;                     /* link traversals, injection and ejection included */
    uint64_t near[NET_NEARS];          /* packets arrived, by where they came from */
    uint64_t minimal, nonminimal;
    uint64_t in_flight;       /* packets inside the network now */
    uint64_t queued_messages; /* messages not completely sent */
};

struct net;

/* `topo` and `route` must outlive the net. Registers the handlers of `sim`. */
bool net_open(struct net **ret, const struct topo *topo, const struct route *route,
              const struct net_params *params, struct sim *sim, uint64_t seed,
              const struct net_client *client, struct wr_err *err);
void net_close(struct net *n);

/* The same with partitions: one net for each, whose arrays are shared. partition_of [nrouters] is
 * the partition of a router and its terminals, and must outlive the nets. A node's messages are
 * sent through its partition's net and arrive at the receiver's; all other functions take the first
 * net, and are called while no partition runs. Closing the first closes all. */
struct sim_engine;
bool net_open_partitions(struct net **ret, const struct topo *topo, const struct route *route,
                         const struct net_params *params, struct sim_engine *engine,
                         const uint16_t *partition_of, uint64_t seed,
                         const struct net_client *clients, struct wr_err *err);
/* False: packets are injected too fast for partitions (serial.c). */
bool net_may_partition(const struct net_params *p);
/* False: credits do not travel over the links, and return so much sooner than packets cross them
 * that windows would be too short. */
bool net_has_lookahead(const struct topo *t, const struct net_params *p);
/* The smallest delay of packets and credits over links between partitions. SIM_NEVER: there is no
 * such link. 0: the machine cannot be partitioned so. */
uint64_t net_lookahead(const struct topo *t, const struct net_params *p,
                       const struct topo_split *split);

uint32_t net_nodes(const struct net *n);
uint32_t net_node_lp(const struct net *n, uint32_t node);     /* the logical process of a node */
uint32_t net_node_router(const struct net *n, uint32_t node); /* of its first rail */
uint32_t net_lps(const struct net *n);

/* Hand a message to the NIC of `src` now. Returns its handle. */
uint32_t net_send(struct net *n, uint32_t src, uint32_t dst, uint64_t bytes, uint16_t app,
                  uint8_t cls, uint64_t user);
/* Prefetches what net_send from `node` to `dst` will touch. */
void net_prefetch_node(const struct net *n, uint32_t node, uint32_t dst);
/* The client's array, with `size` bytes for each node, that it touches when a message arrives
 * there: it is prefetched. */
void net_prefetch_arrivals(struct net *n, const void *nodes, size_t size);
struct net_msg *net_msg_at(const struct net *n, uint32_t msg);

/* Events that were sent to a partition and are not the network's are passed to `fn`. */
typedef void net_other(void *ctx, const struct sim_event *e, const void *data, uint32_t bytes);
void net_forward_other(struct net *n, net_other *fn, void *ctx);

/* Packets' time from the start of injection to arrival; NULL: not wanted. */
struct wr_hist;
void net_watch_packets(struct net *n, struct wr_hist *hist);

void net_counts(const struct net *n, struct net_counts *ret);
/* Router `r` port `p`, or with r == nrouters + t the injection link of terminal t (p == 0). */
void net_link_stat(const struct net *n, uint32_t r, uint32_t p, struct net_link_stat *ret);
/* Bytes sent so far through all links of each class, for time slices. */
void net_class_bytes(const struct net *n, uint64_t *ret);

/* Memory: what a net on this topology takes before traffic, and per packet in flight. */
uint64_t net_memory(const struct topo *t, const struct route *rt, const struct net_params *p);
uint64_t net_packet_memory(void);
uint64_t net_bytes_used(const struct net *n);

/* The latency of a message on an idle network, from the start of its first packet: until it is at
 * its destination, on a minimal path, and until its last packet has left the NIC. */
uint64_t net_idle_ps(const struct net *n, uint32_t src, uint32_t dst, uint64_t bytes);
uint64_t net_inject_ps(const struct net *n, uint64_t bytes);
/* Call before net_idle_ps: machines without a closed form of their paths need a table. */
bool net_open_idle(struct net *n, struct wr_err *err);

/* The time a packet of `bytes` takes through an idle link of a class, as the
 * models count it: serialisation, propagation and (not on injection) router delay. */
uint64_t net_hop_ps(const struct net *n, uint32_t cls, uint64_t bytes);

/* Verifies the invariants of net_priv.h over the whole network; on false, `err` says which does
 * not hold. */
bool net_check(const struct net *n, struct wr_err *err);

#endif
