/* synth_grid.c -- checks that a grid of the configuration has exactly the nodes of the machine.
 *
 * Used by the patterns that lay nodes out on a grid (nearest, tornado).
 */
#include "synth_grid_priv.h"

#include <assert.h>
#include <math.h>

static uint32_t grid_largest_divisor_up_to(uint32_t n, uint32_t limit)
{
    uint32_t d = limit;

    while (d > 1 && n % d)
        d--;
    return d ? d : 1;
}

bool synth_grid_check(const struct conf_list *extents, uint32_t nnodes, struct wr_err *err)
{
    const uint32_t *e = extents->items;
    uint64_t n = 1;

    assert(nnodes);
    if (extents->n > SYNTH_MAX_DIMS)
        return wr_fail(err, WR_INPUT, "a grid of %zu dimensions; use at most %d", extents->n,
                       SYNTH_MAX_DIMS);
    for (size_t i = 0; i < extents->n; i++) {
        if (!e[i])
            return wr_fail(err, WR_INPUT, "extent %zu of the grid is 0; use at least 1", i + 1);
        n = n * e[i] > UINT32_MAX ? UINT32_MAX + 1ull : n * e[i];
    }
    if (extents->n && n == nnodes)
        return true;

    uint32_t a = grid_largest_divisor_up_to(nnodes, (uint32_t)cbrt(nnodes + 0.5));
    uint32_t rest = nnodes / a;
    uint32_t b = grid_largest_divisor_up_to(rest, (uint32_t)sqrt(rest + 0.5));
    return wr_fail(err, WR_INPUT, "%s %u nodes; for example use grid: [%u, %u, %u]",
                   extents->n ? "the grid does not hold the machine's"
                              : "no grid is given for the machine's",
                   nnodes, a, b, nnodes / a / b);
}
