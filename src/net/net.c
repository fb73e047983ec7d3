/* net.c -- setting the network up, and its accounts. */
#include "net/net.h"

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
    MOST_ROOM = 1 << 30,
    OWN_CACHE = 2 << 20,
};

static bool check_class(const struct net_params *p, const char *name, uint32_t cls,
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
    if (l->buffer_b < p->packet_b || l->buffer_b > MOST_ROOM)
        return wr_fail(
            err, WR_INPUT,
            "the buffer of link class %s is %llu B; it must hold a packet (%llu B) and be "
            "at most 1 GiB",
            name, (unsigned long long)l->buffer_b, (unsigned long long)p->packet_b);
    return true;
}

/* Propagation and router delay, in 1/2^20 ps. */
static uint64_t delay_parts(const struct net_params *p, uint32_t cls)
{
    double ps = p->link[cls].latency_ps + (cls == TOPO_INJECT ? 0 : p->router_delay_ps);

    return (uint64_t)llround(ps * 0x1p20);
}

uint64_t net_delay_ps(const struct net_params *p, uint32_t cls)
{
    return delay_parts(p, cls) >> 20;
}

static void set_class(struct net *n, uint32_t cls)
{
    const struct net_link_params *l = &n->p.link[cls];
    double credit = n->p.credit_delay_ps + (n->p.credit_on_link ? l->latency_ps : 0);

    n->cls[cls] = (struct net_class){
        .per_byte = (uint64_t)llround(1e12 / l->bandwidth * 0x1p20),
        .delay = delay_parts(&n->p, cls),
        /* A credit is never instantaneous: what happens at one time is in the
         * order of event.h, not of who was executed first. */
        .credit_ps = credit < 1 ? 1 : (uint64_t)llround(credit),
        .room = (uint32_t)l->buffer_b,
    };
}

static void set_port(struct net *n, uint32_t index, uint32_t self_door, uint32_t peer_lp,
                     uint32_t peer_door, uint8_t cls, uint32_t nvcs)
{
    n->port[index] = (struct net_port){
        .peer_lp = peer_lp,
        .wire = WR_NIL,
        .peer_door = (uint16_t)peer_door,
        .self_door = (uint16_t)self_door,
        .cls = cls,
        .nvcs = (uint8_t)nvcs,
    };
}

/* A link to another router has the routing's channels, to a terminal one or as many. */
static uint32_t port_vcs(const struct net *n, const struct topo_port *p)
{
    if (p->kind == TOPO_TERMINAL)
        return n->eject ? n->nvcs : 1;
    return p->kind == TOPO_ROUTER ? n->route->nvcs : 0;
}

static uint64_t count_vcs(const struct topo *t, const struct route *rt)
{
    uint64_t ports = (uint64_t)t->nrouters * t->nports + t->nterms;

    return ports * (rt->nvcs ? rt->nvcs : 1);
}

static void wire(struct net *n)
{
    const struct topo *t = n->topo;

    for (uint32_t r = 0; r < t->nrouters; r++)
        for (uint32_t p = 0; p < t->nports; p++) {
            const struct topo_port *tp = topo_port(t, r, p);
            uint32_t lp = tp->kind == TOPO_TERMINAL ? t->nrouters + tp->peer : tp->peer;

            set_port(n, r * t->nports + p, p, lp, tp->peer_port, tp->cls, port_vcs(n, tp));
            if (tp->kind == TOPO_TERMINAL)
                n->port[r * t->nports + p].cls = TOPO_EJECT;
        }
    for (uint32_t i = 0; i < t->nterms; i++)
        set_port(n, t->nrouters * t->nports + i, 0, t->term[i].router, t->term[i].port, TOPO_INJECT,
                 1);
    for (uint32_t i = 0; i < n->total_ports; i++)
        for (uint32_t v = 0; v < n->nvcs; v++) {
            net_queue_init(net_queue_of(n, &n->port[i], v));
            net_queue_init(net_wait_of(n, &n->port[i], v));
        }
    for (uint64_t i = 0; n->line && i < n->total_vcs; i++)
        net_queue_init(&n->line[i].in);
    for (uint32_t i = 0; i < t->nterms; i++)
        net_queue_init(&n->nic[i].queue);
}

static uint32_t load(const struct route_view *view, uint32_t router, uint16_t port)
{
    struct net *n = (struct net *)((char *)view - offsetof(struct net, view));
    struct net_port *p = &n->port[(uint64_t)router * n->nports + port];

    link_absorb(n, p, n->sim->now, n->mode & ~(uint32_t)NET_MODE_SEAM);
    return net_held_all(n, p) + (p->stalled ? (uint32_t)net_rare(n, p)->waiting : 0);
}

