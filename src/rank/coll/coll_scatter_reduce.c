/* coll_scatter_reduce.c -- each member ends with its own block of a reduction, or with the
 * reduction of all members up to itself. */
#include "coll_priv.h"

/* The blocks of the members that stay after folding: [a, b) of them own these. */
static struct coll_piece reduce_scatter_blocks_of(const struct coll_fold *f, uint32_t a, uint32_t b)
{
    uint32_t first = a < f->rem ? 2 * a : a + f->rem, end = b < f->rem ? 2 * b : b + f->rem;

    return coll_blocks(first, end - first);
}

static bool reduce_scatter_halving(const struct coll_call *c, uint32_t i, struct coll_step *s)
{
    struct coll_fold f = coll_fold(c);

    if (i > f.log + 1)
        return false;
    if (i == 0) {
        coll_step_fold(c, &f, coll_blocks(0, c->size), c->size * c->bytes, s);
    } else if (i == f.log + 1) {
        uint32_t aside = f.me == COLL_ASIDE ? c->rank : c->rank - 1;

        coll_step_unfold(c, &f, coll_blocks(aside, 1), c->bytes, s);
    } else if (f.me != COLL_ASIDE) {
        uint32_t far = f.pof2 >> i, other = f.me ^ far, base = f.me & ~(far - 1),
                 over = other & ~(far - 1);
        struct coll_piece mine = reduce_scatter_blocks_of(&f, base, base + far);
        struct coll_piece theirs = reduce_scatter_blocks_of(&f, over, over + far);

        coll_send(s, coll_unfold(&f, other), theirs.n * c->bytes, theirs);
        coll_recv(s, coll_unfold(&f, other), mine.n * c->bytes, mine);
        s->combine = true;
    }
    return true;
}

const struct coll_ops coll_reduce_scatter_halving = {
    .kind = {.name = "reduce_scatter halving",
             .summary = "recursive halving: exchange halves with ever nearer members"},
    .name = "halving",
    .coll = LOAD_REDUCE_SCATTER,
    .nblocks = coll_size_blocks,
    .step = reduce_scatter_halving,
};

static bool reduce_scatter_pairwise(const struct coll_call *c, uint32_t i, struct coll_step *s)
{
    uint32_t n = c->size, far = i + 1, to;

    if (far >= n)
        return false;
    to = coll_add(c->rank, far, n);
    coll_send(s, to, c->bytes, coll_blocks(to, 1));
    coll_recv(s, coll_add(c->rank, n - far, n), c->bytes, coll_blocks(c->rank, 1));
    s->combine = true;
    return true;
}

const struct coll_ops coll_reduce_scatter_pairwise = {
    .kind = {.name = "reduce_scatter pairwise",
             .summary = "one partner after the other, to each its block"},
    .name = "pairwise",
    .coll = LOAD_REDUCE_SCATTER,
    .nblocks = coll_size_blocks,
    .step = reduce_scatter_pairwise,
};

/* Every member keeps the reduction of the members it has heard of, which are 2^k in a row before
 * step k, and apart from it that of those up to itself. The former is what is sent. */
static bool scan_step(const struct coll_call *c, uint32_t i, struct coll_step *s)
{
    uint32_t peer;

    if (i >= coll_log(c->size))
        return false;
    peer = c->rank ^ 1u << i;
    if (peer < c->size) {
        coll_send(s, peer, c->bytes, coll_blocks(0, 1));
        coll_recv(s, peer, c->bytes, coll_blocks(0, 1));
        s->combine = true;
    }
    return true;
}

const struct coll_ops coll_scan_doubling = {
    .kind = {.name = "scan doubling",
             .summary = "recursive doubling, keeping apart what comes from members before oneself"},
    .name = "doubling",
    .coll = LOAD_SCAN,
    .nblocks = coll_one_block,
    .step = scan_step,
};
