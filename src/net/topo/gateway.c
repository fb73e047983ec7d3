/* gateway.c -- builds and searches the lists of cables between groups; see gateway.h. */
#include "net/topo/gateway.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

/* Does this port carry a cable to another group? */
static bool gateway_leaves_group(const struct topo *t, uint32_t r, const struct topo_port *p)
{
    return p->kind == TOPO_ROUTER && t->group[p->peer] != t->group[r];
}

void topo_gateways_build(struct topo *t)
{
    uint64_t npairs = (uint64_t)t->ngroups * t->ngroups;
    struct topo_gateways *g = wr_zalloc(1, sizeof *g);
    uint32_t *start = g->start = wr_zalloc(npairs + 2, sizeof *start);

    assert(t->ngroups <= TOPO_MAX_GATEWAY_GROUPS);
    /* Counting sort in two passes over the ports, which are visited in the final order. Counts are
     * stored at pair + 2, so that the second pass, which uses start[pair + 1] as its cursor, leaves
     * start[] in its final form. */
    for (uint32_t r = 0; r < t->nrouters; r++)
        for (uint32_t p = 0; p < t->nports; p++) {
            const struct topo_port *port = topo_port(t, r, p);

            if (gateway_leaves_group(t, r, port))
                start[(uint64_t)t->group[r] * t->ngroups + t->group[port->peer] + 2]++;
        }
    for (uint64_t i = 1; i < npairs + 2; i++)
        start[i] += start[i - 1];
    g->v = wr_zalloc((uint64_t)start[npairs + 1] + 1, sizeof *g->v);
    for (uint32_t r = 0; r < t->nrouters; r++)
        for (uint32_t p = 0; p < t->nports; p++) {
            const struct topo_port *port = topo_port(t, r, p);

            if (!gateway_leaves_group(t, r, port))
                continue;
            uint32_t *cursor =
                &start[(uint64_t)t->group[r] * t->ngroups + t->group[port->peer] + 1];
            g->v[(*cursor)++] = (struct topo_gateway){.router = r,
                                                      .far_router = port->peer,
                                                      .port = (uint16_t)p,
                                                      .far_port = port->peer_port};
        }
    topo_gateways_free(t->gateways);
    t->gateways = g;
}

void topo_gateways_free(struct topo_gateways *g)
{
    if (!g)
        return;
    free(g->start);
    free(g->v);
    free(g);
}

const struct topo_gateway *topo_gateways_at(const struct topo_gateway *v, uint32_t n,
                                            uint32_t router, uint32_t *ret_n)
{
    uint32_t lo = 0, hi = n;

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;

        if (v[mid].router < router)
            lo = mid + 1;
        else
            hi = mid;
    }
    while (hi < n && v[hi].router == router)
        hi++;
    *ret_n = hi - lo;
    return v + lo;
}
