/* mt.c -- the 64-bit Mersenne twister (mt_priv.h), a block of outputs at a time.
 *
 * The text of this file is also part of every program that `weir lang compile` writes.
 */
#include "mt_priv.h"

enum { MIDDLE = 156 };

static const uint64_t upper = 0xffffffff80000000, lower = 0x7fffffff;

void nc_mt_seed(struct nc_mt *g, uint64_t seed)
{
    g->word[0] = seed;
    for (unsigned i = 1; i < NC_MT_N; i++)
        g->word[i] = 6364136223846793005u * (g->word[i - 1] ^ (g->word[i - 1] >> 62)) + i;
}

static uint64_t mt_temper(uint64_t x)
{
    x ^= x >> 29 & 0x5555555555555555;
    x ^= x << 17 & 0x71d67fffeda60000;
    x ^= x << 37 & 0xfff7eee000000000;
    return x ^ x >> 43;
}

void nc_mt_block(struct nc_mt *g, uint64_t *ret)
{
    for (unsigned i = 0; i < NC_MT_N; i++) {
        uint64_t x = (g->word[i] & upper) | (g->word[(i + 1) % NC_MT_N] & lower);

        g->word[i] = g->word[(i + MIDDLE) % NC_MT_N] ^ x >> 1 ^ (x & 1 ? 0xb5026f5aa96619e9 : 0);
    }
    for (unsigned i = 0; i < NC_MT_N; i++)
        ret[i] = mt_temper(g->word[i]);
}
