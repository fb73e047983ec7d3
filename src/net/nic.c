/* nic.c -- messages become packets, and packets messages again.
 *
 * Messages of a NIC go out first come, first served, their starts at least a
 * gap apart. A packet is made when the link is idle and its channel has room,
 * so a long message costs one packet at a time.
 */
#include "link_priv.h"

static uint32_t make_packet(struct net *n, uint32_t port, uint32_t h, struct net_msg *m,
                            uint64_t at)
{
    uint32_t pkt = wr_pool_take(&n->pkts);
    const struct topo_end *to = &n->topo->term[m->dst * n->p.rails + m->rail];
    uint32_t bytes = (uint32_t)(m->unsent < n->p.packet_b ? m->unsent : n->p.packet_b);

    *net_pkt(n, pkt) = (struct net_pkt){
        .msg = h,
        .from = port,
        .bytes = bytes,
        .route = {.dst_router = to->router, .dst_port = to->port, .mid = ROUTE_NONE},
        .out = WR_NIL,
        .last = m->unsent == bytes,
        .t_birth = at,
        .t_tail = at,
        .part = 1u << 19, /* so that the whole way is rounded to the nearest */
    };
    m->unsent -= bytes;
    n->nic[port - n->nrouters * n->nports].backlog -= bytes;
    return pkt;
}

static uint32_t next_charge(const struct net *n, const struct net_msg *m)
{
    if (!(n->mode & NET_MODE_BYTES))
        return n->slot_b;
    uint64_t b = m->unsent < n->p.packet_b ? m->unsent : n->p.packet_b;

    return b ? (uint32_t)b : 1;
}

/* The first message of the queue is on the wire completely. */
static void finish_first(struct net *n, struct net_nic *nic)
{
    uint32_t h = net_queue_get(&n->msgs, &nic->queue);

    n->count.queued_messages--;
    if (n->client.sent)
        n->client.sent(n->client.ctx, h);
    net_msg_end(n, h, NET_MSG_SENT);
}

static void send_packet(struct net *n, struct net_port *port, struct net_nic *nic, uint32_t charge,
                        uint64_t at)
{
    struct net_msg *m = net_msg_at(n, nic->queue.head);

    if (!(m->flags & NET_MSG_STARTED)) {
        m->flags |= NET_MSG_STARTED;
        m->t_first_ps = at;
        nic->t_next = at + n->gap_ps;
    }
    port->vc_held[0] += charge;
    n->count.in_flight++;
    uint32_t h = make_packet(n, (uint32_t)(port - n->port), nic->queue.head, m, at);

    struct net_pkt *k = net_pkt(n, h);

    nic->t_last = at;
    nic->last_b = k->bytes;
    /* What routings cannot always foresee they do not at the first router. */
    link_transmit(n, port, at > n->sim->now ? n->ahead_belt : n->cls[port->cls].belt, h, k, at,
                  n->mode & ~(uint32_t)(NET_MODE_FORESEES | NET_MODE_PARTS | NET_MODE_SEAM));
    if (!m->unsent && !n->client.sent)
        finish_first(n, nic);
}

static void call_again(struct net *n, struct net_port *port, uint64_t t)
{
    port->port_event = true;
    sim_ride(n->sim, n->nic_belt, t, net_self_lp(n, port), sim_lane(NET_EV_NIC, 0), 0,
             (uint32_t)(port - n->port), 0);
}

/* There is no room, as far as one has heard. */
static bool hear(struct net *n, struct net_port *port, uint32_t charge, uint64_t at)
{
    if (!(n->mode & NET_MODE_PARTS))
        return false;
    net_late_hear(n, port, 0);
    link_absorb(n, port, at, n->mode & ~(uint32_t)NET_MODE_SEAM);
    return net_has_room(n, port, 0, charge);
}

/* Send what can be sent at `at`; true when what is left lacks a credit, false when there is nothing
 * left or an event will see to it. */
static bool pump_at(struct net *n, struct net_port *port, struct net_nic *nic, uint64_t at)
{
    link_absorb(n, port, at, n->mode & ~(uint32_t)NET_MODE_SEAM); /* a NIC is no seam */
    while (nic->queue.head != WR_NIL) {
        struct net_msg *m = net_msg_at(n, nic->queue.head);
        bool started = m->flags & NET_MSG_STARTED, all_out = started && !m->unsent;
        uint64_t may = started || port->t_free > nic->t_next ? port->t_free : nic->t_next;
        uint32_t charge = next_charge(n, m);

        if (!all_out && !net_has_room(n, port, 0, charge) && !hear(n, port, charge, at))
            return true;
        if (may > at) {
            if (!port->port_event)
                call_again(n, port, may);
            return false;
        }
        if (all_out)
            finish_first(n, nic);
        else
            send_packet(n, port, nic, charge, at);
    }
    return false;
}

