/* place_hybrid.c -- small jobs stay in few groups, large ones are spread evenly.
 *
 * A small job (at most `small` nodes; by default what the largest group could
 * hold if it were empty) goes into the group with the least free nodes among
 * those that can take all of it; when none can, groups with the most free nodes
 * are filled first, so that it touches as few as possible. Its traffic then
 * crosses no or few links between groups.
 *
 * A larger job would saturate the few cables between the groups that it fills.
 * It takes nodes of every group in proportion to what is free there, rounded by
 * the largest remainder, neighbouring ranks still in one group.
 *
 * Ties go to the group of lower number: the rule draws nothing at random.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "place_priv.h"

struct hybrid_params {
    uint32_t small;
};

static const struct conf_row hybrid_rows[] = {
    {"small", CONF_U32, offsetof(struct hybrid_params, small), "0", 0, UINT32_MAX,
     .help = "Largest number of nodes of a job that is confined to few groups; 0: as many as the "
             "largest group has, down and excluded ones left out."},
    CONF_END,
};

struct hybrid_group {
    uint32_t group, nfree, take;
    uint64_t rest; /* of the division that gave `take` */
};

/* Nodes of the largest group that jobs may use, taken or not. */
static uint32_t hybrid_largest_group(const struct place *p)
{
    uint32_t *size = wr_zalloc(p->ngroups, sizeof *size), most = 0;

    for (uint32_t i = 0; i < p->nnodes; i++)
        if (p->owner[i] >= PLACE_FREE && ++size[p->group[i]] > most)
            most = size[p->group[i]];
    free(size);
    return most;
}

static int hybrid_by_free(const void *a, const void *b)
{
    const struct hybrid_group *x = a, *y = b;

    if (x->nfree != y->nfree)
        return x->nfree < y->nfree ? 1 : -1;
    return (x->group > y->group) - (x->group < y->group);
}

static int hybrid_by_rest(const void *a, const void *b)
{
    const struct hybrid_group *x = a, *y = b;

    if (x->rest != y->rest)
        return x->rest < y->rest ? 1 : -1;
    return (x->group > y->group) - (x->group < y->group);
}

static int hybrid_by_group(const void *a, const void *b)
{
    const struct hybrid_group *x = a, *y = b;

    return (x->group > y->group) - (x->group < y->group);
}

/* The tightest group that fits, else the emptiest ones first. */
static void hybrid_confine(struct hybrid_group *g, uint32_t n, uint32_t nodes)
{
    uint32_t fits = 0;

    qsort(g, n, sizeof *g, hybrid_by_free);
    while (fits < n && g[fits].nfree >= nodes)
        fits++;
    if (fits) {
        uint32_t tight = g[fits - 1].nfree, i = fits - 1;

        while (i && g[i - 1].nfree == tight)
            i--;
        g[i].take = nodes;
        return;
    }
    for (uint32_t i = 0; nodes; i++) {
        g[i].take = g[i].nfree < nodes ? g[i].nfree : nodes;
        nodes -= g[i].take;
    }
}

static void hybrid_spread(struct hybrid_group *g, uint32_t n, uint32_t nodes, uint32_t nfree)
{
    uint32_t left = nodes;

    for (uint32_t i = 0; i < n; i++) {
        uint64_t share = (uint64_t)g[i].nfree * nodes;

        g[i].take = (uint32_t)(share / nfree);
        g[i].rest = share % nfree;
        left -= g[i].take;
    }
    qsort(g, n, sizeof *g, hybrid_by_rest);
    /* A group with a remainder has a node left, and there are at least `left` of them. */
    for (uint32_t i = 0; i < left; i++)
        g[i].take++;
}

static bool hybrid_pick(const struct place_ask *ask, uint32_t *picked, struct wr_err *err)
{
    const struct hybrid_params *par = ask->params;
    uint32_t small = par->small ? par->small : hybrid_largest_group(ask->at),
             ngroups = ask->at->ngroups;
    struct hybrid_group *g = wr_zalloc(ngroups, sizeof *g);
    struct place_bins b;
    uint32_t n = 0;

    (void)err;
    place_bins_init(&b, ask, ask->at->group, ngroups);
    for (uint32_t i = 0; i < ngroups; i++)
        g[i] = (struct hybrid_group){.group = i, .nfree = place_bin_size(&b, i)};
    if (ask->nodes <= small)
        hybrid_confine(g, ngroups, ask->nodes);
    else
        hybrid_spread(g, ngroups, ask->nodes, ask->nfree);
    qsort(g, ngroups, sizeof *g, hybrid_by_group);
    for (uint32_t i = 0; i < ngroups; i++)
        for (uint32_t k = 0; k < g[i].take; k++)
            picked[n++] = b.node[b.first[i] + k];
    place_bins_fini(&b);
    free(g);
    return true;
}

const struct place_ops place_hybrid = {
    .kind = {"hybrid", "small jobs in one group or few, large ones spread evenly over all groups",
             hybrid_rows, sizeof(struct hybrid_params)},
    .pick = hybrid_pick,
};
