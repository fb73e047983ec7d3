/* route_pick_priv.h -- one of several equally good ports. */
#ifndef NET_ROUTE_PICK_PRIV_H
#define NET_ROUTE_PICK_PRIV_H

#include "net/route/route.h"
#include "net/route/route_params.h"

extern const char *const route_choice_names[];   /* enum route_choice */
extern const char *const route_channels_names[]; /* enum route_channels */

/* 0..n-1 by the destination, without a division. Multiplying with the golden
 * ratio spreads neighbours over the whole range (Knuth, TAOCP 6.4). */
static inline uint32_t route_pick_fixed(uint32_t dst, uint32_t n)
{
    return (uint32_t)((uint64_t)(dst * 2654435769u) * n >> 32);
}

/* Where to look first: the answer itself, or for the least loaded the one that
 * wins a tie. */
static inline uint32_t route_pick_start(uint32_t choice, uint32_t dst, uint32_t n,
                                        struct wr_rng *rng)
{
    return choice == ROUTE_FIXED ? route_pick_fixed(dst, n) : wr_rng_below(rng, n);
}

/* One of `n` ports of `here`. */
uint16_t route_pick_port(uint32_t choice, const uint16_t *ports, uint32_t n, uint32_t here,
                         uint32_t dst, const struct route_view *view, struct wr_rng *rng);

#endif
