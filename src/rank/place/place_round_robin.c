/* place_round_robin.c -- groups in turn, a few nodes from each at a time. */
#include "place_priv.h"

struct round_robin_params {
    uint32_t nodes;
};

static const struct conf_row round_robin_rows[] = {
    {"nodes", CONF_U32, offsetof(struct round_robin_params, nodes), "1", 1, UINT32_MAX,
     .help = "Nodes taken from a group before it is the next one's turn."},
    CONF_END,
};

static bool round_robin_pick(const struct place_ask *ask, uint32_t *picked, struct wr_err *err)
{
    const struct round_robin_params *par = ask->params;
    struct place_bins b;
    uint32_t n = 0;

    (void)err;
    place_bins_init(&b, ask, ask->at->group, ask->at->ngroups);
    for (uint64_t turn = 0; n < ask->nodes; turn++)
        for (uint32_t g = 0; g < b.nbins; g++) {
            uint64_t from = turn * par->nodes, to = from + par->nodes;

            for (uint64_t k = from; k < to && k < place_bin_size(&b, g) && n < ask->nodes; k++)
                picked[n++] = b.node[b.first[g] + k];
        }
    place_bins_fini(&b);
    return true;
}

const struct place_ops place_round_robin = {
    .kind = {"round-robin", "groups in turn, one node (or a few) from each at a time",
             round_robin_rows, sizeof(struct round_robin_params)},
    .pick = round_robin_pick,
};
