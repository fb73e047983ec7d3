/* sample.c -- order statistics, Student's interval, the bootstrap.
 *
 * The one home of medians and quantiles of samples; other modules sort and ask here.
 */
#include "stat/sample.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "stat/dist.h"
#include "stat/moments.h"

static int sample_ascending(const void *a, const void *b)
{
    double x, y;

    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

void stat_sort(double *x, size_t n)
{
    if (n > 1)
        qsort(x, n, sizeof *x, sample_ascending);
}

double stat_quantile(const double *sorted, size_t n, double q)
{
    if (!n || !(q >= 0 && q <= 1))
        return NAN;
    double at = q * (double)(n - 1);
    size_t i = (size_t)at;

    if (i + 1 >= n)
        return sorted[n - 1];
    return sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]);
}

double stat_lower_median(const double *sorted, size_t n)
{
    return n ? sorted[(n - 1) / 2] : NAN;
}

struct stat_interval stat_central_range(const double *sorted, size_t n, double tail)
{
    assert(n >= 1 && tail >= 0 && tail < 0.5);
    size_t left = (size_t)(tail * (double)n);

    return (struct stat_interval){stat_lower_median(sorted, n), sorted[left], sorted[n - 1 - left]};
}

struct stat_interval stat_mean_interval(const double *x, size_t n, double level)
{
    struct stat_moments m = stat_moments_of(x, n);

    if (n < 2)
        return (struct stat_interval){n ? m.mean : NAN, NAN, NAN};
    double half = stat_student_quantile(0.5 + level / 2, (double)(n - 1)) *
                  stat_moments_stddev(&m) / sqrt((double)n);

    return (struct stat_interval){m.mean, m.mean - half, m.mean + half};
}

enum { BOOTSTRAP_PURPOSE = 0x626f6f74 };

struct stat_interval stat_bootstrap(const double *x, size_t n, stat_statistic *f, void *arg,
                                    uint32_t rounds, double level, uint64_t seed)
{
    if (!n || !rounds)
        return (struct stat_interval){NAN, NAN, NAN};
    assert(n <= UINT32_MAX && level > 0 && level < 1);
    double *again = wr_alloc(n * sizeof *again), *value = wr_alloc(rounds * sizeof *value);
    struct wr_rng rng;

    memcpy(again, x, n * sizeof *x);
    struct stat_interval ret = {.mid = f(again, n, arg)};
    wr_rng_init(&rng, seed, 0, BOOTSTRAP_PURPOSE);
    for (uint32_t r = 0; r < rounds; r++) {
        for (size_t i = 0; i < n; i++)
            again[i] = x[wr_rng_below(&rng, (uint32_t)n)];
        value[r] = f(again, n, arg);
    }
    stat_sort(value, rounds);
    ret.low = stat_quantile(value, rounds, (1 - level) / 2);
    ret.high = stat_quantile(value, rounds, (1 + level) / 2);
    free(again);
    free(value);
    return ret;
}
