/* net.h -- messages -> packets -> messages, over one kind of NIC, link and router.
 *
 *   node --send--> NIC ==inject==> router ==class==> router ==eject==> node --arrived-->
 *
 * A topology says how ports are plugged, a routing says which port comes next;
 * this room moves the packets. Everything is a port: a NIC's injection link and a
 * router's outgoing link are the same struct with the same credit loop.
 */
#ifndef NET_NET_H
#define NET_NET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "net/route/route.h"
#include "net/topo/split.h"
#include "sim/sim.h"

/* Event kinds of this room, in the order in which they happen at one time. */
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
    uint64_t
        buffer_b; /* room of one virtual channel, from admission here to admission downstream */
};

struct net_params {
    struct net_link_params link[TOPO_MAX_CLASSES];
    double router_delay_ps;
    double credit_delay_ps; /* from admission downstream to the credit upstream ... */
    bool credit_on_link;    /* ... plus the link's own latency */
    double switch_time_ps;  /* input queueing: one packet per channel and this time */
    uint32_t arbitration, accounting, switching, queueing, ejection;
    uint64_t packet_b;     /* largest packet */
    double message_gap_ps; /* between the starts of two messages of one NIC */
    uint32_t rails, rail_choice;
};

struct net_msg;
/* Who uses the network. Called from inside handlers, at sim->now. */
struct net_client {
    void *ctx;
    /* The last packet of a message has left its NIC. May be NULL. */
    void (*sent)(void *ctx, uint32_t msg);
    /* The whole message is at its destination; the handle ends with the call. */
    void (*arrived)(void *ctx, uint32_t msg);
    /* The same in partitions. A message leaves its sender's partition for another, where its
     * receiver is: what that must know of it, as bytes, a multiple of 8 and at most NET_MOST_USER.
     * 0: the word `user` goes there as it is. Called once, when the packet that was made last
     * leaves, which may be before `sent`. NULL: always 0. */
    uint32_t (*pack)(void *ctx, const struct net_msg *m, void *buf);
    /* It comes to its receiver's partition, some time before it arrives and perhaps in the middle
     * of another event: what `user` is there. Called once for each that was packed. */
    uint64_t (*unpack)(void *ctx, const struct net_msg *m, const void *buf, uint32_t bytes);
};

enum { NET_MOST_USER = 416 };

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
    uint8_t rail;
    uint8_t near; /* enum net_near */
    uint8_t flags;
};

/* A link's account, derived by nobody else. */
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

/* `topo` and `route` must outlive the net. The sim's handlers are registered. */
bool net_open(struct net **ret, const struct topo *topo, const struct route *route,
              const struct net_params *params, struct sim *sim, uint64_t seed,
              const struct net_client *client, struct wr_err *err);
void net_close(struct net *n);

/* The same in partitions: one net for each, whose arrays are shared. part_of [nrouters] says which
 * partition a router and its terminals are in, and must outlive the nets. A node's messages are
 * sent through its partition's net and arrive at its receiver's; anything else can be asked of the
 * first net, while nobody runs. Closing the first closes all. */
struct sim_crew;
bool net_open_parts(struct net **ret, const struct topo *topo, const struct route *route,
                    const struct net_params *params, struct sim_crew *crew, const uint16_t *part_of,
                    uint64_t seed, const struct net_client *clients, struct wr_err *err);
/* False: packets are injected too fast for that. */
bool net_may_part(const struct net_params *p);
/* [n * n] how long a packet takes at least from one part to another; to be freed. SIM_NEVER: there
 * is no link. 0: the machine cannot be run in these parts. */
uint64_t *net_lookahead(const struct topo *t, const struct net_params *p,
                        const struct topo_split *split);

uint32_t net_nodes(const struct net *n);
uint32_t net_node_lp(const struct net *n, uint32_t node);     /* the logical process of a node */
uint32_t net_node_router(const struct net *n, uint32_t node); /* of its first rail */
uint32_t net_lps(const struct net *n);

/* Hand a message to the NIC of `src` now. Returns its handle. */
uint32_t net_send(struct net *n, uint32_t src, uint32_t dst, uint64_t bytes, uint16_t app,
                  uint8_t cls, uint64_t user);
/* The node will send to `dst` soon: fetch what that touches. */
void net_warm_node(const struct net *n, uint32_t node, uint32_t dst);
/* What the client has of each node and touches when a message arrives there: an array of things of
 * so many bytes, to be fetched in time. */
void net_warm_arrivals(struct net *n, const void *nodes, size_t size);
struct net_msg *net_msg_at(const struct net *n, uint32_t msg);

/* Events that were sent to a partition and are not the network's: to be taken in by `fn`. */
typedef void net_other(void *ctx, const struct sim_event *e, const void *data, uint32_t bytes);
void net_pass_on(struct net *n, net_other *fn, void *ctx);

/* Packets' time from the start of injection to arrival; NULL: not wanted. */
struct wr_hist;
void net_watch_packets(struct net *n, struct wr_hist *hist);

void net_counts(const struct net *n, struct net_counts *ret);
/* Router `r` port `p`, or with r == nrouters + t the injection link of terminal t (p == 0). */
void net_link_stat(const struct net *n, uint32_t r, uint32_t p, struct net_link_stat *ret);
/* Bytes sent so far through all links of a class, for time slices. */
uint64_t net_class_bytes(const struct net *n, uint32_t cls);

/* Memory: what a net on this topology takes before traffic, and per packet in flight. */
uint64_t net_memory(const struct topo *t, const struct route *rt, const struct net_params *p);
uint64_t net_packet_memory(void);
uint64_t net_bytes_used(const struct net *n);

/* How long a message takes from its first packet's start, were it alone: until it is at its
 * destination, on a minimal way, and until its last packet has left the NIC. */
uint64_t net_idle_ps(const struct net *n, uint32_t src, uint32_t dst, uint64_t bytes);
uint64_t net_inject_ps(const struct net *n, uint64_t bytes);
/* Make ready for net_idle_ps: machines without a closed form of their ways need a table. */
bool net_open_idle(struct net *n, struct wr_err *err);

/* The time a packet of `bytes` takes through an idle link of a class, as the
 * models count it: serialisation, propagation and (not on injection) router delay. */
uint64_t net_hop_ps(const struct net *n, uint32_t cls, uint64_t bytes);

/* Checks the invariants written above port.c over the whole network; false
 * says which does not hold. */
bool net_check(const struct net *n, struct wr_err *err);

#endif
