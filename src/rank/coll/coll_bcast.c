/* coll_bcast.c -- long broadcasts: scatter the vector, then gather it everywhere.
 *
 * Everyone numbers members and blocks from the root. The scatter takes at most
 * log2(size) + 1 steps on any member; the gathering begins at that step on all.
 */
#include "coll_priv.h"

static uint64_t bcast_span(const struct coll_call *c, uint32_t first, uint32_t count)
{
    return coll_span(c->bytes, first, count, c->size);
}

/* Members far from the root have fewer steps to scatter: fill up with nothing. */
static uint32_t bcast_scatter_steps(const struct coll_call *c)
{
    return coll_log(c->size) + 1;
}

static bool bcast_ring(const struct coll_call *c, uint32_t i, struct coll_step *s)
{
    uint32_t before = bcast_scatter_steps(c), rel = coll_rel(c), mine, theirs;

    if (i < before) {
        coll_step_scatter(c, i, bcast_span, s);
        return true;
    }
    i -= before;
    if (i >= c->size - 1)
        return false;
    mine = coll_add(rel, c->size - i, c->size);
    theirs = coll_add(mine, c->size - 1, c->size);
    coll_send(s, coll_add(c->rank, 1, c->size), bcast_span(c, mine, 1), coll_blocks(mine, 1));
    coll_recv(s, coll_add(c->rank, c->size - 1, c->size), bcast_span(c, theirs, 1),
              coll_blocks(theirs, 1));
    return true;
}

const struct coll_ops coll_bcast_scatter_ring = {
    .kind = {.name = "bcast scatter-ring",
             .summary = "scatter over a binomial tree, allgather around a ring"},
    .name = "scatter-ring",
    .coll = LOAD_BCAST,
    .relative = true,
    .nblocks = coll_size_blocks,
    .step = bcast_ring,
};

static bool bcast_doubling(const struct coll_call *c, uint32_t i, struct coll_step *s)
{
    uint32_t before = bcast_scatter_steps(c), rel = coll_rel(c), far, mine, theirs;

    if (i < before) {
        coll_step_scatter(c, i, bcast_span, s);
        return true;
    }
    i -= before;
    if (i >= coll_log(c->size))
        return false;
    far = 1u << i;
    mine = rel & ~(far - 1);
    theirs = mine ^ far;
    coll_send(s, coll_abs(c, rel ^ far), bcast_span(c, mine, far), coll_blocks(mine, far));
    coll_recv(s, coll_abs(c, rel ^ far), bcast_span(c, theirs, far), coll_blocks(theirs, far));
    return true;
}

const struct coll_ops coll_bcast_scatter_doubling = {
    .kind = {.name = "bcast scatter-doubling",
             .summary = "scatter over a binomial tree, allgather by recursive doubling"},
    .name = "scatter-doubling",
    .coll = LOAD_BCAST,
    .pof2 = true,
    .relative = true,
    .nblocks = coll_size_blocks,
    .step = bcast_doubling,
};
