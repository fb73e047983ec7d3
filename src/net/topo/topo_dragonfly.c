/* topo_dragonfly.c -- groups of all-to-all routers, groups joined all-to-all.
 *
 * Kim, Dally, Scott, Abts, "Technology-Driven, Highly-Scalable Dragonfly
 * Topology", ISCA 2008: a routers per group, p terminals and h global links
 * per router, at most a*h + 1 groups.
 */
#include "net/topo/topo_dragonfly.h"

#include <assert.h>
#include <stdio.h>

#include "net/topo/gateway.h"
#include "topo_priv.h"

enum { LOCAL = TOPO_OWN, GLOBAL };

static const struct conf_row rows[] = {
    {.key = "groups",
     .type = CONF_U32,
     .offset = offsetof(struct topo_dragonfly_params, groups),
     .def = "0",
     .help = "Number of groups; 0: as many as the global links can join."},
    {.key = "routers",
     .type = CONF_U32,
     .offset = offsetof(struct topo_dragonfly_params, routers),
     .min = 1,
     .max = 60000,
     .help = "Routers per group, joined all-to-all."},
    {.key = "nodes",
     .type = CONF_U32,
     .offset = offsetof(struct topo_dragonfly_params, nodes),
     .min = 1,
     .max = 60000,
     .help = "Terminals per router."},
    {.key = "globals",
     .type = CONF_U32,
     .offset = offsetof(struct topo_dragonfly_params, globals),
     .min = 0,
     .max = 60000,
     .help = "Global links per router."},
    {.key = "arrangement",
     .type = CONF_CHOICE,
     .offset = offsetof(struct topo_dragonfly_params, arrangement),
     .def = "absolute",
     .names = topo_arrangement_names,
     .help = "Which global port goes to which group."},
    CONF_END,
};

static void dragonfly_plug_group(struct topo *t, uint32_t g)
{
    const struct topo_dragonfly_params *d = topo_dragonfly_params(t);
    uint32_t first_global = topo_dragonfly_first_global(t);

    for (uint32_t i = 0; i < d->routers; i++) {
        uint32_t r = g * d->routers + i;

        for (uint32_t n = 0; n < d->nodes; n++)
            topo_attach(t, r * d->nodes + n, (struct topo_end){r, (uint16_t)n});
        for (uint32_t s = r + 1; s < (g + 1) * d->routers; s++)
            topo_cable(t, (struct topo_end){r, topo_dragonfly_local_port(t, r, s)},
                       (struct topo_end){s, topo_dragonfly_local_port(t, s, r)}, LOCAL);
        for (uint32_t k = 0; k < d->globals; k++) {
            struct topo_far far = topo_arrange(d->arrangement, t->ngroups, d->routers * d->globals,
                                               g, i * d->globals + k);

            /* Each cable is plugged from its lower group. */
            if (far.group == TOPO_NONE || far.group < g)
                continue;
            topo_cable(t, (struct topo_end){r, (uint16_t)(first_global + k)},
                       (struct topo_end){far.group * d->routers + far.index / d->globals,
                                         (uint16_t)(first_global + far.index % d->globals)},
                       GLOBAL);
        }
    }
}

static bool dragonfly_build(struct topo *t, struct wr_err *err)
{
    const struct topo_dragonfly_params *d = topo_dragonfly_params(t);
    uint32_t groups = d->groups;

    if (!topo_arrange_check(d->arrangement, &groups, d->routers, d->globals, err))
        return false;
    uint64_t nrouters = (uint64_t)groups * d->routers;
    uint64_t nports = (uint64_t)d->nodes + d->routers - 1 + d->globals;

    if (!topo_check_size(nrouters, nports, nrouters * d->nodes, err))
        return false;
    topo_alloc(t, (uint32_t)nrouters, (uint32_t)nports, (uint32_t)(nrouters * d->nodes), groups);
    t->class_name[LOCAL] = "local";
    t->class_name[GLOBAL] = "global";
    t->nclasses = GLOBAL + 1;
    for (uint32_t r = 0; r < t->nrouters; r++)
        t->group[r] = r / d->routers;
    for (uint32_t g = 0; g < groups; g++)
        dragonfly_plug_group(t, g);
    topo_gateways_build(t);
    return true;
}

