/* route_updown.c -- up towards the roots, then down, never up again.
 *
 * On a whole fat tree the topology's closed form gives the ports. Elsewhere
 * routers get ranks and two tables per destination say how far it is:
 *
 *   down[here]   going down only
 *   legal[here]  going up, then down
 *
 * A rank is a router's distance from the nearest terminals (trees and
 * dragonfly+, whose roots are far from them) or, where that does not join all
 * pairs, its closeness to one root (Schroeder et al., "Autonet", 1991).
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net/topo/paths.h"
#include "route_pick_priv.h"
#include "route_priv.h"

enum { FAR = UINT8_MAX, GOING_DOWN = 1 };

static const char *const choice_names[] = {"ecmp", "random", "least-loaded", NULL};

static const struct conf_row rows[] = {
    {.key = "choice",
     .type = CONF_CHOICE,
     .offset = offsetof(struct route_updown_params, choice),
     .def = "ecmp",
     .names = choice_names,
     .help = "Among the ways up: by a hash of source and destination, so that a flow keeps its "
             "path, a random one, or the least loaded."},
    CONF_END,
};

struct updown {
    uint64_t *rank; /* NULL: the closed form is used */
    uint32_t *row;  /* of a destination; ROUTE_NONE: it has no terminals */
    uint32_t nrows;
    uint8_t *down, *legal; /* [row * nrouters + here] */
};

static bool updown_has_terminals(const struct topo *t, uint32_t r)
{
    for (uint32_t p = 0; p < t->nports; p++)
        if (topo_port(t, r, p)->kind == TOPO_TERMINAL)
            return true;
    return false;
}

static void updown_number_rows(struct updown *u, const struct topo *t)
{
    u->row = wr_alloc(t->nrouters * sizeof *u->row);
    for (uint32_t r = 0; r < t->nrouters; r++)
        u->row[r] = updown_has_terminals(t, r) ? u->nrows++ : ROUTE_NONE;
}

/* Breadth first from the routers in queue[0..tail), whose dist is 0. */
static void updown_spread(const struct topo *t, uint32_t *dist, uint32_t *queue, uint32_t tail)
{
    for (uint32_t head = 0; head < tail; head++)
        for (uint32_t p = 0; p < t->nports; p++) {
            const struct topo_port *port = topo_port(t, queue[head], p);

            if (port->kind != TOPO_ROUTER || dist[port->peer] != ROUTE_NONE)
                continue;
            dist[port->peer] = dist[queue[head]] + 1;
            queue[tail++] = port->peer;
        }
}

static uint32_t updown_degree(const struct topo *t, uint32_t r)
{
    uint32_t n = 0;

    for (uint32_t p = 0; p < t->nports; p++)
        n += topo_port(t, r, p)->kind == TOPO_ROUTER;
    return n;
}

/* Distinct ranks: by distance, ties by number. */
static void updown_rank_routers(struct updown *u, const struct topo *t, bool by_root)
{
    uint32_t n = t->nrouters, tail = 0, root = 0;
    uint32_t *dist = wr_alloc(n * sizeof *dist), *queue = wr_alloc(n * sizeof *queue);

    memset(dist, 0xff, n * sizeof *dist);
    for (uint32_t r = 1; r < n; r++)
        if (updown_degree(t, r) > updown_degree(t, root))
            root = r;
    for (uint32_t r = 0; r < n; r++)
        if (by_root ? r == root : u->row[r] != ROUTE_NONE) {
            dist[r] = 0;
            queue[tail++] = r;
        }
    updown_spread(t, dist, queue, tail);
    for (uint32_t r = 0; r < n; r++)
        u->rank[r] = (uint64_t)(by_root ? n - dist[r] : dist[r]) << 32 | r;
    free(dist);
    free(queue);
}

static bool updown_goes_down(const struct updown *u, uint32_t from, uint32_t to)
{
    return u->rank[to] < u->rank[from];
}

static int updown_by_falling_rank(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x < y) - (x > y);
}

/* Up links first from the top: what a router reaches by going up is known when
 * everything above it is. */
static void updown_fill_legal(const struct updown *u, const struct topo *t, const uint64_t *order,
                              const uint8_t *down, uint8_t *legal)
{
    memcpy(legal, down, t->nrouters);
    for (uint32_t i = 0; i < t->nrouters; i++) {
        uint32_t r = (uint32_t)order[i];

        for (uint32_t p = 0; p < t->nports; p++) {
            const struct topo_port *port = topo_port(t, r, p);

            if (port->kind == TOPO_ROUTER && !updown_goes_down(u, r, port->peer) &&
                legal[port->peer] + 1 < legal[r])
                legal[r] = (uint8_t)(legal[port->peer] + 1);
        }
    }
}

