/* foretell.c -- credits that are sent before they are given.
 *
 *      seam ==p==> [router] --> Q            p, on its way, wants to leave by port Q
 *   other links ==a==b==> [router]           a, b, on their way, may want the same
 *
 * Who waits for a seam may not go beyond the next credit that it could not have heard of, which is
 * hardly ahead of the receiver's clock. But a packet brings its credit the moment it arrives, if
 * there is room then where it goes. Whatever arrives before it is on a wire already, since no link
 * between routers takes less than some time (near_ps), and what is on a wire says where it wants to
 * go. If there is room for all of them there will be room for each, so the credit can be sent
 * as much ahead of its time.
 *
 * A clock is not only the next event known: credits may make others before it, but none before what
 * may be executed at all.
 *
 * Packets that come from terminals are nearer. They do not count where they cannot want the same
 * channel, which the routing says (route.first_vcs).
 *
 * Invariant: credits of a seam are sent in the order of their times. So nothing is foretold while
 * a packet of the same inlet waits, nor a packet before those ahead of it.
 */
#include "base/mem.h"
#include "link_priv.h"

/* One search: is there room for all packets that will ask for a channel before `until`? */
struct asked {
    const struct net *n;
    uint32_t out, vc;
    uint64_t clock, until; /* what comes before `clock` has been executed, and nothing new will */
    uint32_t packets;
};

/* When the next of the packets that are queued could be there. */
static uint64_t next_arrival(const struct net *n, struct net_port *up)
{
    uint64_t least = UINT32_MAX;

    for (uint32_t m = up->queued; m; m &= m - 1) {
        uint32_t h = net_queue_of(n, up, (uint32_t)__builtin_ctz(m))->head;

        least = net_pkt(n, h)->bytes < least ? net_pkt(n, h)->bytes : least;
    }
    return up->t_free + ((n->cls[up->cls].per_byte * least + n->cls[up->cls].delay) >> 20);
}

/* Counts those of a wire; false: there may be more than are known. */
static bool count_wire(struct asked *a, uint32_t index)
{
    const struct net *n = a->n;
    const struct net_pace *pace = &n->pace[index];
    uint32_t in_time = 0;

    if (!net_over_seam(n, index)) {
        struct net_port *up = &n->port[index];

        if (up->queued && next_arrival(n, up) <= a->until)
            return false;
    }
    for (uint32_t i = 0; i < NET_PACE; i++) {
        uint64_t t = pace->pkt[i].there >> 8;

        if (t < a->clock)
            continue;
        in_time++;
        a->packets +=
            t <= a->until && (pace->pkt[i].out == WR_NIL ||
                              (pace->pkt[i].out == a->out && pace->pkt[i].out_vc == a->vc));
    }
    return in_time < NET_PACE;
}

/* Bytes charged to the channel at `clock`, at most. */
static uint32_t held_then(const struct asked *a, struct net_port *port)
{
    const struct net *n = a->n;
    uint32_t held = *net_held(n, port, a->vc);

    for (uint32_t i = 0; !port->seam && i < port->ring_n; i++) {
        uint32_t at = (port->ring_at + i) % NET_RING;

        if (port->ring[at] >> 8 < a->clock && (port->ring[at] & 0xff) == a->vc)
            held -= n->ring_b ? n->ring_b[(size_t)a->out * NET_RING + at] : n->slot_b;
    }
    return held;
}

/* May packets that come from terminals ask for the same channel? */
static bool meets_terminals(const struct net *n, const struct net_port *port, uint32_t vc)
{
    if (port->peer_lp < n->nrouters)
        return n->route->first_vcs >> vc & 1;
    return !n->eject || n->route->first_eject >> vc & 1;
}

/* Will there be room for a packet when it arrives at `there`, and for all that come before? */
static bool has_room(const struct net *n, uint32_t out, uint32_t vc, uint64_t clock, uint64_t there)
{
    struct asked a = {.n = n, .out = out, .vc = vc, .clock = clock, .until = there};

    if (out == WR_NIL)
        return false;
    struct net_port *port = &n->port[out];
    const uint32_t *feeds = &n->feeds[(size_t)net_self_lp(n, port) * n->nports];

    if (port->stalled >> vc & 1 || meets_terminals(n, port, vc))
        return false;
    uint32_t held = held_then(&a, port), room = n->cls[port->cls].room;

    if (held + n->slot_b > room)
        return false;
    for (uint32_t d = 0; d < n->nports; d++)
        if (feeds[d] != WR_NIL && !count_wire(&a, feeds[d]))
            return false;
    return held + (uint64_t)a.packets * n->slot_b <= room;
}

