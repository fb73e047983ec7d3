/* net.c -- set-up of the network, and its counters.
 *
 * Owns struct net: net_alloc builds what all partitions share, net_register opens the FIFOs and
 * registers the handlers of one partition. The counters are exact at sim->now: what a NIC has sent
 * ahead of time is subtracted (net_nic_ahead), what a link has sent by now is added (flushed).
 */
#include "net/net.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/mem.h"
#include "link_priv.h"
#include "net/topo/paths.h"

const char *const net_arbitration_names[] = {"round-robin", "lowest-vc", "age", NULL};
const char *const net_accounting_names[] = {"slots", "bytes", NULL};
const char *const net_switching_names[] = {"store-and-forward", "cut-through", NULL};
const char *const net_queueing_names[] = {"output", "input", NULL};
const char *const net_rail_names[] = {"round-robin", "hash", "least-loaded", NULL};
const char *const net_ejection_names[] = {"one", "routed", NULL};

enum {
    POOL_CAP = 1 << 28,
    RNG_ROUTE = 1, /* purpose of a router's random stream */
    MAX_BUFFER = 1 << 30,
    OWN_CACHE = 2 << 20, /* bytes of a core's own cache, about */
};

static bool net_check_class(const struct net_params *p, const char *name, uint32_t cls,
                            struct wr_err *err)
{
    const struct net_link_params *l = &p->link[cls];

    if (!(l->bandwidth > 0))
        return wr_fail(err, WR_INPUT, "link class %s has no bandwidth; give it one above 0 B/s",
                       name);
    if (1e12 / l->bandwidth * (double)p->packet_b > 1e12)
        return wr_fail(err, WR_INPUT,
                       "a packet of %llu B takes more than a second on link class %s; raise its "
                       "bandwidth or lower nic.packet",
                       (unsigned long long)p->packet_b, name);
    if (l->buffer_b < p->packet_b || l->buffer_b > MAX_BUFFER)
        return wr_fail(
            err, WR_INPUT,
            "the buffer of link class %s is %llu B; it must hold a packet (%llu B) and be "
            "at most 1 GiB",
            name, (unsigned long long)l->buffer_b, (unsigned long long)p->packet_b);
    return true;
}

/* Propagation and router delay, in 1/2^20 ps. */
static uint64_t net_delay_fixed(const struct net_params *p, uint32_t cls)
{
    double ps = p->link[cls].latency_ps + (cls == TOPO_INJECT ? 0 : p->router_delay_ps);

    return (uint64_t)llround(ps * 0x1p20);
}

uint64_t net_delay_ps(const struct net_params *p, uint32_t cls)
{
    return net_delay_fixed(p, cls) >> 20;
}

/* A credit takes at least 1 ps: the order of events at one time must not depend on which was
 * executed first. */
uint64_t net_credit_ps(const struct net_params *p, uint32_t cls)
{
    double credit = p->credit_delay_ps + (p->credit_on_link ? p->link[cls].latency_ps : 0);

    return credit < 1 ? 1 : (uint64_t)llround(credit);
}

static void net_set_class(struct net *n, uint32_t cls)
{
    const struct net_link_params *l = &n->p.link[cls];

    n->cls[cls] = (struct net_class){
        .per_byte = (uint64_t)llround(1e12 / l->bandwidth * 0x1p20),
        .delay = net_delay_fixed(&n->p, cls),
        .credit_ps = net_credit_ps(&n->p, cls),
        .capacity = (uint32_t)l->buffer_b,
    };
}

static void net_set_port(struct net *n, uint32_t index, uint32_t self_port, uint32_t peer_lp,
                         uint32_t peer_in_port, uint8_t cls, uint32_t nvcs)
{
    n->port[index] = (struct net_port){
        .peer_lp = peer_lp,
        .wire = WR_NIL,
        .peer_in_port = (uint16_t)peer_in_port,
        .self_port = (uint16_t)self_port,
        .cls = cls,
        .nvcs = (uint8_t)nvcs,
    };
}

