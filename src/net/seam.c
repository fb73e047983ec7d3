/* seam.c -- links whose ends lie in different partitions.
 *
 *        sender's partition              |           receiver's partition
 *   [queue] --> ==wire== ---- arrival ---+--- pipe --> [waits?] --> [queue'] ...
 *   held, notes <------------ credit ----+--- pipe ----------------+
 *
 * A packet is handed over (parcel.c) when it begins to be sent, at least a link's latency before it
 * is there. Its credit is not: it comes back credit_ps after the packet is admitted, which is next
 * to nothing. But the sender seldom needs to know it at once. It knows when its packets arrive, so
 * it knows since when a credit could have been given that it has not heard of:
 *
 *   nobody waits there and no packet has arrived since the other's clock: nothing can be missing
 *   a packet has: whoever must know (is there room? how full is the link?) waits until the
 *   other's clock is there (net_seam_ask)
 *   somebody waits for a credit here: it must come as an event at its time, so nothing is executed
 *   that lies beyond the first credit one could not have heard of (bound), which the receiver
 *   may have promised not to give before some time (inlet.c)
 *
 * Invariant: who reads the account of a channel of a seam has taken in all credits up to now.
 * So what is decided does not depend on where a machine is cut.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "link_priv.h"

enum {
    WANTED = 4, /* lookaheads for which credits are foretold, once it is asked for */
    LOOSE = 48, /* it is not, where so much happens between two looks at the others' clocks */
};

static struct net_seam *seam_of(const struct net *n, const struct net_port *port)
{
    return &n->seam[port->wire];
}

static uint64_t arrival(const struct net_seam *s, uint32_t number)
{
    if (number == s->sent)
        return SIM_NEVER;
    return (int32_t)(s->lost - number) > 0 ? 0 : s->there[number % NET_SEAM_KNOWN];
}

/* Not before, a credit is given that has not come. Packets are counted, not told apart: when as
 * many credits have come as packets had arrived by then, none is missing. Of those that wait there,
 * the receiver has promised it; of those that arrive after them, it has not. */
static uint64_t first_missing(const struct net_seam *s)
{
    uint64_t there = arrival(s, s->credits);

    if ((int32_t)(s->covered - s->credits) > 0) {
        uint64_t after = arrival(s, s->covered);
        uint64_t promise = s->promise < after ? s->promise : after;

        there = promise > there ? promise : there;
    }
    return there;
}

/* The first credit that could come without having been heard of, if the other's clock is `seen`.
 * Where a wait may end by something else than a noted credit, one must have heard of all credits
 * that are given while it lasts: each makes a wake-up, even if it then finds nobody. */
static uint64_t credit_after(const struct net *n, uint64_t missing, uint64_t t_event,
                             uint64_t credit_ps, uint64_t seen)
{
    uint64_t from = missing > seen ? missing : seen;
    uint64_t credit = n->line || t_event >= n->sim->now ? 1 : credit_ps;

    return from > SIM_NEVER - credit ? SIM_NEVER : from + credit;
}

static uint64_t next_credit(const struct net *n, const struct net_seam *s, uint64_t seen)
{
    return credit_after(n, first_missing(s), s->t_event, s->credit_ps, seen);
}

/* What lies at the first credit that could come unheard, or where it is due, whichever is later,
 * is not executed before one has heard of it. */
static uint64_t stops_at(const struct net *n, const struct net_stall *stall, uint64_t seen)
{
    uint64_t t = credit_after(n, stall->missing, stall->t_event, stall->credit_ps, seen);

    return t > stall->due ? t : stall->due;
}

/* Something of what first_missing() looks at has changed, or t_event: perhaps in the middle of an
 * event, and then the limit of before may be too far. */
static void note_missing(struct net *n, const struct net_seam *s)
{
    struct net_stall *stall = &n->stalled[s->place];

    if (!s->stalled)
        return;
    stall->missing = first_missing(s);
    stall->t_event = s->t_event;
    sim_part_hold(n->part, stops_at(n, stall, n->part->seen[s->to]));
}

/* Who waits for the seam, or what its link has to do, has changed: when must credits be known? */
static void note_due(struct net *n, const struct net_seam *s)
{
    if (!s->stalled)
        return;
    n->stalled[s->place].due = net_late_due(n, s);
    note_missing(n, s);
}

void net_seam_due(struct net *n, struct net_port *port)
{
    note_due(n, seam_of(n, port));
}

/* Not before, a credit comes that `nth` others come before. */
uint64_t net_seam_nth_ps(const struct net_seam *s, uint32_t nth)
{
    uint64_t there = s->sent - s->credits <= nth ? SIM_NEVER : arrival(s, s->credits + nth);

    return there == SIM_NEVER ? SIM_NEVER : there + s->credit_ps;
}

