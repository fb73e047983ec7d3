/* inlet.c -- what the receiver of a seam tells its sender: from when on a credit is possible.
 *
 *   seam ==> [waits] for port p ==wire==> [waits?] for port q ...
 *
 * A sender whose channel is full may not go on beyond the first credit that it could not have heard
 * of. Of packets that are on their way it knows when that is, they have to arrive. Of those that
 * have arrived and wait, only their router knows, and often it knows that nothing will happen for
 * long: they wait for a credit of port p, and the packets sent through p that could bring one
 * are on the wire until a known time, or wait for a port q of which the same can be said. That
 * time is promised to the sender, together with the number of packets that wait.
 *
 * Invariant: a promise is a lower bound, made with what has been executed here; the pipe keeps it
 * in order with the credits. That nobody promises anything is always right, and slow.
 */
#include "base/mem.h"
#include "link_priv.h"

enum {
    DEEP = 3,             /* routers that are asked what their packets wait for */
    MOST_ASKED = 64,      /* packets and ports that are looked at for one promise */
    MOST_VAIN = 6,        /* after so many searches in vain, only every 64th time one is tried */
    MOST_PORTS = 1 << 20, /* where there are more, there is enough to do between two looks */
};

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* A search for one promise. Where everything waits for everything it would take longer than what it
 * is good for: it gives up, and knows nothing. */
struct quest {
    const struct net *n;
    uint32_t left; /* may still be looked at */
};

static bool tired(struct quest *q)
{
    if (q->left)
        q->left--;
    return !q->left;
}

static uint64_t channel_credit(struct quest *q, struct net_port *port, uint32_t vc, uint32_t nth,
                               uint32_t deep);

/* The first that came by channel `vc` of port `from` and waits for this port. */
static uint64_t waiting_for(struct quest *q, struct net_port *port, uint32_t from, uint32_t vc,
                            uint32_t deep)
{
    const struct net *n = q->n;
    uint64_t least = SIM_NEVER;

    for (uint32_t m = port->stalled; m && least; m &= m - 1) {
        uint32_t v = (uint32_t)__builtin_ctz(m), nth = 0;

        for (uint32_t h = net_wait_of(n, port, v)->head; h != WR_NIL && least; nth++) {
            const struct net_pkt *k = net_pkt(n, h);

            if (tired(q))
                return 0;
            if (k->from == from && k->route.vc == vc)
                least = earlier(least, channel_credit(q, port, v, nth, deep));
            h = k->next;
        }
    }
    return least;
}

/* The same for all ports of a router. */
static uint64_t waiting_at(struct quest *q, uint32_t router, uint32_t from, uint32_t vc,
                           uint32_t deep)
{
    struct net_port *port = &q->n->port[router * q->n->nports];
    uint64_t least = SIM_NEVER;

    for (uint32_t p = 0; p < q->n->nports && least; p++)
        if (port[p].stalled)
            least = earlier(least, waiting_for(q, &port[p], from, vc, deep));
    return least;
}

/* When the nth of the packets of a channel that are on their way is there, at least; 0: nobody
 * knows. Those that have left but are not found out yet, or leave later, do so after t_free. */
static uint64_t next_arrival(const struct net *n, const struct net_port *port, uint32_t vc,
                             uint32_t nth)
{
    const struct net_pace *pace = &n->pace[port - n->port];
    uint64_t now = n->sim->now, later = port->t_free + (n->cls[port->cls].delay >> 20);
    uint64_t i = port->packets < NET_PACE ? 1 : port->packets - NET_PACE + 1;

    if (i > 1 && pace->pkt[i % NET_PACE].there >> 8 >= now)
        return 0; /* some more may be on the wire */
    for (; i <= port->packets; i++) {
        uint64_t there = pace->pkt[i % NET_PACE].there;

        if (there >> 8 >= now && (there & 0xff) == vc && !nth--)
            return there >> 8;
    }
    return later;
}

/* Not before, the credit of a channel comes that admits the nth of those that wait for it; 0:
 * nobody knows. */
static uint64_t channel_credit(struct quest *q, struct net_port *port, uint32_t vc, uint32_t nth,
                               uint32_t deep)
{
    const struct net *n = q->n;

    if (port->seam)
        return net_seam_credit_ps(n, port);
    uint32_t index = (uint32_t)(port - n->port), blocked = n->blocked[index * n->nvcs + vc].all;

    if (n->sim->now <= n->t_spilt) /* an event, which may be before those in the ring */
        return 0;
    if (port->ring_n)
        return port->ring[port->ring_at] >> 8;
    if (n->mode & NET_MODE_BYTES)
        nth = 0; /* a large one gives room for several */
    uint64_t t = next_arrival(n, port, vc, nth > blocked ? nth - blocked : 0);

    if (blocked && nth < blocked)
        t = deep ? earlier(t, waiting_at(q, port->peer_lp, index, vc, deep - 1)) : 0;
    return t > n->sim->now ? t + n->cls[port->cls].credit_ps : 0;
}

static uint64_t next_given(const struct net *n, const struct net_inlet *in)
{
    struct quest q = {.n = n, .left = MOST_ASKED};
    uint64_t least = SIM_NEVER;

    for (uint32_t i = 0; i < in->n && least; i++) {
        const struct net_pkt *k = net_pkt(n, in->pkt[i]);
        struct net_port *port = &n->port[k->out];
        uint32_t nth = 0;

        for (uint32_t h = net_wait_of(n, port, k->out_vc)->head; h != in->pkt[i];
             h = net_pkt(n, h)->next) {
            if (tired(&q))
                return 0;
            nth++;
        }
        least = earlier(least, channel_credit(&q, port, k->out_vc, nth, DEEP));
    }
    return least;
}

