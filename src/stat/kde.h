/* kde.h -- a kernel density estimate, where it has its hills and its valleys. */
#ifndef STAT_KDE_H
#define STAT_KDE_H

#include <stddef.h>

enum stat_bandwidth {
    STAT_NRD0,            /* 0.9 min(sd, IQR/1.34) n^-1/5: Silverman, as R's bw.nrd0 */
    STAT_NRD,             /* 1.06 ...: Scott, as R's bw.nrd */
    STAT_SCOTT_FACTOR,    /* sd n^-1/5, as scipy's */
    STAT_SILVERMAN_FACTOR /* sd (3n/4)^-1/5, as scipy's */
};

/* Gaussian kernels on values; many values are gathered into fine bins first. */
struct stat_kde {
    double *at, *weight; /* ascending; weights sum to 1 */
    size_t n;
    double h;
};

/* Of ascending values. */
double stat_kde_bandwidth(const double *sorted, size_t n, enum stat_bandwidth rule);

void stat_kde_init(struct stat_kde *ret, const double *sorted, size_t n, double h);
void stat_kde_fini(struct stat_kde *k);
double stat_kde_density(const struct stat_kde *k, double x);

struct stat_extremum {
    double x, density;
    double depth; /* of a minimum: the lower of the neighbouring peaks over it */
};

/* Local minima and maxima, ascending; returns how many there are, of which at most `most` are
 * stored. A bump less than a millionth deep is not one. */
size_t stat_kde_minima(const struct stat_kde *k, struct stat_extremum *ret, size_t most);
size_t stat_kde_maxima(const struct stat_kde *k, struct stat_extremum *ret, size_t most);

#endif
