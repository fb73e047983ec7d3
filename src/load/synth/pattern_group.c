/* pattern_group.c -- adversarial traffic: group i sends to group i + offset.
 *
 * Every node of a group sends to a random node of one other group. On a
 * dragonfly all of it wants the few links between two groups, so minimal routing
 * carries no more than 1/(a*p) of the injection bandwidth (Kim et al., "Technology-
 * driven, highly-scalable dragonfly topology", ISCA 2008).
 *
 * Groups are the topology's, those without nodes left out, or blocks of `size`
 * consecutive nodes.
 *
 *   index[g]   the number of group g among those with nodes
 *   member     [ nodes of group 0 | nodes of group 1 | ... ], cut at start[]
 */
#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

#include "synth_priv.h"

struct group_params {
    uint32_t offset;
    uint32_t size;
};

struct group_priv {
    uint32_t ngroups;
    uint32_t *of;     /* [nnodes] dense number of the node's group */
    uint32_t *start;  /* [ngroups + 1] */
    uint32_t *member; /* [nnodes] */
};

static const struct conf_row group_rows[] = {
    {"offset", CONF_U32, offsetof(struct group_params, offset), "1", .min = 1, .max = 1e9,
     .help = "Group i sends to group i + offset."},
    {"size", CONF_U32, offsetof(struct group_params, size), "0", .min = 0, .max = 1e9,
     .help = "Nodes per group, counted along the node numbers; 0: the topology's own groups."},
    CONF_END,
};

static uint32_t group_raw_number(const struct synth_pattern *p, uint32_t node)
{
    const struct group_params *g = p->params;

    if (g->size)
        return node / g->size;
    return p->group ? p->group[node] : 0;
}

/* Numbers the groups that have nodes 0, 1, ...; returns how many there are. */
static uint32_t group_number_dense(const struct synth_pattern *p, uint32_t nraw, uint32_t *of)
{
    uint32_t *index = wr_zalloc(nraw, sizeof *index);
    uint32_t n = 0;

    for (uint32_t i = 0; i < p->nnodes; i++)
        index[group_raw_number(p, i)] = 1;
    for (uint32_t i = 0; i < nraw; i++)
        if (index[i])
            index[i] = n++;
    for (uint32_t i = 0; i < p->nnodes; i++)
        of[i] = index[group_raw_number(p, i)];
    free(index);
    return n;
}

static void group_list_members(struct group_priv *g, uint32_t nnodes)
{
    assert(g->ngroups >= 2 && g->of);
    g->start = wr_zalloc(g->ngroups + 1, sizeof *g->start);
    g->member = wr_zalloc(nnodes, sizeof *g->member);
    uint32_t *fill = wr_zalloc(g->ngroups, sizeof *fill);

    for (uint32_t i = 0; i < nnodes; i++)
        g->start[g->of[i] + 1]++;
    for (uint32_t i = 0; i < g->ngroups; i++)
        g->start[i + 1] += g->start[i];
    for (uint32_t i = 0; i < nnodes; i++)
        g->member[g->start[g->of[i]] + fill[g->of[i]]++] = i;
    free(fill);
}

static void group_fini(struct synth_pattern *p)
{
    struct group_priv *g = p->priv;

    free(g->of);
    free(g->start);
    free(g->member);
    free(g);
}

static bool group_init(struct synth_pattern *p, struct wr_err *err)
{
    const struct group_params *par = p->params;

    if (par->size && p->nnodes % par->size)
        return wr_fail(err, WR_INPUT,
                       "%u nodes do not divide into groups of %u; choose a size that divides them",
                       p->nnodes, par->size);

    struct group_priv *g = wr_zalloc(1, sizeof *g);
    g->of = wr_zalloc(p->nnodes, sizeof *g->of);
    g->ngroups = group_number_dense(p, par->size ? p->nnodes / par->size : p->ngroups, g->of);
    p->priv = g;
    if (g->ngroups >= 2 && par->offset % g->ngroups) {
        group_list_members(g, p->nnodes);
        return true;
    }

    uint32_t n = g->ngroups;
    group_fini(p);
    if (n < 2)
        return wr_fail(err, WR_INPUT, "the machine has a single group; set size to cut it in more");
    return wr_fail(err, WR_INPUT,
                   "offset %u of %u groups leads back to the same group; use 1 to %u", par->offset,
                   n, n - 1);
}

static uint32_t group_dest(const struct synth_pattern *p, uint32_t src, struct wr_rng *rng,
                           uint64_t nth)
{
    const struct group_params *par = p->params;
    const struct group_priv *g = p->priv;
    uint32_t to = (uint32_t)(((uint64_t)g->of[src] + par->offset) % g->ngroups);

    (void)nth;
    return g->member[g->start[to] + wr_rng_below(rng, g->start[to + 1] - g->start[to])];
}

const struct synth_pattern_ops synth_pattern_group = {
    .kind = {"group", "adversarial: group i to random nodes of group i + offset", group_rows,
             sizeof(struct group_params)},
    .init = group_init,
    .fini = group_fini,
    .dest = group_dest,
};