void net_seam_send(struct net *n, struct net_port *port, uint64_t there, uint32_t seq, uint32_t h,
                   const struct net_pkt *k)
{
    struct net_seam *s = seam_of(n, port);
    struct sim_event e = sim_event(there, port->peer_lp, sim_lane(NET_EV_ARRIVE, port->peer_door),
                                   seq, n->total_ports + port->wire, k->route.vc);

    if (s->sent - s->credits < NET_SEAM_KNOWN)
        s->there[s->sent % NET_SEAM_KNOWN] = there;
    else
        s->lost = s->sent + 1;
    s->began[s->sent % NET_SEAM_BEGAN].t = n->sim->now;
    s->began[s->sent % NET_SEAM_BEGAN].bytes = k->bytes;
    s->sent++;
    net_parcel_send(n, s->to, &e, h);
    note_due(n, s);
}

static NET_APART void absorb(struct net *n, struct net_port *port, uint64_t now)
{
    struct net_seam *s = seam_of(n, port);

    do {
        uint32_t h = s->notes.head;
        struct net_note taken = *(struct net_note *)wr_pool_at(&n->notes, h);

        *net_held(n, port, taken.vc) -= taken.charge;
        s->notes.head = taken.next;
        wr_pool_give(&n->notes, h);
        if (s->stalled && (taken.t < now || n->stalled[s->place].due > now))
            net_late_serve(n, port, taken.vc, taken.t);
    } while (net_seam_note_ps(n, port) <= now);
}

bool net_seam_absorb(struct net *n, struct net_port *port, uint64_t now)
{
    if (net_seam_note_ps(n, port) > now)
        return false;
    absorb(n, port, now);
    return true;
}

uint64_t net_seam_note_ps(const struct net *n, const struct net_port *port)
{
    uint32_t h = seam_of(n, port)->notes.head;

    return h == WR_NIL ? SIM_NEVER : ((struct net_note *)wr_pool_at(&n->notes, h))->t;
}

/* Not before, the next credit comes: of packets that are on their way, or of one that has still to
 * leave. */
uint64_t net_seam_credit_ps(const struct net *n, const struct net_port *port)
{
    const struct net_seam *s = seam_of(n, port);
    uint64_t note = net_seam_note_ps(n, port);
    uint64_t next = s->t_event >= n->sim->now ? 0 : next_credit(n, s, n->part->seen[s->to]);
    uint64_t leaves = port->t_free + (n->cls[port->cls].delay >> 20) + s->credit_ps;

    next = next < leaves ? next : leaves;
    return note < next ? note : next;
}

/* Somebody waits for credits: they had better be foretold for some time. */
static void want_credits(struct net *n, struct net_seam *s)
{
    uint64_t reach = n->part->reach[s->to];

    if (!n->near_ps || n->part->stride > LOOSE * SIM_STRIDE || s->wanted > n->sim->now + reach)
        return;
    s->wanted = n->sim->now + WANTED * reach;
    struct sim_event e =
        sim_event(s->wanted, 0, sim_lane(NET_WANTED, 0), (uint32_t)(s - n->seam), 0, 0);

    sim_part_send(n->part, s->to, &e, NULL, 0);
}

/* Make sure that all credits up to now are taken in; were there any? */
bool net_seam_ask(struct net *n, struct net_port *port)
{
    struct net_seam *s = seam_of(n, port);
    uint64_t now = n->sim->now, credit = n->cls[port->cls].credit_ps;

    if (now >= credit && n->part->seen[s->to] <= now - credit && first_missing(s) <= now - credit) {
        want_credits(n, s);
        sim_part_await(n->part, s->to, now - credit);
    }
    return net_seam_absorb(n, port, now);
}

/* Others wait for the port than did before, or nobody does any more, as of `at`. */
void net_seam_stalled(struct net *n, struct net_port *port, uint64_t at)
{
    struct net_seam *s = seam_of(n, port);

    if (port->stalled)
        want_credits(n, s);
    if (s->stalled == (port->stalled != 0)) {
        note_due(n, s);
        return;
    }
    s->stalled = port->stalled != 0;
    n->part->tight[s->to] += s->stalled ? 1u : -1u;
    if (s->stalled) {
        s->place = n->nstalled++;
        n->stalled[s->place] = (struct net_stall){
            .credit_ps = s->credit_ps, .seam = (uint32_t)(s - n->seam), .to = s->to};
        note_due(n, s);
        return;
    }
    const struct net_stall *last = &n->stalled[--n->nstalled];

    n->seam[last->seam].place = s->place;
    n->stalled[s->place] = *last;
    s->t_unstalled = at;
}

