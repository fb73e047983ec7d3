/* router.c -- from an arriving packet to the channel it leaves by.
 *
 * Output queueing: every packet asks for its output when it arrives and waits,
 * if it must, in that output's line; packets for different outputs never hold
 * each other up.
 *
 * Input queueing: packets of one incoming channel stand in one line and only
 * the first may ask (head-of-line blocking); the switch passes one packet per
 * incoming and per outgoing channel in each switch_time.
 *
 *   line of (upstream port, vc)          waiting line of (output port, vc)
 *      d c b  --- first asks --> a   -->   a x y   -- credit, switch --> queue
 */
#include "link_priv.h"

typedef void ask_fn(struct net *n, struct net_port *port, uint32_t h, struct net_pkt *k);

/* The line of the packets that come through channel `vc` of port `from` gives its next at
 * t_in_free. */
static void in_event(struct net *n, uint32_t from, uint32_t vc, struct net_line *line)
{
    const struct net_port *up = &n->port[from];

    line->in_event = true;
    sim_at(n->sim, line->t_in_free, up->peer_lp, sim_lane(NET_EV_SWITCH, up->peer_door), vc, from,
           vc);
}

/* Channel `vc` of `port` can take its next packet at t_out_free. */
static void out_event(struct net *n, struct net_port *port, uint32_t vc, struct net_line *line)
{
    line->out_event = true;
    sim_at(n->sim, line->t_out_free, net_self_lp(n, port), sim_lane(NET_EV_SWITCH, port->self_door),
           ROUTE_MAX_VCS + vc, WR_NIL, vc);
}

/* The packet that asked crosses the switch, or joins at once where there is none. */
NET_INLINE void cross(struct net *n, struct net_port *port, uint32_t vc, uint32_t h,
                      struct net_pkt *k, uint32_t mode)
{
    if (mode & NET_MODE_INPUT) {
        uint32_t from = net_from(n, k, mode);
        struct net_line *in = &n->line[from * n->nvcs + k->route.vc];

        in->asked = false;
        in->t_in_free = n->sim->now + n->switch_ps;
        n->line[net_vc0(n, port) + vc].t_out_free = in->t_in_free;
        if (in->in.head != WR_NIL && !in->in_event)
            in_event(n, from, k->route.vc, in);
    }
    link_join(n, port, vc, h, k, mode);
}

static inline bool switch_free(const struct net *n, const struct net_port *port, uint32_t vc,
                               uint32_t mode)
{
    return !(mode & NET_MODE_INPUT) || n->line[net_vc0(n, port) + vc].t_out_free <= n->sim->now;
}

/* Admit from a channel's waiting line what can be admitted now; true when
 * what is left waits for a credit. */
NET_INLINE bool serve_channel(struct net *n, struct net_port *port, uint32_t vc, uint32_t mode)
{
    struct net_queue *wait = net_wait_of(n, port, vc);

    while (wait->head != WR_NIL) {
        uint32_t h = wait->head;
        struct net_pkt *k = net_pkt(n, h);
        uint32_t charge = net_charge(n, k, mode);

        if (!net_has_room(n, port, vc, charge))
            return true;
        if (!switch_free(n, port, vc, mode)) {
            struct net_line *line = &n->line[net_vc0(n, port) + vc];

            if (!line->out_event)
                out_event(n, port, vc, line);
            return false;
        }
        net_queue_get(&n->pkts, wait);
        net_rare(n, port)->waiting -= charge;
        if (mode & NET_MODE_PARTS)
            net_inlet_leave(n, port, h, k);
        cross(n, port, vc, h, k, mode);
    }
    port->stalled = (uint16_t)(port->stalled & ~(1u << vc));
    return false;
}

NET_INLINE void serve_waiting(struct net *n, struct net_port *port, uint32_t mode)
{
    bool lacks_credit = false;

    for (uint32_t m = port->stalled; m; m &= m - 1)
        lacks_credit |= serve_channel(n, port, (uint32_t)__builtin_ctz(m), mode);
    net_port_saturation(n, port, lacks_credit, n->sim->now);
}

/* The same in one copy, for where it is seldom. */
static NET_APART void serve_seldom(struct net *n, struct net_port *port)
{
    serve_waiting(n, port, n->mode);
}