/* A link to a router has the routing's channels; a link to a terminal has one, or as many. */
static uint32_t net_port_vcs(const struct net *n, const struct topo_port *p)
{
    if (p->kind == TOPO_TERMINAL)
        return n->eject ? n->nvcs : 1;
    return p->kind == TOPO_ROUTER ? n->route->nvcs : 0;
}

static uint64_t net_count_vcs(const struct topo *t, const struct route *rt)
{
    uint64_t ports = (uint64_t)t->nrouters * t->nports + t->nterms;

    return ports * (rt->nvcs ? rt->nvcs : 1);
}

/* Initialises a router's port, or the injection link of a terminal. */
static void net_init_port(struct net *n, uint32_t index)
{
    const struct topo *t = n->topo;
    uint32_t routers = t->nrouters * t->nports, p = index % t->nports;

    if (index >= routers) {
        const struct topo_end *end = &t->term[index - routers];

        net_set_port(n, index, 0, end->router, end->port, TOPO_INJECT, 1);
        net_queue_init(&n->nic[index - routers].queue);
    } else {
        const struct topo_port *tp = topo_port(t, index / t->nports, p);
        bool ejects = tp->kind == TOPO_TERMINAL;

        net_set_port(n, index, p, ejects ? t->nrouters + tp->peer : tp->peer, tp->peer_port,
                     ejects ? TOPO_EJECT : tp->cls, net_port_vcs(n, tp));
    }
    for (uint32_t v = 0; v < n->nvcs; v++) {
        net_queue_init(net_queue_of(n, &n->port[index], v));
        net_queue_init(net_wait_of(n, &n->port[index], v));
    }
}

/* Ports that other processes execute are not touched: their memory stays unmapped. A line is
 * indexed by its upstream port, and belongs to the router at the other end. */
static void net_init_ports(struct net *n)
{
    for (uint32_t i = 0; i < n->total_ports; i++)
        if (!net_is_foreign(n, i))
            net_init_port(n, i);
    for (uint64_t i = 0; n->line && i < n->total_vcs; i++)
        net_queue_init(&n->line[i].in);
}

static uint32_t net_view_load(const struct route_view *view, uint32_t router, uint16_t port)
{
    struct net *n = (struct net *)((char *)view - offsetof(struct net, view));
    struct net_port *p = &n->port[(uint64_t)router * n->nports + port];

    link_absorb(n, p, n->sim->now, n->mode);
    return net_occupancy_all(n, p) + (p->stalled ? (uint32_t)net_cold(n, p)->waiting : 0);
}

static bool net_check_params(const struct topo *t, const struct net_params *p, struct wr_err *err)
{
    if (!p->packet_b || p->packet_b > MAX_BUFFER)
        return wr_fail(err, WR_INPUT, "nic.packet must be between 1 B and 1 GiB");
    if (!p->rails || t->nterms % p->rails)
        return wr_fail(
            err, WR_INPUT,
            "%u terminals cannot be shared out to nodes of %u rails; choose nic.rails so "
            "that it divides the terminals",
            t->nterms, p->rails);
    if ((uint64_t)t->nrouters * t->nports + t->nterms > UINT32_MAX / ROUTE_MAX_VCS)
        return wr_fail(err, WR_INPUT, "the machine has too many ports for 32-bit handles");
    for (uint32_t c = 0; c < t->nclasses; c++)
        if (!net_check_class(p, t->class_name[c], c, err))
            return false;
    return true;
}

/* Cut-through: can a packet's head be at the next router before its last byte has left? The last
 * byte follows the first by at most the serialisation on the slowest link, and rounding.
 * Terminals wait for it. */
static bool net_is_short(const struct topo *t, const struct net_params *p)
{
    const double rounding_ps = 1000;
    double slowest = 0, shortest = INFINITY;

    if (p->switching != NET_CUT_THROUGH)
        return false;
    for (uint32_t c = 0; c < t->nclasses; c++)
        slowest = fmax(slowest, 1e12 / p->link[c].bandwidth * (double)p->packet_b);
    for (uint32_t c = TOPO_OWN; c < t->nclasses; c++)
        shortest = fmin(shortest, (double)net_delay_ps(p, c));
    return shortest < slowest + rounding_ps || (double)net_delay_ps(p, TOPO_EJECT) < rounding_ps;
}

