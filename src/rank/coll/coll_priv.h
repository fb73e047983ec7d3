/* coll_priv.h -- arithmetic that the schedules share: powers of two, blocks, folding. */
#ifndef RANK_COLL_COLL_PRIV_H
#define RANK_COLL_COLL_PRIV_H

#include "coll.h"

#include <assert.h>

/* The largest power of two <= n. */
static inline uint32_t coll_pof2(uint32_t n)
{
    return 1u << (31 - (uint32_t)__builtin_clz(n));
}

/* The smallest k with 2^k >= n. */
static inline uint32_t coll_log(uint32_t n)
{
    return n > 1 ? 32 - (uint32_t)__builtin_clz(n - 1) : 0;
}

/* Where block i of n begins in a vector of `bytes`. */
static inline uint64_t coll_cut(uint64_t bytes, uint32_t i, uint32_t n)
{
    assert(n);
    return (uint64_t)((unsigned __int128)bytes * i / n);
}

/* Bytes of blocks [first, first + count) of n, first + count <= n. */
static inline uint64_t coll_span(uint64_t bytes, uint32_t first, uint32_t count, uint32_t n)
{
    return coll_cut(bytes, first + count, n) - coll_cut(bytes, first, n);
}

static inline uint32_t coll_add(uint32_t a, uint32_t b, uint32_t n) /* a, b <= n */
{
    uint64_t sum = (uint64_t)a + b;

    return (uint32_t)(sum >= n ? sum - n : sum);
}

static inline uint32_t coll_rel(const struct coll_call *c)
{
    return coll_add(c->rank, c->size - c->root, c->size);
}

/* The member whose number seen from the root is `rel`. */
static inline uint32_t coll_abs(const struct coll_call *c, uint32_t rel)
{
    return coll_add(rel, c->root, c->size);
}

static inline struct coll_piece coll_blocks(uint32_t first, uint32_t n)
{
    return (struct coll_piece){first, n, COLL_NO_BIT};
}

static inline void coll_send(struct coll_step *s, uint32_t to, uint64_t bytes,
                             struct coll_piece piece)
{
    s->what |= COLL_SENDS;
    s->to = to;
    s->send_b = bytes;
    s->sent = piece;
}

static inline void coll_recv(struct coll_step *s, uint32_t from, uint64_t bytes,
                             struct coll_piece piece)
{
    s->what |= COLL_RECVS;
    s->from = from;
    s->recv_b = bytes;
    s->got = piece;
}

/* Groups that are no power of two fold: of the first 2 * rem members the even ones hand
 * over to their right neighbours and stand aside, and receive the result at the end. */
#define COLL_ASIDE UINT32_MAX

struct coll_fold {
    uint32_t pof2, rem, log;
    uint32_t me; /* number among the members that stay, or COLL_ASIDE */
};

static inline struct coll_fold coll_fold(const struct coll_call *c)
{
    uint32_t pof2 = coll_pof2(c->size), rem = c->size - pof2, r = c->rank;

    return (struct coll_fold){
        .pof2 = pof2,
        .rem = rem,
        .log = coll_log(pof2),
        .me = r >= 2 * rem ? r - rem
              : r % 2      ? r / 2
                           : COLL_ASIDE,
    };
}

/* The member that number `i` among those that stay is. */
static inline uint32_t coll_unfold(const struct coll_fold *f, uint32_t i)
{
    return i < f->rem ? 2 * i + 1 : i + f->rem;
}

static inline bool coll_folds(const struct coll_call *c, const struct coll_fold *f)
{
    return c->rank < 2 * f->rem;
}

uint32_t coll_one_block(const struct coll_call *c);
uint32_t coll_size_blocks(const struct coll_call *c);
uint32_t coll_pof2_blocks(const struct coll_call *c);

/* The first and the last step of folding schedules. */
void coll_step_fold(const struct coll_call *c, const struct coll_fold *f, struct coll_piece all,
                    uint64_t bytes, struct coll_step *s);
void coll_step_unfold(const struct coll_call *c, const struct coll_fold *f, struct coll_piece all,
                      uint64_t bytes, struct coll_step *s);

/* Scatter from the root over a binomial tree: `span` gives the bytes of blocks. */
typedef uint64_t coll_span_fn(const struct coll_call *c, uint32_t first, uint32_t count);
bool coll_step_scatter(const struct coll_call *c, uint32_t i, coll_span_fn *span,
                       struct coll_step *s);

#define COLL_ALGORITHMS(X)     \
    X(barrier_dissemination)   \
    X(bcast_binomial)          \
    X(bcast_scatter_doubling)  \
    X(bcast_scatter_ring)      \
    X(reduce_binomial)         \
    X(reduce_rabenseifner)     \
    X(allreduce_doubling)      \
    X(allreduce_rabenseifner)  \
    X(allreduce_ring)          \
    X(allgather_doubling)      \
    X(allgather_bruck)         \
    X(allgather_ring)          \
    X(alltoall_bruck)          \
    X(alltoall_scattered)      \
    X(alltoall_pairwise)       \
    X(gather_binomial)         \
    X(scatter_binomial)        \
    X(reduce_scatter_halving)  \
    X(reduce_scatter_pairwise) \
    X(scan_doubling)

#define COLL_DECLARE(n) extern const struct coll_ops coll_##n;
COLL_ALGORITHMS(COLL_DECLARE)
#undef COLL_DECLARE

#endif
