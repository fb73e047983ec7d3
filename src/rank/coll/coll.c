/* coll.c -- the table of algorithms, and the choice by operation, group size and bytes. */
#include "coll.h"

#include <stddef.h>

#include "coll_priv.h"

#define ROW(n) &coll_##n,

#define ROW_KIND(n) &coll_##n.kind,

const struct coll_ops *const coll_table[] = {COLL_ALGORITHMS(ROW) NULL};
const struct conf_kind *const coll_kinds[] = {COLL_ALGORITHMS(ROW_KIND) NULL};

/* The names a user may choose from; in the table's order, as a test checks. */
static const char *const barrier_names[] = {"auto", "dissemination", NULL};
static const char *const bcast_names[] = {"auto", "binomial", "scatter-doubling", "scatter-ring",
                                          NULL};
static const char *const reduce_names[] = {"auto", "binomial", "rabenseifner", NULL};
static const char *const allreduce_names[] = {"auto", "doubling", "rabenseifner", "ring", NULL};
static const char *const allgather_names[] = {"auto", "doubling", "bruck", "ring", NULL};
static const char *const alltoall_names[] = {"auto", "bruck", "scattered", "pairwise", NULL};
static const char *const gather_names[] = {"auto", "binomial", NULL};
static const char *const scatter_names[] = {"auto", "binomial", NULL};
static const char *const reduce_scatter_names[] = {"auto", "halving", "pairwise", NULL};
static const char *const scan_names[] = {"auto", "doubling", NULL};

#define CHOICE(which, name, text)                                                                 \
    {                                                                                             \
        .key = #name, .type = CONF_CHOICE,                                                        \
        .offset = offsetof(struct coll_choice, algo) + (which) * sizeof(uint32_t), .def = "auto", \
        .names = name##_names, .help = text                                                       \
    }

const struct conf_row coll_rows[] = {
    CHOICE(LOAD_BARRIER, barrier, "how barriers are done; auto: dissemination"),
    CHOICE(LOAD_BCAST, bcast,
           "how broadcasts are done; auto: binomial below 12 KiB or 8 ranks, "
           "scatter-doubling below 512 KiB on a power of two of ranks, else scatter-ring"),
    CHOICE(LOAD_REDUCE, reduce,
           "how reductions are done; auto: binomial up to 2 KiB, else rabenseifner"),
    CHOICE(LOAD_ALLREDUCE, allreduce,
           "how reductions to all are done; auto: doubling up to 2 KiB, else rabenseifner"),
    CHOICE(LOAD_ALLGATHER, allgather,
           "how all gather; by the size of the result, auto: doubling below 512 KiB on a power "
           "of two of ranks, bruck below 80 KiB, else ring"),
    CHOICE(LOAD_ALLTOALL, alltoall,
           "how all send to all; by the size of one message, auto: bruck up to 256 B and from 8 "
           "ranks on, scattered up to 32 KiB, else pairwise"),
    CHOICE(LOAD_GATHER, gather, "how one gathers from all; auto: binomial"),
    CHOICE(LOAD_SCATTER, scatter, "how one scatters to all; auto: binomial"),
    CHOICE(LOAD_REDUCE_SCATTER, reduce_scatter,
           "how a reduction is scattered; by the size of the vector, auto: halving below 512 KiB, "
           "else pairwise"),
    CHOICE(LOAD_SCAN, scan, "how prefixes are reduced; auto: doubling"),
    CONF_END,
};

static bool coll_is_pof2(uint32_t n)
{
    return !(n & (n - 1));
}

/* MPICH's defaults; its cvars' names in the comments. */
static const struct coll_ops *coll_choose(enum load_coll coll, uint32_t size, uint64_t bytes)
{
    uint64_t total = bytes * size;

    switch (coll) {
    case LOAD_BCAST: /* BCAST_SHORT_MSG_SIZE, BCAST_LONG_MSG_SIZE, BCAST_MIN_PROCS */
        if (bytes < 12288 || size < 8)
            return &coll_bcast_binomial;
        return bytes < 524288 && coll_is_pof2(size) ? &coll_bcast_scatter_doubling
                                                    : &coll_bcast_scatter_ring;
    case LOAD_REDUCE: /* REDUCE_SHORT_MSG_SIZE */
        return bytes > 2048 && bytes >= coll_pof2(size) ? &coll_reduce_rabenseifner
                                                        : &coll_reduce_binomial;
    case LOAD_ALLREDUCE: /* ALLREDUCE_SHORT_MSG_SIZE */
        return bytes > 2048 && bytes >= coll_pof2(size) ? &coll_allreduce_rabenseifner
                                                        : &coll_allreduce_doubling;
    case LOAD_ALLGATHER: /* ALLGATHER_LONG_MSG_SIZE, ALLGATHER_SHORT_MSG_SIZE */
        if (total < 524288 && coll_is_pof2(size))
            return &coll_allgather_doubling;
        return total < 81920 ? &coll_allgather_bruck : &coll_allgather_ring;
    case LOAD_ALLTOALL: /* ALLTOALL_SHORT_MSG_SIZE, ALLTOALL_MEDIUM_MSG_SIZE */
        if (bytes <= 256 && size >= 8)
            return &coll_alltoall_bruck;
        return bytes <= 32768 ? &coll_alltoall_scattered : &coll_alltoall_pairwise;
    case LOAD_REDUCE_SCATTER: /* REDUCE_SCATTER_COMMUTATIVE_LONG_MSG_SIZE */
        return total < 524288 ? &coll_reduce_scatter_halving : &coll_reduce_scatter_pairwise;
    case LOAD_GATHER:
        return &coll_gather_binomial;
    case LOAD_SCATTER:
        return &coll_scatter_binomial;
    case LOAD_SCAN:
        return &coll_scan_doubling;
    default:
        return &coll_barrier_dissemination;
    }
}

const struct coll_ops *coll_pick(const struct coll_choice *choice, enum load_coll coll,
                                 uint32_t size, uint64_t bytes)
{
    uint32_t want = choice->algo[coll], seen = 0;

    for (const struct coll_ops *const *o = coll_table; want && *o; o++)
        if ((*o)->coll == coll && ++seen == want)
            return (*o)->pof2 && !coll_is_pof2(size) ? coll_choose(coll, size, bytes) : *o;
    return coll_choose(coll, size, bytes);
}

bool coll_step(const struct coll_ops *ops, const struct coll_call *c, uint32_t i,
               struct coll_step *ret)
{
    *ret = (struct coll_step){0};
    return c->size > 1 && ops->step(c, i, ret);
}

uint32_t coll_one_block(const struct coll_call *c)
{
    (void)c;
    return 1;
}

uint32_t coll_size_blocks(const struct coll_call *c)
{
    return c->size;
}

uint32_t coll_pof2_blocks(const struct coll_call *c)
{
    return coll_pof2(c->size);
}

void coll_step_fold(const struct coll_call *c, const struct coll_fold *f, struct coll_piece all,
                    uint64_t bytes, struct coll_step *s)
{
    if (!coll_folds(c, f))
        return;
    if (f->me == COLL_ASIDE)
        coll_send(s, c->rank + 1, bytes, all);
    else
        coll_recv(s, c->rank - 1, bytes, all);
    s->combine = true;
}

void coll_step_unfold(const struct coll_call *c, const struct coll_fold *f, struct coll_piece all,
                      uint64_t bytes, struct coll_step *s)
{
    if (!coll_folds(c, f))
        return;
    if (f->me == COLL_ASIDE)
        coll_recv(s, c->rank + 1, bytes, all);
    else
        coll_send(s, c->rank - 1, bytes, all);
}
