/* check.c -- do the invariants of net_priv.h hold right now?
 *
 * Between two events everything is somewhere. This walks all the places where a
 * packet, a credit or an event of the network can be, counts what it finds, and
 * compares with what the ports believe:
 *
 *   places of a packet                       charged to
 *     queue of a channel                       that channel
 *     arrival event, waiting line, input line  the channel it came through
 *   places of a credit
 *     ring of a port, credit event             the channel it gives back to
 *
 * It allocates and takes time in proportion to the machine, so it belongs between
 * two calls of sim_run, not into a handler.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "net_priv.h"

/* A packet on the wire. */
struct sight {
    uint64_t t;
    uint32_t port, seq;
};

struct census {
    const struct net *n; /* the partition that is looked at */
    struct wr_err *err;
    bool ok;
    uint64_t *held;       /* [total_vcs] charges found */
    uint32_t *asked;      /* [total_vcs] found waiting at an output, having come through it */
    uint8_t *seen;        /* [packets] places it was found in */
    uint32_t *of_msg;     /* [messages] packets found */
    uint8_t *port_events; /* [total_ports] */
    uint8_t *wake_events; /* [total_ports] */
    uint32_t *on_wire;    /* [total_ports] arrival events */
    bool *wakes_now;      /* [total_ports] a wake-up is due at this very time */
    uint8_t *in_events;   /* [total_vcs] */
    uint8_t *out_events;  /* [total_vcs] */
    uint64_t packets, queued_messages;
    WR_VEC(struct sight) wire;
};

#define BAD(c, ...) ((c)->ok = (c)->ok && wr_fail((c)->err, WR_BUG, __VA_ARGS__))

/* "router 3 port 2" for a message; the text lives until the next call. */
static const char *port_name(const struct net *n, uint32_t port, char name[64])
{
    uint32_t routers = n->nrouters * n->nports;

    if (port < routers)
        snprintf(name, 64, "router %u port %u", port / n->nports, port % n->nports);
    else
        snprintf(name, 64, "the NIC of terminal %u", port - routers);
    return name;
}

#define NAME(c, port) port_name((c)->n, port, (char[64]){0})

static uint32_t parts_of(const struct net *n)
{
    return n->parts ? n->parts : 1;
}

static const struct net *part_at(const struct net *n, uint32_t i)
{
    return n->parts ? n->all[i] : n;
}

static uint32_t used_up(const struct net *n, bool msg)
{
    return msg ? n->msgs.fresh : n->pkts.fresh;
}

/* Partitions have handles of their own: here they are numbered through. */
static uint32_t place(const struct net *n, uint32_t h, bool msg)
{
    uint32_t before = 0;

    for (uint32_t i = 0; i < n->me; i++)
        before += used_up(n->all[i], msg);
    return before + h;
}

static uint32_t places(const struct net *n, bool msg)
{
    uint32_t sum = 0;

    for (uint32_t i = 0; i < parts_of(n); i++)
        sum += used_up(part_at(n, i), msg);
    return sum;
}

/* A packet was found in one of its places. */
static void found(struct census *c, uint32_t h)
{
    const struct net *n = c->n;

    if (h >= n->pkts.fresh) {
        BAD(c, "there is no packet %u", h);
        return;
    }
    const struct net_pkt *k = net_pkt(n, h);
    uint32_t from = net_from(n, k, n->mode);

    if (c->seen[place(n, h, false)]++)
        BAD(c, "packet %u is in two places", h);
    c->packets++;
    if (from >= n->total_ports || k->route.vc >= n->port[from].nvcs || k->msg >= n->msgs.fresh) {
        BAD(c, "packet %u came through no channel of the machine", h);
        return;
    }
    if (!net_is_paid(n, k->from)) /* or its credit is among those on their way */
        c->held[from * n->nvcs + k->route.vc] += net_charge(n, k, n->mode);
    c->of_msg[place(n, k->msg, true)]++;
}

static uint32_t port_index(const struct net *n, const struct sim_event *e)
{
    if (sim_dst(e) >= n->nrouters)
        return n->nrouters * n->nports + (sim_dst(e) - n->nrouters);
    return sim_dst(e) * n->nports + sim_door(e);
}

static void see_arrival(struct census *c, const struct sim_event *e)
{
    const struct net *n = c->n;

    found(c, e->arg);
    if (!c->ok)
        return;
    uint32_t from = net_from(n, net_pkt(n, e->arg), n->mode);

    if (n->port[from].peer_lp != sim_dst(e) || n->port[from].peer_door != sim_door(e))
        BAD(c, "packet %u left through %s and arrives elsewhere", e->arg, NAME(c, from));
    c->on_wire[from]++;
    wr_vec_push(&c->wire, (struct sight){e->t, from, e->seq});
}