/* Who still waits will be woken, and its partition knows. */
NET_INLINE void wait_on(struct net *n, struct net_port *port, uint32_t mode)
{
    net_port_call_wake(n, port);
    if (net_is_seam(port, mode))
        net_seam_stalled(n, port, n->sim->now);
}

/* By age, whichever port it came through: behind those that are as old, and behind those that came
 * through the same channel, which stays first in, first out. Is it the first now? Then there may
 * be room for it where there was none for the one before. */
static bool wait_by_age(struct net *n, struct net_queue *wait, uint32_t h)
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

/* The packet cannot have its output now: it waits in the output's line. Those that wait already
 * are served if there is news: credits, or another turn of the switch. */
static NET_APART void wait_for(struct net *n, struct net_port *port, uint32_t vc, uint32_t h,
                               bool news)
{
    if (n->p.arbitration == NET_ARB_AGE)
        news |= wait_by_age(n, net_wait_of(n, port, vc), h);
    else
        net_queue_put(&n->pkts, net_wait_of(n, port, vc), h);
    port->stalled = (uint16_t)(port->stalled | 1u << vc);
    net_rare(n, port)->waiting += net_charge(n, net_pkt(n, h), n->mode);
    if (n->mode & NET_MODE_PARTS) {
        net_inlet_wait(n, port, h, net_pkt(n, h));
        if (port->seam)
            net_late_wait(n, net_pkt(n, h));
    }
    if (news || (n->mode & NET_MODE_INPUT))
        serve_seldom(n, port);
    else
        net_port_saturation(n, port, true, n->sim->now);
    wait_on(n, port, n->mode);
    if (n->mode & NET_MODE_PARTS && !port->seam)
        net_late_tighten(n, port, vc);
}

/* There is no room in the channel, as far as one has heard; was there more to hear? */
static NET_APART bool hear(struct net *n, struct net_port *port, uint32_t vc,
                           const struct net_pkt *k)
{
    if (port->seam)
        return !net_late_may_wait(n, port, vc, k) && net_seam_ask(n, port);
    net_late_hear(n, port, vc);
    return link_absorb(n, port, n->sim->now, n->mode);
}

NET_INLINE bool may_cross(const struct net *n, struct net_port *port, uint32_t vc,
                          const struct net_pkt *k, uint32_t mode)
{
    return !(port->stalled & 1u << vc) && net_has_room(n, port, vc, net_charge(n, k, mode)) &&
           switch_free(n, port, vc, mode);
}

/* The packet may not have its output, unless there is more to hear. */
static NET_APART void wait_unless(struct net *n, struct net_port *port, uint32_t vc, uint32_t h,
                                  bool news)
{
    struct net_pkt *k = net_pkt(n, h);

    if (!net_has_room(n, port, vc, net_charge(n, k, n->mode)))
        news |= hear(n, port, vc, k);
    if (may_cross(n, port, vc, k, n->mode))
        cross(n, port, vc, h, k, n->mode);
    else
        wait_for(n, port, vc, h, news);
}

NET_INLINE void ask_port(struct net *n, struct net_port *port, uint32_t h, struct net_pkt *k,
                         uint32_t mode)
{
    uint32_t vc = k->out_vc;
    bool news = link_absorb(n, port, n->sim->now, mode);

    if (may_cross(n, port, vc, k, mode))
        cross(n, port, vc, h, k, mode);
    else if (mode & NET_MODE_PARTS)
        wait_unless(n, port, vc, h, news);
    else
        wait_for(n, port, vc, h, news);
}

/* Ask for the packet's output. Few ports are seams: those have a function of their own. */
NET_INLINE void ask(struct net *n, uint32_t router, uint32_t h, uint32_t mode, ask_fn *seam)
{
    struct net_pkt *k = net_pkt(n, h);

    if (!(mode & NET_MODE_EARLY) && (!(mode & NET_MODE_FORESEES) || k->out == WR_NIL))
        link_choose(n, router, k, &n->view);
    struct net_port *port = &n->port[k->out];

    if (net_is_seam(port, mode))
        seam(n, port, h, k);
    else
        ask_port(n, port, h, k, mode & ~(uint32_t)NET_MODE_SEAM);
}

