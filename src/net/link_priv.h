/* link_priv.h -- one link and its credits: the path of every packet.
 *
 * Inlined into the handlers of router.c, port.c, nic.c and boundary.c.
 *
 *             admitted            sent              admitted there
 *   packet --> [queue of vc] --> ==wire==> [waits?] --> [queue of vc'] ...
 *              |<------ charged to vc: occupancy ----->|
 *                                          credit <----+  (credit_ps later)
 *
 * A channel's capacity covers the queue here, the wire and the packets waiting downstream.
 * A credit in flight is an entry with a time in the upstream port's ring: it is an event only if
 * a packet waits for it.
 *
 * A link that becomes idle with packets queued needs no event either. Which packet it sends next
 * depends only on what was admitted until then; so that is decided when the next packet requests
 * the link, or when the previous packet arrives at the other end, whichever comes first. The
 * link's delay is longer than its packets, so the next arrival is still in the future:
 *
 *      |--- a ---|--- b ---|           sent
 *                  |--- a ---|--- b ---|        arriving, store and forward
 *                            ^ a arrives: b left when a's last byte did
 *
 * A packet that was sent in the past, as decided by a later request, is kept in the list `wire`
 * until the packet before it arrives and schedules its arrival (link_follow). Cut-through works in
 * the same way where a link's delay is longer than any packet: b's head arrives with a's last byte.
 *
 *      |--- a ---|--- b ---|           sent
 *                      |--- a ---|--- b ---|    arriving, cut through
 *                      ^ a arrives: b left when a's last byte did
 *
 * Where the delay is shorter (NET_MODE_SHORT), an event is scheduled for when the link becomes
 * idle. `mode` is a compile-time constant in the common handlers.
 */
#ifndef NET_LINK_PRIV_H
#define NET_LINK_PRIV_H

#include "base/check.h"
#include "net_priv.h"

#define NET_INLINE static inline __attribute__((always_inline))

/* Applies the credits in flight that are due; were there any? */
NET_INLINE bool link_absorb(struct net *n, struct net_port *port, uint64_t now, uint32_t mode)
{
    uint32_t at = port->ring_at, left = port->ring_n;

    if (!left || port->ring[at] >> 8 > now)
        return false;
    for (; left && port->ring[at] >> 8 <= now; at = (at + 1) % NET_RING, left--) {
        *net_occupancy(n, port, net_credit_vc(port->ring[at])) -= net_credit_b(n, port, at, mode);
    }
    port->ring_at = (uint8_t)at;
    port->ring_n = (uint8_t)left;
    return true;
}

/* Puts a credit in flight that is due at `t`, not before any that is in the ring. */
NET_INLINE void link_put_credit(struct net *n, uint32_t index, uint32_t vc, uint32_t charge,
                                uint64_t t, uint32_t mode)
{
    struct net_port *port = &n->port[index];

    wr_check(vc < ROUTE_MAX_VCS && t >= n->sim->now);
    if (__builtin_expect(port->ring_n == NET_RING, 0)) {
        sim_at(n->sim, t, net_self_lp(n, port), sim_subkey(NET_EV_CREDIT, port->self_port), vc,
               charge, vc);
        return;
    }
    uint32_t at = (port->ring_at + port->ring_n++) % NET_RING;

    port->ring[at] = t << 8 | vc;
    if (mode & NET_MODE_BYTES && charge != n->slot_b) {
        port->ring[at] |= NET_RING_ODD;
        n->ring_b[(size_t)index * NET_RING + at] = charge;
    }
    if (__builtin_expect(port->stalled && !port->wake_event, 0))
        net_port_credit_comes(n, port);
}

/* A packet that came through port `index`, channel `vc`, has been admitted downstream. */
NET_INLINE void link_send_credit(struct net *n, uint32_t index, uint32_t vc, uint32_t charge,
                                 uint32_t mode)
{
    struct net_port *port = &n->port[index];

    if (__builtin_expect(port->ring_n == NET_RING, 0))
        link_absorb(n, port, n->sim->now, mode);
    link_put_credit(n, index, vc, charge, n->sim->now + n->cls[port->cls].credit_ps, mode);
}