/* The same where the port may be a seam. */
static uint32_t load_parts(const struct route_view *view, uint32_t router, uint16_t port)
{
    struct net *n = (struct net *)((char *)view - offsetof(struct net, view));
    struct net_port *p = &n->port[(uint64_t)router * n->nports + port];

    if (p->seam)
        net_seam_ask(n, p);
    return load(view, router, port);
}

static bool check_params(const struct topo *t, const struct net_params *p, struct wr_err *err)
{
    if (!p->packet_b || p->packet_b > MOST_ROOM)
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
        if (!check_class(p, t->class_name[c], c, err))
            return false;
    return true;
}

static uint32_t mode_of(const struct net_params *p)
{
    return (p->accounting == NET_ACCOUNT_BYTES ? NET_MODE_BYTES : 0u) |
           (p->switching == NET_CUT_THROUGH ? NET_MODE_CUT : 0u) |
           (p->queueing == NET_QUEUE_INPUT ? NET_MODE_INPUT : 0u);
}

static void open_pools(struct net *n, uint32_t cap)
{
    wr_pool_init(&n->pkts, "packets", sizeof(struct net_pkt), cap);
    wr_pool_init(&n->msgs, "messages", sizeof(struct net_msg), cap);
}

/* Belts and handlers of a partition, or of the whole. */
static void join(struct net *n)
{
    struct sim *sim = n->sim;
    uint32_t classes = n->topo->nclasses;
    sim_handler *arrive, *wake;

    n->nic_belt = sim_belt_open(sim, NET_EV_NIC);
    n->wake_belt = sim_belt_open(sim, NET_EV_WAKE);
    if (n->parts)
        n->idle_belt = sim_belt_open(sim, NET_EV_PORT);
    n->ahead_belt = sim_belt_open(sim, NET_EV_ARRIVE);
    for (uint32_t c = 0; c < classes; c++)
        n->cls[c].belt = sim_belt_open(sim, NET_EV_ARRIVE);
    for (uint32_t c = 1; c < classes; c++)
        n->cls[c].heel = sim_belt_open(sim, NET_EV_ARRIVE);
    if (n->parts)
        n->seam_belt = sim_belt_open(sim, NET_EV_ARRIVE);
    net_router_handlers(n->mode, &arrive, &wake);
    sim_handle(sim, NET_EV_CREDIT, net_on_credit, n);
    sim_handle(sim, NET_EV_WAKE, wake, n);
    sim_handle(sim, NET_EV_PORT, net_on_port, n);
    sim_handle(sim, NET_EV_NIC, net_on_nic, n);
    sim_handle(sim, NET_EV_SWITCH, net_on_switch, n);
    sim_handle(sim, NET_EV_ARRIVE, arrive, n);
    sim->queue.warm[NET_EV_ARRIVE] = (struct sim_warm){
        .thing = (char *)n->pkts.base, .size = sizeof(struct net_pkt), .more = net_warm, .ctx = n};
    sim->queue.warm[NET_EV_PORT] = (struct sim_warm){
        .thing = (char *)n->port, .size = sizeof(struct net_port), .more = net_warm_port, .ctx = n};
    sim->queue.warm[NET_EV_WAKE] =
        (struct sim_warm){.thing = (char *)n->port, .size = sizeof(struct net_port), .ctx = n};
    sim->queue.warm[NET_EV_NIC] = (struct sim_warm){
        .thing = (char *)n->port, .size = sizeof(struct net_port), .more = net_warm_nic, .ctx = n};
}