/* Credits have come for times that have passed, and somebody waited for them. */
static void catch_up(struct net *n)
{
    n->overdue = false;
    for (uint32_t i = n->nstalled; i--;) /* the last takes the place of one that is done */
        net_seam_absorb(n, &n->port[n->seam[n->stalled[i].seam].port], n->sim->now);
}

static uint64_t bound(void *ctx, uint32_t q, uint64_t seen)
{
    struct net *n = ctx;
    uint64_t least = SIM_NEVER;

    if (n->overdue)
        catch_up(n);
    for (uint32_t i = 0; i < n->nstalled; i++) {
        struct net_stall *s = &n->stalled[i];
        uint64_t t = s->to == q ? stops_at(n, s, seen) : SIM_NEVER;

        if (t >= least)
            continue;
        if (t > s->due && n->sim->now != s->t_looked) { /* it may be later by now */
            s->t_looked = n->sim->now;
            s->due = net_late_due(n, &n->seam[s->seam]);
            t = stops_at(n, s, seen);
        }
        least = t < least ? t : least;
    }
    return least;
}

/* Had the last wait for the port ended when a credit was given? At the same time, the router with
 * the lower number is first. */
static bool ended_before(const struct net *n, const struct net_port *port, uint64_t given)
{
    const struct net_seam *s = seam_of(n, port);

    return s->t_unstalled < given ||
           (s->t_unstalled == given && net_self_lp(n, port) < port->peer_lp);
}

/* A wake-up for a credit that was heard of before it was given; nobody waited from then on. One
 * partition alone would not have had it. */
bool net_seam_idle_wake(const struct net *n, const struct net_port *port)
{
    return !port->stalled && ended_before(n, port, n->sim->now - n->cls[port->cls].credit_ps);
}

/* ---- what comes through the pipes ---- */

/* Would the credit have found the ring full, had it been put there when it was given? Then it
 * is an event, as it would have been: the ring's size must not show. */
static bool ring_full(struct net_seam *s, uint64_t t, uint64_t given)
{
    if (s->ring[s->ring_at] > given)
        return true;
    s->ring[s->ring_at] = t;
    s->ring_at = (s->ring_at + 1) % NET_RING;
    return false;
}

static void put_note(struct net *n, struct net_seam *s, const struct sim_event *e)
{
    uint32_t h = wr_pool_take(&n->notes);
    struct net_note *note = wr_pool_at(&n->notes, h);

    *note = (struct net_note){.next = WR_NIL, .charge = e->arg, .t = e->t, .vc = (uint8_t)e->arg2};
    if (s->notes.head == WR_NIL)
        s->notes.head = h;
    else
        ((struct net_note *)wr_pool_at(&n->notes, s->notes.tail))->next = h;
    s->notes.tail = h;
}

static NET_APART void take_credit(struct net *n, const struct sim_event *e)
{
    struct net_seam *s = &n->seam[e->seq];
    struct net_port *port = &n->port[s->port];
    uint64_t given = e->t - s->credit_ps;
    bool full = ring_full(s, e->t, given);
    /* It was given at the very time at which the last wait ended, but before that. */
    bool just = !full && !port->stalled && s->t_unstalled && s->t_unstalled == given &&
                !ended_before(n, port, given) && !port->wake_event;
    struct sim *sim = n->sim;

    s->credits++;
    note_missing(n, s);
    if (e->t <= sim->now && port->stalled) {
        put_note(n, s, e);
        n->overdue = true;
        sim->unasked--; /* somebody would have been woken */
        sim->last = sim->last < e->t ? e->t : sim->last;
    } else if (e->t <= sim->now) {
        *net_held(n, port, e->arg2) -= e->arg;
        sim->unasked -= full || just;
        if ((full || just) && sim->last < e->t)
            sim->last = e->t;
    } else if (full) {
        s->t_event = e->t;
        note_missing(n, s);
        sim_at(sim, e->t, sim_dst(e), (uint32_t)e->key, e->arg2, e->arg, e->arg2);
    } else {
        put_note(n, s, e);
        if ((port->stalled || just) && !port->wake_event)
            net_port_wake_at(n, port, e->t);
    }
}

static NET_APART void take_packet(struct net *n, const struct sim_event *e, const void *data,
                                  uint32_t bytes)
{
    uint32_t h = net_parcel_open(n, e, data, bytes);

    if (n->near_ps)
        net_foretell_comes(n, e, h);
    sim_ride(n->sim, n->seam_belt, e->t, sim_dst(e), (uint32_t)e->key, e->seq, h, e->arg2);
}

static NET_APART void take_promise(struct net *n, const struct sim_event *e)
{
    struct net_seam *s = &n->seam[e->seq];

    s->covered = s->credits + e->arg;
    s->promise = e->t;
    note_missing(n, s);
}

