/* coll_tree.c -- binomial trees, and the dissemination barrier.
 *
 *        0                 Member numbers as seen from the root: the parent of r is r without
 *      / | \               its lowest bit, its children are r + 2^k for all 2^k below that bit.
 *     4  2  1
 *    /|  |                 Blocks of the subtree of r: r .. r + lowest bit - 1.
 *   6 5  3
 *   |
 *   7
 */
#include "coll_priv.h"

/* One above the highest child: the lowest bit, or for the root the whole tree. */
static uint32_t tree_reach(uint32_t rel, uint32_t size)
{
    return rel ? rel & -rel : 1u << coll_log(size);
}

static uint32_t tree_least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static bool tree_dissemination(const struct coll_call *c, uint32_t i, struct coll_step *s)
{
    uint32_t far;

    if (i >= coll_log(c->size))
        return false;
    far = 1u << i;
    coll_send(s, coll_add(c->rank, far, c->size), 0, coll_blocks(0, 1));
    coll_recv(s, coll_add(c->rank, c->size - far, c->size), 0, coll_blocks(0, 1));
    s->combine = true;
    return true;
}

const struct coll_ops coll_barrier_dissemination = {
    .kind = {.name = "barrier dissemination",
             .summary = "in step k each rank sends to the rank 2^k further on"},
    .name = "dissemination",
    .coll = LOAD_BARRIER,
    .nblocks = coll_one_block,
    .step = tree_dissemination,
};

static bool tree_bcast(const struct coll_call *c, uint32_t i, struct coll_step *s)
{
    uint32_t rel = coll_rel(c), top = tree_reach(rel, c->size), far = i < 32 ? top >> i : 0;

    if (!far)
        return false;
    if (!i) {
        if (rel)
            coll_recv(s, coll_abs(c, rel - top), c->bytes, coll_blocks(0, 1));
        return true;
    }
    if (rel + far < c->size)
        coll_send(s, coll_abs(c, rel + far), c->bytes, coll_blocks(0, 1));
    return true;
}

const struct coll_ops coll_bcast_binomial = {
    .kind = {.name = "bcast binomial", .summary = "everything down a binomial tree"},
    .name = "binomial",
    .coll = LOAD_BCAST,
    .relative = true,
    .nblocks = coll_one_block,
    .step = tree_bcast,
};

static bool tree_reduce(const struct coll_call *c, uint32_t i, struct coll_step *s)
{
    uint32_t rel = coll_rel(c), top = tree_reach(rel, c->size), far;

    if (i >= coll_log(c->size) || (far = 1u << i) > top)
        return false;
    if (far == top)
        coll_send(s, coll_abs(c, rel - far), c->bytes, coll_blocks(0, 1));
    else if (rel + far < c->size)
        coll_recv(s, coll_abs(c, rel + far), c->bytes, coll_blocks(0, 1));
    s->combine = true;
    return true;
}

const struct coll_ops coll_reduce_binomial = {
    .kind = {.name = "reduce binomial", .summary = "everything up a binomial tree"},
    .name = "binomial",
    .coll = LOAD_REDUCE,
    .relative = true,
    .nblocks = coll_one_block,
    .step = tree_reduce,
};

static bool tree_gather(const struct coll_call *c, uint32_t i, struct coll_step *s)
{
    uint32_t rel = coll_rel(c), top = tree_reach(rel, c->size), far, n;

    if (i >= coll_log(c->size) || (far = 1u << i) > top)
        return false;
    if (far == top) {
        n = tree_least(far, c->size - rel);
        coll_send(s, coll_abs(c, rel - far), n * c->bytes, coll_blocks(rel, n));
    } else if (rel + far < c->size) {
        n = tree_least(far, c->size - rel - far);
        coll_recv(s, coll_abs(c, rel + far), n * c->bytes, coll_blocks(rel + far, n));
    }
    return true;
}

const struct coll_ops coll_gather_binomial = {
    .kind = {.name = "gather binomial", .summary = "subtrees' blocks up a binomial tree"},
    .name = "binomial",
    .coll = LOAD_GATHER,
    .relative = true,
    .nblocks = coll_size_blocks,
    .step = tree_gather,
};

bool coll_step_scatter(const struct coll_call *c, uint32_t i, coll_span_fn *span,
                       struct coll_step *s)
{
    uint32_t rel = coll_rel(c), top = tree_reach(rel, c->size), far = i < 32 ? top >> i : 0, n;

    if (!far)
        return false;
    if (!i) {
        if (rel) {
            n = tree_least(top, c->size - rel);
            coll_recv(s, coll_abs(c, rel - top), span(c, rel, n), coll_blocks(rel, n));
        }
        return true;
    }
    if (rel + far < c->size) {
        n = tree_least(far, c->size - rel - far);
        coll_send(s, coll_abs(c, rel + far), span(c, rel + far, n), coll_blocks(rel + far, n));
    }
    return true;
}

static uint64_t tree_whole_blocks(const struct coll_call *c, uint32_t first, uint32_t count)
{
    (void)first;
    return count * c->bytes;
}

static bool tree_scatter(const struct coll_call *c, uint32_t i, struct coll_step *s)
{
    return coll_step_scatter(c, i, tree_whole_blocks, s);
}

const struct coll_ops coll_scatter_binomial = {
    .kind = {.name = "scatter binomial", .summary = "subtrees' blocks down a binomial tree"},
    .name = "binomial",
    .coll = LOAD_SCATTER,
    .relative = true,
    .nblocks = coll_size_blocks,
    .step = tree_scatter,
};
