/* link_priv.h -- one link and its credits: what every packet passes through.
 *
 *             admitted            sent              admitted there
 *   packet --> [queue of vc] --> ==wire==> [waits?] --> [queue of vc'] ...
 *              |<--------- charged to vc: held ------->|
 *                                          credit <----+  (credit_ps later)
 *
 * A channel's room covers the queue here, the wire and the waiting downstream.
 * A credit is a note with a time in the upstream port's ring: it costs no event
 * unless somebody waits for it.
 *
 * Nor does a link that falls idle with something queued. What it carries next depends only on
 * what was admitted until then; so it is found out when the next packet asks for
 * the link, or when the one before arrives at the other end, whichever comes first. The
 * link is that much longer than its packets that the next arrival still lies ahead:
 *
 *      |--- a ---|--- b ---|           sent
 *                  |--- a ---|--- b ---|        arriving, store and forward
 *                            ^ a is there: b left when a's last byte did
 *
 * A packet that is found out to have left earlier, by one that asks, waits on the
 * `wire` until the one before it arrives and announces it. (Cut-through: a may be there before
 * its last byte has left, so there an event says when the link falls idle.)
 * `mode` is a constant where it matters.
 */
#ifndef NET_LINK_PRIV_H
#define NET_LINK_PRIV_H

#include "net_priv.h"

#define NET_INLINE static inline __attribute__((always_inline))

/* Take in the notes whose time has come; were there any? */
NET_INLINE bool link_absorb(struct net *n, struct net_port *port, uint64_t now, uint32_t mode)
{
    if (net_is_seam(port, mode))
        return net_seam_absorb(n, port, now);
    uint32_t at = port->ring_at, left = port->ring_n;

    if (!left || port->ring[at] >> 8 > now)
        return false;
    for (; left && port->ring[at] >> 8 <= now; at = (at + 1) % NET_RING, left--) {
        uint32_t bytes =
            mode & NET_MODE_BYTES ? n->ring_b[(size_t)(port - n->port) * NET_RING + at] : n->slot_b;

        *net_held(n, port, port->ring[at] & 0xff) -= bytes;
    }
    port->ring_at = (uint8_t)at;
    port->ring_n = (uint8_t)left;
    return true;
}

/* A packet that came through port `index`, channel `vc`, has been admitted further on. */
NET_INLINE void link_send_credit(struct net *n, uint32_t index, uint32_t vc, uint32_t charge,
                                 uint32_t mode)
{
    struct net_port *port = &n->port[index];
    uint64_t t = n->sim->now + n->cls[port->cls].credit_ps;

    if (__builtin_expect(port->ring_n == NET_RING, 0)) {
        link_absorb(n, port, n->sim->now, mode);
        if (port->ring_n == NET_RING) {
            sim_at(n->sim, t, net_self_lp(n, port), sim_lane(NET_EV_CREDIT, port->self_door), vc,
                   charge, vc);
            n->t_spilt = t;
            return;
        }
    }
    uint32_t at = (port->ring_at + port->ring_n++) % NET_RING;

    port->ring[at] = t << 8 | vc;
    if (mode & NET_MODE_BYTES)
        n->ring_b[(size_t)index * NET_RING + at] = charge;
    if (__builtin_expect(port->stalled && !port->wake_event, 0))
        net_port_credit_comes(n, port);
}

/* The port and channel by which a packet leaves a router; without a view, if that can be said. */
NET_INLINE void link_choose(struct net *n, uint32_t router, struct net_pkt *k,
                            const struct route_view *view)
{
    uint32_t first = router * n->nports;

    if (k->route.dst_router == router) {
        k->out = first + k->route.dst_port;
        k->out_vc = n->eject ? n->eject[k->route.state] : 0;
        return;
    }
    struct route_hop hop =
        n->route->ops->decide(n->route, &k->route, router, view, &n->rng[router]);

    if (!view && hop.port == ROUTE_LATER) {
        k->out = WR_NIL;
        return;
    }
    k->route.hops++;
    k->out = first + hop.port;
    k->out_vc = hop.vc;
}

/* Cut-through: the tail cannot leave before it is here, and *end, when the link
 * falls idle, waits for it. The head is there after `pass`; a terminal waits
 * for the tail. */
NET_INLINE uint64_t link_cut(const struct net *n, struct net_port *port, struct net_pkt *k,
                             uint64_t now, uint64_t *end, uint64_t pass)
{
    uint64_t delay = n->cls[port->cls].delay;
    uint64_t tail = k->t_tail < now ? 0 : ((k->t_tail - now) << 20) + k->tail_part;

    if (*end < tail) {
        net_rare(n, port)->stretched_ps += (tail - *end) >> 20;
        *end = (tail + 15) & ~UINT64_C(15);
    }
    k->t_tail = now + ((*end + delay) >> 20);
    k->tail_part = (*end + delay) & 0xfffff;
    return port->peer_lp >= n->nrouters ? k->t_tail : now + (pass >> 20);
}

