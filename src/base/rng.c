/* rng.c -- Philox4x32-10 streams (Random123) and the distributions drawn from them.
 *
 * A stream is a struct wr_rng of its caller. The words it gives are part of every result: neither
 * their order nor the number of words a distribution takes may change.
 */
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

void wr_rng_refill(struct wr_rng *g)
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

double wr_rng_exp(struct wr_rng *g)
{
    return -log(1 - wr_rng_unit(g)); /* the difference is exact: 53 bits */
}

double wr_rng_normal(struct wr_rng *g)
{
    double r = sqrt(2 * wr_rng_exp(g));

    return r * cos(2 * M_PI * wr_rng_unit(g));
}