/* Backwards from the destination, against links that go down. */
static void updown_fill_down(const struct updown *u, const struct topo *t, uint32_t dst,
                             uint8_t *down, uint32_t *queue)
{
    uint32_t tail = 0;

    memset(down, FAR, t->nrouters);
    down[dst] = 0;
    queue[tail++] = dst;
    for (uint32_t head = 0; head < tail; head++)
        for (uint32_t p = 0; p < t->nports; p++) {
            const struct topo_port *port = topo_port(t, queue[head], p);

            if (port->kind != TOPO_ROUTER || !updown_goes_down(u, port->peer, queue[head]) ||
                down[port->peer] != FAR || down[queue[head]] + 1 == FAR)
                continue;
            down[port->peer] = (uint8_t)(down[queue[head]] + 1);
            queue[tail++] = port->peer;
        }
}

static void updown_fill_tables(struct updown *u, const struct topo *t)
{
    uint32_t n = t->nrouters;
    uint32_t *queue = wr_alloc(n * sizeof *queue);
    uint64_t *order = wr_alloc(n * sizeof *order);

    memcpy(order, u->rank, n * sizeof *order);
    qsort(order, n, sizeof *order, updown_by_falling_rank);
    for (uint32_t r = 0; r < n; r++) {
        uint64_t at = (uint64_t)u->row[r] * n;

        if (u->row[r] == ROUTE_NONE)
            continue;
        updown_fill_down(u, t, r, u->down + at, queue);
        updown_fill_legal(u, t, order, u->down + at, u->legal + at);
    }
    free(queue);
    free(order);
}

/* The longest path; ROUTE_NONE, and the pair, when one has none. */
static uint32_t updown_longest(const struct updown *u, const struct topo *t, uint32_t pair[2])
{
    uint32_t most = 0;

    for (uint32_t dst = 0; dst < t->nrouters; dst++)
        for (uint32_t r = 0; r < t->nrouters; r++) {
            if (u->row[dst] == ROUTE_NONE || u->row[r] == ROUTE_NONE)
                continue;
            uint32_t hops = u->legal[(uint64_t)u->row[dst] * t->nrouters + r];

            if (hops > most)
                most = hops;
            if (hops == FAR) {
                pair[0] = r;
                pair[1] = dst;
                return ROUTE_NONE;
            }
        }
    return most;
}

static bool updown_alloc_tables(struct updown *u, const struct topo *t, struct wr_err *err)
{
    updown_number_rows(u, t);
    uint64_t bytes = 2 * (uint64_t)u->nrows * t->nrouters;

    if (bytes > TOPO_PATHS_MAX_BYTES)
        return wr_fail(err, WR_INPUT,
                       "its tables would need %llu MiB, at most %llu MiB are allowed; use fewer "
                       "routers",
                       (unsigned long long)(bytes >> 20),
                       (unsigned long long)(TOPO_PATHS_MAX_BYTES >> 20));
    u->rank = wr_alloc(t->nrouters * sizeof *u->rank);
    u->down = wr_alloc(bytes / 2);
    u->legal = wr_alloc(bytes / 2);
    return true;
}

/* What ranks join all pairs on: trees have roots of their own, any other
 * wiring gets one. */
struct ranking {
    const char *topology;
    bool closed, by_level, by_root;
};

static const struct ranking rankings[] = {
    {"fat-tree", .closed = true, .by_level = true},
    {"dragonfly-plus", .by_level = true},
    {"file", .by_level = true, .by_root = true},
};

static const struct ranking after_failures = {"", .by_root = true};

static const struct ranking *updown_find_ranking(const struct topo *t)
{
    for (size_t i = 0; i < sizeof rankings / sizeof *rankings; i++)
        if (!strcmp(rankings[i].topology, t->ops->kind.name))
            return &rankings[i];
    return t->nfailed ? &after_failures : NULL;
}

static bool updown_init_tables(struct updown *u, struct route *rt, const struct ranking *how,
                               struct wr_err *err)
{
    const struct topo *t = rt->topo;
    char a[TOPO_NAME_MAX], b[TOPO_NAME_MAX];
    uint32_t pair[2] = {0};

