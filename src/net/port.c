/* port.c -- the less frequent events of a link: it becomes idle with packets queued, or a credit
 * returns that a packet waits for. Called by link_priv.h, router.c, nic.c and boundary.c. */
#include "link_priv.h"

static void port_wake_at(struct net *n, struct net_port *port, uint64_t t)
{
    wr_check(!port->wake_event && t >= n->sim->now);
    port->wake_event = true;
    sim_enqueue(n->sim, n->wake_fifo, t, net_self_lp(n, port),
                sim_subkey(NET_EV_WAKE, port->self_port), 0, (uint32_t)(port - n->port), 0);
}

/* Schedules that the link becomes idle at t; `next` is prefetched: it may be the packet that is
 * sent then. */
void net_port_at(struct net *n, struct net_port *port, uint64_t t, uint32_t next)
{
    wr_check(!port->port_event && t >= n->sim->now);
    port->port_event = true;
    uint32_t lp = net_self_lp(n, port), subkey = sim_subkey(NET_EV_PORT, port->self_port);
    uint32_t index = (uint32_t)(port - n->port);

    if (n->npartitions) /* only boundary links, one packet after the other: nearly in order */
        sim_enqueue(n->sim, n->idle_fifo, t, lp, subkey, 0, index, next);
    else
        sim_at(n->sim, t, lp, subkey, 0, index, next);
}

/* A packet has begun to wait: the first credit in flight gets an event. */
void net_port_call_wake(struct net *n, struct net_port *port)
{
    if (!port->stalled || port->wake_event)
        return;
    if (port->ring_n)
        port_wake_at(n, port, port->ring[port->ring_at] >> 8);
}

/* A packet waits, and the first credit has been put in flight. */
void net_port_credit_comes(struct net *n, struct net_port *port)
{
    uint32_t index = (uint32_t)(port - n->port), routers = n->nrouters * n->nports;
    uint64_t t = port->ring[port->ring_at] >> 8;

    if (net_is_standin(n, index))
        net_boundary_credit(n, port);
    else if (index >= routers && n->client.sent)
        net_nic_pump(n, index - routers, t);
    else
        port_wake_at(n, port, t);
}

void net_port_saturation(struct net *n, struct net_port *port, bool is, uint64_t at)
{
    if (port->saturated == is)
        return;
    port->saturated = is;
    net_cold(n, port)->saturated_ps += is ? -at : at;
}

static uint32_t port_oldest_vc(const struct net *n, struct net_port *port)
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
        return port_oldest_vc(n, port);
    uint32_t after = port->queued & ~((2u << port->last_vc) - 1);

    return (uint32_t)__builtin_ctz(after ? after : port->queued);
}

/* Handler of NET_EV_PORT: the link has become idle with packets queued. */
void net_on_port(void *ctx, const struct sim_event *e)
{
    struct net *n = ctx;
    struct net_port *port = &n->port[e->arg];
    uint32_t h = link_next(n, port);

    port->port_event = false;
    link_transmit(n, port, n->cls[port->cls].fifo, h, net_pkt(n, h), n->sim->now, n->mode);
    if (port->queued)
        net_port_at(n, port, port->t_free,
                    net_queue_of(n, port, (uint32_t)__builtin_ctz(port->queued))->head);
}

/* Sends the queued packets that leave by `until`: onto the wire, or to the other partition. Does
 * nothing where NET_EV_PORT events send them. */
void net_port_flush(struct net *n, struct net_port *port, uint64_t until)
{
    if (n->mode & NET_MODE_SHORT || (n->mode & NET_MODE_CUT && port->boundary))
        return;
    while (port->queued && port->t_free <= until) {
        uint32_t h = link_next(n, port), *end = &port->wire;
        struct net_pkt *k = net_pkt(n, h);
        uint64_t there = link_start(n, port, k, port->t_free, n->mode);

        if (port->boundary) {
            net_boundary_send(n, port, there, (uint32_t)port->packets, h, k);
            continue;
        }
        if (!(n->mode & NET_MODE_CUT))
            k->t_tail = there;
        k->from = (uint32_t)port->packets | NET_WIRED;
        k->next = WR_NIL;
        if (!port->wired)
            port->wire = WR_NIL;
        port->wired = true;
        while (*end != WR_NIL)
            end = &net_pkt(n, *end)->next;
        *end = h;
    }
}

/* Prefetches the queues of the port and the packet that may be next. */
void net_prefetch_port(const void *ctx, const struct sim_event *e)
{
    const struct net *n = ctx;

    __builtin_prefetch(&n->port[e->arg].queue);
    __builtin_prefetch(net_pkt(n, e->arg2));
}