/* Chooses the port and channel by which a packet leaves a router; `view` NULL: only if the routing
 * needs no loads, otherwise k->out is WR_NIL. */
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
        n->route->ops->decide(n->route, &k->route, router, view, &n->rng[router].stream);

    if (!view && hop.port == ROUTE_LATER) {
        k->out = WR_NIL;
        return;
    }
    k->route.hops++;
    k->out = first + hop.port;
    k->out_vc = hop.vc;
}

/* Cut-through: the tail cannot leave before it is here, so *end, when the link becomes idle, is
 * not before that. Returns the arrival: of the head, after `pass`; at a terminal, of the tail. */
NET_INLINE uint64_t link_cut(const struct net *n, struct net_port *port, struct net_pkt *k,
                             uint64_t now, uint64_t *end, uint64_t pass)
{
    uint64_t delay = n->cls[port->cls].delay;
    uint64_t tail = k->t_tail < now ? 0 : ((k->t_tail - now) << 20) + k->tail_frac;

    if (*end < tail) {
        net_cold(n, port)->tail_wait_ps += (tail - *end) >> 20;
        *end = (tail + 15) & ~UINT64_C(15);
    }
    k->t_tail = now + ((*end + delay) >> 20);
    k->tail_frac = (*end + delay) & 0xfffff;
    return port->peer_lp >= n->nrouters ? k->t_tail : now + (pass >> 20);
}

/* Puts a packet on the wire at `at`, when the link is idle; returns the time of its arrival.
 * Fractions of picoseconds are kept along a packet's path and a link's busy time, so that neither
 * rates nor latencies drift and packets do not overtake on the wire. Where the next router's choice
 * depends on the packet alone it is made here, while the packet is in the cache; then the port it
 * chooses can be prefetched while the packet is on the wire. */
NET_INLINE uint64_t link_start(struct net *n, struct net_port *port, struct net_pkt *k, uint64_t at,
                               uint32_t mode)
{
    const struct net_class *c = &n->cls[port->cls];
    uint32_t free_frac = port->t_free == at ? (uint32_t)port->t_frac << 4 : 0;
    uint64_t start = k->frac > free_frac ? k->frac : free_frac;
    uint64_t end = (start + c->per_byte * k->bytes + 15) & ~UINT64_C(15);
    uint64_t pass, there;

    wr_check(at >= port->t_free && k->frac < 1u << 20);
    if (!(mode & NET_MODE_CUT)) {
        pass = end + c->delay;
        there = at + (pass >> 20);
    } else {
        pass = start + c->delay;
        there = link_cut(n, port, k, at, &end, pass);
    }
    k->frac = pass & 0xfffff;
    port->t_free = at + (end >> 20);
    port->t_frac = (uint16_t)(end >> 4);
    port->bytes += k->bytes;
    port->packets++;
    if ((mode & (NET_MODE_EARLY | NET_MODE_MAYBE_EARLY)) && port->peer_lp < n->nrouters)
        link_choose(n, port->peer_lp, k, NULL);
    return there;
}

NET_INLINE void link_announce(struct net *n, const struct net_port *port, uint32_t fifo,
                              uint64_t there, uint32_t seq, uint32_t h, const struct net_pkt *k)
{
    sim_enqueue(n->sim, fifo, there, port->peer_lp, sim_subkey(NET_EV_ARRIVE, port->peer_in_port),
                seq, h, k->route.vc);
}

/* Sends a packet at `at`; the link is idle then. */
NET_INLINE void link_transmit(struct net *n, struct net_port *port, uint32_t fifo, uint32_t h,
                              struct net_pkt *k, uint64_t at, uint32_t mode)
{
    uint64_t there = link_start(n, port, k, at, mode);

    if (__builtin_expect(port->boundary, 0))
        net_boundary_send(n, port, there, (uint32_t)port->packets, h, k);
    else
        link_announce(n, port, fifo, there, (uint32_t)port->packets, h, k);
}

