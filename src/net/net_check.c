/* net_check.c -- verifies the invariants of net_priv.h between two events.
 *
 * Walks all places where a packet, a credit or an event of the network can be, counts what it
 * finds, and compares that with the state of the ports:
 *
 *   places of a packet                       charged to
 *     queue of a channel                       that channel
 *     arrival event, waiting line, input line  the channel it came through
 *   places of a credit
 *     ring of a port, credit event             the channel it gives back to
 *
 * It allocates, and takes time in proportion to the machine: it is called between two calls of
 * sim_run (WEIR_CHECK builds, tests), not in a handler. Its findings are our bugs (WR_BUG).
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "net_priv.h"

/* A packet on the wire: its arrival, port and number. */
struct check_arrival {
    uint64_t t;
    uint32_t port, seq;
};

struct net_check {
    const struct net *n; /* the partition that is being walked */
    struct wr_err *err;
    bool ok;
    uint64_t *occupancy;  /* [total_vcs] charges found */
    uint32_t *requested;  /* [total_vcs] packets found waiting at an output that came through it */
    uint8_t *seen;        /* [packets] places it was found in */
    uint32_t *of_msg;     /* [messages] packets found */
    uint8_t *port_events; /* [total_ports] found */
    uint8_t *wake_events; /* [total_ports] found */
    uint32_t *on_wire;    /* [total_ports] arrival events found */
    bool *wakes_now;      /* [total_ports] a wake-up is scheduled for now */
    uint8_t *in_events;   /* [total_vcs] found */
    uint8_t *out_events;  /* [total_vcs] found */
    uint64_t packets, queued_messages; /* found */
    WR_VEC(struct check_arrival) wire;
};

#define BAD(c, ...) ((c)->ok = (c)->ok && wr_fail((c)->err, WR_BUG, __VA_ARGS__))

/* "router 3 port 2" for a message; the text lives until the next call. */
static const char *net_check_port_name(const struct net *n, uint32_t port, char name[64])
{
    uint32_t routers = n->nrouters * n->nports;

    if (port < routers)
        snprintf(name, 64, "router %u port %u", port / n->nports, port % n->nports);
    else
        snprintf(name, 64, "the NIC of terminal %u", port - routers);
    return name;
}

#define NAME(c, port) net_check_port_name((c)->n, port, (char[64]){0})

static uint32_t net_check_partitions(const struct net *n)
{
    return n->npartitions ? n->npartitions : 1;
}

static const struct net *net_check_partition_at(const struct net *n, uint32_t i)
{
    return n->npartitions ? n->all[i] : n;
}

static uint32_t net_check_handles(const struct net *n, bool msg)
{
    return msg ? n->msgs.fresh : n->pkts.fresh;
}

/* The index of a handle over all partitions, each of which has handles of its own. */
static uint32_t net_check_slot(const struct net *n, uint32_t h, bool msg)
{
    uint32_t before = 0;

    for (uint32_t i = 0; i < n->me; i++)
        before += net_check_handles(n->all[i], msg);
    return before + h;
}

static uint32_t net_check_slots(const struct net *n, bool msg)
{
    uint32_t sum = 0;

    for (uint32_t i = 0; i < net_check_partitions(n); i++)
        sum += net_check_handles(net_check_partition_at(n, i), msg);
    return sum;
}

/* A packet was found in one place. */
static void net_check_count_packet(struct net_check *c, uint32_t h, uint32_t from)
{
    const struct net *n = c->n;

    if (h >= n->pkts.fresh) {
        BAD(c, "there is no packet %u", h);
        return;
    }
    const struct net_pkt *k = net_pkt(n, h);

    if (c->seen[net_check_slot(n, h, false)]++)
        BAD(c, "packet %u is in two places", h);
    c->packets++;
    if (from >= n->total_ports || k->route.vc >= n->port[from].nvcs || k->msg >= n->msgs.fresh) {
        BAD(c, "packet %u came through no channel of the machine", h);
        return;
    }
    c->occupancy[from * n->nvcs + k->route.vc] += net_charge(n, k, n->mode);
    c->of_msg[net_check_slot(n, k->msg, true)]++;
}

