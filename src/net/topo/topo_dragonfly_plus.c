/* topo_dragonfly_plus.c -- leaf and spine routers in a group, groups joined all-to-all.
 *
 * Shpiner et al., "Dragonfly+: Low Cost Topology for Scaling Datacenters",
 * HiPINEB 2017; Flajslik, Borch, Parker, "Megafly", ISC 2018.
 */
#include "net/topo/topo_dragonfly_plus.h"

#include <stdio.h>

#include "net/topo/gateway.h"
#include "topo_priv.h"

enum { LOCAL = TOPO_OWN, GLOBAL };

#define IN(field) offsetof(struct topo_dragonfly_plus_params, field)

static const struct conf_row rows[] = {
    {.key = "groups",
     .type = CONF_U32,
     .offset = IN(groups),
     .def = "0",
     .help = "Number of groups; 0: as many as the global links can join."},
    {.key = "leaves",
     .type = CONF_U32,
     .offset = IN(leaves),
     .min = 1,
     .max = 60000,
     .help = "Leaf routers per group; they hold the terminals."},
    {.key = "spines",
     .type = CONF_U32,
     .offset = IN(spines),
     .min = 1,
     .max = 60000,
     .help = "Spine routers per group; they hold the global links."},
    {.key = "nodes",
     .type = CONF_U32,
     .offset = IN(nodes),
     .min = 1,
     .max = 60000,
     .help = "Terminals per leaf router."},
    {.key = "globals",
     .type = CONF_U32,
     .offset = IN(globals),
     .min = 0,
     .max = 60000,
     .help = "Global links per spine router."},
    {.key = "arrangement",
     .type = CONF_CHOICE,
     .offset = IN(arrangement),
     .def = "absolute",
     .names = topo_arrangement_names,
     .help = "Which global port goes to which group."},
    CONF_END,
};

static void dragonfly_plus_plug_group(struct topo *t, uint32_t g)
{
    const struct topo_dragonfly_plus_params *m = t->params;
    uint32_t size = m->leaves + m->spines, first = g * size, spine = first + m->leaves;

    for (uint32_t i = 0; i < m->leaves; i++) {
        for (uint32_t n = 0; n < m->nodes; n++)
            topo_attach(t, (g * m->leaves + i) * m->nodes + n,
                        (struct topo_end){first + i, (uint16_t)n});
        for (uint32_t j = 0; j < m->spines; j++)
            topo_cable(t, (struct topo_end){first + i, (uint16_t)(m->nodes + j)},
                       (struct topo_end){spine + j, (uint16_t)i}, LOCAL);
    }
    for (uint32_t k = 0; k < m->spines * m->globals; k++) {
        struct topo_far far =
            topo_arrange(m->arrangement, t->ngroups, m->spines * m->globals, g, k);

        if (far.group == TOPO_NONE || far.group < g)
            continue;
        topo_cable(
            t, (struct topo_end){spine + k / m->globals, (uint16_t)(m->leaves + k % m->globals)},
            (struct topo_end){far.group * size + m->leaves + far.index / m->globals,
                              (uint16_t)(m->leaves + far.index % m->globals)},
            GLOBAL);
    }
}

static bool dragonfly_plus_build(struct topo *t, struct wr_err *err)
{
    const struct topo_dragonfly_plus_params *m = t->params;
    uint32_t groups = m->groups;
    uint64_t leaf = (uint64_t)m->nodes + m->spines, spine = (uint64_t)m->leaves + m->globals;

    if (!topo_arrange_check(m->arrangement, &groups, m->spines, m->globals, err))
        return false;
    uint64_t nrouters = (uint64_t)groups * ((uint64_t)m->leaves + m->spines);
    uint64_t nterms = (uint64_t)groups * m->leaves * m->nodes;

    if (!topo_check_size(nrouters, leaf > spine ? leaf : spine, nterms, err))
        return false;
    topo_alloc(t, (uint32_t)nrouters, (uint32_t)(leaf > spine ? leaf : spine), (uint32_t)nterms,
               groups);
    t->class_name[LOCAL] = "local";
    t->class_name[GLOBAL] = "global";
    t->nclasses = GLOBAL + 1;
    for (uint32_t r = 0; r < t->nrouters; r++)
        t->group[r] = r / (m->leaves + m->spines);
    for (uint32_t g = 0; g < groups; g++)
        dragonfly_plus_plug_group(t, g);
    topo_gateways_build(t);
    return true;
}

/* Inside a group: 1 between the levels, 2 in one level. */
static uint32_t dragonfly_plus_hops(const struct topo *t, uint32_t a, uint32_t b)
{
    if (a == b)
        return 0;
    return topo_plus_is_spine(t, a) == topo_plus_is_spine(t, b) ? 2 : 1;
}

