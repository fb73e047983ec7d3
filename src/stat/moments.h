/* moments.h -- mean and variance of a stream, in one pass.
 *
 * Welford, "Note on a method for calculating corrected sums of squares and
 * products", Technometrics 4(3), 1962; merging after Chan, Golub and LeVeque, 1983. The sum of
 * squared deviations is updated instead of subtracted, so a small spread on a
 * large mean survives. Zero-initialise.
 */
#ifndef STAT_MOMENTS_H
#define STAT_MOMENTS_H

#include <stddef.h>
#include <stdint.h>

struct stat_moments {
    uint64_t n;
    double mean;
    double m2; /* sum of squared deviations from the mean */
    double min, max;
};

void stat_moments_add(struct stat_moments *m, double x);
void stat_moments_merge(struct stat_moments *into, const struct stat_moments *from);
double stat_mean(const double *x, size_t n); /* the sum divided by n; NaN when empty */
struct stat_moments stat_moments_of(const double *x, size_t n);

/* Of the population the samples come from (divided by n - 1); NaN below two samples. */
double stat_moments_variance(const struct stat_moments *m);
double stat_moments_stddev(const struct stat_moments *m);

#endif