/* What is known of a packet on its way. */
NET_INLINE void link_note(struct net *n, uint32_t index, uint32_t number, uint64_t there,
                          const struct net_pkt *k, uint32_t mode)
{
    struct net_pace *pace = &n->pace[index];
    uint32_t i = number % NET_PACE;

    pace->pkt[i].there = there << 8 | k->route.vc;
    pace->pkt[i].out = mode & (NET_MODE_EARLY | NET_MODE_FORESEES) ? k->out : WR_NIL;
    pace->pkt[i].out_vc = k->out_vc;
}

/* Put a packet on the wire at `at`, when the link is idle; returns when it is
 * there. Parts of picoseconds are kept along a packet's way and a link's busy
 * time, so that neither rates nor latencies drift and nobody overtakes on the
 * wire. Where the next router's choice depends on the packet alone it is made
 * here, with the packet at hand; then what it leads to can be fetched while the
 * packet is on its way. */
NET_INLINE uint64_t link_start(struct net *n, struct net_port *port, struct net_pkt *k, uint64_t at,
                               uint32_t mode)
{
    const struct net_class *c = &n->cls[port->cls];
    uint32_t free_part = port->t_free == at ? (uint32_t)port->t_part << 4 : 0;
    uint64_t start = k->part > free_part ? k->part : free_part;
    uint64_t end = (start + c->per_byte * k->bytes + 15) & ~UINT64_C(15);
    uint64_t pass, there;

    if (!(mode & NET_MODE_CUT)) {
        pass = end + c->delay;
        there = at + (pass >> 20);
    } else {
        pass = start + c->delay;
        there = link_cut(n, port, k, at, &end, pass);
    }
    k->part = pass & 0xfffff;
    port->t_free = at + (end >> 20);
    port->t_part = (uint16_t)(end >> 4);
    port->bytes += k->bytes;
    port->packets++;
    if ((mode & (NET_MODE_EARLY | NET_MODE_FORESEES)) && port->peer_lp < n->nrouters)
        link_choose(n, port->peer_lp, k, NULL);
    if (mode & NET_MODE_PARTS && n->pace && !net_is_seam(port, mode))
        link_note(n, (uint32_t)(port - n->port), (uint32_t)port->packets, there, k, mode);
    return there;
}

NET_INLINE void link_announce(struct net *n, const struct net_port *port, uint32_t belt,
                              uint64_t there, uint32_t seq, uint32_t h, const struct net_pkt *k)
{
    sim_ride(n->sim, belt, there, port->peer_lp, sim_lane(NET_EV_ARRIVE, port->peer_door), seq, h,
             k->route.vc);
}

/* Begin to send; the link is idle. */
NET_INLINE void link_transmit(struct net *n, struct net_port *port, uint32_t belt, uint32_t h,
                              struct net_pkt *k, uint64_t at, uint32_t mode)
{
    uint64_t there = link_start(n, port, k, at, mode);

    if (net_is_seam(port, mode))
        net_seam_send(n, port, there, (uint32_t)port->packets, h, k);
    else
        link_announce(n, port, belt, there, (uint32_t)port->packets, h, k);
}

/* The packet the link carries after what it carries now, out of its queue. */
NET_INLINE uint32_t link_next(struct net *n, struct net_port *port)
{
    uint32_t vc = net_port_choose(n, port);
    struct net_queue *queue = net_queue_of(n, port, vc);
    uint32_t h = net_queue_get(&n->pkts, queue);

    port->last_vc = (uint8_t)vc;
    if (queue->head == WR_NIL)
        port->queued = (uint16_t)(port->queued & ~(1u << vc));
    return h;
}

/* The link's packet number `seq` has arrived: announce the one that left at its
 * heels, if there is one and it has not been announced. */
NET_INLINE void link_follow(struct net *n, struct net_port *port, uint32_t seq, uint32_t mode)
{
    uint32_t belt = n->cls[port->cls].heel;

    if (port->wired) {
        uint32_t h = port->wire;
        struct net_pkt *k = net_pkt(n, h);

        if (k->tail_part != seq + 1)
            return;
        port->wire = k->next;
        port->wired = port->wire != WR_NIL;
        link_announce(n, port, belt, k->t_tail, k->tail_part, h, k);
    } else if ((uint32_t)port->packets == seq) {
        uint32_t h = link_next(n, port);
        struct net_pkt *k = net_pkt(n, h);
        uint64_t there = link_start(n, port, k, port->t_free, mode);

        link_announce(n, port, belt, there, (uint32_t)port->packets, h, k);
    }
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
    if (!(mode & NET_MODE_CUT) && port->queued && port->t_free <= n->sim->now) {
        if (net_is_seam(port, mode))
            net_port_send_next(n, port);
        else
            net_port_settle(n, port);
    }
    if (port->t_free <= n->sim->now && !port->queued) {
        link_transmit(n, port, n->cls[port->cls].belt, h, k, n->sim->now, mode);
        return;
    }
    net_queue_put(&n->pkts, net_queue_of(n, port, vc), h);
    port->queued = (uint16_t)(port->queued | 1u << vc);
    if ((mode & NET_MODE_CUT || net_is_seam(port, mode)) && !port->port_event)
        net_port_at(n, port, port->t_free, h);
}

#endif
