/* coll_allreduce.c -- reductions to all, and the long reduction to one.
 *
 * Rabenseifner: reduce-scatter by recursive halving, then gather. The vector is cut in as
 * many blocks as members stay after folding. In halving step k (0, 1, ...) members
 * that differ in bit k exchange halves of the range they share:
 *
 *   me      000  001  010  011  100  101  110  111      before step 0 all hold 0..7
 *   step 0  0-3  4-7  0-3  4-7  ...                     bit k chooses the half
 *   step 1  0-1  4-5  2-3  6-7
 *   step 2   0    4    2    6    1    5    3    7
 *
 * The gathering goes the same way back.
 */
#include "coll_priv.h"

#include <assert.h>

/* The range of blocks that member `me` holds before halving step k. */
static struct coll_piece allreduce_range_before(const struct coll_fold *f, uint32_t me, uint32_t k)
{
    uint32_t first = 0;

    for (uint32_t j = 0; j < k; j++)
        if (me >> j & 1)
            first += f->pof2 >> (j + 1);
    return coll_blocks(first, f->pof2 >> k);
}

static uint64_t allreduce_piece_bytes(const struct coll_call *c, const struct coll_fold *f,
                                      struct coll_piece piece)
{
    return coll_span(c->bytes, piece.first, piece.n, f->pof2);
}

static bool allreduce_doubling(const struct coll_call *c, uint32_t i, struct coll_step *s)
{
    struct coll_fold f = coll_fold(c);
    struct coll_piece all = coll_blocks(0, 1);

    if (i > f.log + 1)
        return false;
    if (i == 0)
        coll_step_fold(c, &f, all, c->bytes, s);
    else if (i == f.log + 1)
        coll_step_unfold(c, &f, all, c->bytes, s);
    else if (f.me != COLL_ASIDE) {
        uint32_t peer = coll_unfold(&f, f.me ^ 1u << (i - 1));

        coll_send(s, peer, c->bytes, all);
        coll_recv(s, peer, c->bytes, all);
        s->combine = true;
    }
    return true;
}

const struct coll_ops coll_allreduce_doubling = {
    .kind = {.name = "allreduce doubling",
             .summary = "recursive doubling: exchange everything with ever farther members"},
    .name = "doubling",
    .coll = LOAD_ALLREDUCE,
    .nblocks = coll_one_block,
    .step = allreduce_doubling,
};

/* Exchange with the member that differs in bit k: halve (send theirs, keep mine), or
 * on the way back send mine and get theirs. */
static void allreduce_exchange(const struct coll_call *c, const struct coll_fold *f, uint32_t k,
                               bool halve, struct coll_step *s)
{
    uint32_t other = f->me ^ 1u << k, peer = coll_unfold(f, other);
    struct coll_piece mine = allreduce_range_before(f, f->me, k + 1);
    struct coll_piece theirs = allreduce_range_before(f, other, k + 1);
    struct coll_piece out = halve ? theirs : mine, in = halve ? mine : theirs;

    coll_send(s, peer, allreduce_piece_bytes(c, f, out), out);
    coll_recv(s, peer, allreduce_piece_bytes(c, f, in), in);
    s->combine = halve;
}

static bool allreduce_rabenseifner(const struct coll_call *c, uint32_t i, struct coll_step *s)
{
    struct coll_fold f = coll_fold(c);
    struct coll_piece all = coll_blocks(0, f.pof2);

    if (i > 2 * f.log + 1)
        return false;
    if (i == 0)
        coll_step_fold(c, &f, all, c->bytes, s);
    else if (i == 2 * f.log + 1)
        coll_step_unfold(c, &f, all, c->bytes, s);
    else if (f.me != COLL_ASIDE && i <= f.log)
        allreduce_exchange(c, &f, i - 1, true, s);
    else if (f.me != COLL_ASIDE)
        allreduce_exchange(c, &f, 2 * f.log - i, false, s);
    return true;
}

