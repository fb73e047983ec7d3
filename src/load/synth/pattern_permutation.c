/* pattern_permutation.c -- a random permutation, drawn once for all nodes. */
#include <stddef.h>
#include <stdlib.h>

#include "synth_priv.h"

struct permutation_params {
    uint64_t seed;
    bool self;
};

static const struct conf_row permutation_rows[] = {
    {"seed", CONF_U64, offsetof(struct permutation_params, seed), "0",
     .help = "Seed of the permutation; 0: the run's."},
    {"self", CONF_BOOL, offsetof(struct permutation_params, self), "false",
     .help = "May a node be its own destination; such a message passes through its own router."},
    CONF_END,
};

enum { PERMUTATION_PURPOSE = 0x73796e31 }; /* "syn1" */

/* Fisher and Yates; true if no node is its own destination. */
static bool permutation_shuffle(uint32_t *to, uint32_t n, struct wr_rng *rng)
{
    bool moved = true;

    for (uint32_t i = 0; i < n; i++)
        to[i] = i;
    for (uint32_t i = n; i-- > 0;) {
        uint32_t j = wr_rng_below(rng, i + 1), t = to[i];

        to[i] = to[j];
        to[j] = t;
        moved &= to[i] != i;
    }
    return moved;
}

static bool permutation_init(struct synth_pattern *p, struct wr_err *err)
{
    const struct permutation_params *par = p->params;
    struct wr_rng rng;

    if (p->nnodes < 2)
        return wr_fail(err, WR_INPUT, "one node has no other node to send to; add nodes");
    uint32_t *to = wr_alloc(p->nnodes * sizeof *to);

    /* One permutation in e has no fixed point, so this ends soon, and every such permutation is
     * equally likely. */
    wr_rng_init(&rng, par->seed ? par->seed : p->seed, 0, PERMUTATION_PURPOSE);
    while (!permutation_shuffle(to, p->nnodes, &rng) && !par->self)
        ;
    p->priv = to;
    return true;
}

static void permutation_fini(struct synth_pattern *p)
{
    free(p->priv);
}

static uint32_t permutation_dest(const struct synth_pattern *p, uint32_t src, struct wr_rng *rng,
                                 uint64_t nth)
{
    const uint32_t *to = p->priv;

    (void)rng;
    (void)nth;
    return to[src];
}

const struct synth_pattern_ops synth_pattern_permutation = {
    .kind = {"permutation", "a random permutation, drawn once for all nodes", permutation_rows,
             sizeof(struct permutation_params)},
    .init = permutation_init,
    .fini = permutation_fini,
    .dest = permutation_dest,
};
