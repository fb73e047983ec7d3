/* router.c -- from an arriving packet to the channel it leaves by: the handlers of NET_EV_ARRIVE,
 * NET_EV_WAKE, NET_EV_CREDIT and NET_EV_SWITCH.
 *
 * Output queueing: every packet requests its output when it arrives and waits, if it must, in that
 * output's line; packets for different outputs never block one another.
 *
 * Input queueing: packets of one incoming channel are in one line and only the first may request
 * its output (head-of-line blocking); the switch passes one packet per incoming and per outgoing
 * channel in each switch_time.
 *
 *   line of (upstream port, vc)            waiting line of (output port, vc)
 *      d c b  -- first requests --> a  -->   a x y   -- credit, switch --> queue
 *
 * Invariant: a channel with a waiting line has its bit set in port.stalled, and port.stalled with a
 * credit in flight implies port.wake_event (net_priv.h, 6).
 */
#include "link_priv.h"

/* Schedules when the line of channel `vc` of port `from` can send its next packet. */
static void router_input_event(struct net *n, uint32_t from, uint32_t vc, struct net_line *line)
{
    const struct net_port *up = &n->port[from];

    line->in_event = true;
    sim_at(n->sim, line->t_in_free, up->peer_lp, sim_subkey(NET_EV_SWITCH, up->peer_in_port), vc,
           from, vc);
}

/* Schedules when channel `vc` of `port` can accept its next packet. */
static void router_output_event(struct net *n, struct net_port *port, uint32_t vc,
                                struct net_line *line)
{
    line->out_event = true;
    sim_at(n->sim, line->t_out_free, net_self_lp(n, port),
           sim_subkey(NET_EV_SWITCH, port->self_port), ROUTE_MAX_VCS + vc, WR_NIL, vc);
}

/* A packet whose request is granted crosses the switch, or is admitted directly if there is none.
 */
NET_INLINE void router_cross(struct net *n, struct net_port *port, uint32_t vc, uint32_t h,
                             struct net_pkt *k, uint32_t mode)
{
    if (mode & NET_MODE_INPUT) {
        uint32_t from = net_from(n, k);
        struct net_line *in = &n->line[from * n->nvcs + k->route.vc];

        in->requested = false;
        in->t_in_free = n->sim->now + n->switch_ps;
        n->line[net_vc0(n, port) + vc].t_out_free = in->t_in_free;
        if (in->in.head != WR_NIL && !in->in_event)
            router_input_event(n, from, k->route.vc, in);
    }
    link_join(n, port, vc, h, k, mode);
}

static inline bool router_switch_free(const struct net *n, const struct net_port *port, uint32_t vc,
                                      uint32_t mode)
{
    return !(mode & NET_MODE_INPUT) || n->line[net_vc0(n, port) + vc].t_out_free <= n->sim->now;
}

/* Admits from a channel's waiting line the packets that can be admitted now; true when the rest
 * waits for a credit. */
NET_INLINE bool router_serve_channel(struct net *n, struct net_port *port, uint32_t vc,
                                     uint32_t mode)
{
    struct net_queue *wait = net_wait_of(n, port, vc);

    while (wait->head != WR_NIL) {
        uint32_t h = wait->head;
        struct net_pkt *k = net_pkt(n, h);
        uint32_t charge = net_charge(n, k, mode);

        if (!net_has_credit(n, port, vc, charge))
            return true;
        if (!router_switch_free(n, port, vc, mode)) {
            struct net_line *line = &n->line[net_vc0(n, port) + vc];

            if (!line->out_event)
                router_output_event(n, port, vc, line);
            return false;
        }
        net_queue_get(&n->pkts, wait);
        net_cold(n, port)->waiting -= charge;
        router_cross(n, port, vc, h, k, mode);
    }
    port->stalled = (uint16_t)(port->stalled & ~(1u << vc));
    return false;
}

NET_INLINE void router_serve_waiting(struct net *n, struct net_port *port, uint32_t mode)
{
    bool lacks_credit = false;

    for (uint32_t m = port->stalled; m; m &= m - 1)
        lacks_credit |= router_serve_channel(n, port, (uint32_t)__builtin_ctz(m), mode);
    net_port_saturation(n, port, lacks_credit, n->sim->now);
}

