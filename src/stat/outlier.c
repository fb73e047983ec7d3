/* outlier.c -- marks outliers by standard deviations or by the median absolute deviation. */
#include "stat/outlier.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "stat/moments.h"
#include "stat/sample.h"

static const double mad_to_sd = 1.4826;

static double outlier_median(const double *x, size_t n, double about)
{
    double *v = wr_alloc(n * sizeof *v);

    for (size_t i = 0; i < n; i++)
        v[i] = isnan(about) ? x[i] : fabs(x[i] - about);
    stat_sort(v, n);
    double mid = stat_quantile(v, n, 0.5);

    free(v);
    return mid;
}

size_t stat_outliers(bool *drop, const double *x, size_t n, enum stat_outlier how, double limit)
{
    assert(how == STAT_OUTLIER_NONE || limit > 0);
    size_t stay = n;

    memset(drop, 0, n * sizeof *drop);
    if (how == STAT_OUTLIER_NONE || n < 3)
        return n;
    struct stat_moments m = stat_moments_of(x, n);
    bool mad = how == STAT_OUTLIER_MAD;
    double mid = mad ? outlier_median(x, n, NAN) : m.mean;
    double sd = mad ? mad_to_sd * outlier_median(x, n, mid) : stat_moments_stddev(&m);

    for (size_t i = 0; i < n && sd > 0; i++) {
        drop[i] = fabs(x[i] - mid) > limit * sd;
        stay -= drop[i];
    }
    return stay;
}