static uint32_t net_check_port_index(const struct net *n, const struct sim_event *e)
{
    if (sim_dst(e) >= n->nrouters)
        return n->nrouters * n->nports + (sim_dst(e) - n->nrouters);
    return sim_dst(e) * n->nports + sim_in_port(e);
}

static void net_check_count_arrival(struct net_check *c, const struct sim_event *e)
{
    const struct net *n = c->n;

    uint32_t from = e->arg < n->pkts.fresh ? net_from(n, net_pkt(n, e->arg)) : 0;

    net_check_count_packet(c, e->arg, from);
    if (!c->ok)
        return;

    if (n->port[from].peer_lp != sim_dst(e) || n->port[from].peer_in_port != sim_in_port(e))
        BAD(c, "packet %u left through %s and arrives elsewhere", e->arg, NAME(c, from));
    c->on_wire[from]++;
    wr_vec_push(&c->wire, (struct check_arrival){e->t, from, e->seq});
}

static void net_check_count_event(void *ctx, const struct sim_event *e)
{
    struct net_check *c = ctx;
    const struct net *n = c->n;

    if (e->t < n->sim->now)
        BAD(c, "an event at %llu ps is in the past", (unsigned long long)e->t);
    switch (sim_kind(e)) {
    case NET_EV_CREDIT:
        c->occupancy[net_check_port_index(n, e) * n->nvcs + e->arg2] += e->arg;
        break;
    case NET_EV_WAKE:
        c->wake_events[net_check_port_index(n, e)]++;
        c->wakes_now[net_check_port_index(n, e)] |= e->t == n->sim->now;
        break;
    case NET_EV_PORT:
    case NET_EV_NIC:
        c->port_events[net_check_port_index(n, e)]++;
        break;
    case NET_EV_SWITCH:
        if (e->arg == WR_NIL)
            c->out_events[net_check_port_index(n, e) * n->nvcs + e->arg2]++;
        else
            c->in_events[e->arg * n->nvcs + e->arg2]++;
        break;
    case NET_EV_ARRIVE:
        net_check_count_arrival(c, e);
        break;
    default:
        break;
    }
}

/* Counts the packets of a queue; returns the sum of their charges. A loop is found as a packet in
 * two places, and ends the walk. */
static uint64_t net_check_walk_queue(struct net_check *c, const struct net_queue *q, bool waits)
{
    uint64_t sum = 0;

    for (uint32_t h = q->head; h != WR_NIL && c->ok; h = net_pkt(c->n, h)->next) {
        const struct net_pkt *k = net_pkt(c->n, h);

        net_check_count_packet(c, h, h < c->n->pkts.fresh ? net_from(c->n, k) : 0);
        if (!c->ok)
            break;

        sum += net_charge(c->n, k, c->n->mode);
        if (waits)
            c->requested[net_from(c->n, k) * c->n->nvcs + k->route.vc]++;
        if (k->next == WR_NIL && q->tail != h)
            BAD(c, "a queue ends with packet %u and its tail is %u", h, q->tail);
    }
    return sum;
}

/* Credits in the ring: in the order of their times, each of a channel of the port. */
static void net_check_walk_ring(struct net_check *c, uint32_t index)
{
    const struct net *n = c->n;
    const struct net_port *p = &n->port[index];
    uint64_t before = 0;

    for (uint32_t i = 0; i < p->ring_n; i++) {
        uint32_t at = (p->ring_at + i) % NET_RING, vc = net_credit_vc(p->ring[at]);

        if (vc >= p->nvcs || p->ring[at] >> 8 < before) {
            BAD(c, "%s: the credits in flight are out of order", NAME(c, index));
            return;
        }
        before = p->ring[at] >> 8;
        c->occupancy[net_vc0(n, p) + vc] += net_credit_b(n, p, at, n->mode);
    }
}

