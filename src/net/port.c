/* port.c -- the less frequent turns of a link: it falls idle with something
 * queued, or a credit comes that somebody waits for. */
#include "link_priv.h"

void net_port_wake_at(struct net *n, struct net_port *port, uint64_t t)
{
    port->wake_event = true;
    sim_ride(n->sim, n->wake_belt, t, net_self_lp(n, port), sim_lane(NET_EV_WAKE, port->self_door),
             0, (uint32_t)(port - n->port), 0);
}

/* The link falls idle at t; `next` may be the packet it carries then. */
void net_port_at(struct net *n, struct net_port *port, uint64_t t, uint32_t next)
{
    port->port_event = true;
    uint32_t lp = net_self_lp(n, port), lane = sim_lane(NET_EV_PORT, port->self_door);
    uint32_t index = (uint32_t)(port - n->port);

    if (n->mode & NET_MODE_PARTS) /* seams, one packet after the other: nearly in order */
        sim_ride(n->sim, n->idle_belt, t, lp, lane, 0, index, next);
    else
        sim_at(n->sim, t, lp, lane, 0, index, next);
}

/* Somebody began to wait: a credit that is on its way shall make an event. */
void net_port_call_wake(struct net *n, struct net_port *port)
{
    if (!port->stalled || port->wake_event)
        return;
    if (net_is_seam(port, n->mode)) {
        uint64_t t = net_seam_note_ps(n, port);

        if (t != SIM_NEVER)
            net_port_wake_at(n, port, t);
    } else if (port->ring_n)
        net_port_wake_at(n, port, port->ring[port->ring_at] >> 8);
}

/* Somebody waits, and a credit is on its way, the first. */
void net_port_credit_comes(struct net *n, struct net_port *port)
{
    uint32_t index = (uint32_t)(port - n->port), routers = n->nrouters * n->nports;
    uint64_t t = port->ring[port->ring_at] >> 8;

    if (net_over_seam(n, index))
        net_inlet_credit(n, port);
    else if (index >= routers && n->client.sent)
        net_nic_pump(n, index - routers, t);
    else
        net_port_wake_at(n, port, t);
}

void net_port_saturation(struct net *n, struct net_port *port, bool is, uint64_t at)
{
    if (port->saturated == is)
        return;
    port->saturated = is;
    net_rare(n, port)->saturated_ps += is ? -at : at;
}

static uint32_t oldest(const struct net *n, struct net_port *port)
{
    uint32_t best = (uint32_t)__builtin_ctz(port->queued);

    for (uint32_t m = port->queued; m; m &= m - 1) {
        uint32_t vc = (uint32_t)__builtin_ctz(m);

        if (net_is_older(n, net_pkt(n, net_queue_of(n, port, vc)->head),
                         net_pkt(n, net_queue_of(n, port, best)->head)))
            best = vc;
    }
    return best;
}

uint32_t net_port_choose(const struct net *n, struct net_port *port)
{
    if (n->p.arbitration == NET_ARB_LOWEST_VC)
        return (uint32_t)__builtin_ctz(port->queued);
    if (n->p.arbitration == NET_ARB_AGE)
        return oldest(n, port);
    uint32_t after = port->queued & ~((2u << port->last_vc) - 1);

    return (uint32_t)__builtin_ctz(after ? after : port->queued);
}

void net_port_send_next(struct net *n, struct net_port *port)
{
    uint32_t h = link_next(n, port);

    link_transmit(n, port, n->cls[port->cls].belt, h, net_pkt(n, h), n->sim->now, n->mode);
}

/* Cut-through: the link has fallen idle and something is queued for it. Seams have this event, too,
 * since nobody else can find out what left; there the link may have been served already by one
 * that asked for it at the same time. */
void net_on_port(void *ctx, const struct sim_event *e)
{
    struct net *n = ctx;
    struct net_port *port = &n->port[e->arg];

    port->port_event = false;
    n->sim->aside = !(n->mode & NET_MODE_CUT);
    if (n->mode & NET_MODE_CUT || (port->queued && port->t_free <= n->sim->now))
        net_port_send_next(n, port);
    if (port->queued && !port->port_event) /* a late credit may have seen to it */
        net_port_at(n, port, port->t_free,
                    net_queue_of(n, port, (uint32_t)__builtin_ctz(port->queued))->head);
}

/* Store and forward: what has left by now goes onto the wire. */
void net_port_settle(struct net *n, struct net_port *port)
{
    if (n->mode & NET_MODE_CUT)
        return;
    while (port->queued && port->t_free <= n->sim->now) {
        uint32_t h = link_next(n, port), *end = &port->wire;
        struct net_pkt *k = net_pkt(n, h);

        k->t_tail = link_start(n, port, k, port->t_free, n->mode);
        k->tail_part = (uint32_t)port->packets;
        k->next = WR_NIL;
        if (!port->wired)
            port->wire = WR_NIL;
        port->wired = true;
        while (*end != WR_NIL)
            end = &net_pkt(n, *end)->next;
        *end = h;
    }
}

/* Fetch the port, its queues and the packet that may be next. */
void net_warm_port(const void *ctx, const struct sim_event *e)
{
    const struct net *n = ctx;

    __builtin_prefetch(&n->port[e->arg].queue);
    __builtin_prefetch(net_pkt(n, e->arg2));
}