    if (!updown_alloc_tables(u, t, err))
        return false;
    rt->max_hops = ROUTE_NONE;
    for (int by_root = 0; by_root < 2 && rt->max_hops == ROUTE_NONE; by_root++) {
        if (by_root ? !how->by_root : !how->by_level)
            continue;
        updown_rank_routers(u, t, by_root);
        updown_fill_tables(u, t);
        rt->max_hops = updown_longest(u, t, pair);
    }
    if (rt->max_hops != ROUTE_NONE)
        return true;
    topo_router_name(t, pair[0], a);
    topo_router_name(t, pair[1], b);
    return wr_fail(err, WR_INPUT,
                   "no path from %s to %s goes up and then down; use `kind: table`, which may go "
                   "any way",
                   a, b);
}

static bool updown_init_closed(struct route *rt)
{
    struct topo_facts facts = {0};

    rt->topo->ops->facts(rt->topo, &facts);
    rt->max_hops = facts.diameter;
    return facts.diameter;
}

static void updown_release(struct updown *u)
{
    free(u->rank);
    free(u->row);
    free(u->down);
    free(u->legal);
}

static bool updown_init(struct route *rt, struct wr_err *err)
{
    const struct topo *t = rt->topo;
    const struct ranking *how = updown_find_ranking(t);
    struct updown u = {0};

    if (!how)
        return wr_fail(err, WR_INPUT,
                       "it is for trees (fat-tree, dragonfly-plus), files and machines with "
                       "failures; use `kind: minimal` here");
    rt->nvcs = 1;
    if (!(how->closed && !t->nfailed && t->ops->next && updown_init_closed(rt)) &&
        !updown_init_tables(&u, rt, how, err)) {
        updown_release(&u);
        return false;
    }
    rt->priv = wr_alloc(sizeof u);
    *(struct updown *)rt->priv = u;
    return true;
}

static void updown_fini(struct route *rt)
{
    updown_release(rt->priv);
    free(rt->priv);
}

static uint32_t updown_legal_ports(const struct updown *u, const struct topo *t, uint32_t here,
                                   const struct route_pkt *p, uint16_t *ports)
{
    const uint8_t *down = u->down + (uint64_t)u->row[p->dst_router] * t->nrouters;
    const uint8_t *legal = u->legal + (uint64_t)u->row[p->dst_router] * t->nrouters;
    const struct topo_port *port = topo_port(t, here, 0);
    bool falling = p->state & GOING_DOWN;
    uint32_t want = falling ? down[here] : legal[here], n = 0;

    for (uint32_t i = 0; i < t->nports && n < TOPO_MAX_NEXT; i++) {
        if (port[i].kind != TOPO_ROUTER)
            continue;
        bool falls = updown_goes_down(u, here, port[i].peer);

        if ((falls || !falling) && (falls ? down : legal)[port[i].peer] + 1u == want)
            ports[n++] = (uint16_t)i;
    }
    return n;
}

/* A flow's 16 bits: made where it enters, the same for all its packets. */
static uint16_t updown_flow_hash(const struct route_pkt *p, uint32_t here)
{
    uint32_t h = route_stir(route_stir(route_stir(here) + p->dst_router) + p->dst_port);

    return (uint16_t)(h >> 16 | 1);
}

static struct route_hop updown_decide(const struct route *rt, struct route_pkt *p, uint32_t here,
                                      const struct route_view *view, struct wr_rng *rng)
{
    static const uint32_t choices[] = {ROUTE_FIXED, ROUTE_RANDOM, ROUTE_LEAST};
    const struct route_updown_params *params = rt->params;
    const struct updown *u = rt->priv;
    const struct topo *t = rt->topo;
    uint16_t ports[TOPO_MAX_NEXT];
    uint32_t n = u->rank ? updown_legal_ports(u, t, here, p, ports)
                         : t->ops->next(t, here, p->dst_router, ports);

    if (!p->hops)
        p->way = updown_flow_hash(p, here);
    uint16_t port = route_pick_port(choices[params->choice], ports, n, here, p->way, view, rng);

    if (u->rank && updown_goes_down(u, here, topo_port(t, here, port)->peer))
        p->state |= GOING_DOWN;
    return (struct route_hop){.port = port};
}

const struct route_ops route_updown = {
    .kind = {.name = "updown",
             .summary = "up towards the roots, then down (fat-tree, dragonfly-plus, file)",
             .rows = rows,
             .params_size = sizeof(struct route_updown_params)},
    .init = updown_init,
    .fini = updown_fini,
    .decide = updown_decide,
};
