/* topo_crossbar.c -- one router and its terminals: the smallest machine. */
#include "net/topo/topo_crossbar.h"

#include <assert.h>

#include "topo_priv.h"

static const struct conf_row rows[] = {
    {.key = "nodes",
     .type = CONF_U32,
     .offset = offsetof(struct topo_crossbar_params, nodes),
     .min = 1,
     .max = 60000,
     .help = "Terminals of the one router."},
    CONF_END,
};

static bool crossbar_build(struct topo *t, struct wr_err *err)
{
    const struct topo_crossbar_params *p = t->params;

    if (!topo_check_size(1, p->nodes, p->nodes, err))
        return false;
    topo_alloc(t, 1, p->nodes, p->nodes, 1);
    for (uint32_t i = 0; i < p->nodes; i++)
        topo_attach(t, i, (struct topo_end){0, (uint16_t)i});
    return true;
}

static uint32_t crossbar_next(const struct topo *t, uint32_t here, uint32_t dst, uint16_t *ports)
{
    (void)here;
    (void)dst;
    (void)ports;
    assert(t->nrouters > 1); /* there is no other router to ask the way to */
    return 0;
}

static void crossbar_facts(const struct topo *t, struct topo_facts *ret)
{
    const struct topo_crossbar_params *p = t->params;

    *ret = (struct topo_facts){.terminals = p->nodes, .routers = 1};
}

const struct topo_ops topo_crossbar = {
    .kind = {.name = "crossbar",
             .summary = "one router with all terminals",
             .rows = rows,
             .params_size = sizeof(struct topo_crossbar_params)},
    .build = crossbar_build,
    .next = crossbar_next,
    .facts = crossbar_facts,
};
