/* boundary.c -- links whose ends lie in different partitions.
 *
 *        sender's partition               |            receiver's partition
 *   [queue] --> ==wire== ---- packet -----+--- outbox ---> [waits?] --> [queue'] ...
 *   occupancy <------------- credit ------+--- outbox --------------+
 *
 * Owns the numbers of the boundary links, their stand-ins, and the model of a partition
 * (sim_model): the engine calls boundary_receive and boundary_end_window.
 *
 * A packet is serialised (serial.c) when its transmission begins; it is due when it arrives, at
 * least a link's delay later. A credit is sent when the packet is admitted downstream; it is due
 * credit_ps later. Both delays are at least the lookahead (net_lookahead), so both reach the other
 * partition at the barrier before the window in which they take effect. The sender's port then
 * holds its credits in flight in the same ring as any other port.
 *
 * For a packet that came over a boundary link, the port it came through is a stand-in: a port that
 * exists in the receiver's partition only, beyond the last real one. Giving a credit back to it
 * sends the credit to the sender's partition.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "link_priv.h"

/* Credits must take at least a tenth of a packet's delay: below that, windows are so short that
 * barriers cost more than threads gain. */
enum { MIN_CREDIT_SHARE = 10 };

static bool boundary_is(const struct topo *t, const uint16_t *partition_of, uint32_t router,
                        uint32_t port)
{
    const struct topo_port *p = topo_port(t, router, port);

    return p->kind == TOPO_ROUTER && partition_of[router] != partition_of[p->peer];
}

/* ---- sending ---- */

void net_boundary_send(struct net *n, const struct net_port *port, uint64_t there, uint32_t seq,
                       uint32_t h, const struct net_pkt *k)
{
    struct sim_event e =
        sim_event(there, port->peer_lp, sim_subkey(NET_EV_ARRIVE, port->peer_in_port), seq,
                  n->total_ports + port->wire, k->route.vc);

    net_serial_send(n, n->partition_of[port->peer_lp], &e, h);
}

/* Store and forward: a packet is queued for a busy boundary link. Which packet leaves next is
 * decided when a later packet requests the link, or at the end of the window: early enough, since
 * it arrives after that. */
void net_boundary_queued(struct net *n, struct net_port *port)
{
    if (port->port_event)
        return;
    wr_check(port->boundary && n->nbusy < n->nboundaries);
    port->port_event = true;
    n->busy[n->nbusy++] = (uint32_t)(port - n->port);
}

static uint64_t boundary_end_window(void *ctx, uint64_t end)
{
    struct net *n = ctx;
    uint64_t next = SIM_NEVER;

    for (uint32_t i = 0; i < n->nbusy;) {
        struct net_port *port = &n->port[n->busy[i]];

        net_port_flush(n, port, end - 1);
        if (port->queued) {
            next = port->t_free < next ? port->t_free : next;
            i++;
            continue;
        }
        port->port_event = false;
        n->busy[i] = n->busy[--n->nbusy];
    }
    return next;
}

/* A packet that came over a boundary link has been admitted: its credit is the only one in the
 * stand-in's ring. */
void net_boundary_credit(struct net *n, struct net_port *standin)
{
    wr_check(net_is_standin(n, (uint32_t)(standin - n->port)) && standin->ring_n == 1);
    uint64_t credit = standin->ring[standin->ring_at];
    uint32_t charge = net_credit_b(n, standin, standin->ring_at, n->mode);
    struct sim_event *e = sim_partition_claim(
        n->partition, standin->vc_occupancy[NET_STANDIN_PARTITION], credit >> 8, 0);

    standin->ring_n = 0;
    sim_event_fill(e, &(struct sim_event){.t = credit >> 8,
                                          .key = NET_EV_CREDIT << 24,
                                          .seq = standin->vc_occupancy[NET_STANDIN_PORT],
                                          .arg = charge,
                                          .arg2 = net_credit_vc(credit)});
}

/* ---- receiving ---- */

/* Most packets of one sender are received in the order of their arrival: they go to a FIFO. */
static void boundary_take_packet(struct net *n, const struct sim_event *e, const void *data,
                                 uint32_t bytes)
{
    uint32_t h = net_serial_receive(n, e, data, bytes);
    const struct sim_fifo *b = &n->sim->fifo[n->boundary_fifo];

    if (b->n && sim_before(e, sim_fifo_at(b, b->n - 1)))
        sim_at(n->sim, e->t, sim_dst(e), (uint32_t)e->key, e->seq, h, e->arg2);
    else
        sim_enqueue(n->sim, n->boundary_fifo, e->t, sim_dst(e), (uint32_t)e->key, e->seq, h,
                    e->arg2);
}