/* Queues and waiting lines of a router's port; does a waiting packet lack a credit? */
static bool net_check_walk_channels(struct net_check *c, uint32_t index)
{
    const struct net *n = c->n;
    struct net_port *p = &n->port[index];
    uint64_t waiting = 0;
    bool lacks = false;

    for (uint32_t v = 0; v < p->nvcs && c->ok; v++) {
        const struct net_queue *queue = net_queue_of(n, p, v), *wait = net_wait_of(n, p, v);

        for (uint32_t h = queue->head; h != WR_NIL && c->ok; h = net_pkt(n, h)->next)
            if (net_pkt(n, h)->from != index || net_pkt(n, h)->route.vc != v)
                BAD(c, "%s: packet %u is queued and charged elsewhere", NAME(c, index), h);
        net_check_walk_queue(c, queue, false);
        waiting += net_check_walk_queue(c, wait, true);
        if ((queue->head != WR_NIL) != (p->queued >> v & 1) ||
            (wait->head != WR_NIL) != (p->stalled >> v & 1))
            BAD(c, "%s: channel %u has packets and its bit is not set, or the reverse",
                NAME(c, index), v);
        if (c->ok && wait->head != WR_NIL)
            lacks |= !net_has_credit(n, p, v, net_charge(n, net_pkt(n, wait->head), n->mode));
        if (n->line) {
            c->n = n->npartitions && p->peer_lp < n->nrouters ? n->all[n->partition_of[p->peer_lp]]
                                                              : n;
            net_check_walk_queue(c, &n->line[net_vc0(n, p) + v].in, false);
            c->n = n;
        }
    }
    for (uint32_t h = p->wired ? p->wire : WR_NIL; h != WR_NIL && c->ok; h = net_pkt(n, h)->next) {
        const struct net_pkt *k = net_pkt(n, h);

        net_check_count_packet(c, h, index);
        uint32_t last = (uint32_t)p->packets, behind = (last - k->from) & ~NET_WIRED;

        wr_vec_push(&c->wire, (struct check_arrival){k->t_tail, index, last - behind});
    }
    if (waiting != net_cold(n, p)->waiting)
        BAD(c, "%s: %llu B wait and %llu B are counted", NAME(c, index),
            (unsigned long long)waiting, (unsigned long long)net_cold(n, p)->waiting);
    return lacks;
}

/* The messages of a NIC; the bytes not yet in packets are its backlog. */
static void net_check_walk_nic(struct net_check *c, uint32_t term)
{
    const struct net *n = c->n;
    uint64_t unsent = 0;

    for (uint32_t h = n->nic[term].queue.head; h != WR_NIL && c->ok;) {
        const struct net_msg *m = net_msg_at(n, h);

        unsent += m->unsent;
        if (c->queued_messages++ > net_check_slots(n, true))
            BAD(c, "the queue of terminal %u has a loop", term);
        /* Packets that are not made yet, which no walk finds. */
        c->of_msg[net_check_slot(n, h, true)] +=
            (uint32_t)((m->unsent + n->p.packet_b - 1) / n->p.packet_b);
        h = m->next;
    }
    if (unsent != n->nic[term].backlog)
        BAD(c, "terminal %u: %llu B are not sent and its backlog is %llu B", term,
            (unsigned long long)unsent, (unsigned long long)n->nic[term].backlog);
    if (n->line)
        net_check_walk_queue(c, &n->line[(n->nrouters * n->nports + term) * n->nvcs].in, false);
}