/* The credit of a packet that will be there at `there`. */
static void send(struct net *n, uint64_t there, struct net_pkt *k)
{
    const struct net_port *standin = &n->port[k->from];

    net_inlet_send_credit(n, standin, there + n->cls[standin->cls].credit_ps,
                          net_charge(n, k, n->mode), k->route.vc);
    k->from += n->nseams;
}

/* From when on it may be known what arrives before `there`. */
static uint64_t near(const struct net *n, uint64_t there)
{
    return there > n->near_ps ? there - n->near_ps + 1 : 0;
}

/* Packets that come at `until` or after may not have been heard of. Returns when to try again. */
static uint64_t foretell(struct net *n, struct net_inlet *in, uint64_t clock, uint64_t until)
{
    const struct net_pace *pace = &n->pace[n->total_ports + in->number];
    uint32_t i = in->last - in->told > NET_PACE ? in->last - NET_PACE + 1 : in->told + 1;

    if (in->n)
        return clock + n->near_ps / 4;
    if (i != in->told + 1 && pace->pkt[i % NET_PACE].there >> 8 >= clock)
        return clock + 1; /* there were some before it, perhaps on their way */
    for (; (int32_t)(in->last - i) >= 0; i++) {
        uint64_t there = pace->pkt[i % NET_PACE].there >> 8;

        if (there >= clock) {
            if (there == clock)
                return clock + 1;
            if (there >= until)
                return near(n, there);
            if (!has_room(n, pace->pkt[i % NET_PACE].out, pace->pkt[i % NET_PACE].out_vc, clock,
                          there))
                return clock + (there - clock) / 2 + 1;
            send(n, there, net_pkt(n, in->coming[i % NET_PACE]));
        }
        in->told = i;
    }
    return SIM_NEVER; /* until one comes */
}

/* The last takes its place. */
static void give_up(struct net *n, uint32_t i)
{
    const struct net_hope *last = &n->hopes[--n->nhopes];

    n->inlet[n->hopes[i].inlet].hope = WR_NIL;
    if (i == n->nhopes)
        return;
    n->hopes[i] = *last;
    n->inlet[last->inlet].hope = i;
}

void net_foretell(struct net *n, uint64_t clock)
{
    uint64_t until = sim_part_heard(n->part);

    if (clock == SIM_NEVER)
        return;
    if (clock + n->near_ps < until)
        until = clock + n->near_ps;
    for (uint32_t i = 0; i < n->nhopes;) {
        struct net_hope *hope = &n->hopes[i];

        if (hope->from <= clock)
            hope->from = foretell(n, &n->inlet[hope->inlet], clock, until);
        if (hope->until < clock)
            give_up(n, i);
        else
            i++;
    }
}

void net_foretell_comes(struct net *n, const struct sim_event *e, uint32_t h)
{
    struct net_inlet *in = net_inlet(n, e->arg);

    in->last = e->seq;
    in->coming[e->seq % NET_PACE] = h;
    link_note(n, e->arg, e->seq, e->t, net_pkt(n, h), n->mode);
    if (in->hope != WR_NIL && n->hopes[in->hope].from == SIM_NEVER)
        n->hopes[in->hope].from = near(n, e->t);
}

void net_foretell_wanted(struct net *n, uint32_t seam, uint64_t until)
{
    struct net_inlet *in = &n->inlet[seam];

    if (in->hope == WR_NIL) {
        in->hope = n->nhopes++;
        n->hopes[in->hope] = (struct net_hope){.inlet = seam};
    }
    n->hopes[in->hope].until = until;
}

/* A door is fed by its peer's port, or by a stand-in for that. */
void net_foretell_open(struct net *n)
{
    uint32_t ports = n->nrouters * n->nports;
    uint64_t least = SIM_NEVER;

    for (uint32_t i = 0; i < n->nseams; i++)
        n->port[n->total_ports + n->nseams + i] = n->port[n->total_ports + i];
    n->feeds = wr_alloc(ports * sizeof *n->feeds);
    for (uint32_t i = 0; i < ports; i++)
        n->feeds[i] = WR_NIL;
    for (uint32_t i = 0; i < ports; i++) {
        const struct net_port *port = &n->port[i];
        uint64_t delay = n->cls[port->cls].delay >> 20;

        if (topo_port(n->topo, i / n->nports, i % n->nports)->kind != TOPO_ROUTER)
            continue;
        n->feeds[port->peer_lp * n->nports + port->peer_door] =
            port->seam ? n->total_ports + port->wire : i;
        least = delay < least ? delay : least;
    }
    n->near_ps = n->route->first_vcs == UINT16_MAX || least == SIM_NEVER ? 0 : least;
}