static uint32_t net_mode_of(const struct topo *t, const struct net_params *p)
{
    return (net_is_short(t, p) ? NET_MODE_SHORT : 0u) |
           (p->accounting == NET_ACCOUNT_BYTES ? NET_MODE_BYTES : 0u) |
           (p->switching == NET_CUT_THROUGH ? NET_MODE_CUT : 0u) |
           (p->queueing == NET_QUEUE_INPUT ? NET_MODE_INPUT : 0u);
}

static void net_open_pools(struct net *n, uint32_t cap)
{
    wr_pool_init(&n->pkts, "packets", sizeof(struct net_pkt), cap);
    wr_pool_init(&n->msgs, "messages", sizeof(struct net_msg), cap);
}

/* Opens the FIFOs and registers the handlers of a partition, or of an undivided network. */
static void net_register(struct net *n)
{
    struct sim *sim = n->sim;
    uint32_t classes = n->topo->nclasses;

    assert(sim && n->pkts.base && n->mode == (n->mode & ~(uint32_t)NET_MODE_WAKES));
    struct net_handlers on;

    n->nic_fifo = sim_fifo_open(sim, NET_EV_NIC);
    n->wake_fifo = sim_fifo_open(sim, NET_EV_WAKE);
    if (n->npartitions)
        n->idle_fifo = sim_fifo_open(sim, NET_EV_PORT);
    n->ahead_fifo = sim_fifo_open(sim, NET_EV_ARRIVE);
    for (uint32_t c = 0; c < classes; c++)
        n->cls[c].fifo = sim_fifo_open(sim, NET_EV_ARRIVE);
    for (uint32_t c = 1; c < classes; c++)
        n->cls[c].follow_fifo = sim_fifo_open(sim, NET_EV_ARRIVE);
    if (n->npartitions)
        n->boundary_fifo = sim_fifo_open(sim, NET_EV_ARRIVE);
    net_router_handlers(n->mode, &on);
    sim_handle(sim, NET_EV_CREDIT, net_on_credit, n);
    sim_handle(sim, NET_EV_WAKE, on.wake, n);
    sim_handle(sim, NET_EV_PORT, net_on_port, n);
    sim_handle(sim, NET_EV_NIC, net_on_nic, n);
    sim_handle(sim, NET_EV_SWITCH, on.turn_switch, n);
    sim_handle(sim, NET_EV_ARRIVE, on.arrive, n);
    sim->queue.prefetch[NET_EV_ARRIVE] = (struct sim_prefetch){.thing = (char *)n->pkts.base,
                                                               .size = sizeof(struct net_pkt),
                                                               .more = net_prefetch_packet,
                                                               .ctx = n};
    sim->queue.prefetch[NET_EV_PORT] = (struct sim_prefetch){.thing = (char *)n->port,
                                                             .size = sizeof(struct net_port),
                                                             .more = net_prefetch_port,
                                                             .ctx = n};
    sim->queue.prefetch[NET_EV_WAKE] =
        (struct sim_prefetch){.thing = (char *)n->port, .size = sizeof(struct net_port), .ctx = n};
    sim->queue.prefetch[NET_EV_NIC] = (struct sim_prefetch){.thing = (char *)n->port,
                                                            .size = sizeof(struct net_port),
                                                            .more = net_prefetch_nic,
                                                            .ctx = n};
}