/* Invariants 1 and 2. */
static void net_check_occupancy(struct net_check *c, uint32_t index)
{
    const struct net *n = c->n;
    struct net_port *p = &n->port[index];

    for (uint32_t v = 0; v < p->nvcs; v++) {
        uint32_t held = *net_occupancy(n, p, v);

        if (held != c->occupancy[net_vc0(n, p) + v])
            BAD(c, "%s channel %u: %llu B are charged to it and its occupancy is %u B",
                NAME(c, index), v, (unsigned long long)c->occupancy[net_vc0(n, p) + v], held);
        if (held > n->cls[p->cls].capacity)
            BAD(c, "%s channel %u: occupancy %u B exceeds its capacity %u B", NAME(c, index), v,
                held, n->cls[p->cls].capacity);
    }
}

/* Invariant 6, and that `saturated` is set exactly while a packet lacks a credit. */
static void net_check_events(struct net_check *c, uint32_t index, bool lacks)
{
    const struct net *n = c->n;
    struct net_port *p = &n->port[index];

    bool by_event = !p->boundary || n->mode & NET_MODE_CUT;

    if (c->port_events[index] != (by_event && p->port_event) ||
        c->wake_events[index] != p->wake_event)
        BAD(c, "%s: %u port and %u wake-up events, and its flags are %d and %d", NAME(c, index),
            c->port_events[index], c->wake_events[index], p->port_event, p->wake_event);
    if ((p->queued || p->wired) && !p->port_event && !c->on_wire[index])
        BAD(c, "%s: a packet is queued and no event will send it", NAME(c, index));
    if (p->stalled && p->ring_n && !p->wake_event)
        BAD(c, "%s: a credit is in flight, packets wait, and there is no wake-up", NAME(c, index));
    if (lacks && !net_occupancy_all(n, p))
        BAD(c, "%s: a packet waits for a credit and none is outstanding", NAME(c, index));
    /* Reading a port's load applies its credits; waiting packets are served by the wake-up of the
     * same time. */
    if (p->saturated != lacks && !c->wakes_now[index])
        BAD(c, "%s: saturated is %d and lacking a credit is %d", NAME(c, index), p->saturated,
            lacks);
}

/* Input queueing: one packet of a line has requested its output, the others are behind it. */
static void net_check_line(struct net_check *c, uint32_t index, uint32_t v)
{
    const struct net *n = c->n;
    uint32_t vc = index * n->nvcs + v;
    const struct net_line *l = &n->line[vc];

    if (c->requested[vc] != l->requested)
        BAD(c, "%s channel %u: %u packets request their output at once", NAME(c, index), v,
            c->requested[vc]);
    if (c->in_events[vc] != l->in_event || c->out_events[vc] != l->out_event)
        BAD(c, "%s channel %u: its switch has lost or doubled an event", NAME(c, index), v);
    if (l->in.head != WR_NIL && !l->requested && !l->in_event)
        BAD(c, "%s channel %u: packets are in the line and no event serves the first",
            NAME(c, index), v);
}

static int net_check_by_port_and_seq(const void *a, const void *b)
{
    const struct check_arrival *x = a, *y = b;

    if (x->port != y->port)
        return x->port < y->port ? -1 : 1;
    return (int32_t)(x->seq - y->seq);
}

/* Invariant 3 on the wire: what left first arrives first. */
static void net_check_wire(struct net_check *c)
{
    if (c->wire.n)
        qsort(c->wire.v, c->wire.n, sizeof *c->wire.v, net_check_by_port_and_seq);
    for (size_t i = 1; i < c->wire.n; i++) {
        const struct check_arrival *a = &c->wire.v[i - 1], *b = &c->wire.v[i];

        if (a->port == b->port && (a->t > b->t || a->seq == b->seq))
            BAD(c, "%s: packets overtake each other on the wire", NAME(c, a->port));
    }
}

/* Packets of a message may be in other partitions than its record; here are at most as many as the
 * record counts. */
