/* place_random.c -- nodes, routers or groups in random order.
 *
 * What is drawn as a whole stays together: random routers keep the nodes of a
 * router side by side, random groups those of a group. A job may end in the
 * middle of the last one.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "place_priv.h"

struct random_nodes_params {
    bool sorted;
};

static const struct conf_row random_nodes_rows[] = {
    {"sorted", CONF_BOOL, offsetof(struct random_nodes_params, sorted), "false",
     .help = "Ranks follow the nodes' order, so that only which nodes is random."},
    CONF_END,
};

static int random_ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static bool random_nodes_pick(const struct place_ask *ask, uint32_t *picked, struct wr_err *err)
{
    const struct random_nodes_params *par = ask->params;
    uint32_t *all = wr_alloc(ask->nfree * sizeof *all);

    (void)err;
    memcpy(all, ask->free, ask->nfree * sizeof *all);
    place_shuffle(all, ask->nfree, ask->rng);
    memcpy(picked, all, ask->nodes * sizeof *all);
    if (par->sorted)
        qsort(picked, ask->nodes, sizeof *picked, random_ascending);
    free(all);
    return true;
}

/* Bins in random order, each one's nodes in the machine's. */
static void random_pick_bins(const struct place_ask *ask, const uint32_t *of, uint32_t nbins,
                             uint32_t *picked)
{
    struct place_bins b;
    uint32_t *order = wr_alloc(nbins * sizeof *order), n = 0;

    place_bins_init(&b, ask, of, nbins);
    for (uint32_t i = 0; i < nbins; i++)
        order[i] = i;
    place_shuffle(order, nbins, ask->rng);
    for (uint32_t i = 0; i < nbins; i++)
        for (uint32_t k = b.first[order[i]]; k < b.first[order[i] + 1] && n < ask->nodes; k++)
            picked[n++] = b.node[k];
    place_bins_fini(&b);
    free(order);
}

static bool random_routers_pick(const struct place_ask *ask, uint32_t *picked, struct wr_err *err)
{
    (void)err;
    random_pick_bins(ask, ask->at->router, ask->at->nrouters, picked);
    return true;
}

static bool random_groups_pick(const struct place_ask *ask, uint32_t *picked, struct wr_err *err)
{
    (void)err;
    random_pick_bins(ask, ask->at->group, ask->at->ngroups, picked);
    return true;
}

const struct place_ops place_random_nodes = {
    .kind = {"random-nodes", "free nodes drawn at random", random_nodes_rows,
             sizeof(struct random_nodes_params)},
    .random = true,
    .pick = random_nodes_pick,
};

const struct place_ops place_random_routers = {
    .kind = {"random-routers", "routers drawn at random, all free nodes of one before the next",
             NULL, 0},
    .random = true,
    .pick = random_routers_pick,
};

const struct place_ops place_random_groups = {
    .kind = {"random-groups", "groups drawn at random, all free nodes of one before the next", NULL,
             0},
    .random = true,
    .pick = random_groups_pick,
};