/* The same out of line, for cold paths. */
static NET_COLD void router_serve_cold(struct net *n, struct net_port *port)
{
    router_serve_waiting(n, port, n->mode);
}

/* Inserts a packet into a waiting line by age, whichever port it came through: behind packets of
 * the same age, and behind those that came through the same channel, which stays FIFO. Returns
 * whether it is the first now: then it may fit where the previous first did not. */
static bool router_wait_by_age(struct net *n, struct net_queue *wait, uint32_t h)
{
    struct net_pkt *k = net_pkt(n, h);
    uint32_t *at = &wait->head;

    for (uint32_t *i = at; *i != WR_NIL; i = &net_pkt(n, *i)->next) {
        const struct net_pkt *x = net_pkt(n, *i);

        if (!net_is_older(n, k, x) || (x->from == k->from && x->route.vc == k->route.vc))
            at = &net_pkt(n, *i)->next;
    }
    if (*at == WR_NIL) {
        net_queue_put(&n->pkts, wait, h);
        return false;
    }
    k->next = *at;
    *at = h;
    return at == &wait->head;
}

/* The packet's request cannot be granted now: it waits in the output's line. Waiting packets are
 * served if `update` says that credits have returned, or the order of the line has changed. */
static NET_COLD void router_wait(struct net *n, struct net_port *port, uint32_t vc, uint32_t h,
                                 bool update)
{
    if (n->p.arbitration == NET_ARB_AGE)
        update |= router_wait_by_age(n, net_wait_of(n, port, vc), h);
    else
        net_queue_put(&n->pkts, net_wait_of(n, port, vc), h);
    port->stalled = (uint16_t)(port->stalled | 1u << vc);
    net_cold(n, port)->waiting += net_charge(n, net_pkt(n, h), n->mode);
    if (update || (n->mode & NET_MODE_INPUT))
        router_serve_cold(n, port);
    else
        net_port_saturation(n, port, true, n->sim->now);
    net_port_call_wake(n, port);
}

NET_INLINE bool router_may_cross(const struct net *n, struct net_port *port, uint32_t vc,
                                 const struct net_pkt *k, uint32_t mode)
{
    return !(port->stalled & 1u << vc) && net_has_credit(n, port, vc, net_charge(n, k, mode)) &&
           router_switch_free(n, port, vc, mode);
}

NET_INLINE void router_request_port(struct net *n, struct net_port *port, uint32_t h,
                                    struct net_pkt *k, uint32_t mode)
{
    uint32_t vc = k->out_vc;
    bool update = link_absorb(n, port, n->sim->now, mode);

    if (router_may_cross(n, port, vc, k, mode))
        router_cross(n, port, vc, h, k, mode);
    else
        router_wait(n, port, vc, h, update);
}

/* Requests the packet's output. */
NET_INLINE void router_request(struct net *n, uint32_t router, uint32_t h, uint32_t mode)
{
    struct net_pkt *k = net_pkt(n, h);

    if (!(mode & NET_MODE_EARLY) && (!(mode & NET_MODE_MAYBE_EARLY) || k->out == WR_NIL))
        link_choose(n, router, k, &n->view);
    router_request_port(n, &n->port[k->out], h, k, mode);
}

/* The first packet of an input line may request its output now. */
NET_INLINE void router_request_first(struct net *n, uint32_t router, struct net_line *line,
                                     uint32_t mode)
{
    uint32_t h = net_queue_get(&n->pkts, &line->in);

    line->requested = true;
    router_request(n, router, h, mode);
}

/* One side of the switch is free again: the output's (arg is WR_NIL) or the input's. */
NET_INLINE void turn_switch(struct net *n, const struct sim_event *e, uint32_t mode)
{
    if (e->arg == WR_NIL) {
        struct net_port *port = &n->port[(uint64_t)sim_dst(e) * n->nports + sim_in_port(e)];

        n->line[net_vc0(n, port) + e->arg2].out_event = false;
        link_absorb(n, port, n->sim->now, mode);
        router_serve_waiting(n, port, mode);
        net_port_call_wake(n, port);
        return;
    }
    struct net_line *line = &n->line[e->arg * n->nvcs + e->arg2];

    line->in_event = false;
    if (!line->requested && line->in.head != WR_NIL)
        router_request_first(n, sim_dst(e), line, mode);
}

