/* rng.h -- randomness keyed by (seed, entity, purpose).
 *
 * Philox4x32-10 is a function from (key, counter) to bits: a stream needs no
 * state but its counter, streams of different entities are independent, and
 * the order in which entities draw does not matter. That is what makes a run
 * the same for any number of threads.
 */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stdint.h>

struct wr_rng {
    uint32_t key[2];  /* the seed */
    uint32_t entity;  /* what draws: a node, a router, ... */
    uint32_t purpose; /* for what, so that two uses never share a stream */
    uint64_t block;   /* how many blocks of four words were drawn */
    uint32_t word[4];
    uint32_t left; /* unused words of the current block */
};

void wr_rng_init(struct wr_rng *g, uint64_t seed, uint32_t entity, uint32_t purpose);

void wr_rng_refill(struct wr_rng *g);   /* the next block of four words */
double wr_rng_exp(struct wr_rng *g);    /* exponential, mean 1 */
double wr_rng_normal(struct wr_rng *g); /* standard normal */

static inline uint32_t wr_rng_u32(struct wr_rng *g)
{
    if (!g->left)
        wr_rng_refill(g);
    return g->word[--g->left];
}

static inline uint64_t wr_rng_u64(struct wr_rng *g)
{
    uint64_t hi = wr_rng_u32(g);

    return hi << 32 | wr_rng_u32(g);
}

/* 0..n-1, unbiased; n > 0. Lemire, "Fast random integer generation in an
 * interval", 2019. */
static inline uint32_t wr_rng_below(struct wr_rng *g, uint32_t n)
{
    uint64_t m = (uint64_t)wr_rng_u32(g) * n;

    if ((uint32_t)m < n) {
        uint32_t low = -n % n;

        while ((uint32_t)m < low)
            m = (uint64_t)wr_rng_u32(g) * n;
    }
    return (uint32_t)(m >> 32);
}

/* [0, 1), 53 bits */
static inline double wr_rng_unit(struct wr_rng *g)
{
    return (double)(wr_rng_u64(g) >> 11) * 0x1p-53;
}

#endif