/* Allocates what all partitions share. */
static struct net *net_alloc(const struct topo *t, const struct route *route,
                             const struct net_params *params, const struct sim_engine *engine,
                             const uint16_t *partition_of, uint64_t seed)
{
    struct net *n = wr_zalloc_aligned(1, sizeof *n);
    uint64_t vcs = net_count_vcs(t, route);

    n->topo = t;
    n->route = route;
    n->p = *params;
    n->view.load = net_view_load;
    n->nports = t->nports;
    n->per_port = UINT64_MAX / t->nports + 1;
    n->nrouters = t->nrouters;
    n->nterms = t->nterms;
    n->nodes = t->nterms / params->rails;
    n->per_rail = UINT32_MAX / params->rails + 1ul;
    n->nvcs = route->nvcs ? route->nvcs : 1;
    n->total_ports = t->nrouters * t->nports + t->nterms;
    n->total_vcs = (uint32_t)vcs;
    n->eject = params->ejection == NET_EJECT_ROUTED ? route->eject : NULL;
    n->slot_b = (uint32_t)params->packet_b;
    n->mode = net_mode_of(t, params) | (route->early ? NET_MODE_EARLY : 0u) |
              (route->maybe_early ? NET_MODE_MAYBE_EARLY : 0u);
    n->switch_ps = (uint64_t)llround(params->switch_time_ps);
    n->gap_ps = (uint64_t)llround(params->message_gap_ps);
    n->partition_of = partition_of;
    if (engine) {
        n->npartitions = sim_engine_size(engine);
        n->foreign = wr_zalloc(n->npartitions, sizeof *n->foreign);
        for (uint32_t i = 0; i < n->npartitions; i++)
            n->foreign[i] = i - sim_engine_first(engine) >= sim_engine_local(engine);
        n->foreign_stat = wr_alloc_pages(n->total_ports, sizeof *n->foreign_stat);
    }
    n->nboundaries = partition_of ? net_boundaries_count(t, partition_of) : 0;
    n->port = wr_alloc_pages((size_t)n->total_ports + n->nboundaries, sizeof *n->port);
    n->large = (uint64_t)n->total_ports * sizeof *n->port > OWN_CACHE;
    if (n->nvcs > NET_NEAR_VCS)
        n->vc = wr_zalloc(vcs, sizeof *n->vc);
    n->cold = wr_alloc_pages(n->total_ports, sizeof *n->cold);
    if (params->queueing == NET_QUEUE_INPUT)
        n->line = wr_zalloc(vcs, sizeof *n->line);
    if (params->accounting == NET_ACCOUNT_BYTES)
        n->ring_b =
            wr_zalloc(((size_t)n->total_ports + n->nboundaries) * NET_RING, sizeof *n->ring_b);
    n->nic = wr_alloc_pages(t->nterms, sizeof *n->nic);
    n->rng = wr_zalloc_aligned(t->nrouters, sizeof *n->rng);
    for (uint32_t r = 0; r < t->nrouters; r++)
        wr_rng_init(&n->rng[r].stream, seed, r, RNG_ROUTE);
    for (uint32_t c = 0; c < t->nclasses; c++)
        net_set_class(n, c);
    net_init_ports(n);
    return n;
}

bool net_open(struct net **ret, const struct topo *t, const struct route *route,
              const struct net_params *params, struct sim *sim, uint64_t seed,
              const struct net_client *client, struct wr_err *err)
{
    assert(ret && sim && client && route->topo == t);
    if (!net_check_params(t, params, err))
        return false;
    struct net *n = net_alloc(t, route, params, NULL, NULL, seed);

    n->sim = sim;
    n->client = *client;
    net_open_pools(n, POOL_CAP);
    net_register(n);
    *ret = n;
    return true;
}

bool net_open_partitions(struct net **ret, const struct topo *t, const struct route *route,
                         const struct net_params *params, struct sim_engine *engine,
                         const uint16_t *partition_of, uint64_t seed,
                         const struct net_client *clients, struct wr_err *err)
{
    assert(engine && partition_of && route->topo == t && net_may_partition(params));
    if (!net_check_params(t, params, err))
        return false;
    struct net *whole = net_alloc(t, route, params, engine, partition_of, seed);

    whole->all = wr_zalloc(whole->npartitions, sizeof(struct net *));
    net_boundaries_open(whole);
    for (uint32_t i = 0; i < whole->npartitions; i++) {
        struct net *n = i ? wr_zalloc_aligned(1, sizeof *n) : whole;

        if (i)
            *n = *whole;
        n->me = i;
        n->partition = sim_engine_partition(engine, i);
        n->sim = n->partition->sim;
        n->client = clients[i];
        net_open_pools(n, POOL_CAP / whole->npartitions);
        whole->all[i] = ret[i] = n;
    }
    for (uint32_t i = 0; i < whole->npartitions; i++) {
        net_register(ret[i]);
        net_boundaries_join(ret[i]);
    }
    return true;
}

