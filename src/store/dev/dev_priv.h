/* dev_priv.h -- what the device models share: the table, limits of parameters, and rounding.
 */
#ifndef STORE_DEV_DEV_PRIV_H
#define STORE_DEV_DEV_PRIV_H

#include <stddef.h>

#include "store/dev/dev.h"

/* The table, in the order of `weir list devices`. */
#define DEVICES(X) \
    X(hdd)         \
    X(ssd)         \
    X(nvme)        \
    X(table)       \
    X(state)       \
    X(null)

#define DEV_DECLARE(n) extern const struct dev_ops dev_model_##n;
DEVICES(DEV_DECLARE)

/* No time of a parameter is longer and no rate lower than these, so that the times of as many
 * requests as `weir dev` makes stay below 2^64 ps, 213 days. */
#define DEV_LONGEST_PS 1e11
#define DEV_SLOWEST_BPS 1e5

static inline uint64_t dev_later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* To the nearest picosecond. */
static inline uint64_t dev_ps(double ps)
{
    return (uint64_t)(ps + 0.5);
}

static inline uint64_t dev_span_ps(uint64_t bytes, double bps)
{
    return dev_ps((double)bytes / bps * 1e12);
}

#endif
