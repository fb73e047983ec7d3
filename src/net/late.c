/* late.c -- credits of a seam that come late, and need not have come sooner.
 *
 *    port U ==wire==> [b a waits] for the seam [queue] ==wire==> other partition
 *       <---- credit ------+                                          |
 *                          <------------ credit, given at t ----------+
 *
 * A packet that waits for a seam is admitted when a credit comes, or when it arrives, whichever is
 * later. That follows from the two times alone, so it may as well be found out afterwards, and done
 * as of that time. It is soon enough as long as nobody could have seen it:
 *
 *   the link     takes no notice of one more behind those that are queued in the channel. When they
 *                are all on their way, it must know (due)
 *   the port U   that the packet came by gets a credit of its own for it, which is seen by who
 *                finds no room there: who does hears of all credits first (net_late_hear)
 *
 * So as long as the seam's link has something to do, and nobody waits for the channel of U, a
 * partition need not stop for a credit. Otherwise credits come in time, as events (seam.c).
 *
 * Only where what is decided depends on room alone: packets are stored, queues are at the outputs,
 * and the routing looks at no loads.
 *
 * Invariants: a packet in a seam's waiting line knows since when it waits (t_tail). While a credit
 * may be late, `due` lies ahead, and neither partitions nor ports upstream are told anything.
 */
#include "link_priv.h"

enum { MOST_QUEUED = 8 }; /* of a channel's queue, that are looked at */

/* The link is busy until then with what is queued in the channel, at least. */
static uint64_t busy_until(const struct net *n, struct net_port *port, uint32_t vc)
{
    uint64_t t = port->t_free, per_byte = n->cls[port->cls].per_byte;
    uint32_t left = MOST_QUEUED;

    if (!(port->queued >> vc & 1))
        return t;
    for (uint32_t h = net_queue_of(n, port, vc)->head; h != WR_NIL && left; left--) {
        t += per_byte * net_pkt(n, h)->bytes >> 20;
        h = net_pkt(n, h)->next;
    }
    return t;
}

/* Does somebody wait for the credit that the packet brings where it came from? */
static bool is_awaited(const struct net *n, const struct net_pkt *k)
{
    return n->port[k->from].stalled >> k->route.vc & 1; /* of a stand-in, always */
}

bool net_late_may_wait(const struct net *n, struct net_port *port, uint32_t vc,
                       const struct net_pkt *k)
{
    return net_may_be_late(n) && !is_awaited(n, k) && busy_until(n, port, vc) > n->sim->now;
}

void net_late_wait(const struct net *n, struct net_pkt *k)
{
    if (net_may_be_late(n))
        k->t_tail = n->sim->now;
}

/* Not before, a credit comes that admits the nth of those that wait for a channel: each takes a
 * packet that has arrived. 0: the first one may. */
static uint64_t nth_credit(const struct net *n, const struct net_seam *s, uint32_t nth)
{
    if (n->mode & NET_MODE_BYTES)
        return 0; /* a large one gives room for several */
    for (uint32_t h = s->notes.head; h != WR_NIL && nth; nth--)
        h = ((const struct net_note *)wr_pool_at(&n->notes, h))->next;
    return nth ? net_seam_nth_ps(s, nth) : 0;
}

uint64_t net_late_due(const struct net *n, const struct net_seam *s)
{
    struct net_port *port = &n->port[s->port];
    uint64_t due = SIM_NEVER;

    if (!net_may_be_late(n))
        return 0;
    for (uint32_t m = port->stalled; m && due; m &= m - 1) {
        uint32_t vc = (uint32_t)__builtin_ctz(m), nth = 0;
        uint64_t t = busy_until(n, port, vc);

        for (uint32_t h = net_wait_of(n, port, vc)->head; h != WR_NIL && t; nth++) {
            const struct net_pkt *k = net_pkt(n, h);
            uint64_t credit = is_awaited(n, k) ? nth_credit(n, s, nth) : SIM_NEVER;

            t = credit < t ? credit : t;
            h = k->next;
        }
        due = t < due ? t : due;
    }
    return due > n->sim->now ? due : 0;
}

/* ---- a credit that was late ---- */

/* Since when the first of those waits that wait for the port; SIM_NEVER: nobody does. */
static uint64_t waits_since(const struct net *n, const struct net_port *port)
{
    uint64_t since = SIM_NEVER;

    for (uint32_t m = port->stalled; m; m &= m - 1) {
        uint64_t t = net_pkt(n, net_wait_of(n, port, (uint32_t)__builtin_ctz(m))->head)->t_tail;

        since = t < since ? t : since;
    }
    return since;
}

/* A credit that comes at `t` goes among those on their way, by its time. */
static void put_in_ring(struct net *n, struct net_port *up, uint32_t vc, uint32_t charge,
                        uint64_t t)
{
    uint64_t note = t << 8 | vc;
    uint32_t *bytes = n->ring_b ? n->ring_b + (size_t)(up - n->port) * NET_RING : NULL;
    uint32_t i = up->ring_n++;

    for (; i && up->ring[(up->ring_at + i - 1) % NET_RING] >> 8 > t; i--) {
        uint32_t to = (up->ring_at + i) % NET_RING, from = (up->ring_at + i - 1) % NET_RING;

        up->ring[to] = up->ring[from];
        if (bytes)
            bytes[to] = bytes[from];
    }
    up->ring[(up->ring_at + i) % NET_RING] = note;
    if (bytes)
        bytes[(up->ring_at + i) % NET_RING] = charge;
}

