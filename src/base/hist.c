/* hist.c -- cells, merging and quantiles of a histogram with bounded relative error.
 *
 * See hist.h for the cells. A histogram is the caller's memory, all zero when empty.
 */
#include "base/hist.h"

#include <assert.h>
#include <math.h>

uint64_t wr_hist_cell_low(uint32_t cell)
{
    assert(cell < WR_HIST_CELLS);
    if (cell < 2 * WR_HIST_SUB)
        return cell;
    uint32_t shift = cell / WR_HIST_SUB - 1;

    return (uint64_t)(cell - shift * WR_HIST_SUB) << shift;
}

uint64_t wr_hist_cell_next(uint32_t cell)
{
    return cell + 1 < WR_HIST_CELLS ? wr_hist_cell_low(cell + 1) : UINT64_MAX;
}

void wr_hist_merge(struct wr_hist *into, const struct wr_hist *from)
{
    assert(into != from);
    if (!from->n)
        return;
    if (!into->n || from->min < into->min)
        into->min = from->min;
    if (from->max > into->max)
        into->max = from->max;
    into->n += from->n;
    into->sum += from->sum;
    for (uint32_t i = 0; i < WR_HIST_CELLS; i++)
        into->cell[i] += from->cell[i];
}

double wr_hist_mean(const struct wr_hist *h)
{
    return h->n ? (double)h->sum / (double)h->n : NAN;
}

/* Inside a cell the values are taken as spread evenly, and a rank between two values stays in
 * the cell of the lower one; the ends are exact. */
double wr_hist_quantile(const struct wr_hist *h, double q)
{
    if (!h->n)
        return NAN;
    double rank = q * (double)(h->n - 1), below = 0;

    if (q <= 0 || q >= 1)
        return (double)(q <= 0 ? h->min : h->max);
    for (uint32_t i = 0; i < WR_HIST_CELLS; i++) {
        double here = (double)h->cell[i];

        if (here == 0 || below + here <= rank) {
            below += here;
            continue;
        }
        double low = (double)wr_hist_cell_low(i), high = (double)wr_hist_cell_next(i) - 1;
        double v = low + (high - low) * ((rank - below + 0.5) / (here + 0.5));

        return fmin(fmax(v, (double)h->min), (double)h->max);
    }
    return (double)h->max;
}