static void see_event(void *ctx, const struct sim_event *e)
{
    struct census *c = ctx;
    const struct net *n = c->n;

    if (e->t < n->sim->now)
        BAD(c, "an event at %llu ps is in the past", (unsigned long long)e->t);
    switch (sim_kind(e)) {
    case NET_EV_CREDIT:
        c->held[port_index(n, e) * n->nvcs + e->arg2] += e->arg;
        break;
    case NET_EV_WAKE:
        c->wake_events[port_index(n, e)]++;
        c->wakes_now[port_index(n, e)] |= e->t == n->sim->now;
        break;
    case NET_EV_PORT:
    case NET_EV_NIC:
        c->port_events[port_index(n, e)]++;
        break;
    case NET_EV_SWITCH:
        if (e->arg == WR_NIL)
            c->out_events[port_index(n, e) * n->nvcs + e->arg2]++;
        else
            c->in_events[e->arg * n->nvcs + e->arg2]++;
        break;
    case NET_EV_ARRIVE:
        see_arrival(c, e);
        break;
    default:
        break;
    }
}

/* The packets of a queue, their charges added up. A loop shows as a packet in
 * two places and ends the walk. */
static uint64_t walk(struct census *c, const struct net_queue *q, bool waits)
{
    uint64_t sum = 0;

    for (uint32_t h = q->head; h != WR_NIL && c->ok; h = net_pkt(c->n, h)->next) {
        found(c, h);
        if (!c->ok)
            break;
        const struct net_pkt *k = net_pkt(c->n, h);

        sum += net_charge(c->n, k, c->n->mode);
        if (waits)
            c->asked[net_from(c->n, k, c->n->mode) * c->n->nvcs + k->route.vc]++;
        if (k->next == WR_NIL && q->tail != h)
            BAD(c, "a queue ends with packet %u and thinks it ends with %u", h, q->tail);
    }
    return sum;
}

/* Credits in the ring: in the order of their times, each of an own channel. */
static void walk_ring(struct census *c, uint32_t index)
{
    const struct net *n = c->n;
    const struct net_port *p = &n->port[index];
    uint64_t before = 0;

    for (uint32_t i = 0; i < p->ring_n; i++) {
        uint32_t at = (p->ring_at + i) % NET_RING, vc = p->ring[at] & 0xff;

        if (vc >= p->nvcs || p->ring[at] >> 8 < before) {
            BAD(c, "%s: the credits on their way are out of order", NAME(c, index));
            return;
        }
        before = p->ring[at] >> 8;
        c->held[net_vc0(n, p) + vc] +=
            n->mode & NET_MODE_BYTES ? n->ring_b[(size_t)index * NET_RING + at] : n->slot_b;
    }
}

/* The same of a seam, where there is no ring. */
static void walk_notes(struct census *c, uint32_t index)
{
    const struct net_port *p = &c->n->port[index];
    const struct net *n = c->n->all[c->n->part_of[index / c->n->nports]];
    const struct net_seam *s = &n->seam[p->wire];

    for (uint32_t h = s->notes.head; h != WR_NIL;) {
        const struct net_note *note = wr_pool_at(&n->notes, h);

        c->held[net_vc0(n, p) + note->vc] += note->charge;
        h = note->next;
    }
    if (p->stalled && s->notes.head != WR_NIL && !p->wake_event)
        BAD(c, "%s: a credit comes over the seam and nobody will wake up", NAME(c, index));
    if (s->stalled != (p->stalled != 0))
        BAD(c, "%s: somebody waits and its partition does not know, or nobody", NAME(c, index));
}