/* Takes the packet that the link sends next out of its queue. */
NET_INLINE uint32_t link_next(struct net *n, struct net_port *port)
{
    wr_check(port->queued);
    uint32_t vc = net_port_choose(n, port);
    struct net_queue *queue = net_queue_of(n, port, vc);
    uint32_t h = net_queue_get(&n->pkts, queue);

    port->last_vc = (uint8_t)vc;
    if (queue->head == WR_NIL)
        port->queued = (uint16_t)(port->queued & ~(1u << vc));
    return h;
}

/* The arrival of a packet on the wire that left directly after `before`. Cut-through: with the last
 * byte of that one, or within the next picosecond, by their fractions. */
NET_INLINE uint64_t link_wired_at(const struct net *n, const struct net_port *port,
                                  const struct net_pkt *k, const struct net_pkt *before,
                                  uint32_t mode)
{
    if (!(mode & NET_MODE_CUT) || port->peer_lp >= n->nrouters)
        return k->t_tail;
    return before->t_tail + (k->frac < before->tail_frac);
}

/* The link's packet `before`, number `seq`, has arrived: schedules the arrival of the packet that
 * left directly after it, if there is one without an event. */
NET_INLINE void link_follow(struct net *n, struct net_port *port, const struct net_pkt *before,
                            uint32_t seq, uint32_t mode)
{
    uint32_t fifo = n->cls[port->cls].follow_fifo;

    if (port->wired) {
        uint32_t h = port->wire;
        struct net_pkt *k = net_pkt(n, h);

        if (k->from != ((seq + 1) | NET_WIRED))
            return;
        k->from = (uint32_t)(port - n->port);
        port->wire = k->next;
        port->wired = port->wire != WR_NIL;
        link_announce(n, port, fifo, link_wired_at(n, port, k, before, mode), seq + 1, h, k);
    } else if ((uint32_t)port->packets == seq) {
        uint32_t h = link_next(n, port);
        struct net_pkt *k = net_pkt(n, h);
        uint64_t there = link_start(n, port, k, port->t_free, mode);

        link_announce(n, port, fifo, there, (uint32_t)port->packets, h, k);
    }
}

/* Queues a packet; the link is busy. */
NET_INLINE void link_queue(struct net *n, struct net_port *port, uint32_t vc, uint32_t h,
                           uint32_t mode)
{
    net_queue_put(&n->pkts, net_queue_of(n, port, vc), h);
    port->queued = (uint16_t)(port->queued | 1u << vc);
    if (!(mode & NET_MODE_SHORT) && __builtin_expect(!port->boundary, 1))
        return;
    if (!(mode & NET_MODE_CUT))
        net_boundary_queued(n, port);
    else if (!port->port_event)
        net_port_at(n, port, port->t_free, h);
}

/* Admits a packet for which the channel has credit: charges it, returns its credit upstream, and
 * sends or queues it. A link that becomes idle now is not given to a packet queued before until all
 * events of this time that come before NET_EV_PORT have admitted theirs. */
NET_INLINE void link_join(struct net *n, struct net_port *port, uint32_t vc, uint32_t h,
                          struct net_pkt *k, uint32_t mode)
{
    uint32_t charge = net_charge(n, k, mode);

    wr_check(vc < port->nvcs && net_has_credit(n, port, vc, charge));
    *net_occupancy(n, port, vc) += charge;
    link_send_credit(n, k->from, k->route.vc, charge, mode);
    k->from = (uint32_t)(port - n->port);
    k->route.vc = (uint8_t)vc;
    if (!(mode & NET_MODE_SHORT) && port->queued && port->t_free <= n->sim->now)
        net_port_flush(n, port, n->sim->now - (mode & NET_MODE_CUT && mode & NET_MODE_WAKES));
    if (port->t_free <= n->sim->now && !port->queued)
        link_transmit(n, port, n->cls[port->cls].fifo, h, k, n->sim->now, mode);
    else
        link_queue(n, port, vc, h, mode);
}

#endif