static void dragonfly_plus_put_other_level(const struct topo *t, struct topo_ports *ret,
                                           bool from_spine)
{
    const struct topo_dragonfly_plus_params *m = t->params;
    uint32_t first = from_spine ? 0 : m->nodes, n = from_spine ? m->leaves : m->spines;

    for (uint32_t i = 0; i < n; i++)
        topo_ports_put(ret, first + i);
}

/* The port between the levels of one group. */
static uint32_t dragonfly_plus_port_across(const struct topo *t, bool from_spine, uint32_t to)
{
    const struct topo_dragonfly_plus_params *m = t->params;
    uint32_t index = topo_plus_index(t, to);

    return from_spine ? index : m->nodes + index - m->leaves;
}

static uint32_t dragonfly_plus_next_by_gateway(const struct topo *t, uint32_t here, uint32_t dst,
                                               uint16_t *ports)
{
    uint32_t n, best = UINT32_MAX, last = TOPO_NONE;
    const struct topo_gateway *v = topo_gateways(t, t->group[here], t->group[dst], &n);
    struct topo_ports ret = {.v = ports};
    bool spine = topo_plus_is_spine(t, here), round = false;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t far = dragonfly_plus_hops(t, here, v[i].router) +
                       dragonfly_plus_hops(t, v[i].far_router, dst);

        if (far > best)
            continue;
        if (far < best) {
            best = far;
            ret.n = 0;
            last = TOPO_NONE;
            round = false;
        }
        if (v[i].router == here)
            topo_ports_put(&ret, v[i].port);
        else if (spine)
            round = true; /* to another spine, by any leaf */
        else if (v[i].router != last)
            topo_ports_put(&ret, dragonfly_plus_port_across(t, false, v[i].router));
        last = v[i].router; /* the list is sorted: a spine's cables follow each other */
    }
    if (round)
        dragonfly_plus_put_other_level(t, &ret, true);
    return ret.n;
}

static uint32_t dragonfly_plus_next(const struct topo *t, uint32_t here, uint32_t dst,
                                    uint16_t *ports)
{
    struct topo_ports ret = {.v = ports};
    bool spine = topo_plus_is_spine(t, here);

    if (t->group[here] != t->group[dst])
        return dragonfly_plus_next_by_gateway(t, here, dst, ports);
    if (spine == topo_plus_is_spine(t, dst))
        dragonfly_plus_put_other_level(t, &ret, spine);
    else
        topo_ports_put(&ret, dragonfly_plus_port_across(t, spine, dst));
    return ret.n;
}

static void dragonfly_plus_facts(const struct topo *t, struct topo_facts *ret)
{
    const struct topo_dragonfly_plus_params *m = t->params;
    uint64_t g = t->ngroups, ports = (uint64_t)m->spines * m->globals;
    uint64_t each = g > 1 ? ports / (g - 1) : 0;

    *ret = (struct topo_facts){
        .terminals = g * m->leaves * m->nodes,
        .routers = g * (m->leaves + m->spines),
        .cables = g * m->leaves * m->spines + each * g * (g - 1) / 2,
        .diameter = g > 1           ? 3
                    : m->leaves > 1 ? 2
                                    : 0,
    };
    /* Half of the groups against the other half, unless cutting the leaves off their
     * spines is cheaper. */
    if (g % 2 == 0 && (uint64_t)m->leaves * m->spines >= each * (g / 2))
        ret->bisection = each * (g / 2) * (g / 2);
}

static void dragonfly_plus_router_name(const struct topo *t, uint32_t router,
                                       char name[TOPO_NAME_MAX])
{
    const struct topo_dragonfly_plus_params *m = t->params;
    uint32_t index = topo_plus_index(t, router);

    if (index < m->leaves)
        snprintf(name, TOPO_NAME_MAX, "g%uleaf%u", t->group[router], index);
    else
        snprintf(name, TOPO_NAME_MAX, "g%uspine%u", t->group[router], index - m->leaves);
}

const struct topo_ops topo_dragonfly_plus = {
    .kind = {.name = "dragonfly-plus",
             .summary = "groups of leaf and spine routers, spines joined all-to-all",
             .rows = rows,
             .params_size = sizeof(struct topo_dragonfly_plus_params)},
    .build = dragonfly_plus_build,
    .next = dragonfly_plus_next,
    .facts = dragonfly_plus_facts,
    .minimal = TOPO_ONE_CABLE,
    .router_name = dragonfly_plus_router_name,
};
