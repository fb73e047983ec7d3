/* route_walk.h -- packets walked by hand through a routing, and what they hold.
 *
 * No simulator: a walk asks decide() at each router and follows the cable. The
 * channels that a packet holds and asks for are collected as the edges of the
 * channel-dependency graph; a cycle in it is a possible deadlock.
 */
#ifndef CONTRACT_ROUTE_WALK_H
#define CONTRACT_ROUTE_WALK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net/route/route.h"

/* Unexpected loads: new ones for each walk, often zero, often
 * equal, sometimes huge, so that adaptive routings take all their branches. */
struct walk_view {
    struct route_view view;
    uint32_t salt;
};

static inline uint32_t walk_load(const struct route_view *view, uint32_t router, uint16_t port)
{
    const struct walk_view *w = (const struct walk_view *)view;
    uint64_t x = ((uint64_t)router << 32 | port) * 0x9e3779b97f4a7c15u + w->salt;

    x = (x ^ x >> 29) * 0xd1342543de82ef95u;
    x ^= x >> 32;
    switch (x & 3) {
    case 0:
        return 0;
    case 1:
        return 4096 * (uint32_t)(x >> 2 & 3);
    default:
        return (uint32_t)(x >> 8) & 0xffffff;
    }
}

/* Edge (link, vc) -> (link of the next router, vc), one bit each:
 * from a = (router * nports + port) * nvcs + vc, at a * (nports * nvcs) + port' * nvcs + vc'. */
struct walk_deps {
    uint64_t nnodes, width;
    uint8_t *bit;
};

static inline struct walk_deps walk_deps_new(const struct route *rt)
{
    struct walk_deps d = {.width = (uint64_t)rt->topo->nports * rt->nvcs};

    d.nnodes = rt->topo->nrouters * d.width;
    d.bit = wr_zalloc(d.nnodes * d.width / 8 + 1, 1);
    return d;
}

static inline void walk_deps_add(struct walk_deps *d, uint64_t from, uint64_t to)
{
    uint64_t i = from * d->width + to % d->width;

    d->bit[i / 8] |= (uint8_t)(1u << i % 8);
}

/* Kahn: peel off nodes that nothing points at; what stays is a cycle. */
static inline bool walk_deps_acyclic(const struct walk_deps *d, const struct topo *t)
{
    uint32_t *in = wr_zalloc(d->nnodes, sizeof *in);
    uint64_t *stack = wr_alloc(d->nnodes * sizeof *stack), top = 0, peeled = 0;
    uint64_t nvcs = d->width / t->nports;

    for (int pass = 0; pass < 2; pass++)
        for (uint64_t a = 0; a < d->nnodes; a++) {
            if (pass == 1) {
                if (!in[a])
                    stack[top++] = a;
                continue;
            }
            for (uint64_t k = 0; k < d->width; k++)
                if (d->bit[(a * d->width + k) / 8] >> (a * d->width + k) % 8 & 1)
                    in[t->port[a / nvcs].peer * d->width + k]++;
        }
    while (top) {
        uint64_t a = stack[--top];

        peeled++;
        for (uint64_t k = 0; k < d->width; k++)
            if (d->bit[(a * d->width + k) / 8] >> (a * d->width + k) % 8 & 1) {
                uint64_t b = t->port[a / nvcs].peer * d->width + k;

                if (!--in[b])
                    stack[top++] = b;
            }
    }
    free(in);
    free(stack);
    return peeled == d->nnodes;
}

enum { WALK_MAX = 64 };

struct walk_path {
    uint32_t n;
    uint32_t router[WALK_MAX];
    struct route_hop hop[WALK_MAX];
    uint8_t cls[WALK_MAX];
    bool nonminimal;
};

/* Where a routing answers without a view, it answers as with one. */
static inline struct route_hop walk_decide_twice(const struct route *rt, struct route_pkt *p,
                                                 uint32_t here, const struct route_view *view,
                                                 struct wr_rng *rng)
{
    struct route_pkt before = *p, early = *p;
    struct route_hop first = {.port = ROUTE_LATER};

    if (rt->maybe_early || rt->early)
        first = rt->ops->decide(rt, &early, here, NULL, NULL);
    struct route_hop hop = rt->ops->decide(rt, p, here, view, rng);

    assert_true(!rt->early || first.port != ROUTE_LATER);
    if (first.port == ROUTE_LATER) {
        assert_memory_equal(&early, &before, sizeof early);
        return hop;
    }
    assert_int_equal(first.port, hop.port);
    assert_int_equal(first.vc, hop.vc);
    assert_memory_equal(&early, p, sizeof early);
    return hop;
}

/* From router to router; fails the test when it gets lost. `deps` may be NULL. */
static inline struct walk_path walk_pair(const struct route *rt, uint32_t src, uint32_t dst,
                                         const struct route_view *view, struct wr_rng *rng,
                                         struct walk_deps *deps)
{
    const struct topo *t = rt->topo;
    struct route_pkt p = route_pkt_to((struct topo_end){dst, 0});
    struct walk_path path;
    uint32_t here = src;
    uint64_t held = UINT64_MAX;

    path.n = 0;
    while (here != dst) {
        struct route_hop hop = walk_decide_twice(rt, &p, here, view, rng);
        const struct topo_port *port = topo_port(t, here, hop.port);

        if (hop.port >= t->nports || port->kind != TOPO_ROUTER)
            fail_msg("%s on %s: %u to %u: router %u sends to port %u, which is no link",
                     rt->ops->kind.name, t->ops->kind.name, src, dst, here, hop.port);
        if (hop.vc >= rt->nvcs)
            fail_msg("%s on %s: %u to %u: channel %u of %u", rt->ops->kind.name, t->ops->kind.name,
                     src, dst, hop.vc, rt->nvcs);
        if (path.n == rt->max_hops || path.n == WALK_MAX)
            fail_msg("%s on %s: %u to %u: more than %u hops", rt->ops->kind.name, t->ops->kind.name,
                     src, dst, rt->max_hops);
        uint64_t next = ((uint64_t)here * t->nports + hop.port) * rt->nvcs + hop.vc;

        if (deps && held != UINT64_MAX)
            walk_deps_add(deps, held, next);
        held = next;
        path.router[path.n] = here;
        path.hop[path.n] = hop;
        path.cls[path.n++] = port->cls;
        here = port->peer;
        p.hops++;
        p.vc = hop.vc;
    }
    path.nonminimal = p.nonminimal;
    return path;
}

#endif