static void ask_any(struct net *n, struct net_port *port, uint32_t h, struct net_pkt *k);

/* The first of an input line may ask now. */
static void ask_first(struct net *n, uint32_t router, struct net_line *line)
{
    uint32_t h = net_queue_get(&n->pkts, &line->in);

    line->asked = true;
    ask(n, router, h, n->mode, ask_any);
}

void net_on_switch(void *ctx, const struct sim_event *e)
{
    struct net *n = ctx;

    if (e->arg == WR_NIL) {
        struct net_port *port = &n->port[(uint64_t)sim_dst(e) * n->nports + sim_door(e)];

        n->line[net_vc0(n, port) + e->arg2].out_event = false;
        link_absorb(n, port, n->sim->now, n->mode);
        serve_seldom(n, port);
        wait_on(n, port, n->mode);
        return;
    }
    struct net_line *line = &n->line[e->arg * n->nvcs + e->arg2];

    line->in_event = false;
    if (!line->asked && line->in.head != WR_NIL)
        ask_first(n, sim_dst(e), line);
}

static void stand_in_line(struct net *n, uint32_t router, uint32_t h)
{
    const struct net_pkt *k = net_pkt(n, h);
    uint32_t from = net_from(n, k, n->mode);
    struct net_line *line = &n->line[from * n->nvcs + k->route.vc];

    net_queue_put(&n->pkts, &line->in, h);
    if (line->asked || line->in_event)
        return;
    if (line->t_in_free > n->sim->now)
        in_event(n, from, k->route.vc, line);
    else
        ask_first(n, router, line);
}

/* The packet is there: fetch the port that gets its credit, and the port it
 * leaves by, or the message it belongs to and what is counted where that arrives. */
NET_INLINE void warm(const struct net *n, const struct sim_event *e, uint32_t mode)
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
    if (!(mode & NET_MODE_PARTS))
        return;
    uint32_t seam = net_seam_at(n, k->out);

    if (seam != WR_NIL) {
        __builtin_prefetch(&n->seam[seam], 1);
        __builtin_prefetch(net_msg_at(n, k->msg), 1);
    } else if (n->pace)
        __builtin_prefetch(&n->pace[k->out], 1);
}

NET_INLINE void arrive(struct net *n, const struct sim_event *e, uint32_t mode, ask_fn *seam)
{
    if (n->large)
        __builtin_prefetch(&e[2 * NET_FAR]);
    __builtin_prefetch(net_pkt(n, e[NET_FAR].arg));
    warm(n, &e[NET_MID], mode);
    if (!(mode & NET_MODE_CUT)) {
        struct net_port *port = &n->port[net_pkt(n, e->arg)->from];

        if (port->queued || port->wired) /* no stand-in ever */
            link_follow(n, port, e->seq, mode & ~(uint32_t)NET_MODE_SEAM);
    }
    if (sim_dst(e) >= n->nrouters)
        net_nic_deliver(n, e->arg);
    else if (mode & NET_MODE_INPUT)
        stand_in_line(n, sim_dst(e), e->arg);
    else
        ask(n, sim_dst(e), e->arg, mode, seam);
}

/* Who waits, and for what, will be needed soon. */
NET_INLINE void warm_wake(const struct net *n, const struct sim_event *e, uint32_t mode)
{
    const struct net_port *far = &n->port[e[4].arg], *port = &n->port[e[1].arg];

    __builtin_prefetch(far);
    __builtin_prefetch(&far->queue);
    if (e[4].arg < n->nrouters * n->nports)
        __builtin_prefetch(net_rare(n, far));
    if (mode & NET_MODE_PARTS && !e[1].arg)
        return; /* nothing follows, and the first port may be another's */
    if (port->stalled && e[1].arg < n->nrouters * n->nports)
        __builtin_prefetch(
            net_pkt(n, net_wait_of(n, port, (uint32_t)__builtin_ctz(port->stalled))->head));
}