/* Queues and waiting lines of a router's port; does somebody lack a credit? */
static bool walk_channels(struct census *c, uint32_t index)
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
        walk(c, queue, false);
        waiting += walk(c, wait, true);
        if ((queue->head != WR_NIL) != (p->queued >> v & 1) ||
            (wait->head != WR_NIL) != (p->stalled >> v & 1))
            BAD(c, "%s: channel %u has packets and nobody knows, or none", NAME(c, index), v);
        if (c->ok && wait->head != WR_NIL)
            lacks |= !net_has_room(n, p, v, net_charge(n, net_pkt(n, wait->head), n->mode));
        if (n->line) {
            c->n = n->parts && p->peer_lp < n->nrouters ? n->all[n->part_of[p->peer_lp]] : n;
            walk(c, &n->line[net_vc0(n, p) + v].in, false);
            c->n = n;
        }
    }
    for (uint32_t h = p->wired ? p->wire : WR_NIL; h != WR_NIL && c->ok; h = net_pkt(n, h)->next) {
        const struct net_pkt *k = net_pkt(n, h);

        found(c, h);
        wr_vec_push(&c->wire, (struct sight){k->t_tail, index, k->tail_part});
    }
    if (waiting != net_rare(n, p)->waiting)
        BAD(c, "%s: %llu B wait and %llu B are on its account", NAME(c, index),
            (unsigned long long)waiting, (unsigned long long)net_rare(n, p)->waiting);
    return lacks;
}

/* The messages of a NIC; what is not yet in packets is its backlog. */
static void walk_nic(struct census *c, uint32_t term)
{
    const struct net *n = c->n;
    uint64_t unsent = 0;

    for (uint32_t h = n->nic[term].queue.head; h != WR_NIL && c->ok;) {
        const struct net_msg *m = net_msg_at(n, h);

        unsent += m->unsent;
        if (c->queued_messages++ > places(n, true))
            BAD(c, "the queue of terminal %u has a loop", term);
        /* What the walk over the packets cannot find: those not made yet. */
        c->of_msg[place(n, h, true)] += (uint32_t)((m->unsent + n->p.packet_b - 1) / n->p.packet_b);
        h = m->next;
    }
    if (unsent != n->nic[term].backlog)
        BAD(c, "terminal %u: %llu B are not sent and its backlog is %llu B", term,
            (unsigned long long)unsent, (unsigned long long)n->nic[term].backlog);
    if (n->line)
        walk(c, &n->line[(n->nrouters * n->nports + term) * n->nvcs].in, false);
}

/* Invariants 1 and 2. */
static void compare_held(struct census *c, uint32_t index)
{
    const struct net *n = c->n;
    struct net_port *p = &n->port[index];

    for (uint32_t v = 0; v < p->nvcs; v++) {
        uint32_t held = *net_held(n, p, v);

        if (held != c->held[net_vc0(n, p) + v])
            BAD(c, "%s channel %u: %llu B are charged to it and it holds %u B", NAME(c, index), v,
                (unsigned long long)c->held[net_vc0(n, p) + v], held);
        if (held > n->cls[p->cls].room)
            BAD(c, "%s channel %u holds %u B and has room for %u B", NAME(c, index), v, held,
                n->cls[p->cls].room);
    }
}

/* Invariant 6, and that saturation means what it says. */
static void compare_events(struct census *c, uint32_t index, bool lacks)
{
    const struct net *n = c->n;
    struct net_port *p = &n->port[index];

    if (c->port_events[index] != p->port_event || c->wake_events[index] != p->wake_event)
        BAD(c, "%s: %u port and %u wake-up events, and it thinks %d and %d", NAME(c, index),
            c->port_events[index], c->wake_events[index], p->port_event, p->wake_event);
    if ((p->queued || p->wired) && !p->port_event && !c->on_wire[index])
        BAD(c, "%s: something is queued and nothing will send it", NAME(c, index));
    if (p->stalled && p->ring_n && !p->wake_event)
        BAD(c, "%s: a credit comes and nobody will wake up", NAME(c, index));
    if (lacks && !net_held_all(n, p))
        BAD(c, "%s: somebody waits for a credit and none is out", NAME(c, index));
    /* Looking at a port's load takes its credits in; who waits is served by
     * the wake-up of the same time. */
    if (p->saturated != lacks && !c->wakes_now[index])
        BAD(c, "%s: saturated is %d and lacking a credit is %d", NAME(c, index), p->saturated,
            lacks);
}

/* Input queueing: one packet of a line asks, the others stand behind it. */
static void compare_line(struct census *c, uint32_t index, uint32_t v)
{
    const struct net *n = c->n;
    uint32_t vc = index * n->nvcs + v;
    const struct net_line *l = &n->line[vc];

    if (c->asked[vc] != l->asked)
        BAD(c, "%s channel %u: %u packets ask for their output at once", NAME(c, index), v,
            c->asked[vc]);
    if (c->in_events[vc] != l->in_event || c->out_events[vc] != l->out_event)
        BAD(c, "%s channel %u: its switch has lost or doubled an event", NAME(c, index), v);
    if (l->in.head != WR_NIL && !l->asked && !l->in_event)
        BAD(c, "%s channel %u: packets stand in line and nobody calls the first", NAME(c, index),
            v);
}

