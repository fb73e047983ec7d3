/* place_priv.h -- the placements of the table, and what they share: shuffling, bins, node sets. */
#ifndef RANK_PLACE_PLACE_PRIV_H
#define RANK_PLACE_PLACE_PRIV_H

#include <stddef.h>

#include "rank/place/place.h"

/* The table, in the order of `weir list placements`. */
#define PLACEMENTS(X) \
    X(contiguous)     \
    X(random_nodes)   \
    X(random_routers) \
    X(random_groups)  \
    X(round_robin)    \
    X(hybrid)         \
    X(list)

#define PLACE_DECLARE(n) extern const struct place_ops place_##n;
PLACEMENTS(PLACE_DECLARE)

/* Fisher and Yates. */
void place_shuffle(uint32_t *v, uint32_t n, struct wr_rng *rng);

/* The free nodes of an ask, by group (or by router): those of group g are
 * node[first[g]] .. node[first[g + 1] - 1], ascending. */
struct place_bins {
    uint32_t nbins;
    uint32_t *first; /* [nbins + 1] */
    uint32_t *node;
};

void place_bins_init(struct place_bins *b, const struct place_ask *ask, const uint32_t *of,
                     uint32_t nbins);
void place_bins_fini(struct place_bins *b);

static inline uint32_t place_bin_size(const struct place_bins *b, uint32_t i)
{
    return b->first[i + 1] - b->first[i];
}

/* Calls `fn` for each node that the words of a set name (see place_exclude), in
 * the order of the words. Stops with false when `fn` does. */
typedef bool place_node_fn(void *ctx, uint32_t node, struct wr_err *err);
bool place_set_each(const struct place *p, const char *set, place_node_fn *fn, void *ctx,
                    struct wr_err *err);

#endif