static void net_check_messages(struct net_check *c, const struct net *n)
{
    for (uint32_t h = 0; h < n->pkts.fresh && c->ok; h++) {
        if (!c->seen[net_check_slot(n, h, false)])
            continue;
        uint32_t msg = net_pkt(n, h)->msg, waits = net_msg_at(n, msg)->unarrived,
                 here = c->of_msg[net_check_slot(n, msg, true)];

        if (n->npartitions ? here > waits : here != waits)
            BAD(c, "message %u waits for %u packets and %u are in flight", msg, waits, here);
    }
}

/* Invariant 4: no packet and no message is lost. */
static void net_check_packets(struct net_check *c)
{
    const struct net *n = c->n;

    uint64_t in_flight = 0, queued = 0;
    uint32_t used = 0;

    for (uint32_t i = 0; i < net_check_partitions(n); i++) {
        in_flight += net_check_partition_at(n, i)->count.in_flight;
        queued += net_check_partition_at(n, i)->count.queued_messages;
        used += net_check_partition_at(n, i)->pkts.used;
    }
    if (c->packets != used || c->packets != in_flight)
        BAD(c, "%llu packets were found, %u exist and %llu are in flight",
            (unsigned long long)c->packets, used, (unsigned long long)in_flight);
    if (c->queued_messages != queued)
        BAD(c, "%llu messages are queued and %llu are counted",
            (unsigned long long)c->queued_messages, (unsigned long long)queued);
    for (uint32_t i = 0; i < net_check_partitions(n); i++)
        net_check_messages(c, net_check_partition_at(n, i));
}

static void net_check_all(struct net_check *c)
{
    const struct net *n = c->n;
    bool *lacks = wr_zalloc(n->total_ports, sizeof *lacks);
    uint32_t routers = n->nrouters * n->nports;

    for (uint32_t i = 0; i < net_check_partitions(n); i++) {
        c->n = net_check_partition_at(n, i);
        sim_each(c->n->sim, net_check_count_event, c);
    }
    for (uint32_t i = 0; i < n->total_ports && c->ok; i++) {
        c->n = net_of_port(n, i);
        net_check_walk_ring(c, i);
        if (i < routers)
            lacks[i] = net_check_walk_channels(c, i);
        else {
            net_check_walk_nic(c, i - routers);
            lacks[i] = n->port[i].stalled;
        }
    }
    c->n = n;
    for (uint32_t i = 0; i < n->total_ports && c->ok; i++) {
        net_check_occupancy(c, i);
        net_check_events(c, i, lacks[i]);
        for (uint32_t v = 0; n->line && v < n->port[i].nvcs && c->ok; v++)
            net_check_line(c, i, v);
    }
    net_check_wire(c);
    net_check_packets(c);
    free(lacks);
}

bool net_check(const struct net *n, struct wr_err *err)
{
    struct net_check c = {.n = n, .err = err, .ok = true};

    c.occupancy = wr_zalloc(n->total_vcs, sizeof *c.occupancy);
    c.requested = wr_zalloc(n->total_vcs, sizeof *c.requested);
    c.in_events = wr_zalloc(n->total_vcs, 1);
    c.out_events = wr_zalloc(n->total_vcs, 1);
    c.port_events = wr_zalloc(n->total_ports, 1);
    c.wake_events = wr_zalloc(n->total_ports, 1);
    c.on_wire = wr_zalloc(n->total_ports, sizeof *c.on_wire);
    c.wakes_now = wr_zalloc(n->total_ports, sizeof *c.wakes_now);
    c.seen = wr_zalloc(net_check_slots(n, false) + 1, 1);
    c.of_msg = wr_zalloc(net_check_slots(n, true) + 1, sizeof *c.of_msg);
    net_check_all(&c);
    free(c.occupancy);
    free(c.requested);
    free(c.in_events);
    free(c.out_events);
    free(c.port_events);
    free(c.wake_events);
    free(c.on_wire);
    free(c.wakes_now);
    free(c.seen);
    free(c.of_msg);
    wr_vec_fini(&c.wire);
    return c.ok || wr_wrap(err, "the network at %llu ps", (unsigned long long)n->sim->now);
}