static void net_close_pools(struct net *n)
{
    wr_pool_fini(&n->pkts);
    wr_pool_fini(&n->msgs);
}

void net_close(struct net *n)
{
    if (!n)
        return;
    for (uint32_t i = 0; i < n->npartitions; i++) {
        net_boundaries_leave(n->all[i]);
        if (i) {
            net_close_pools(n->all[i]);
            free(n->all[i]);
        }
    }
    free(n->all);
    free(n->boundary);
    wr_free_pages(n->port, (size_t)n->total_ports + n->nboundaries, sizeof *n->port);
    free(n->vc);
    wr_free_pages(n->cold, n->total_ports, sizeof *n->cold);
    free(n->line);
    free(n->ring_b);
    wr_free_pages(n->nic, n->nterms, sizeof *n->nic);
    wr_free_pages(n->foreign_stat, n->total_ports, sizeof *n->foreign_stat);
    free(n->foreign);
    free(n->rng);
    if (n->paths)
        topo_paths_free(n->paths);
    free(n->paths);
    net_close_pools(n);
    free(n);
}

uint32_t net_nodes(const struct net *n)
{
    return n->nodes;
}

uint32_t net_node_lp(const struct net *n, uint32_t node)
{
    wr_check(node < n->nodes);
    return n->nrouters + node * n->p.rails;
}

uint32_t net_node_router(const struct net *n, uint32_t node)
{
    wr_check(node < n->nodes);
    return n->topo->term[node * n->p.rails].router;
}

uint32_t net_lps(const struct net *n)
{
    return n->nrouters + n->nterms;
}

void net_prefetch_node(const struct net *n, uint32_t node, uint32_t dst)
{
    uint32_t term = node * n->p.rails;

    __builtin_prefetch(&n->port[(uint64_t)n->nrouters * n->nports + term]);
    __builtin_prefetch(&n->port[(uint64_t)n->nrouters * n->nports + term].queue);
    __builtin_prefetch(&n->nic[term]);
    __builtin_prefetch(&n->topo->term[dst * n->p.rails]);
}

void net_prefetch_arrivals(struct net *n, const void *nodes, size_t size)
{
    n->arrivals = nodes;
    n->arrivals_b = size;
}

struct net_msg *net_msg_at(const struct net *n, uint32_t msg)
{
    return net_thing(&n->msgs, msg);
}

void net_watch_packets(struct net *n, struct wr_hist *hist)
{
    n->packet_hist = hist;
}

/* What a NIC has counted ahead of time (net_nic_pump), and has to be subtracted now. */
struct ahead {
    uint64_t packets, bytes; /* have not left yet */
    uint64_t saturated_ps;   /* time in the future */
};

static struct ahead net_nic_ahead(const struct net *n, uint32_t index)
{
    uint32_t routers = n->nrouters * n->nports;
    uint64_t now = n->sim->now;
    struct ahead a = {0};

    if (index < routers)
        return a;
    const struct net_nic *nic = &n->nic[index - routers];

    if (nic->t_last > now) {
        a.packets = 1;
        a.bytes = nic->last_b;
    }
    if (nic->t_pumped > now && !n->port[index].saturated)
        a.saturated_ps = nic->t_pumped - now;
    return a;
}

/* A counter such as in_flight is incremented in one partition and decremented in another: only the
 * sum is meaningful. */
static void net_add_counts(struct net_counts *to, const struct net_counts *c)
{
    to->messages += c->messages;
    to->packets += c->packets;
    to->bytes += c->bytes;
    to->hops += c->hops;
    for (int i = 0; i < NET_NEARS; i++)
        to->near[i] += c->near[i];
    to->minimal += c->minimal;
    to->nonminimal += c->nonminimal;
    to->in_flight += c->in_flight;
    to->queued_messages += c->queued_messages;
}

void net_counts(const struct net *n, struct net_counts *ret)
{
    *ret = n->count;
    for (uint32_t i = 1; i < n->npartitions; i++)
        net_add_counts(ret, &n->all[i]->count);
    for (uint32_t i = 0; i < n->nterms; i++)
        ret->in_flight -= net_nic_ahead(n, n->nrouters * n->nports + i).packets;
}

