/* port.c -- the less frequent turns of a link: it falls idle with something
 * queued, or a credit comes that somebody waits for. */
#include "link_priv.h"

void net_port_wake_at(struct net *n, struct net_port *port, uint64_t t)
{
    port->wake_event = true;
    sim_at(n->sim, t, port->self_lp, sim_lane(NET_EV_WAKE, port->self_door), 0, 0, 0);
}

/* The link falls idle at t; `next` may be the packet it carries then. */
void net_port_at(struct net *n, struct net_port *port, uint64_t t, uint32_t next)
{
    port->port_event = true;
    sim_at(n->sim, t, port->self_lp, sim_lane(NET_EV_PORT, port->self_door), 0,
           (uint32_t)(port - n->port), next);
}

/* Somebody began to wait: a credit that is on its way shall make an event. */
void net_port_call_wake(struct net *n, struct net_port *port)
{
    if (port->stalled && !port->wake_event && port->ring_n)
        net_port_wake_at(n, port, port->ring[port->ring_at] >> 8);
}

void net_port_saturation(struct net *n, struct net_port *port, bool now)
{
    if (port->saturated == now)
        return;
    port->saturated = now;
    net_rare(n, port)->saturated_ps += now ? -n->sim->now : n->sim->now;
}

static uint32_t oldest(const struct net *n, struct net_port *port)
{
    uint32_t best = 0;
    uint64_t birth = UINT64_MAX;

    for (uint32_t m = port->queued; m; m &= m - 1) {
        uint32_t vc = (uint32_t)__builtin_ctz(m);
        uint64_t b = net_pkt(n, net_queue_of(n, port, vc)->head)->t_birth;

        if (b < birth) {
            birth = b;
            best = vc;
        }
    }
    return best;
}

static uint32_t arbitrate(const struct net *n, struct net_port *port)
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
    struct net_port *port = &n->port[e->arg];

    port->port_event = false;
    uint32_t vc = arbitrate(n, port);
    struct net_queue *queue = net_queue_of(n, port, vc);
    uint32_t h = net_queue_get(&n->pkts, queue);

    port->last_vc = (uint8_t)vc;
    if (queue->head == WR_NIL)
        port->queued = (uint16_t)(port->queued & ~(1u << vc));
    link_transmit(n, port, h, net_pkt(n, h), n->mode);
    if (port->queued)
        net_port_at(n, port, port->t_free, queue->head);
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
    link_absorb(n, port, n->mode);
    serve(n, port);
}

/* A credit that found the ring full. */
void net_on_credit(void *ctx, const struct sim_event *e)
{
    struct net *n = ctx;
    struct net_port *port = port_of(n, e);

    link_absorb(n, port, n->mode);
    *net_held(n, port, e->arg2) -= e->arg;
    serve(n, port);
}

/* Fetch the port, its queues and the packet that may be next. */
void net_warm_port(const void *ctx, const struct sim_event *e)
{
    const struct net *n = ctx;

    __builtin_prefetch(&n->port[e->arg].queue);
    __builtin_prefetch(net_pkt(n, e->arg2));
}
