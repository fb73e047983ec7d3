/* family.h -- families of distributions of positive quantities: fitted by maximum likelihood,
 * tested with Kolmogorov and Smirnov's distance (ks.c), drawn from.
 *
 * One row per family in stat_families[]; `p` has nparams numbers in the order of param[].
 */
#ifndef STAT_FAMILY_H
#define STAT_FAMILY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"

struct stat_family {
    const char *name;
    int nparams;
    const char *param[2];
    /* False when the data do not determine it (fewer than two values, or all the same). */
    bool (*fit)(double *p, const double *x, size_t n);
    double (*log_density)(const double *p, double x);
    double (*cdf)(const double *p, double x);
    double (*quantile)(const double *p, double q);
    double (*draw)(const double *p, struct wr_rng *g);
};

/* exponential, normal, lognormal, weibull, gamma, pareto; ends with .name == NULL */
extern const struct stat_family stat_families[];

double stat_family_loglik(const struct stat_family *family, const double *p, const double *x,
                          size_t n);

/* Kolmogorov and Smirnov: the largest distance between the CDF of a family and ascending samples.
 */
double stat_ks_distance(const struct stat_family *family, const double *p, const double *sorted,
                        size_t n);

/* P(D > d) of n samples of a distribution that was known beforehand: exact (Marsaglia, Tsang and
 * Wang, "Evaluating Kolmogorov's distribution", 2003), and in the limit. */
double stat_ks_p_exact(double d, size_t n);
double stat_ks_p_limit(double d, size_t n);

/* The same for a distribution whose parameters were fitted to these samples, which makes distances
 * smaller: by drawing `rounds` sets from the fitted one and fitting each again (Lilliefors, 1967).
 */
double stat_ks_p_fitted(const struct stat_family *family, const double *p, double d, size_t n,
                        uint32_t rounds, uint64_t seed);

#endif