/* As link_send_credit, for a credit that another partition has returned. */
static void boundary_take_credit(struct net *n, const struct sim_event *e)
{
    struct net_port *port = &n->port[e->seq];

    wr_check(e->seq < n->total_ports && port->boundary);
    link_absorb(n, port, n->sim->now, n->mode);
    link_put_credit(n, e->seq, e->arg2, e->arg, e->t, n->mode);
}

static void boundary_receive(void *ctx, const struct sim_event *e, const void *data, uint32_t bytes)
{
    struct net *n = ctx;

    switch (sim_kind(e)) {
    case NET_EV_ARRIVE:
        boundary_take_packet(n, e, data, bytes);
        break;
    case NET_EV_CREDIT:
        boundary_take_credit(n, e);
        break;
    default:
        n->other(n->other_ctx, e, data, bytes);
    }
}

/* ---- setting up ---- */

bool net_has_lookahead(const struct topo *t, const struct net_params *p)
{
    for (uint32_t c = 0; !p->credit_on_link && c < t->nclasses; c++)
        if (c != TOPO_INJECT && c != TOPO_EJECT &&
            net_credit_ps(p, c) < net_delay_ps(p, c) / MIN_CREDIT_SHARE)
            return false;
    return true;
}

uint64_t net_lookahead(const struct topo *t, const struct net_params *p,
                       const struct topo_split *split)
{
    uint64_t least = SIM_NEVER;

    for (uint32_t r = 0; r < t->nrouters; r++)
        for (uint32_t k = 0; k < t->nports; k++) {
            if (!boundary_is(t, split->partition_of, r, k))
                continue;
            uint32_t cls = topo_port(t, r, k)->cls;
            uint64_t delay = net_delay_ps(p, cls), credit = net_credit_ps(p, cls);
            uint64_t both = delay < credit ? delay : credit;

            least = both < least ? both : least;
        }
    return least;
}

uint32_t net_boundaries_count(const struct topo *t, const uint16_t *partition_of)
{
    uint32_t n = 0;

    for (uint32_t r = 0; r < t->nrouters; r++)
        for (uint32_t p = 0; p < t->nports; p++)
            n += boundary_is(t, partition_of, r, p);
    return n;
}

/* Numbers the boundary links and makes their stand-ins. */
void net_boundaries_open(struct net *n)
{
    const struct topo *t = n->topo;
    uint32_t at = 0;

    assert(n->npartitions && n->foreign && n->partition_of && !n->boundary);
    n->boundary = wr_zalloc(n->nboundaries + 1, sizeof *n->boundary);
    for (uint32_t i = 0; i < t->nrouters * t->nports; i++) {
        uint32_t router = i / t->nports, p = i % t->nports;

        if (!boundary_is(t, n->partition_of, router, p))
            continue;
        if (!net_is_foreign(n, i)) {
            n->port[i].boundary = true;
            n->port[i].wire = at;
        }
        n->boundary[at] = i;
        if (!n->foreign[n->partition_of[topo_port(t, router, p)->peer]])
            n->port[n->total_ports + at] = (struct net_port){
                .cls = topo_port(t, router, p)->cls,
                .stalled = UINT16_MAX,
                .vc_occupancy = {
                    [NET_STANDIN_PORT] = i, [NET_STANDIN_PARTITION] = n->partition_of[router]}};
        at++;
    }
}

void net_boundaries_join(struct net *n)
{
    assert(n->partition && !n->partition->model.receive); /* one model per partition */
    n->busy = wr_zalloc_aligned(n->nboundaries + 1, sizeof *n->busy);
    net_serial_open(n);
    n->partition->model = (struct sim_model){
        .ctx = n, .receive = boundary_receive, .end_window = boundary_end_window};
}

void net_boundaries_leave(struct net *n)
{
    free(n->busy);
    net_serial_close(n);
}

void net_forward_other(struct net *n, net_other *fn, void *ctx)
{
    assert(n->npartitions && fn);
    n->other = fn;
    n->other_ctx = ctx;
}