/* Send what can be sent now, and see to it that the rest will be. A NIC that lacks a credit waits
 * for nothing else, and what it sends then is known. So when a credit is on its way the packet
 * is sent at once, for the time when the credit comes; nobody needs to be woken. (Who is told
 * nothing of a message sent counts it as such right away: that may not be early.) */
void net_nic_pump(struct net *n, uint32_t term, uint64_t at)
{
    struct net_port *port = &n->port[(uint64_t)n->nrouters * n->nports + term];
    struct net_nic *nic = &n->nic[term];

    for (;;) {
        bool lacks_credit = pump_at(n, port, nic, at);

        nic->t_pumped = at;
        port->stalled = lacks_credit;
        net_port_saturation(n, port, lacks_credit, at);
        if (lacks_credit && n->mode & NET_MODE_PARTS)
            net_late_tighten(n, port, 0);
        if (!lacks_credit || !port->ring_n)
            return;
        if (!n->client.sent)
            break;
        at = port->ring[port->ring_at] >> 8;
    }
    net_port_call_wake(n, port);
}

/* Inlined where it is called: GCC leaves out calls of functions that only prefetch. */
NET_INLINE void warm_nic(const struct net *n, const struct sim_event *e)
{
    __builtin_prefetch(&n->port[e->arg].queue);
    __builtin_prefetch(&n->nic[e->arg - n->nrouters * n->nports]);
}

/* The NIC's link has fallen idle, or the gap after its last message is over. */
void net_on_nic(void *ctx, const struct sim_event *e)
{
    struct net *n = ctx;

    __builtin_prefetch(&n->port[e[NET_MID].arg]);
    warm_nic(n, &e[NET_MID]);
    n->port[e->arg].port_event = false;
    net_nic_pump(n, e->arg - n->nrouters * n->nports, n->sim->now);
}

void net_warm_nic(const void *ctx, const struct sim_event *e)
{
    warm_nic(ctx, e);
}

void net_nic_deliver(struct net *n, uint32_t h)
{
    struct net_pkt *k = net_pkt(n, h);
    struct net_msg *m = net_msg_at(n, k->msg);
    struct net_counts *c = &n->count;
    uint32_t msg = k->msg;

    link_send_credit(n, k->from, k->route.vc, net_charge(n, k, n->mode), n->mode);
    c->packets++;
    c->bytes += k->bytes;
    c->hops += k->route.hops + 2u;
    c->in_flight--;
    *(k->route.nonminimal ? &c->nonminimal : &c->minimal) += 1;
    c->near[m->near]++;
    if (n->packet_hist)
        wr_hist_add(n->packet_hist, n->sim->now - k->t_birth);
    wr_pool_give(&n->pkts, h);
    if (--m->unarrived)
        return;
    c->messages++;
    if (n->client.arrived)
        n->client.arrived(n->client.ctx, msg);
    net_msg_end(n, msg, NET_MSG_ARRIVED);
}

static uint32_t choose_rail(struct net *n, uint32_t src, uint32_t dst)
{
    uint32_t rails = n->p.rails, first = src * rails, best = 0;

    if (n->p.rail_choice == NET_RAIL_HASH)
        return (uint32_t)((dst * UINT64_C(0x9e3779b97f4a7c15) ^ src) >> 32) % rails;
    if (n->p.rail_choice == NET_RAIL_ROUND_ROBIN)
        return n->nic[first].rail_turn++ % rails;
    for (uint32_t r = 1; r < rails; r++)
        if (n->nic[first + r].backlog < n->nic[first + best].backlog)
            best = r;
    return best;
}

uint32_t net_send(struct net *n, uint32_t src, uint32_t dst, uint64_t bytes, uint16_t app,
                  uint8_t cls, uint64_t user)
{
    uint32_t h = wr_pool_take(&n->msgs);
    struct net_msg *m = net_msg_at(n, h);
    uint32_t rail = n->p.rails > 1 ? choose_rail(n, src, dst) : 0, term = src * n->p.rails + rail;
    uint32_t from = n->port[(uint64_t)n->nrouters * n->nports + term].peer_lp,
             to = n->topo->term[dst * n->p.rails + rail].router;

    *m = (struct net_msg){
        .src = src,
        .dst = dst,
        .rail = (uint8_t)rail,
        .bytes = bytes,
        .unsent = bytes,
        .unarrived =
            bytes <= n->p.packet_b ? 1 : (uint32_t)((bytes + n->p.packet_b - 1) / n->p.packet_b),
        .t_post_ps = n->sim->now,
        .user = user,
        .app = app,
        .cls = cls,
        .near = from == to                                   ? NET_NEAR_ROUTER
                : n->topo->group[from] == n->topo->group[to] ? NET_NEAR_GROUP
                                                             : NET_NEAR_NOT,
    };
    net_queue_put(&n->msgs, &n->nic[term].queue, h);
    n->nic[term].backlog += bytes;
    n->count.queued_messages++;
    if (n->nic[term].queue.head == h)
        net_nic_pump(n, term, n->sim->now);
    return h;
}