/* Sends the packets that leave by now, so that they are counted; cut-through: before now. */
static void net_flush_port(const struct net *n, struct net_port *port)
{
    net_port_flush(net_of_port(n, (uint32_t)(port - n->port)), port,
                   n->sim->now - (n->mode & NET_MODE_CUT && n->sim->now));
}

void net_link_stat(const struct net *n, uint32_t r, uint32_t p, struct net_link_stat *ret)
{
    uint32_t index =
        r < n->nrouters ? r * n->nports + p : n->nrouters * n->nports + (r - n->nrouters);
    struct net_port *port = &n->port[index];
    const struct net_class *c = &n->cls[port->cls];

    assert(index < n->total_ports && (r < n->nrouters ? p < n->nports : !p));
    if (net_is_foreign(n, index)) {
        *ret = n->foreign_stat[index];
        return;
    }
    if (port->queued)
        net_flush_port(n, port);
    struct ahead ahead = net_nic_ahead(n, index);
    uint64_t bytes = port->bytes - ahead.bytes;

    *ret = (struct net_link_stat){
        .bytes = bytes,
        .packets = port->packets - ahead.packets,
        .busy_ps = (uint64_t)((unsigned __int128)bytes * c->per_byte >> 20) +
                   net_cold(n, port)->tail_wait_ps,
        .saturated_ps = net_cold(n, port)->saturated_ps + (port->saturated ? n->sim->now : 0) -
                        ahead.saturated_ps,
    };
}

static uint32_t net_foreign_class(const struct net *n, uint32_t index)
{
    const struct topo_port *p;

    if (index >= n->nrouters * n->nports)
        return TOPO_INJECT;
    p = topo_port(n->topo, index / n->nports, index % n->nports);
    return p->kind == TOPO_TERMINAL ? TOPO_EJECT : p->cls;
}

void net_class_bytes(const struct net *n, uint64_t *ret)
{
    for (uint32_t c = 0; c < n->topo->nclasses; c++)
        ret[c] = 0;
    for (uint32_t i = 0; i < n->total_ports; i++) {
        struct net_port *port = &n->port[i];

        if (net_is_foreign(n, i)) {
            ret[net_foreign_class(n, i)] += n->foreign_stat[i].bytes;
            continue;
        }
        if (port->queued)
            net_flush_port(n, port);
        if (port->packets)
            ret[port->cls] += port->bytes - net_nic_ahead(n, i).bytes;
    }
}

uint64_t net_memory(const struct topo *t, const struct route *rt, const struct net_params *p)
{
    uint64_t ports = (uint64_t)t->nrouters * t->nports + t->nterms, vcs = net_count_vcs(t, rt);

    return ports * (sizeof(struct net_port) + sizeof(struct net_cold) +
                    (p->accounting == NET_ACCOUNT_BYTES ? NET_RING * sizeof(uint32_t) : 0)) +
           vcs * ((rt->nvcs > NET_NEAR_VCS ? sizeof(struct net_vc) : 0) +
                  (p->queueing == NET_QUEUE_INPUT ? sizeof(struct net_line) : 0)) +
           t->nterms * sizeof(struct net_nic) + t->nrouters * sizeof(struct net_rng);
}

uint64_t net_packet_memory(void)
{
    /* The packet, its message if it is one packet long, and its event. */
    return sizeof(struct net_pkt) + sizeof(struct net_msg) + sizeof(struct sim_event);
}

uint64_t net_bytes_used(const struct net *n)
{
    uint64_t things = (uint64_t)n->pkts.fresh + n->msgs.fresh;

    for (uint32_t i = 1; i < n->npartitions; i++)
        things += (uint64_t)n->all[i]->pkts.fresh + n->all[i]->msgs.fresh;
    return net_memory(n->topo, n->route, &n->p) + things * NET_THING_B;
}

uint64_t net_hop_ps(const struct net *n, uint32_t cls, uint64_t bytes)
{
    assert(cls < n->topo->nclasses && bytes <= UINT32_MAX);
    return net_pass_ps(&n->cls[cls], (uint32_t)bytes);
}
