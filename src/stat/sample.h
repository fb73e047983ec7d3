/* sample.h -- quantiles of samples, and how far a statistic of them can be trusted. */
#ifndef STAT_SAMPLE_H
#define STAT_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

struct stat_interval {
    double mid, low, high;
};

void stat_sort(double *x, size_t n); /* ascending; NaN is our own mistake */

/* The q-quantile of ascending samples, linear between order statistics: definition 7 of
 * Hyndman and Fan, "Sample quantiles in statistical packages", 1996. NaN if n is 0. */
double stat_quantile(const double *sorted, size_t n, double q);

/* The lower median: the value at place (n - 1) / 2 of ascending samples, so always one of them, as
 * two-humped samples need. NaN if n is 0. */
double stat_lower_median(const double *sorted, size_t n);

/* The values that remain at either end of n >= 1 ascending samples when the share `tail` < 1/2 of
 * them is left out there, and the lower median. */
struct stat_interval stat_central_range(const double *sorted, size_t n, double tail);

/* Student's interval of the mean of independent samples. With fewer than two
 * samples the ends are NaN. */
struct stat_interval stat_mean_interval(const double *x, size_t n, double level);

/* A statistic of n samples; it may reorder them. */
typedef double stat_statistic(double *x, size_t n, void *arg);

/* The percentile bootstrap (Efron, 1979): the statistic of `rounds` resamples with
 * replacement; the interval holds the middle `level` of them. The same seed
 * gives the same interval. */
struct stat_interval stat_bootstrap(const double *x, size_t n, stat_statistic *f, void *arg,
                                    uint32_t rounds, double level, uint64_t seed);

#endif
