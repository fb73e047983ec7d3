/* route.h -- a routing chooses the next port and virtual channel of a packet, and nothing else.
 *
 * It reads the wiring and, through a view, the loads of ports; it has no packets and no time. Its
 * state of a packet is in struct route_pkt, which is part of the packet. Constant after
 * route_open, so all workers share it. Called by net/link_priv.h for every hop.
 */
#ifndef NET_ROUTE_ROUTE_H
#define NET_ROUTE_ROUTE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/rng.h"
#include "conf/conf.h"
#include "net/topo/topo.h"

#define ROUTE_NONE UINT32_MAX
enum { ROUTE_MAX_VCS = 16, ROUTE_LATER = UINT16_MAX /* as a port: not decided yet */ };

/* Copied into every packet, so it stays at 16 bytes. A new packet has mid =
 * ROUTE_NONE, its destination, and zeros; route_pkt_to() makes one. */
struct route_pkt {
    uint32_t dst_router;
    uint32_t mid;      /* intermediate router or group (the routing's choice), or ROUTE_NONE */
    uint16_t dst_port; /* ejection port at dst_router */
    uint16_t way;      /* the routing's own: which of several equal ways it follows, 0: none yet */
    uint8_t hops;      /* router-to-router hops made so far; counted by the router */
    uint8_t state;     /* the routing's own */
    uint8_t vc;        /* the channel it arrived on; of the first router: 0 */
    bool nonminimal;   /* has left the minimal path (statistics read it) */
};
_Static_assert(sizeof(struct route_pkt) == 16, "route_pkt travels in every packet");

static inline struct route_pkt route_pkt_to(struct topo_end dst)
{
    return (struct route_pkt){.dst_router = dst.router, .dst_port = dst.port, .mid = ROUTE_NONE};
}

/* The loads of ports as the router model counts them: occupancy of the port's channels plus bytes
 * waiting for it. */
struct route_view {
    uint32_t (*load)(const struct route_view *view, uint32_t router, uint16_t port);
};

/* What a routing decides: the output port and its channel. */
struct route_hop {
    uint16_t port;
    uint8_t vc;
};

/* A routing on a topology. Constant after route_open(). */
struct route {
    const struct route_ops *ops;
    const void *params; /* of its kind; the caller's */
    const struct topo *topo;
    uint32_t nvcs;        /* channels that decide() may answer */
    uint32_t max_hops;    /* bound on router-to-router hops */
    const uint8_t *eject; /* [256] channel of the link to a terminal, by the packet's state; NULL:
                             the routing does not mind */
    bool early;           /* decide() depends on the packet alone: not on loads or random numbers */
    bool
        maybe_early; /* it does for some packets; for others, without a view, returns ROUTE_LATER */
    void *priv;      /* the routing's own tables */
};

struct route_ops {
    struct conf_kind kind;
    /* Accept the topology (set nvcs, max_hops, priv) or refuse with a reason
     * and what to use instead. */
    bool (*init)(struct route *rt, struct wr_err *err);
    void (*fini)(struct route *rt); /* may be NULL */
    bool sees_far;                  /* decide() reads loads of other routers at the same time */
    /* Called once per router a packet visits, here != p->dst_router; both are
     * alive and the destination has terminals (topo_term_alive in fail.h). May
     * change p->mid, p->state and p->nonminimal. Never fails, never allocates. */
    struct route_hop (*decide)(const struct route *rt, struct route_pkt *p, uint32_t here,
                               const struct route_view *view, struct wr_rng *rng);
};

extern const struct route_ops *const route_table[]; /* ends with NULL */
extern const struct conf_kind *const route_kinds[];

bool route_open(struct route *ret, const struct route_ops *ops, const void *params,
                const struct topo *topo, struct wr_err *err);
void route_close(struct route *rt);

const struct route_ops *route_find(const char *name); /* NULL when there is none */

#endif