/* All but what belongs to one partition. */
static struct net *build(const struct topo *t, const struct route *route,
                         const struct net_params *params, const uint16_t *part_of, uint64_t seed)
{
    struct net *n = wr_zalloc_aligned(1, sizeof *n);
    uint64_t vcs = count_vcs(t, route);

    n->topo = t;
    n->route = route;
    n->p = *params;
    n->view.load = load;
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
    n->mode = mode_of(params) | (route->early ? NET_MODE_EARLY : 0u) |
              (route->foresees ? NET_MODE_FORESEES : 0u);
    n->switch_ps = (uint64_t)llround(params->switch_time_ps);
    n->gap_ps = (uint64_t)llround(params->message_gap_ps);
    n->part_of = part_of;
    n->nseams = part_of ? net_seams_count(t, part_of) : 0;
    n->port = wr_zalloc_aligned((size_t)n->total_ports + 2ul * n->nseams, sizeof *n->port);
    n->large = (uint64_t)n->total_ports * sizeof *n->port > OWN_CACHE;
    if (n->nvcs > NET_NEAR_VCS)
        n->vc = wr_zalloc(vcs, sizeof *n->vc);
    n->rare = wr_zalloc_aligned(n->total_ports, sizeof *n->rare);
    if (params->queueing == NET_QUEUE_INPUT)
        n->line = wr_zalloc(vcs, sizeof *n->line);
    if (params->accounting == NET_ACCOUNT_BYTES)
        n->ring_b =
            wr_zalloc(((size_t)n->total_ports + 2ul * n->nseams) * NET_RING, sizeof *n->ring_b);
    n->nic = wr_zalloc_aligned(t->nterms, sizeof *n->nic);
    n->rng = wr_zalloc(t->nrouters, sizeof *n->rng);
    for (uint32_t r = 0; r < t->nrouters; r++)
        wr_rng_init(&n->rng[r], seed, r, RNG_ROUTE);
    for (uint32_t c = 0; c < t->nclasses; c++)
        set_class(n, c);
    wire(n);
    return n;
}

bool net_open(struct net **ret, const struct topo *t, const struct route *route,
              const struct net_params *params, struct sim *sim, uint64_t seed,
              const struct net_client *client, struct wr_err *err)
{
    if (!check_params(t, params, err))
        return false;
    struct net *n = build(t, route, params, NULL, seed);

    n->sim = sim;
    n->client = *client;
    open_pools(n, POOL_CAP);
    join(n);
    *ret = n;
    return true;
}

bool net_open_parts(struct net **ret, const struct topo *t, const struct route *route,
                    const struct net_params *params, struct sim_crew *crew, const uint16_t *part_of,
                    uint64_t seed, const struct net_client *clients, struct wr_err *err)
{
    if (!check_params(t, params, err))
        return false;
    struct net *whole = build(t, route, params, part_of, seed);

    whole->parts = sim_crew_size(crew);
    whole->mode |= NET_MODE_PARTS | NET_MODE_SEAM;
    whole->view.load = load_parts;
    whole->all = wr_zalloc(whole->parts, sizeof(struct net *));
    net_seams_open(whole);
    for (uint32_t i = 0; i < whole->parts; i++) {
        struct net *n = i ? wr_zalloc_aligned(1, sizeof *n) : whole;

        if (i)
            *n = *whole;
        n->me = i;
        n->part = sim_crew_part(crew, i);
        n->sim = n->part->sim;
        n->client = clients[i];
        open_pools(n, POOL_CAP / whole->parts);
        whole->all[i] = ret[i] = n;
    }
    for (uint32_t i = 0; i < whole->parts; i++) {
        join(ret[i]);
        net_seams_join(ret[i]);
    }
    return true;
}

static void close_pools(struct net *n)
{
    wr_pool_fini(&n->pkts);
    wr_pool_fini(&n->msgs);
}

void net_close(struct net *n)
{
    if (!n)
        return;
    for (uint32_t i = 0; i < n->parts; i++) {
        net_seams_close(n->all[i]);
        if (i) {
            close_pools(n->all[i]);
            free(n->all[i]);
        }
    }
    free(n->all);
    free(n->seam);
    free(n->feeds);
    free(n->seam_map);
    free(n->inlet);
    free(n->pace);
    free(n->blocked);
    free(n->port);
    free(n->vc);
    free(n->rare);
    free(n->line);
    free(n->ring_b);
    free(n->nic);
    free(n->rng);
    if (n->paths)
        topo_paths_free(n->paths);
    free(n->paths);
    close_pools(n);
    free(n);
}

uint32_t net_nodes(const struct net *n)
{
    return n->nodes;
}

uint32_t net_node_lp(const struct net *n, uint32_t node)
{
    return n->nrouters + node * n->p.rails;
}

uint32_t net_node_router(const struct net *n, uint32_t node)
{
    return n->topo->term[node * n->p.rails].router;
}

uint32_t net_lps(const struct net *n)
{
    return n->nrouters + n->nterms;
}

void net_warm_node(const struct net *n, uint32_t node, uint32_t dst)
{
    uint32_t term = node * n->p.rails;

    __builtin_prefetch(&n->port[(uint64_t)n->nrouters * n->nports + term]);
    __builtin_prefetch(&n->port[(uint64_t)n->nrouters * n->nports + term].queue);
    __builtin_prefetch(&n->nic[term]);
    __builtin_prefetch(&n->topo->term[dst * n->p.rails]);
}