NET_INLINE void router_queue_input(struct net *n, uint32_t router, uint32_t h, uint32_t mode)
{
    const struct net_pkt *k = net_pkt(n, h);
    uint32_t from = net_from(n, k);
    struct net_line *line = &n->line[from * n->nvcs + k->route.vc];

    net_queue_put(&n->pkts, &line->in, h);
    if (line->requested || line->in_event)
        return;
    if (line->t_in_free > n->sim->now)
        router_input_event(n, from, k->route.vc, line);
    else
        router_request_first(n, router, line, mode);
}

/* The packet of an event to come is in the cache: prefetches the port that gets its credit, and
 * the port it leaves by, or its message and the client's data of the node. */
NET_INLINE void router_prefetch(const struct net *n, const struct sim_event *e)
{
    const struct net_pkt *k = net_pkt(n, e->arg);

    __builtin_prefetch(&n->port[k->from]);
    if (sim_dst(e) >= n->nrouters) {
        __builtin_prefetch(net_msg_at(n, k->msg));
        if (n->large)
            __builtin_prefetch(n->arrivals +
                               ((sim_dst(e) - n->nrouters) * n->per_rail >> 32) * n->arrivals_b);
        return;
    }
    if (k->out == WR_NIL)
        return;
    __builtin_prefetch(&n->port[k->out]);
    __builtin_prefetch(&n->port[k->out].queue);
}

/* Prefetches the packet that a link sends next, if it is known. */
NET_INLINE void router_prefetch_next(const struct net *n, struct net_port *port)
{
    if (port->wired)
        __builtin_prefetch(net_pkt(n, port->wire));
    else if (port->queued)
        __builtin_prefetch(
            net_pkt(n, net_queue_of(n, port, (uint32_t)__builtin_ctz(port->queued))->head));
}

/* The ports are in the cache: prefetches the packets queued at them. (e may be an event executed
 * long ago, whose packet has been used again or has left for another partition.) */
NET_INLINE void router_prefetch_queued(const struct net *n, const struct sim_event *e)
{
    const struct net_pkt *k = net_pkt(n, e->arg);

    if (k->from < n->total_ports)
        router_prefetch_next(n, &n->port[k->from]);
    if (k->out < n->total_ports && n->port[k->out].queued) {
        router_prefetch_next(n, &n->port[k->out]);
        __builtin_prefetch(net_pkt(n, net_queue_of(n, &n->port[k->out], k->out_vc)->tail));
    }
}

NET_INLINE void arrive(struct net *n, const struct sim_event *e, uint32_t mode)
{
    if (n->large) {
        __builtin_prefetch(&e[2 * NET_AHEAD_FAR]);
        if (!(mode & NET_MODE_SHORT)) {
            __builtin_prefetch(&n->port[net_pkt(n, e[NET_AHEAD_MID].arg)->from].queue);
            router_prefetch_queued(n, &e[NET_AHEAD_NEAR]);
        }
    }
    __builtin_prefetch(net_pkt(n, e[NET_AHEAD_FAR].arg));
    router_prefetch(n, &e[NET_AHEAD_MID]);
    if (!(mode & NET_MODE_SHORT)) {
        const struct net_pkt *k = net_pkt(n, e->arg);
        struct net_port *port = &n->port[k->from];

        if (port->queued || port->wired) /* never of a stand-in */
            link_follow(n, port, k, e->seq, mode);
    }
    if (sim_dst(e) >= n->nrouters)
        net_nic_deliver(n, e->arg);
    else if (mode & NET_MODE_INPUT)
        router_queue_input(n, sim_dst(e), e->arg, mode);
    else
        router_request(n, sim_dst(e), e->arg, mode);
}

/* Prefetches the ports and waiting packets of wake-ups to come. */
NET_INLINE void router_prefetch_wake(const struct net *n, const struct sim_event *e)
{
    const struct net_port *far = &n->port[e[4].arg], *port = &n->port[e[1].arg];

    __builtin_prefetch(far);
    __builtin_prefetch(&far->queue);
    if (e[4].arg < n->nrouters * n->nports)
        __builtin_prefetch(net_cold(n, far));
    if (n->npartitions && !e[1].arg)
        return; /* no event follows, and port 0 may be in another partition */
    if (port->stalled && e[1].arg < n->nrouters * n->nports)
        __builtin_prefetch(
            net_pkt(n, net_wait_of(n, port, (uint32_t)__builtin_ctz(port->stalled))->head));
}

