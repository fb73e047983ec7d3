/* link_priv.h -- one link and its credits: what every packet passes through.
 *
 *             admitted            sent              admitted there
 *   packet --> [queue of vc] --> ==wire==> [waits?] --> [queue of vc'] ...
 *              |<--------- charged to vc: held ------->|
 *                                          credit <----+  (credit_ps later)
 *
 * A channel's room covers the queue here, the wire and the waiting downstream.
 * A credit is a note with a time in the upstream port's ring: it costs no event
 * unless somebody waits for it. Likewise a link that falls idle costs no event
 * unless something is queued. `mode` is a constant where it matters.
 */
#ifndef NET_LINK_PRIV_H
#define NET_LINK_PRIV_H

#include "net_priv.h"

#define NET_INLINE static inline __attribute__((always_inline))

/* Take in the notes whose time has come. */
NET_INLINE void link_absorb(struct net *n, struct net_port *port, uint32_t mode)
{
    uint64_t now = n->sim->now;
    uint32_t at = port->ring_at, left = port->ring_n;

    for (; left && port->ring[at] >> 8 <= now; at = (at + 1) % NET_RING, left--) {
        uint32_t bytes =
            mode & NET_MODE_BYTES ? n->ring_b[(size_t)(port - n->port) * NET_RING + at] : n->slot_b;

        *net_held(n, port, port->ring[at] & 0xff) -= bytes;
    }
    port->ring_at = (uint8_t)at;
    port->ring_n = (uint8_t)left;
}

/* A packet that came through port `index`, channel `vc`, has been admitted further on. */
NET_INLINE void link_send_credit(struct net *n, uint32_t index, uint32_t vc, uint32_t charge,
                                 uint32_t mode)
{
    struct net_port *port = &n->port[index];
    uint64_t t = n->sim->now + n->cls[port->cls].credit_ps;

    if (__builtin_expect(port->ring_n == NET_RING, 0)) {
        link_absorb(n, port, mode);
        if (port->ring_n == NET_RING) {
            sim_at(n->sim, t, port->self_lp, sim_lane(NET_EV_CREDIT, port->self_door), vc, charge,
                   vc);
            return;
        }
    }
    uint32_t at = (port->ring_at + port->ring_n++) % NET_RING;

    port->ring[at] = t << 8 | vc;
    if (mode & NET_MODE_BYTES)
        n->ring_b[(size_t)index * NET_RING + at] = charge;
    if (__builtin_expect(port->stalled && !port->wake_event, 0))
        net_port_wake_at(n, port, t);
}

/* The port and channel by which a packet leaves a router. */
NET_INLINE void link_choose(struct net *n, uint32_t router, struct net_pkt *k)
{
    uint32_t first = router * n->nports;

    if (k->route.dst_router == router) {
        k->out = first + k->route.dst_port;
        k->out_vc = 0;
        return;
    }
    struct route_hop hop =
        n->route->ops->decide(n->route, &k->route, router, &n->view, &n->rng[router]);

    k->route.hops++;
    k->out = first + hop.port;
    k->out_vc = hop.vc;
}

/* Cut-through: the tail cannot leave before it is here, and *end, when the link
 * falls idle, waits for it. The head is there after `pass`; a terminal waits
 * for the tail. */
NET_INLINE uint64_t link_cut(const struct net *n, struct net_port *port, struct net_pkt *k,
                             uint64_t *end, uint64_t pass)
{
    uint64_t now = n->sim->now, delay = n->cls[port->cls].delay;
    uint64_t tail = k->t_tail < now ? 0 : ((k->t_tail - now) << 20) + k->tail_part;

    if (*end < tail) {
        net_rare(n, port)->stretched_ps += (tail - *end) >> 20;
        *end = (tail + 15) & ~UINT64_C(15);
    }
    k->t_tail = now + ((*end + delay) >> 20);
    k->tail_part = (*end + delay) & 0xfffff;
    return port->peer_lp >= n->nrouters ? k->t_tail : now + (pass >> 20);
}

/* Begin to send now; the link is idle. Parts of picoseconds are kept along a
 * packet's way and a link's busy time, so that neither rates nor latencies drift
 * and nobody overtakes on the wire. Where the next router's choice depends on
 * the packet alone it is made here, with the packet at hand; then what it leads to
 * can be fetched while the packet is on its way. */
NET_INLINE void link_transmit(struct net *n, struct net_port *port, uint32_t h, struct net_pkt *k,
                              uint32_t mode)
{
    const struct net_class *c = &n->cls[port->cls];
    uint64_t now = n->sim->now, there;
    uint32_t free_part = port->t_free == now ? (uint32_t)port->t_part << 4 : 0;
    uint64_t start = k->part > free_part ? k->part : free_part;
    uint64_t end = (start + c->per_byte * k->bytes + 15) & ~UINT64_C(15);
    uint64_t pass;

    if (!(mode & NET_MODE_CUT)) {
        pass = end + c->delay;
        there = now + (pass >> 20);
    } else {
        pass = start + c->delay;
        there = link_cut(n, port, k, &end, pass);
    }
    k->part = pass & 0xfffff;
    port->t_free = now + (end >> 20);
    port->t_part = (uint16_t)(end >> 4);
    port->bytes += k->bytes;
    port->packets++;
    if ((mode & NET_MODE_EARLY) && port->peer_lp < n->nrouters)
        link_choose(n, port->peer_lp, k);
    sim_ride(n->sim, c->belt, there, port->peer_lp, sim_lane(NET_EV_ARRIVE, port->peer_door),
             (uint32_t)port->packets, h, k->route.vc);
}

/* Admit a packet for which there is room: charge it, return its own credit
 * upstream, and send or queue it. */
NET_INLINE void link_join(struct net *n, struct net_port *port, uint32_t vc, uint32_t h,
                          struct net_pkt *k, uint32_t mode)
{
    uint32_t charge = net_charge(n, k, mode);

    *net_held(n, port, vc) += charge;
    link_send_credit(n, k->from, k->route.vc, charge, mode);
    k->from = (uint32_t)(port - n->port);
    k->route.vc = (uint8_t)vc;
    if (port->t_free <= n->sim->now && !port->queued) {
        link_transmit(n, port, h, k, mode);
        return;
    }
    net_queue_put(&n->pkts, net_queue_of(n, port, vc), h);
    port->queued = (uint16_t)(port->queued | 1u << vc);
    if (!port->port_event)
        net_port_at(n, port, port->t_free, h);
}

#endif
