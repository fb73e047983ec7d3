/* port.c -- one link and its credits.
 *
 *             admitted            sent              admitted there
 *   packet --> [queue of vc] --> ==wire==> [waits?] --> [queue of vc'] ...
 *              |<--------- charged to vc: held ------->|
 *                                          credit <----+  (credit_ps later)
 *
 * A channel's room covers the queue here, the wire and the waiting downstream.
 * A credit is a note with a time in the upstream port's ring: it costs no event
 * unless somebody waits for it. Likewise a link that falls idle costs no event
 * unless something is queued.
 */
#include <assert.h>

#include "net_priv.h"

/* What the credit in slot `at` gives back. */
static uint32_t credit_bytes(const struct net *n, const struct net_port *port, uint32_t at)
{
    return n->ring_b ? n->ring_b[(size_t)(port - n->port) * NET_RING + at] : n->slot_b;
}

/* The notes whose time has come. */
void net_port_absorb_slow(struct net *n, struct net_port *port)
{
    uint64_t now = n->sim->now;
    uint32_t at = port->ring_at, left = port->ring_n;

    do {
        uint32_t bytes = credit_bytes(n, port, at);

        n->vc[port->vc0 + (port->ring[at] & 0xff)].held -= bytes;
        port->held -= bytes;
        at = (at + 1) % NET_RING;
    } while (--left && port->ring[at] >> 8 <= now);
    port->ring_at = (uint8_t)at;
    port->ring_n = (uint8_t)left;
}

static void wake_at(struct net *n, struct net_port *port, uint64_t t)
{
    port->wake_event = true;
    sim_at(n->sim, t, port->self_lp, sim_lane(NET_EV_WAKE, port->self_door), 0, 0, 0);
}

/* Somebody began to wait: a credit that is on its way shall make an event. */
void net_port_call_wake(struct net *n, struct net_port *port)
{
    if (port->stalled && !port->wake_event && port->ring_n)
        wake_at(n, port, port->ring[port->ring_at] >> 8);
}

/* A packet that came through `index`, `vc` has been admitted further on. */
void net_port_send_credit(struct net *n, uint32_t index, uint32_t vc, uint32_t charge)
{
    struct net_port *port = &n->port[index];
    uint64_t t = n->sim->now + n->cls[port->cls].credit_ps;

    if (port->ring_n == NET_RING)
        net_port_absorb(n, port);
    if (port->ring_n == NET_RING) {
        sim_at(n->sim, t, port->self_lp, sim_lane(NET_EV_CREDIT, port->self_door), vc, charge, vc);
        return;
    }
    uint32_t at = (port->ring_at + port->ring_n) % NET_RING;

    port->ring[at] = t << 8 | vc;
    if (n->ring_b)
        n->ring_b[(size_t)index * NET_RING + at] = charge;
    port->ring_n++;
    if (port->stalled && !port->wake_event)
        wake_at(n, port, t);
}

void net_port_saturation(struct net *n, struct net_port *port, bool now)
{
    if (port->saturated == now)
        return;
    port->saturated = now;
    if (now)
        port->t_saturated = n->sim->now;
    else
        port->saturated_ps += n->sim->now - port->t_saturated;
}

static void port_at(struct net *n, struct net_port *port, uint64_t t)
{
    port->port_event = true;
    sim_at(n->sim, t, port->self_lp, sim_lane(NET_EV_PORT, port->self_door), 0, 0, 0);
}

/* Begin to send now; the link is idle. */
void net_port_transmit(struct net *n, struct net_port *port, uint32_t h)
{
    struct net_pkt *k = net_pkt(n, h);
    const struct net_class *c = &n->cls[port->cls];
    uint64_t now = n->sim->now, end = now + net_serial_ps(c, k->bytes), there;

    if (n->p.switching == NET_STORE_AND_FORWARD)
        there = now + net_pass_ps(c, k->bytes);
    else {
        uint64_t delay = net_pass_ps(c, 0);

        /* The tail cannot leave before it is here. */
        if (end < k->t_tail)
            end = k->t_tail;
        k->t_tail = end + delay;
        there = port->peer_lp >= n->nrouters ? k->t_tail : now + delay;
    }
    port->t_free = end;
    port->bytes += k->bytes;
    port->packets++;
    port->busy_ps += end - now;
    sim_at(n->sim, there, port->peer_lp, sim_lane(NET_EV_ARRIVE, port->peer_door),
           (uint32_t)port->packets, h, 0);
}