/* Credits have returned: serves the packets that wait for them, here or in the NIC. */
NET_INLINE void router_serve(struct net *n, uint32_t index, uint32_t mode)
{
    struct net_port *port = &n->port[index];
    uint32_t routers = n->nrouters * n->nports;

    if (!port->stalled)
        return;
    if (__builtin_expect(index >= routers, 0))
        net_nic_pump(n, index - routers, n->sim->now);
    else
        router_serve_waiting(n, port, mode);
    net_port_call_wake(n, port);
}

/* A credit that a packet waits for has returned. */
NET_INLINE void wake(struct net *n, const struct sim_event *e, uint32_t mode)
{
    struct net_port *port = &n->port[e->arg];

    router_prefetch_wake(n, e);
    port->wake_event = false;
    link_absorb(n, port, n->sim->now, mode);
    router_serve(n, e->arg, mode | NET_MODE_WAKES);
}

/* A credit for which the ring was full has returned. */
void net_on_credit(void *ctx, const struct sim_event *e)
{
    struct net *n = ctx;
    uint32_t lp = sim_dst(e), index = lp < n->nrouters ? lp * n->nports + sim_in_port(e)
                                                       : n->nrouters * n->nports + lp - n->nrouters;
    struct net_port *port = &n->port[index];

    wr_check(index < n->total_ports && *net_occupancy(n, port, e->arg2) >= e->arg);
    link_absorb(n, port, n->sim->now, n->mode);
    *net_occupancy(n, port, e->arg2) -= e->arg;
    router_serve(n, index, n->mode | NET_MODE_WAKES);
}

/* One copy of the handlers per common mode, with the mode as a constant, and one for the others. */
#define COPY(name, mode)                                            \
    static void arrive_##name(void *ctx, const struct sim_event *e) \
    {                                                               \
        arrive(ctx, e, mode);                                       \
    }                                                               \
    static void wake_##name(void *ctx, const struct sim_event *e)   \
    {                                                               \
        wake(ctx, e, mode);                                         \
    }                                                               \
    static void switch_##name(void *ctx, const struct sim_event *e) \
    {                                                               \
        turn_switch(ctx, e, mode);                                  \
    }

/* For the three values of route.early and route.maybe_early. */
#define COPIES(name, mode)                      \
    COPY(name, mode)                            \
    COPY(name##_early, (mode) | NET_MODE_EARLY) \
    COPY(name##_often, (mode) | NET_MODE_MAYBE_EARLY)

COPIES(slots_stored, 0)
COPIES(slots_input, NET_MODE_INPUT)
COPIES(slots_cut, NET_MODE_CUT)
COPIES(bytes_cut, NET_MODE_BYTES | NET_MODE_CUT)
COPIES(bytes_short, NET_MODE_BYTES | NET_MODE_CUT | NET_MODE_SHORT)
COPY(any, ((const struct net *)ctx)->mode)

void net_router_handlers(uint32_t mode, struct net_handlers *ret)
{
#define ROW(name, mode)                               \
    {                                                 \
        mode,                                         \
        {                                             \
            arrive_##name, wake_##name, switch_##name \
        }                                             \
    }
#define ROWS(name, mode)                                         \
    ROW(name, mode), ROW(name##_early, (mode) | NET_MODE_EARLY), \
        ROW(name##_often, (mode) | NET_MODE_MAYBE_EARLY)

    static const struct {
        uint32_t mode;
        struct net_handlers on;
    } copies[] = {
        ROWS(slots_stored, 0),
        ROWS(slots_input, NET_MODE_INPUT),
        ROWS(slots_cut, NET_MODE_CUT),
        ROWS(bytes_cut, NET_MODE_BYTES | NET_MODE_CUT),
        ROWS(bytes_short, NET_MODE_BYTES | NET_MODE_CUT | NET_MODE_SHORT),
    };

    *ret = (struct net_handlers){arrive_any, wake_any, switch_any};
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++)
        if (copies[i].mode == mode)
            *ret = copies[i].on;
}

void net_prefetch_packet(const void *ctx, const struct sim_event *e)
{
    router_prefetch(ctx, e);
}
