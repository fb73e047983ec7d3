/* pattern_bit_complement.c -- to the node whose number has every bit turned. */
#include <stddef.h>

#include "synth_priv.h"

static bool bit_complement_init(struct synth_pattern *p, struct wr_err *err)
{
    if (p->nnodes < 2 || (p->nnodes & (p->nnodes - 1)))
        return wr_fail(err, WR_INPUT,
                       "needs a power of two of nodes and the machine has %u; use shift or "
                       "permutation, which take any number",
                       p->nnodes);
    return true;
}

static uint32_t bit_complement_dest(const struct synth_pattern *p, uint32_t src, struct wr_rng *rng,
                                    uint64_t nth)
{
    (void)rng;
    (void)nth;
    return p->nnodes - 1 - src;
}

const struct synth_pattern_ops synth_pattern_bit_complement = {
    .kind = {"bit-complement", "to the node whose number has every bit turned", NULL, 0},
    .init = bit_complement_init,
    .dest = bit_complement_dest,
};
