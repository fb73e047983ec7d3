/* coll_all.c -- schedules of allgather and alltoall. */
#include "coll_priv.h"

enum { BATCH = 32 }; /* ALLTOALL_THROTTLE: messages that are under way at once */

static bool allgather_doubling(const struct coll_call *c, uint32_t i, struct coll_step *s)
{
    uint32_t far, mine, theirs;

    if (i >= coll_log(c->size))
        return false;
    far = 1u << i;
    mine = c->rank & ~(far - 1);
    theirs = mine ^ far;
    coll_send(s, c->rank ^ far, far * c->bytes, coll_blocks(mine, far));
    coll_recv(s, c->rank ^ far, far * c->bytes, coll_blocks(theirs, far));
    return true;
}

const struct coll_ops coll_allgather_doubling = {
    .kind = {.name = "allgather doubling",
             .summary =
                 "recursive doubling: exchange all that was gathered with ever farther members"},
    .name = "doubling",
    .coll = LOAD_ALLGATHER,
    .pof2 = true,
    .nblocks = coll_size_blocks,
    .step = allgather_doubling,
};

static bool allgather_bruck(const struct coll_call *c, uint32_t i, struct coll_step *s)
{
    uint32_t far, n;

    if (i >= coll_log(c->size))
        return false;
    far = 1u << i;
    n = far < c->size - far ? far : c->size - far;
    coll_send(s, coll_add(c->rank, c->size - far, c->size), n * c->bytes, coll_blocks(c->rank, n));
    coll_recv(s, coll_add(c->rank, far, c->size), n * c->bytes,
              coll_blocks(coll_add(c->rank, far, c->size), n));
    return true;
}

const struct coll_ops coll_allgather_bruck = {
    .kind = {.name = "allgather bruck",
             .summary = "in step k get what the member 2^k further on has gathered"},
    .name = "bruck",
    .coll = LOAD_ALLGATHER,
    .nblocks = coll_size_blocks,
    .step = allgather_bruck,
};

static bool allgather_ring(const struct coll_call *c, uint32_t i, struct coll_step *s)
{
    uint32_t n = c->size, mine;

    if (i >= n - 1)
        return false;
    mine = coll_add(c->rank, n - i, n);
    coll_send(s, coll_add(c->rank, 1, n), c->bytes, coll_blocks(mine, 1));
    coll_recv(s, coll_add(c->rank, n - 1, n), c->bytes, coll_blocks(coll_add(mine, n - 1, n), 1));
    return true;
}

const struct coll_ops coll_allgather_ring = {
    .kind = {.name = "allgather ring", .summary = "blocks around a ring"},
    .name = "ring",
    .coll = LOAD_ALLGATHER,
    .nblocks = coll_size_blocks,
    .step = allgather_ring,
};

/* Blocks of an alltoall: with COLL_NO_BIT, block d of a member is what it has for member d, and
 * what it gets from s comes as block s. Bruck's place i holds at first what goes i
 * members further on; a message carries all places that have bit k. */
static uint64_t alltoall_places_with_bit(uint32_t n, uint32_t k)
{
    uint64_t period = UINT64_C(2) << k, whole = n / period, rest = n % period;
    uint64_t half = UINT64_C(1) << k;

    return whole * half + (rest > half ? rest - half : 0);
}

static bool alltoall_bruck(const struct coll_call *c, uint32_t i, struct coll_step *s)
{
    struct coll_piece piece = {.first = 0, .n = c->size, .bit = (int32_t)i};
    uint64_t bytes;
    uint32_t far;

    if (i >= coll_log(c->size))
        return false;
    far = 1u << i;
    bytes = alltoall_places_with_bit(c->size, i) * c->bytes;
    coll_send(s, coll_add(c->rank, far, c->size), bytes, piece);
    coll_recv(s, coll_add(c->rank, c->size - far, c->size), bytes, piece);
    return true;
}

const struct coll_ops coll_alltoall_bruck = {
    .kind = {.name = "alltoall bruck",
             .summary = "in step k pass on all that must go 2^k further: few messages, more bytes"},
    .name = "bruck",
    .coll = LOAD_ALLTOALL,
    .nblocks = coll_size_blocks,
    .step = alltoall_bruck,
};

static bool alltoall_scattered(const struct coll_call *c, uint32_t i, struct coll_step *s)
{
    uint32_t n = c->size, to = coll_add(c->rank, n - 1 - i, n), from;

    if (i >= n - 1)
        return false;
    from = coll_add(c->rank, i + 1, n);
    coll_send(s, to, c->bytes, coll_blocks(to, 1));
    coll_recv(s, from, c->bytes, coll_blocks(from, 1));
    s->go_on = i + 2 < n && (i + 1) % BATCH;
    return true;
}

const struct coll_ops coll_alltoall_scattered = {
    .kind = {.name = "alltoall scattered",
             .summary = "all at once, 32 messages at a time, each member beginning elsewhere"},
    .name = "scattered",
    .coll = LOAD_ALLTOALL,
    .nblocks = coll_size_blocks,
    .step = alltoall_scattered,
};

static bool alltoall_pairwise(const struct coll_call *c, uint32_t i, struct coll_step *s)
{
    uint32_t n = c->size, far = i + 1, to, from;

    if (far >= n)
        return false;
    if (n & (n - 1)) {
        to = coll_add(c->rank, far, n);
        from = coll_add(c->rank, n - far, n);
    } else {
        to = from = c->rank ^ far;
    }
    coll_send(s, to, c->bytes, coll_blocks(to, 1));
    coll_recv(s, from, c->bytes, coll_blocks(from, 1));
    return true;
}

const struct coll_ops coll_alltoall_pairwise = {
    .kind = {.name = "alltoall pairwise", .summary = "one partner after the other"},
    .name = "pairwise",
    .coll = LOAD_ALLTOALL,
    .nblocks = coll_size_blocks,
    .step = alltoall_pairwise,
};
