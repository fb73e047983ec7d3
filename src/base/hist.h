/* hist.h -- a histogram of non-negative integers with bounded relative error.
 *
 *   value   0 1 2 ... 255 | 256 .. 511 | 512 .. 1023 | ...
 *   cells   one per value | 128 cells  | 128 cells   | ...
 *
 * Below 2^8 a cell is one value; above, each doubling is cut in 128 equal cells, so a
 * cell's middle is within 1/256 = 0.4 % of every value in it. Count, sum,
 * minimum and maximum are exact.
 */
#ifndef BASE_HIST_H
#define BASE_HIST_H

#include <stdint.h>

enum { WR_HIST_SUB = 128, WR_HIST_CELLS = (64 - 6) * WR_HIST_SUB };

struct wr_hist {
    uint64_t n, min, max;
    unsigned __int128 sum; /* exact, so that it does not depend on the order of additions */
    uint64_t cell[WR_HIST_CELLS];
};

static inline uint32_t wr_hist_cell(uint64_t value)
{
    if (value < 2 * WR_HIST_SUB)
        return (uint32_t)value;
    uint32_t shift = 56u - (uint32_t)__builtin_clzll(value); /* value >> shift in [128, 256) */

    return shift * WR_HIST_SUB + (uint32_t)(value >> shift);
}

uint64_t wr_hist_cell_low(uint32_t cell);  /* the smallest value in a cell */
uint64_t wr_hist_cell_next(uint32_t cell); /* the smallest value above it */

static inline void wr_hist_add(struct wr_hist *h, uint64_t value)
{
    if (!h->n || value < h->min)
        h->min = value;
    if (value > h->max)
        h->max = value;
    h->n++;
    h->sum += value;
    h->cell[wr_hist_cell(value)]++;
}

void wr_hist_merge(struct wr_hist *into, const struct wr_hist *from);
double wr_hist_mean(const struct wr_hist *h);               /* NaN when empty */
double wr_hist_quantile(const struct wr_hist *h, double q); /* NaN when empty */

#endif