/* There are credits: serve who waits for them, here or in the NIC. */
NET_INLINE void serve(struct net *n, uint32_t index, uint32_t mode)
{
    struct net_port *port = &n->port[index];
    uint32_t routers = n->nrouters * n->nports;

    if (!port->stalled)
        return;
    if (__builtin_expect(index >= routers, 0))
        net_nic_pump(n, index - routers, n->sim->now);
    else
        serve_waiting(n, port, mode);
    wait_on(n, port, mode);
}

/* A credit that somebody waited for has come. */
NET_INLINE void wake(struct net *n, const struct sim_event *e, uint32_t mode)
{
    struct net_port *port = &n->port[e->arg];

    warm_wake(n, e, mode);
    port->wake_event = false;
    if (net_is_seam(port, mode))
        n->sim->aside = net_seam_idle_wake(n, port);
    link_absorb(n, port, n->sim->now, mode);
    serve(n, e->arg, mode);
}

/* A credit that found the ring full. */
void net_on_credit(void *ctx, const struct sim_event *e)
{
    struct net *n = ctx;
    uint32_t lp = sim_dst(e), index = lp < n->nrouters ? lp * n->nports + sim_door(e)
                                                       : n->nrouters * n->nports + lp - n->nrouters;
    struct net_port *port = &n->port[index];

    link_absorb(n, port, n->sim->now, n->mode);
    *net_held(n, port, e->arg2) -= e->arg;
    serve(n, index, n->mode);
}

/* One copy of the inner loop per common machine, one for the rest. */
enum { PARTS = NET_MODE_PARTS | NET_MODE_SEAM };

#define COPY(name, mode)                                                                 \
    static NET_APART void ask_##name(struct net *ctx, struct net_port *port, uint32_t h, \
                                     struct net_pkt *k)                                  \
    {                                                                                    \
        ask_port(ctx, port, h, k, mode);                                                 \
    }                                                                                    \
    static void arrive_##name(void *ctx, const struct sim_event *e)                      \
    {                                                                                    \
        arrive(ctx, e, mode, ask_##name);                                                \
    }                                                                                    \
    static void wake_##name(void *ctx, const struct sim_event *e)                        \
    {                                                                                    \
        wake(ctx, e, mode);                                                              \
    }

/* However early routings choose, and whether the machine is divided or not. */
#define COPIES(name, mode)                                    \
    COPY(name, mode)                                          \
    COPY(name##_early, (mode) | NET_MODE_EARLY)               \
    COPY(name##_often, (mode) | NET_MODE_FORESEES)            \
    COPY(name##_parts, (mode) | PARTS)                        \
    COPY(name##_early_parts, (mode) | NET_MODE_EARLY | PARTS) \
    COPY(name##_often_parts, (mode) | NET_MODE_FORESEES | PARTS)

COPIES(slots_stored, 0)
COPIES(slots_cut, NET_MODE_CUT)
COPIES(bytes_cut, NET_MODE_BYTES | NET_MODE_CUT)
COPY(any, ((const struct net *)ctx)->mode)

void net_router_handlers(uint32_t mode, sim_handler **ret_arrive, sim_handler **ret_wake)
{
#define ROW(name, mode)                  \
    {                                    \
        mode, arrive_##name, wake_##name \
    }
#define ROWS(name, mode)                                                                  \
    ROW(name, mode), ROW(name##_early, (mode) | NET_MODE_EARLY),                          \
        ROW(name##_often, (mode) | NET_MODE_FORESEES), ROW(name##_parts, (mode) | PARTS), \
        ROW(name##_early_parts, (mode) | NET_MODE_EARLY | PARTS),                         \
        ROW(name##_often_parts, (mode) | NET_MODE_FORESEES | PARTS)

    static const struct {
        uint32_t mode;
        sim_handler *arrive, *wake;
    } copies[] = {
        ROWS(slots_stored, 0),
        ROWS(slots_cut, NET_MODE_CUT),
        ROWS(bytes_cut, NET_MODE_BYTES | NET_MODE_CUT),
    };

    *ret_arrive = arrive_any;
    *ret_wake = wake_any;
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++)
        if (copies[i].mode == mode) {
            *ret_arrive = copies[i].arrive;
            *ret_wake = copies[i].wake;
        }
}

void net_warm(const void *ctx, const struct sim_event *e)
{
    warm(ctx, e, ((const struct net *)ctx)->mode);
}