const struct coll_ops coll_allreduce_rabenseifner = {
    .kind = {.name = "allreduce rabenseifner",
             .summary = "reduce-scatter by recursive halving, then allgather the same way back"},
    .name = "rabenseifner",
    .coll = LOAD_ALLREDUCE,
    .nblocks = coll_pof2_blocks,
    .step = allreduce_rabenseifner,
};

static bool allreduce_ring(const struct coll_call *c, uint32_t i, struct coll_step *s)
{
    uint32_t n = c->size, half = n - 1, turn = i % half, mine, theirs;

    if (i >= 2 * half)
        return false;
    mine = coll_add(c->rank, n - turn, n);
    if (i >= half)
        mine = coll_add(mine, 1, n);
    theirs = coll_add(mine, n - 1, n);
    coll_send(s, coll_add(c->rank, 1, n), coll_span(c->bytes, mine, 1, n), coll_blocks(mine, 1));
    coll_recv(s, coll_add(c->rank, n - 1, n), coll_span(c->bytes, theirs, 1, n),
              coll_blocks(theirs, 1));
    s->combine = i < half;
    return true;
}

const struct coll_ops coll_allreduce_ring = {
    .kind = {.name = "allreduce ring",
             .summary = "blocks around a ring, once to be reduced and once to be distributed"},
    .name = "ring",
    .coll = LOAD_ALLREDUCE,
    .nblocks = coll_size_blocks,
    .step = allreduce_ring,
};

/* Where the root's part of the reduction happens: its own number, or when it stands
 * aside its neighbour's. */
static uint32_t allreduce_root_of(const struct coll_call *c, const struct coll_fold *f)
{
    return c->root >= 2 * f->rem ? c->root - f->rem : c->root / 2;
}

/* Gathering step k: of two that differ in bit k, the one on the root's side gets the other's. */
static void allreduce_gather(const struct coll_call *c, const struct coll_fold *f, uint32_t k,
                             struct coll_step *s)
{
    assert(k < 31);
    uint32_t other = f->me ^ 1u << k, off = f->me ^ allreduce_root_of(c, f);
    struct coll_piece mine = allreduce_range_before(f, f->me, k + 1);
    struct coll_piece theirs = allreduce_range_before(f, other, k + 1);

    if (off >> (k + 1)) /* has handed over already */
        return;
    if (off >> k)
        coll_send(s, coll_unfold(f, other), allreduce_piece_bytes(c, f, mine), mine);
    else
        coll_recv(s, coll_unfold(f, other), allreduce_piece_bytes(c, f, theirs), theirs);
}

static bool allreduce_reduce(const struct coll_call *c, uint32_t i, struct coll_step *s)
{
    struct coll_fold f = coll_fold(c);
    struct coll_piece all = coll_blocks(0, f.pof2);
    bool root_aside = c->root < 2 * f.rem && c->root % 2 == 0;

    if (i > 2 * f.log + 1)
        return false;
    if (i == 0)
        coll_step_fold(c, &f, all, c->bytes, s);
    else if (i == 2 * f.log + 1) {
        if (root_aside && (c->rank == c->root || c->rank == c->root + 1))
            coll_step_unfold(c, &f, all, c->bytes, s);
    } else if (f.me != COLL_ASIDE && i <= f.log)
        allreduce_exchange(c, &f, i - 1, true, s);
    else if (f.me != COLL_ASIDE)
        allreduce_gather(c, &f, 2 * f.log - i, s);
    return true;
}

const struct coll_ops coll_reduce_rabenseifner = {
    .kind = {.name = "reduce rabenseifner",
             .summary = "reduce-scatter by recursive halving, then gather to the root"},
    .name = "rabenseifner",
    .coll = LOAD_REDUCE,
    .nblocks = coll_pof2_blocks,
    .step = allreduce_reduce,
};
