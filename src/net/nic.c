/* nic.c -- segmentation of messages into packets, and their reassembly.
 *
 * A NIC sends its messages first come, first served, their starts at least gap_ps apart. A packet
 * is made when the link is idle and its channel has credit, so a long message has one packet at a
 * time in the NIC. Called by net.h's clients (net_send), router.c and port.c.
 *
 * Invariant: nic.backlog is the sum of `unsent` over the messages in nic.queue.
 */
#include "link_priv.h"

static uint32_t nic_make_packet(struct net *n, uint32_t port, uint32_t h, struct net_msg *m,
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
        .frac = 1u << 19, /* half a picosecond: the latency of the path is rounded to nearest */
    };
    m->unsent -= bytes;
    n->nic[port - n->nrouters * n->nports].backlog -= bytes;
    return pkt;
}

static uint32_t nic_next_charge(const struct net *n, const struct net_msg *m)
{
    if (!(n->mode & NET_MODE_BYTES))
        return n->slot_b;
    uint64_t b = m->unsent < n->p.packet_b ? m->unsent : n->p.packet_b;

    return b ? (uint32_t)b : 1;
}

/* All packets of the queue's first message have been sent. */
static void nic_finish_message(struct net *n, struct net_nic *nic)
{
    uint32_t h = net_queue_get(&n->msgs, &nic->queue);

    n->count.queued_messages--;
    if (n->client.sent)
        n->client.sent(n->client.ctx, h);
    net_msg_end(n, h, NET_MSG_SENT);
}

static void nic_send_packet(struct net *n, struct net_port *port, struct net_nic *nic,
                            uint32_t charge, uint64_t at)
{
    struct net_msg *m = net_msg_at(n, nic->queue.head);

    if (!(m->flags & NET_MSG_STARTED)) {
        m->flags |= NET_MSG_STARTED;
        m->t_first_ps = at;
        nic->t_next = at + n->gap_ps;
    }
    port->vc_occupancy[0] += charge;
    n->count.in_flight++;
    uint32_t h = nic_make_packet(n, (uint32_t)(port - n->port), nic->queue.head, m, at);

    struct net_pkt *k = net_pkt(n, h);

    nic->t_last = at;
    nic->last_b = k->bytes;
    /* Routings that choose early only at times never do so at the first router. */
    link_transmit(n, port, at > n->sim->now ? n->ahead_fifo : n->cls[port->cls].fifo, h, k, at,
                  n->mode & ~(uint32_t)NET_MODE_MAYBE_EARLY);
    if (!m->unsent && !n->client.sent)
        nic_finish_message(n, nic);
}

static void nic_call_at(struct net *n, struct net_port *port, uint64_t t)
{
    port->port_event = true;
    sim_enqueue(n->sim, n->nic_fifo, t, net_self_lp(n, port), sim_subkey(NET_EV_NIC, 0), 0,
                (uint32_t)(port - n->port), 0);
}

/* Sends the packets that can be sent at `at`; true when the next one lacks a credit, false when
 * nothing is left or an event will continue. */
static bool nic_pump_at(struct net *n, struct net_port *port, struct net_nic *nic, uint64_t at)
{
    link_absorb(n, port, at, n->mode);
    while (nic->queue.head != WR_NIL) {
        struct net_msg *m = net_msg_at(n, nic->queue.head);
        bool started = m->flags & NET_MSG_STARTED, all_out = started && !m->unsent;
        uint64_t may = started || port->t_free > nic->t_next ? port->t_free : nic->t_next;
        uint32_t charge = nic_next_charge(n, m);

        if (!all_out && !net_has_credit(n, port, 0, charge))
            return true;
        if (may > at) {
            if (!port->port_event)
                nic_call_at(n, port, may);
            return false;
        }
        if (all_out)
            nic_finish_message(n, nic);
        else
            nic_send_packet(n, port, nic, charge, at);
    }
    return false;
}

/* Sends the packets that can be sent at `at`, and schedules the rest. A NIC that lacks a credit
 * waits for nothing else, and the packet it sends then is known. So when a credit is in flight, the
 * packet is sent at once, with the time when the credit returns: no wake-up event is needed. (Not
 * without client.sent: then a message counts as sent immediately, which must not be early.) */
void net_nic_pump(struct net *n, uint32_t term, uint64_t at)
{
    struct net_port *port = &n->port[(uint64_t)n->nrouters * n->nports + term];
    struct net_nic *nic = &n->nic[term];

    for (;;) {
        bool lacks_credit = nic_pump_at(n, port, nic, at);

        nic->t_pumped = at;
        port->stalled = lacks_credit;
        net_port_saturation(n, port, lacks_credit, at);
        if (!lacks_credit || !port->ring_n)
            return;
        if (!n->client.sent)
            break;
        at = port->ring[port->ring_at] >> 8;
    }
    net_port_call_wake(n, port);
}

/* Inlined: GCC removes calls of functions that only prefetch. */
NET_INLINE void nic_prefetch(const struct net *n, const struct sim_event *e)
{
    __builtin_prefetch(&n->port[e->arg].queue);
    __builtin_prefetch(&n->nic[e->arg - n->nrouters * n->nports]);
}

/* Handler of NET_EV_NIC: the link has become idle, or the gap after the last message is over. */
void net_on_nic(void *ctx, const struct sim_event *e)
{
    struct net *n = ctx;

    __builtin_prefetch(&n->port[e[NET_AHEAD_MID].arg]);
    nic_prefetch(n, &e[NET_AHEAD_MID]);
    n->port[e->arg].port_event = false;
    net_nic_pump(n, e->arg - n->nrouters * n->nports, n->sim->now);
}

void net_prefetch_nic(const void *ctx, const struct sim_event *e)
{
    nic_prefetch(ctx, e);
}

void net_nic_deliver(struct net *n, uint32_t h)
{
    struct net_pkt *k = net_pkt(n, h);
    struct net_msg *m = net_msg_at(n, k->msg);
    struct net_counts *c = &n->count;
    uint32_t msg = k->msg;

    wr_check(m->unarrived);
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

static uint32_t nic_choose_rail(struct net *n, uint32_t src, uint32_t dst)
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
    wr_check(src < n->nodes && dst < n->nodes);
    uint32_t h = wr_pool_take(&n->msgs);
    struct net_msg *m = net_msg_at(n, h);
    uint32_t rail = n->p.rails > 1 ? nic_choose_rail(n, src, dst) : 0,
             term = src * n->p.rails + rail;
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