/* Several cables join the two groups: take G if there is one, else every GL
 * and LG, else every LGL. */
static uint32_t dragonfly_next_of_many(const struct topo *t, uint32_t here, uint32_t dst,
                                       const struct topo_gateway *v, uint32_t n, uint16_t *ports)
{
    uint32_t nhere, nback, nthere;
    const struct topo_gateway *at_here = topo_gateways_at(v, n, here, &nhere);
    const struct topo_gateway *back = topo_gateways(t, t->group[dst], t->group[here], &nback);
    const struct topo_gateway *at_dst = topo_gateways_at(back, nback, dst, &nthere);
    struct topo_ports ret = {.v = ports};

    for (uint32_t i = 0; i < nhere; i++)
        if (at_here[i].far_router == dst)
            topo_ports_add(&ret, at_here[i].port);
    if (ret.n)
        return ret.n;
    for (uint32_t i = 0; i < nhere; i++)
        topo_ports_add(&ret, at_here[i].port);
    for (uint32_t i = 0; i < nthere; i++)
        topo_ports_add(&ret, topo_dragonfly_local_port(t, here, at_dst[i].far_router));
    if (ret.n)
        return ret.n;
    /* Sorted by router, so a port that repeats does so at once. */
    for (uint32_t i = 0; i < n && ret.n < TOPO_MAX_NEXT; i++)
        if (!i || v[i].router != v[i - 1].router)
            ports[ret.n++] = topo_dragonfly_local_port(t, here, v[i].router);
    return ret.n;
}

static uint32_t dragonfly_next(const struct topo *t, uint32_t here, uint32_t dst, uint16_t *ports)
{
    uint32_t g = t->group[here], d = t->group[dst], n;

    if (g == d) {
        ports[0] = topo_dragonfly_local_port(t, here, dst);
        return 1;
    }
    const struct topo_gateway *v = topo_gateways(t, g, d, &n);

    if (n != 1)
        return dragonfly_next_of_many(t, here, dst, v, n, ports);
    ports[0] = v->router == here ? v->port : topo_dragonfly_local_port(t, here, v->router);
    return 1;
}

static void dragonfly_facts(const struct topo *t, struct topo_facts *ret)
{
    const struct topo_dragonfly_params *d = topo_dragonfly_params(t);
    uint64_t a = d->routers, g = t->ngroups, ports = a * d->globals;
    uint64_t each = g > 1 ? ports / (g - 1) : 0; /* cables per pair of groups */

    *ret = (struct topo_facts){
        .terminals = g * a * d->nodes,
        .routers = g * a,
        .cables = g * a * (a - 1) / 2 + each * g * (g - 1) / 2,
        .degree =
            g == 1 || each * (g - 1) == ports ? (uint32_t)(a - 1 + (g > 1 ? d->globals : 0)) : 0,
    };
    /* Half of the groups against the other half, unless so many global links are
     * there that cutting every group in two is cheaper. */
    if (g % 2 == 0 && each * g <= a * a)
        ret->bisection = each * (g / 2) * (g / 2);
    /* LGL always suffices. It is needed when a router cannot have met all others
     * by then: itself, L, G, LG, GL and GG. Between, it depends on the numbers. */
    uint64_t h = d->globals, met = 1 + (a - 1) + h + 2 * (a - 1) * h + h * (h ? h - 1 : 0);

    if (g == 1)
        ret->diameter = a > 1;
    else if (a == 1)
        ret->diameter = 1;
    else if (met < g * a)
        ret->diameter = 3;
}

static void dragonfly_router_name(const struct topo *t, uint32_t router, char name[TOPO_NAME_MAX])
{
    uint32_t a = topo_dragonfly_params(t)->routers;

    snprintf(name, TOPO_NAME_MAX, "g%ur%u", router / a, router % a);
}

const struct topo_ops topo_dragonfly = {
    .kind = {.name = "dragonfly",
             .summary = "groups of all-to-all routers, groups joined all-to-all",
             .rows = rows,
             .params_size = sizeof(struct topo_dragonfly_params)},
    .build = dragonfly_build,
    .next = dragonfly_next,
    .facts = dragonfly_facts,
    .minimal = TOPO_ONE_CABLE,
    .router_name = dragonfly_router_name,
};