/* Admit a packet for which there is room: charge it, return its own credit upstream, send or queue
 * it. */
void net_port_join(struct net *n, struct net_port *port, uint32_t vc, uint32_t h)
{
    struct net_pkt *k = net_pkt(n, h);
    struct net_vc *v = &n->vc[port->vc0 + vc];
    uint32_t charge = net_charge(n, k);

    v->held += charge;
    port->held += charge;
    net_port_send_credit(n, k->from, k->route.vc, charge);
    k->from = (uint32_t)(port - n->port);
    k->route.vc = (uint8_t)vc;
    if (port->t_free <= n->sim->now && !port->queued) {
        net_port_transmit(n, port, h);
        return;
    }
    net_queue_put(&n->pkts, &v->queue, h);
    port->queued = (uint16_t)(port->queued | 1u << vc);
    if (!port->port_event)
        port_at(n, port, port->t_free);
}

static uint32_t oldest(const struct net *n, const struct net_port *port)
{
    uint32_t best = 0;
    uint64_t birth = UINT64_MAX;

    for (uint32_t m = port->queued; m; m &= m - 1) {
        uint32_t vc = (uint32_t)__builtin_ctz(m);
        uint64_t b = net_pkt(n, n->vc[port->vc0 + vc].queue.head)->t_birth;

        if (b < birth) {
            birth = b;
            best = vc;
        }
    }
    return best;
}

static uint32_t arbitrate(const struct net *n, const struct net_port *port)
{
    if (n->p.arbitration == NET_ARB_LOWEST_VC)
        return (uint32_t)__builtin_ctz(port->queued);
    if (n->p.arbitration == NET_ARB_AGE)
        return oldest(n, port);
    uint32_t after = port->queued & ~((2u << port->last_vc) - 1);

    return (uint32_t)__builtin_ctz(after ? after : port->queued);
}

static struct net_port *port_of(struct net *n, const struct sim_event *e)
{
    if (sim_dst(e) >= n->nrouters)
        return &n->port[(uint64_t)n->nrouters * n->nports + (sim_dst(e) - n->nrouters)];
    return &n->port[(uint64_t)sim_dst(e) * n->nports + sim_door(e)];
}

/* The link has fallen idle and something is queued for it. */
void net_on_port(void *ctx, const struct sim_event *e)
{
    struct net *n = ctx;
    struct net_port *port = port_of(n, e);

    port->port_event = false;
    if (sim_dst(e) >= n->nrouters) {
        net_nic_pump(n, sim_dst(e) - n->nrouters);
        return;
    }
    uint32_t vc = arbitrate(n, port);
    struct net_vc *v = &n->vc[port->vc0 + vc];
    uint32_t h = net_queue_get(&n->pkts, &v->queue);

    port->last_vc = (uint8_t)vc;
    if (v->queue.head == WR_NIL)
        port->queued = (uint16_t)(port->queued & ~(1u << vc));
    net_port_transmit(n, port, h);
    if (port->queued)
        port_at(n, port, port->t_free);
}

static void serve(struct net *n, struct net_port *port)
{
    if (!port->stalled)
        return;
    if (port->self_lp >= n->nrouters)
        net_nic_pump(n, port->self_lp - n->nrouters);
    else
        net_router_serve_waiting(n, port);
    net_port_call_wake(n, port);
}

/* A credit that somebody waited for has come. */
void net_on_wake(void *ctx, const struct sim_event *e)
{
    struct net *n = ctx;
    struct net_port *port = port_of(n, e);

    port->wake_event = false;
    net_port_absorb(n, port);
    serve(n, port);
}

/* A credit that found the ring full. */
void net_on_credit(void *ctx, const struct sim_event *e)
{
    struct net *n = ctx;
    struct net_port *port = port_of(n, e);

    net_port_absorb(n, port);
    n->vc[port->vc0 + e->arg2].held -= e->arg;
    port->held -= e->arg;
    serve(n, port);
}