void net_warm_arrivals(struct net *n, const void *nodes, size_t size)
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

/* What a NIC has done ahead of time, when a credit comes; no longer than that takes. And what a
 * seam has sent after the last event that counts. */
struct ahead {
    uint64_t packets, bytes; /* have not left yet */
    uint64_t saturated_ps;   /* is not over yet */
};

static struct ahead ahead_of_time(const struct net *n, uint32_t index)
{
    uint32_t routers = n->nrouters * n->nports;
    uint64_t now = n->sim->now;
    struct ahead a = {0};

    if (net_is_seam(&n->port[index], n->mode)) {
        /* Its events are its own: the last of them may be later than all others. */
        const struct net_seam *s = &n->seam[n->port[index].wire];

        for (uint32_t i = 0; i < NET_SEAM_BEGAN; i++)
            if (s->began[i].t > now) {
                a.packets++;
                a.bytes += s->began[i].bytes;
            }
    }
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

/* Sums of what only grows, and of what one partition adds to and another takes from. */
static void add_counts(struct net_counts *to, const struct net_counts *c)
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
    for (uint32_t i = 1; i < n->parts; i++)
        add_counts(ret, &n->all[i]->count);
    for (uint32_t i = 0; i < n->nterms; i++)
        ret->in_flight -= ahead_of_time(n, n->nrouters * n->nports + i).packets;
}

/* What has left by now is counted; at a seam it is, by its own events. */
static void settle(const struct net *n, struct net_port *port)
{
    if (!net_is_seam(port, n->mode))
        net_port_settle(net_of_port(n, (uint32_t)(port - n->port)), port);
}

void net_link_stat(const struct net *n, uint32_t r, uint32_t p, struct net_link_stat *ret)
{
    uint32_t index =
        r < n->nrouters ? r * n->nports + p : n->nrouters * n->nports + (r - n->nrouters);
    struct net_port *port = &n->port[index];
    const struct net_class *c = &n->cls[port->cls];

    settle(n, port);
    struct ahead ahead = ahead_of_time(n, index);
    uint64_t bytes = port->bytes - ahead.bytes;

    *ret = (struct net_link_stat){
        .bytes = bytes,
        .packets = port->packets - ahead.packets,
        .busy_ps = (uint64_t)((unsigned __int128)bytes * c->per_byte >> 20) +
                   net_rare(n, port)->stretched_ps,
        .saturated_ps = net_rare(n, port)->saturated_ps + (port->saturated ? n->sim->now : 0) -
                        ahead.saturated_ps,
    };
}

uint64_t net_class_bytes(const struct net *n, uint32_t cls)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < n->total_ports; i++)
        if (n->port[i].cls == cls) {
            settle(n, &n->port[i]);
            sum += n->port[i].bytes - ahead_of_time(n, i).bytes;
        }
    return sum;
}

uint64_t net_memory(const struct topo *t, const struct route *rt, const struct net_params *p)
{
    uint64_t ports = (uint64_t)t->nrouters * t->nports + t->nterms, vcs = count_vcs(t, rt);

    return ports * (sizeof(struct net_port) + sizeof(struct net_rare) +
                    (p->accounting == NET_ACCOUNT_BYTES ? NET_RING * sizeof(uint32_t) : 0)) +
           vcs * ((rt->nvcs > NET_NEAR_VCS ? sizeof(struct net_vc) : 0) +
                  (p->queueing == NET_QUEUE_INPUT ? sizeof(struct net_line) : 0)) +
           t->nterms * sizeof(struct net_nic) + t->nrouters * sizeof(struct wr_rng);
}

uint64_t net_packet_memory(void)
{
    /* The packet, its message if it is one packet long, and its event. */
    return sizeof(struct net_pkt) + sizeof(struct net_msg) + sizeof(struct sim_event);
}

uint64_t net_bytes_used(const struct net *n)
{
    uint64_t things = (uint64_t)n->pkts.fresh + n->msgs.fresh;

    for (uint32_t i = 1; i < n->parts; i++)
        things += (uint64_t)n->all[i]->pkts.fresh + n->all[i]->msgs.fresh;
    return net_memory(n->topo, n->route, &n->p) + things * NET_THING_B;
}

uint64_t net_hop_ps(const struct net *n, uint32_t cls, uint64_t bytes)
{
    return net_pass_ps(&n->cls[cls], (uint32_t)bytes);
}
