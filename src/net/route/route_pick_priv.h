/* route_pick_priv.h -- one of several equally good ports. */
#ifndef NET_ROUTE_PICK_PRIV_H
#define NET_ROUTE_PICK_PRIV_H

#include "net/route/route.h"
#include "net/route/route_params.h"

/* Spreads neighbouring numbers over all 32 bits: two rounds of multiplying with
 * the golden ratio (Knuth, TAOCP 6.4) and folding the top half down. */
static inline uint32_t route_stir(uint32_t x)
{
    x = (x ^ x >> 16) * 2654435769u;
    x = (x ^ x >> 13) * 2654435769u;
    return x ^ x >> 16;
}

/* Where to look first among n: the answer itself, or for the least loaded the
 * one that wins a tie. The fixed choice depends on the router too: if all
 * routers agreed, a tree's upper levels would see one choice only. */
static inline uint32_t route_pick_start(uint32_t choice, uint32_t here, uint32_t key, uint32_t n,
                                        struct wr_rng *rng)
{
    if (choice != ROUTE_FIXED)
        return wr_rng_below(rng, n);
    return (uint32_t)((uint64_t)route_stir(route_stir(here) + key) * n >> 32);
}

/* One of `n` ports of `here`; the fixed choice is the same for the same key. */
uint16_t route_pick_port(uint32_t choice, const uint16_t *ports, uint32_t n, uint32_t here,
                         uint32_t key, const struct route_view *view, struct wr_rng *rng);

#endif