static int by_port_and_seq(const void *a, const void *b)
{
    const struct sight *x = a, *y = b;

    if (x->port != y->port)
        return x->port < y->port ? -1 : 1;
    return (int32_t)(x->seq - y->seq);
}

/* Invariant 3 on the wire: what left first arrives first. */
static void compare_wire(struct census *c)
{
    if (c->wire.n)
        qsort(c->wire.v, c->wire.n, sizeof *c->wire.v, by_port_and_seq);
    for (size_t i = 1; i < c->wire.n; i++) {
        const struct sight *a = &c->wire.v[i - 1], *b = &c->wire.v[i];

        if (a->port == b->port && (a->t > b->t || a->seq == b->seq))
            BAD(c, "%s: packets overtake each other on the wire", NAME(c, a->port));
    }
}

/* Packets of a message may be in other partitions than its record, but are not more. */
static void compare_messages(struct census *c, const struct net *n)
{
    for (uint32_t h = 0; h < n->pkts.fresh && c->ok; h++) {
        if (!c->seen[place(n, h, false)])
            continue;
        uint32_t msg = net_pkt(n, h)->msg, waits = net_msg_at(n, msg)->unarrived,
                 here = c->of_msg[place(n, msg, true)];

        if (n->parts ? here > waits : here != waits)
            BAD(c, "message %u waits for %u packets and %u are on their way", msg, waits, here);
    }
}

/* Invariant 4: no packet and no part of a message is lost. */
static void compare_packets(struct census *c)
{
    const struct net *n = c->n;

    uint64_t in_flight = 0, queued = 0;
    uint32_t used = 0;

    for (uint32_t i = 0; i < parts_of(n); i++) {
        in_flight += part_at(n, i)->count.in_flight;
        queued += part_at(n, i)->count.queued_messages;
        used += part_at(n, i)->pkts.used;
    }
    if (c->packets != used || c->packets != in_flight)
        BAD(c, "%llu packets were found, %u exist and %llu are in flight",
            (unsigned long long)c->packets, used, (unsigned long long)in_flight);
    if (c->queued_messages != queued)
        BAD(c, "%llu messages are queued and %llu are counted",
            (unsigned long long)c->queued_messages, (unsigned long long)queued);
    for (uint32_t i = 0; i < parts_of(n); i++)
        compare_messages(c, part_at(n, i));
}

static void take(struct census *c)
{
    const struct net *n = c->n;
    bool *lacks = wr_zalloc(n->total_ports, sizeof *lacks);
    uint32_t routers = n->nrouters * n->nports;

    for (uint32_t i = 0; i < parts_of(n); i++) {
        c->n = part_at(n, i);
        sim_each(c->n->sim, see_event, c);
    }
    for (uint32_t i = 0; i < n->total_ports && c->ok; i++) {
        c->n = net_of_port(n, i);
        if (net_is_seam(&n->port[i], n->mode))
            walk_notes(c, i);
        else
            walk_ring(c, i);
        if (i < routers)
            lacks[i] = walk_channels(c, i);
        else {
            walk_nic(c, i - routers);
            lacks[i] = n->port[i].stalled;
        }
    }
    c->n = n;
    for (uint32_t i = 0; i < n->total_ports && c->ok; i++) {
        compare_held(c, i);
        compare_events(c, i, lacks[i]);
        for (uint32_t v = 0; n->line && v < n->port[i].nvcs && c->ok; v++)
            compare_line(c, i, v);
    }
    compare_wire(c);
    compare_packets(c);
    free(lacks);
}

bool net_check(const struct net *n, struct wr_err *err)
{
    struct census c = {.n = n, .err = err, .ok = true};

    c.held = wr_zalloc(n->total_vcs, sizeof *c.held);
    c.asked = wr_zalloc(n->total_vcs, sizeof *c.asked);
    c.in_events = wr_zalloc(n->total_vcs, 1);
    c.out_events = wr_zalloc(n->total_vcs, 1);
    c.port_events = wr_zalloc(n->total_ports, 1);
    c.wake_events = wr_zalloc(n->total_ports, 1);
    c.on_wire = wr_zalloc(n->total_ports, sizeof *c.on_wire);
    c.wakes_now = wr_zalloc(n->total_ports, sizeof *c.wakes_now);
    c.seen = wr_zalloc(places(n, false) + 1, 1);
    c.of_msg = wr_zalloc(places(n, true) + 1, sizeof *c.of_msg);
    take(&c);
    free(c.held);
    free(c.asked);
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
