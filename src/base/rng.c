#include "base/rng.h"

#include <math.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wpedantic"
#include <Random123/philox.h>
#pragma GCC diagnostic pop

void wr_rng_init(struct wr_rng *g, uint64_t seed, uint32_t entity, uint32_t purpose)
{
    *g = (struct wr_rng){
        .key = {(uint32_t)seed, (uint32_t)(seed >> 32)}, .entity = entity, .purpose = purpose};
}

static void refill(struct wr_rng *g)
{
    philox4x32_ctr_t ctr = {
        {(uint32_t)g->block, (uint32_t)(g->block >> 32), g->entity, g->purpose}};
    philox4x32_key_t key = {{g->key[0], g->key[1]}};
    philox4x32_ctr_t out = philox4x32(ctr, key);

    for (int i = 0; i < 4; i++)
        g->word[i] = out.v[i];
    g->block++;
    g->left = 4;
}

uint32_t wr_rng_u32(struct wr_rng *g)
{
    if (!g->left)
        refill(g);
    return g->word[--g->left];
}

uint64_t wr_rng_u64(struct wr_rng *g)
{
    uint64_t hi = wr_rng_u32(g);

    return hi << 32 | wr_rng_u32(g);
}

/* Lemire, "Fast random integer generation in an interval", 2019. */
uint32_t wr_rng_below(struct wr_rng *g, uint32_t n)
{
    uint64_t m = (uint64_t)wr_rng_u32(g) * n;

    if ((uint32_t)m < n) {
        uint32_t low = -n % n;

        while ((uint32_t)m < low)
            m = (uint64_t)wr_rng_u32(g) * n;
    }
    return (uint32_t)(m >> 32);
}

double wr_rng_unit(struct wr_rng *g)
{
    return (double)(wr_rng_u64(g) >> 11) * 0x1p-53;
}

double wr_rng_exp(struct wr_rng *g)
{
    return -log1p(-wr_rng_unit(g));
}

double wr_rng_normal(struct wr_rng *g)
{
    double r = sqrt(2 * wr_rng_exp(g));

    return r * cos(2 * M_PI * wr_rng_unit(g));
}