/* A credit for port `index` that was given at `given`; nobody waits for it. */
static void give(struct net *n, uint32_t index, uint32_t vc, uint32_t charge, uint64_t given)
{
    struct net_port *up = &n->port[index];
    uint64_t t = given + n->cls[up->cls].credit_ps;

    if (t <= n->sim->now) {
        *net_held(n, up, vc) -= charge;
        return;
    }
    link_absorb(n, up, n->sim->now, n->mode);
    if (up->ring_n == NET_RING) {
        sim_at(n->sim, t, net_self_lp(n, up), sim_lane(NET_EV_CREDIT, up->self_door), vc, charge,
               vc);
        n->t_spilt = t > n->t_spilt ? t : n->t_spilt;
        return;
    }
    put_in_ring(n, up, vc, charge, t);
    net_port_call_wake(n, up);
}

/* The first that waits for the channel is admitted, as of `t`, behind what the link has to do. */
static void admit(struct net *n, struct net_port *port, uint32_t vc, uint32_t charge, uint64_t t)
{
    struct net_queue *wait = net_wait_of(n, port, vc);
    uint32_t h = net_queue_get(&n->pkts, wait);
    struct net_pkt *k = net_pkt(n, h);

    net_inlet_leave(n, port, h, k);
    net_rare(n, port)->waiting -= charge;
    *net_held(n, port, vc) += charge;
    give(n, k->from, k->route.vc, charge, t);
    k->from = (uint32_t)(port - n->port);
    k->route.vc = (uint8_t)vc;
    net_queue_put(&n->pkts, net_queue_of(n, port, vc), h);
    port->queued = (uint16_t)(port->queued | 1u << vc);
    if (!port->port_event)
        net_port_at(n, port, port->t_free, h);
    if (wait->head == WR_NIL)
        port->stalled = (uint16_t)(port->stalled & ~(1u << vc));
}

/* A credit of the channel that came at `t`, which has passed, has been taken in. Until now all that
 * wait counted as waiting on: from the end of a wait, or the beginning of one that never was, until
 * the next began, nobody lacked a credit. */
void net_late_serve(struct net *n, struct net_port *port, uint32_t vc, uint64_t t)
{
    uint64_t end = t;

    while (port->stalled >> vc & 1) {
        const struct net_pkt *k = net_pkt(n, net_wait_of(n, port, vc)->head);
        uint32_t charge = net_charge(n, k, n->mode);
        uint64_t first = waits_since(n, port);

        if (!net_has_room(n, port, vc, charge))
            break;
        end = first > t ? first : t;
        admit(n, port, vc, charge, k->t_tail > t ? k->t_tail : t);
        uint64_t next = waits_since(n, port);

        if (next == SIM_NEVER)
            net_port_saturation(n, port, false, end);
        else if (next > end)
            net_rare(n, port)->saturated_ps += end - next;
    }
    net_seam_stalled(n, port, end);
}

/* ---- who finds no room upstream ---- */

/* Does a packet that came by channel `vc` of port `from` wait for the port? */
static bool holds_up(const struct net *n, const struct net_port *port, uint32_t from, uint32_t vc)
{
    for (uint32_t m = port->stalled; m; m &= m - 1)
        for (uint32_t h = net_wait_of(n, port, (uint32_t)__builtin_ctz(m))->head; h != WR_NIL;) {
            const struct net_pkt *k = net_pkt(n, h);

            if (k->from == from && k->route.vc == vc)
                return true;
            h = k->next;
        }
    return false;
}

static void each_seam(struct net *n, const struct net_port *up, uint32_t vc,
                      void (*fn)(struct net *n, struct net_port *port))
{
    uint32_t from = (uint32_t)(up - n->port);

    if (!net_may_be_late(n) || !n->blocked[from * n->nvcs + vc].seams)
        return;
    struct net_port *port = &n->port[(size_t)up->peer_lp * n->nports];

    for (uint32_t p = 0; p < n->nports; p++)
        if (port[p].seam && port[p].stalled && holds_up(n, &port[p], from, vc))
            fn(n, &port[p]);
}

static void hear(struct net *n, struct net_port *port)
{
    (void)net_seam_ask(n, port);
}

/* Nobody has found room in the channel: hear of all credits that what came by it and waits for
 * seams could have got by now. */
void net_late_hear(struct net *n, const struct net_port *up, uint32_t vc)
{
    each_seam(n, up, vc, hear);
}

/* Somebody waits for the channel from now on: its credits must come in time. */
void net_late_tighten(struct net *n, const struct net_port *up, uint32_t vc)
{
    each_seam(n, up, vc, net_seam_due);
}
