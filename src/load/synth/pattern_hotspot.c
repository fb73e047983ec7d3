/* pattern_hotspot.c -- a fraction of all messages goes to a few nodes.
 *
 * The rest is uniform over the others. A hot node that draws itself sends to
 * a random other node instead, so every node sends at the same rate.
 */
#include <stddef.h>

#include "synth_priv.h"

struct hotspot_params {
    double fraction;
    struct conf_list nodes; /* uint32_t */
};

static const struct conf_row hotspot_rows[] = {
    {"fraction", CONF_FRACTION, offsetof(struct hotspot_params, fraction), "10 %", .min = 0,
     .max = 1, .help = "Part of the messages that goes to the hot nodes."},
    {"nodes", CONF_LIST, offsetof(struct hotspot_params, nodes), "", .item = CONF_U32,
     .size = sizeof(uint32_t), .help = "The hot nodes, each as hot as the others."},
    CONF_END,
};

static bool hotspot_init(struct synth_pattern *p, struct wr_err *err)
{
    const struct hotspot_params *h = p->params;
    const uint32_t *nodes = h->nodes.items;

    if (p->nnodes < 2)
        return wr_fail(err, WR_INPUT, "one node has no other node to send to; add nodes");
    if (!h->nodes.n)
        return wr_fail(err, WR_INPUT, "no hot node is named; give for example nodes: [0]");
    for (size_t i = 0; i < h->nodes.n; i++)
        if (nodes[i] >= p->nnodes)
            return wr_fail(err, WR_INPUT, "hot node %u does not exist; nodes are numbered 0 to %u",
                           nodes[i], p->nnodes - 1);
    return true;
}

static uint32_t hotspot_dest(const struct synth_pattern *p, uint32_t src, struct wr_rng *rng,
                             uint64_t nth)
{
    const struct hotspot_params *h = p->params;
    const uint32_t *nodes = h->nodes.items;

    (void)nth;
    if (wr_rng_unit(rng) < h->fraction) {
        uint32_t hot = nodes[wr_rng_below(rng, (uint32_t)h->nodes.n)];

        if (hot != src)
            return hot;
    }
    return synth_other(p->nnodes, src, rng);
}

const struct synth_pattern_ops synth_pattern_hotspot = {
    .kind = {"hot-spot", "a fraction to a few hot nodes, the rest uniform", hotspot_rows,
             sizeof(struct hotspot_params)},
    .init = hotspot_init,
    .dest = hotspot_dest,
};