void net_inlets_tell(struct net *n)
{
    uint64_t now = n->sim->now;

    for (uint32_t i = 0; i < n->ninlets; i++) {
        struct net_inlet *in = &n->inlet[n->inlets[i]];

        if ((!in->changed && in->promised > now) || in->unknown)
            continue;
        if (in->pause) {
            in->pause--;
            continue;
        }
        uint64_t t = next_given(n, in);

        in->vain = t > now ? 0 : in->vain < MOST_VAIN ? in->vain + 1 : MOST_VAIN;
        in->pause = (uint8_t)((1u << in->vain) - 1);
        if (t <= now)
            continue;
        struct sim_event e = sim_event(t, 0, sim_lane(NET_PROMISE, 0), in->number, in->n, 0);

        in->promised = t;
        in->changed = false;
        sim_part_send(n->part, in->from, &e, NULL, 0);
    }
}

/* A packet waits for a port from now on. */
void net_inlet_wait(struct net *n, const struct net_port *port, uint32_t h, const struct net_pkt *k)
{
    if (!n->pace)
        return;
    if (!net_over_seam(n, k->from)) {
        struct net_blocked *b = &n->blocked[k->from * n->nvcs + k->route.vc];

        b->all++;
        b->seams += port->seam;
        return;
    }
    struct net_inlet *in = net_inlet(n, k->from);

    if (!in->n) {
        in->place = n->ninlets;
        n->inlets[n->ninlets++] = in->number;
        n->port[k->from].saturated = true;
    }
    if (in->n < NET_INLET_KNOWN)
        in->pkt[in->n] = h;
    else
        in->unknown = true;
    in->n++;
    in->changed = true;
}

void net_inlet_leave(struct net *n, const struct net_port *port, uint32_t h,
                     const struct net_pkt *k)
{
    if (!n->pace)
        return;
    if (!net_over_seam(n, k->from)) {
        struct net_blocked *b = &n->blocked[k->from * n->nvcs + k->route.vc];

        b->all--;
        b->seams -= port->seam;
        return;
    }
    struct net_inlet *in = net_inlet(n, k->from);
    uint32_t i = 0;

    in->n--;
    if (!in->unknown) {
        while (in->pkt[i] != h)
            i++;
        in->pkt[i] = in->pkt[in->n];
    }
    if (in->n)
        return;
    in->unknown = false;
    n->port[k->from].saturated = false;
    uint32_t last = n->inlets[--n->ninlets];

    n->inlets[in->place] = last;
    n->inlet[last].place = in->place;
}

/* A credit that comes at `t`, to the sender for which the stand-in is here. */
void net_inlet_send_credit(struct net *n, const struct net_port *standin, uint64_t t,
                           uint32_t charge, uint32_t vc)
{
    const uint32_t *to = standin->vc_held;
    struct sim_event e = sim_event(t, to[NET_STANDIN_ROUTER], to[NET_STANDIN_LANE],
                                   to[NET_STANDIN_SEAM], charge, vc);

    sim_part_send(n->part, to[NET_STANDIN_PART], &e, NULL, 0);
}

/* A packet that came over a seam has been admitted further on: its credit is in the stand-in's
 * ring, the only one there. While packets wait, the stand-in is saturated. */
void net_inlet_credit(struct net *n, struct net_port *standin)
{
    uint32_t index = (uint32_t)(standin - n->port);
    uint32_t charge =
        n->ring_b ? n->ring_b[(size_t)index * NET_RING + standin->ring_at] : n->slot_b;
    uint64_t credit = standin->ring[standin->ring_at];

    standin->ring_n = 0;
    if (net_is_paid(n, index))
        return;
    if (standin->saturated)
        net_inlet(n, index)->changed = true;
    net_inlet_send_credit(n, standin, credit >> 8, charge, (uint32_t)(credit & 0xff));
}

/* One table for all partitions; each element is its receiver's. */
void net_inlets_open(struct net *n)
{
    uint32_t ports = n->nrouters * n->nports;

    n->inlet = wr_zalloc_aligned(n->nseams, sizeof *n->inlet);
    for (uint32_t i = 0; i < n->nseams; i++) {
        const struct net_port *port = &n->port[n->seam[i].port];
        uint32_t router = net_self_lp(n, port);

        n->inlet[i] = (struct net_inlet){
            .number = i, .port = n->seam[i].port, .from = n->part_of[router], .hope = WR_NIL};
        n->port[n->total_ports + i] = (struct net_port){
            .cls = port->cls,
            .stalled = UINT16_MAX,
            .vc_held = {[NET_STANDIN_ROUTER] = router,
                        [NET_STANDIN_LANE] = sim_lane(NET_EV_CREDIT, port->self_door),
                        [NET_STANDIN_SEAM] = i,
                        [NET_STANDIN_PART] = n->part_of[router]}};
    }
    /* What is foretold and what may be late follows from lines in the order of arrival. */
    if (n->line || ports > MOST_PORTS || n->p.arbitration == NET_ARB_AGE)
        return;
    n->blocked = wr_zalloc((size_t)n->total_ports * n->nvcs, sizeof *n->blocked);
    n->pace = wr_zalloc_aligned((size_t)n->total_ports + n->nseams, sizeof *n->pace);
    net_foretell_open(n);
}
