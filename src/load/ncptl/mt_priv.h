/* mt_priv.h -- the Mersenne twister of 64 bits (Matsumoto and Nishimura, 2004).
 *
 * coNCePTuaL draws its random tasks from this generator: the same seed then
 * gives the same program. Everything else in weir uses base/rng.h.
 */
#ifndef LOAD_NCPTL_MT_PRIV_H
#define LOAD_NCPTL_MT_PRIV_H

#include <stdint.h>

enum { NC_MT_N = 312 };

struct nc_mt {
    uint64_t word[NC_MT_N];
};

void nc_mt_seed(struct nc_mt *g, uint64_t seed);

/* The next NC_MT_N outputs. */
void nc_mt_block(struct nc_mt *g, uint64_t *ret);

#endif
