/* topo_describe.c -- counts ports, cables, hops and the bisection of a machine; see
 * topo_describe.h. Called by the verb that describes a topology. */
#include "net/topo/topo_describe.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "net/topo/fail.h"
#include "net/topo/gateway.h"
#include "net/topo/paths.h"

/* Below ALL_PAIRS pairs of routers all are walked, above it SAMPLED_PAIRS pairs of terminals;
 * either takes less than a second. The same for searches, 64 sources each. */
enum { ALL_PAIRS = 4000000, SAMPLED_PAIRS = 500000, SEARCHES = 16, SEARCHED_ROUTERS = 20000 };

static void describe_count_ports(const struct topo *t, struct topo_description *d)
{
    d->least_ports = d->least_degree = UINT32_MAX;
    for (uint32_t r = 0; r < t->nrouters; r++) {
        uint32_t used = 0, degree = 0;

        for (uint32_t p = 0; p < t->nports; p++) {
            const struct topo_port *port = topo_port(t, r, p);

            used += port->kind != TOPO_EMPTY;
            degree += port->kind == TOPO_ROUTER;
            if (port->kind == TOPO_ROUTER && r < port->peer)
                d->cables[port->cls]++;
            if (port->kind == TOPO_DEAD && port->cls == TOPO_EJECT)
                d->dead_terms++;
            else if (port->kind == TOPO_DEAD && r < port->peer)
                d->dead_cables++;
        }
        d->least_ports = used < d->least_ports ? used : d->least_ports;
        d->most_ports = used > d->most_ports ? used : d->most_ports;
        d->least_degree = degree < d->least_degree ? degree : d->least_degree;
        d->most_degree = degree > d->most_degree ? degree : d->most_degree;
    }
}

static void describe_add_hops(struct topo_hops *h, uint32_t hops, uint64_t pairs)
{
    h->pairs += pairs;
    h->count[hops < TOPO_HOPS_MAX ? hops : TOPO_HOPS_MAX - 1] += pairs;
    h->mean += (double)hops * (double)pairs; /* divided at the end */
    if (pairs && hops > h->most)
        h->most = hops;
}

/* Every minimal port is one hop nearer, so following the first counts them. */
static uint32_t describe_walk(const struct topo *t, uint32_t here, uint32_t dst)
{
    uint16_t ports[TOPO_MAX_NEXT];
    uint32_t hops = 0;

    for (; here != dst; hops++) {
        t->ops->next(t, here, dst, ports);
        here = topo_port(t, here, ports[0])->peer;
    }
    return hops;
}

static void describe_walk_all(const struct topo *t, const uint32_t *terms, struct topo_hops *h)
{
    for (uint32_t a = 0; a < t->nrouters; a++)
        for (uint32_t b = 0; terms[a] && b < t->nrouters; b++)
            if (terms[b])
                describe_add_hops(h, describe_walk(t, a, b),
                                  (uint64_t)terms[a] * (terms[b] - (a == b)));
}

static void describe_walk_some(const struct topo *t, struct topo_hops *h)
{
    struct wr_rng g;

    wr_rng_init(&g, 1, 0, 0); /* the same sample every time */
    h->sampled = true;
    for (uint32_t i = 0; i < SAMPLED_PAIRS; i++) {
        uint32_t a = wr_rng_below(&g, t->nterms), b = wr_rng_below(&g, t->nterms - 1);

        b += b >= a;
        describe_add_hops(h, describe_walk(t, t->term[a].router, t->term[b].router), 1);
    }
}

struct searching {
    struct topo_hops *hops;
    const uint32_t *terms;
    uint32_t source[64];
    uint64_t reached[64]; /* terminals, from each source */
};

static void describe_visit(void *arg, uint32_t router, uint64_t who, uint32_t hops)
{
    struct searching *s = arg;

    for (; who && s->terms[router]; who &= who - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(who), from = s->source[i];

        describe_add_hops(s->hops, hops,
                          (uint64_t)s->terms[from] * (s->terms[router] - (router == from)));
        s->reached[i] += s->terms[router];
    }
}

/* Minimal is shortest: search from every router with terminals, or from some of them. */
static void describe_search(const struct topo *t, const uint32_t *terms, uint64_t alive,
                            struct topo_hops *h)
{
    uint32_t *source = wr_alloc(t->nrouters * sizeof *source), n = 0;
    struct wr_rng g;

    for (uint32_t r = 0; r < t->nrouters; r++)
        if (terms[r])
            source[n++] = r;
    if (n > SEARCHED_ROUTERS) {
        wr_rng_init(&g, 1, 0, 0);
        h->sampled = true;
        for (uint32_t i = 0; i < SEARCHES * 64; i++) {
            uint32_t k = i + wr_rng_below(&g, n - i), swap = source[i];

            source[i] = source[k];
            source[k] = swap;
        }
        n = SEARCHES * 64;
    }
    for (uint32_t first = 0; first < n; first += 64) {
        struct searching s = {.hops = h, .terms = terms};
        uint32_t count = n - first < 64 ? n - first : 64;

        for (uint32_t i = 0; i < count; i++)
            s.source[i] = source[first + i];
        topo_search(t, s.source, count, describe_visit, &s);
        for (uint32_t i = 0; i < count; i++)
            h->cut_off += terms[s.source[i]] * (alive - s.reached[i]);
    }
    free(source);
}

static void describe_count_hops(const struct topo *t, struct topo_hops *h)
{
    uint32_t *terms = wr_zalloc(t->nrouters, sizeof *terms);
    uint64_t routers = 0, alive = 0;

    for (uint32_t i = 0; i < t->nterms; i++)
        if (topo_term_alive(t, i)) {
            routers += !terms[t->term[i].router]++;
            alive++;
        }
    if (!t->ops->next || t->nfailed || t->ops->minimal == TOPO_SHORTEST)
        describe_search(t, terms, alive, h);
    else if (routers * routers <= ALL_PAIRS)
        describe_walk_all(t, terms, h);
    else
        describe_walk_some(t, h);
    h->mean = h->pairs ? h->mean / (double)h->pairs : 0;
    free(terms);
}

static uint64_t describe_bytes(const struct topo *t)
{
    uint64_t bytes = (uint64_t)t->nrouters * t->nports * sizeof *t->port +
                     (uint64_t)t->nterms * sizeof *t->term +
                     (uint64_t)t->nrouters * sizeof *t->group;
    uint64_t pairs = (uint64_t)t->ngroups * t->ngroups;

    if (t->gateways)
        bytes += (pairs + 2) * sizeof *t->gateways->start +
                 (uint64_t)t->gateways->start[pairs] * sizeof *t->gateways->v;
    return bytes;
}

void topo_describe(const struct topo *t, struct topo_description *ret)
{
    assert(t->nrouters && t->nterms && t->port);
    *ret = (struct topo_description){.bytes = describe_bytes(t)};
    describe_count_ports(t, ret);
    ret->cables[TOPO_INJECT] = ret->cables[TOPO_EJECT] = t->nterms - ret->dead_terms;
    describe_count_hops(t, &ret->hops);
    topo_halve(t, &ret->cut);
}