/* Of each kind a function, so that none pays for the registers of another. */
static void receive(void *ctx, const struct sim_event *e, const void *data, uint32_t bytes)
{
    struct net *n = ctx;

    switch (sim_kind(e)) {
    case NET_EV_ARRIVE:
        take_packet(n, e, data, bytes);
        break;
    case NET_EV_CREDIT:
        take_credit(n, e);
        break;
    case NET_PROMISE:
        take_promise(n, e);
        break;
    case NET_WANTED:
        net_foretell_wanted(n, e->seq, e->t);
        break;
    default:
        n->other(n->other_ctx, e, data, bytes);
    }
}

static void tell(void *ctx, uint64_t clock)
{
    struct net *n = ctx;

    net_inlets_tell(n);
    if (n->nhopes)
        net_foretell(n, clock);
}

/* A credit finds its seam and port far away, on a large machine. */
static void soon(const void *ctx, const struct sim_event *e)
{
    const struct net *n = ctx;

    if (sim_kind(e) != NET_EV_CREDIT)
        return;
    __builtin_prefetch(&n->seam[e->seq], 1);
    __builtin_prefetch(n->seam[e->seq].ring, 1);
    __builtin_prefetch(&n->port[(size_t)sim_dst(e) * n->nports + sim_door(e)], 1);
}

/* ---- setting up ---- */

static bool is_seam(const struct topo *t, const uint16_t *part_of, uint32_t router, uint32_t port)
{
    const struct topo_port *p = topo_port(t, router, port);

    return p->kind == TOPO_ROUTER && part_of[router] != part_of[p->peer];
}

uint64_t *net_lookahead(const struct topo *t, const struct net_params *p,
                        const struct topo_split *split)
{
    uint32_t n = split->n;
    uint64_t *ps = wr_alloc((size_t)n * n * sizeof *ps);

    for (size_t i = 0; i < (size_t)n * n; i++)
        ps[i] = SIM_NEVER;
    for (uint32_t r = 0; r < t->nrouters; r++)
        for (uint32_t k = 0; k < t->nports; k++) {
            const struct topo_port *port = topo_port(t, r, k);

            if (!is_seam(t, split->part, r, k))
                continue;
            uint64_t *there = &ps[split->part[r] * n + split->part[port->peer]];
            uint64_t delay = net_delay_ps(p, port->cls);

            *there = delay < *there ? delay : *there;
        }
    return ps;
}

uint32_t net_seams_count(const struct topo *t, const uint16_t *part_of)
{
    uint32_t seams = 0;

    for (uint32_t r = 0; r < t->nrouters; r++)
        for (uint32_t p = 0; p < t->nports; p++)
            seams += is_seam(t, part_of, r, p);
    return seams;
}

/* Marks the seams; they are in one table, and each is touched by its sender's partition only. */
void net_seams_open(struct net *n)
{
    const struct topo *t = n->topo;
    uint32_t at = 0;

    for (uint32_t r = 0; r < t->nrouters; r++)
        for (uint32_t p = 0; p < t->nports; p++)
            n->port[r * t->nports + p].seam = is_seam(t, n->part_of, r, p);
    n->seam = wr_zalloc_aligned(n->nseams, sizeof *n->seam);
    n->seam_map = wr_zalloc(t->nrouters * t->nports / 64 + 1, sizeof *n->seam_map);
    for (uint32_t i = 0; i < t->nrouters * t->nports; i++) {
        struct net_port *port = &n->port[i];

        if (i % 64 == 0)
            n->seam_map[i / 64].first = at;
        if (!port->seam)
            continue;
        n->seam_map[i / 64].is |= UINT64_C(1) << i % 64;
        port->wire = at;
        n->seam[at++] = (struct net_seam){
            .port = i,
            .to = n->part_of[port->peer_lp],
            .credit_ps = n->cls[port->cls].credit_ps,
            .notes = {WR_NIL, WR_NIL},
        };
    }
    net_inlets_open(n);
}

void net_seams_join(struct net *n)
{
    n->stalled = wr_zalloc(n->nseams, sizeof *n->stalled);
    n->inlets = wr_zalloc(n->nseams, sizeof *n->inlets);
    n->hopes = wr_zalloc(n->nseams, sizeof *n->hopes);
    wr_pool_init(&n->notes, "credits", sizeof(struct net_note), 1 << 26);
    net_parcels_open(n);
    n->part->mind = (struct sim_mind){
        .ctx = n, .receive = receive, .soon = n->large ? soon : NULL, .bound = bound, .tell = tell};
}

void net_pass_on(struct net *n, net_other *fn, void *ctx)
{
    n->other = fn;
    n->other_ctx = ctx;
}

void net_seams_close(struct net *n)
{
    free(n->stalled);
    free(n->inlets);
    free(n->hopes);
    net_parcels_close(n);
    wr_pool_fini(&n->notes);
}
