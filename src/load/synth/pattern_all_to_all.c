/* pattern_all_to_all.c -- every node sends to all others in turn.
 *
 * The nth message of node i goes to i + 1 + n, modulo the number of nodes and without i,
 * so that nodes that send at the same time have different destinations.
 */
#include <stddef.h>

#include "synth_priv.h"

static bool all_to_all_init(struct synth_pattern *p, struct wr_err *err)
{
    if (p->nnodes < 2)
        return wr_fail(err, WR_INPUT, "one node has no other node to send to; add nodes");
    return true;
}

static uint32_t all_to_all_dest(const struct synth_pattern *p, uint32_t src, struct wr_rng *rng,
                                uint64_t nth)
{
    (void)rng;
    return (uint32_t)((src + 1 + nth % (p->nnodes - 1)) % p->nnodes);
}

const struct synth_pattern_ops synth_pattern_all_to_all = {
    .kind = {"all-to-all", "every node to all others in turn, each starting with its next", NULL,
             0},
    .init = all_to_all_init,
    .dest = all_to_all_dest,
};
