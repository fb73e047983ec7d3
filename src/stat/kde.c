/* kde.c -- Gaussian kernel density estimates and their extrema.
 *
 * See kde.h. A struct stat_kde owns its arrays between init and fini; `at` is ascending.
 */
#include "stat/kde.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "stat/moments.h"
#include "stat/sample.h"

double stat_kde_bandwidth(const double *sorted, size_t n, enum stat_bandwidth rule)
{
    struct stat_moments m = stat_moments_of(sorted, n);
    double sd = stat_moments_stddev(&m), fifth = pow((double)n, -0.2);
    double iqr = stat_quantile(sorted, n, 0.75) - stat_quantile(sorted, n, 0.25);
    double low = iqr > 0 ? fmin(sd, iqr / 1.34) : sd;

    if (!(low > 0))
        low = sd > 0 ? sd : 1;
    switch (rule) {
    case STAT_NRD:
        return 1.06 * low * fifth;
    case STAT_SCOTT_FACTOR:
        return sd * fifth;
    case STAT_SILVERMAN_FACTOR:
        return sd * pow(0.75 * (double)n, -0.2);
    default:
        return 0.9 * low * fifth;
    }
}

/* Direct sums up to here; beyond, bins of a fiftieth of the bandwidth move no minimum by more than
 * a hundredth of it. */
enum { DIRECT = 20000 };

static void kde_put(struct stat_kde *k, double x, double weight)
{
    k->at[k->n] = x;
    k->weight[k->n++] = weight;
}

void stat_kde_init(struct stat_kde *ret, const double *sorted, size_t n, double h)
{
    assert(h > 0);
    *ret = (struct stat_kde){.h = h};
    ret->at = wr_alloc((n + 1) * sizeof *ret->at);
    ret->weight = wr_alloc((n + 1) * sizeof *ret->weight);
    double each = 1 / (double)(n ? n : 1), width = n > DIRECT ? h / 50 : 0;

    for (size_t i = 0; i < n;) {
        double sum = 0;
        size_t from = i;

        for (; i < n && sorted[i] - sorted[from] <= width; i++)
            sum += sorted[i];
        kde_put(ret, sum / (double)(i - from), (double)(i - from) * each);
    }
}

void stat_kde_fini(struct stat_kde *k)
{
    free(k->at);
    free(k->weight);
    memset(k, 0, sizeof *k);
}

/* The first value not below x. */
static size_t kde_lower_bound(const struct stat_kde *k, double x)
{
    size_t a = 0, b = k->n;

    while (a < b) {
        size_t mid = (a + b) / 2;

        if (k->at[mid] < x)
            a = mid + 1;
        else
            b = mid;
    }
    return a;
}

/* Sums of kernels no further than `reach` away, and of their slopes. */
static double kde_sum_within(const struct stat_kde *k, double x, double reach, double *ret_slope)
{
    size_t from = kde_lower_bound(k, x - reach), to = kde_lower_bound(k, x + reach);
    double f = 0, g = 0;

    if (from == to) {
        from = from ? from - 1 : 0;
        to = to < k->n ? to + 1 : to;
    }
    for (size_t i = from; i < to; i++) {
        double z = (x - k->at[i]) / k->h, e = k->weight[i] * exp(-0.5 * z * z);

        f += e;
        g -= z * e;
    }
    *ret_slope = g;
    return f;
}

/* Density and slope. A kernel further than 9 h away is below 1e-17; where that is not little, all
 * are added that a double can hold. Further still from all values the nearest count, so that
 * valleys have a floor. */
static double kde_evaluate(const struct stat_kde *k, double x, double *ret_slope)
{
    const double norm = 0.39894228040143267794 / k->h;
    double slope, f = kde_sum_within(k, x, 9 * k->h, &slope);

    if (f < 1e-12)
        f = kde_sum_within(k, x, 38 * k->h, &slope);
    *ret_slope = slope * norm / k->h;
    return f * norm;
}

double stat_kde_density(const struct stat_kde *k, double x)
{
    double slope;

    return kde_evaluate(k, x, &slope);
}

/* Where the slope changes its sign between a and b. */
static double kde_refine(const struct stat_kde *k, double a, double b, bool rising)
{
    for (int i = 0; i < 60 && b - a > 1e-13 * (1 + fabs(a)); i++) {
        double mid = (a + b) / 2, slope;

        kde_evaluate(k, mid, &slope);
        if ((slope > 0) == rising)
            b = mid;
        else
            a = mid;
    }
    return (a + b) / 2;
}

/* All places where the slope changes sign, ascending: hill, valley, hill, ... */
static struct stat_extremum *kde_all_extrema(const struct stat_kde *k, size_t *ret_n)
{
    double from = k->at[0] - 4 * k->h, to = k->at[k->n - 1] + 4 * k->h;
    size_t steps = (size_t)fmin(fmax((to - from) / k->h * 8, 512), 20000), n = 0;
    struct stat_extremum *list = wr_alloc((steps + 1) * sizeof *list);
    double before = from, last = 1;

    for (size_t i = 0; i <= steps; i++) {
        double x = from + (to - from) * (double)i / (double)steps, slope;

        kde_evaluate(k, x, &slope);
        if (i && slope != 0 && (slope > 0) != (last > 0)) {
            double at = kde_refine(k, before, x, slope > 0);

            list[n++] = (struct stat_extremum){.x = at, .density = stat_kde_density(k, at)};
        }
        if (slope != 0) {
            last = slope;
            before = x;
        }
    }
    *ret_n = n;
    return list;
}

/* Hills are at even places of the list, valleys at odd ones. */
static size_t kde_pick(const struct stat_kde *k, struct stat_extremum *ret, size_t most,
                       size_t first)
{
    size_t n, found = 0;

    if (!k->n)
        return 0;
    struct stat_extremum *list = kde_all_extrema(k, &n);

    for (size_t i = first; i < n; i += 2) {
        struct stat_extremum e = list[i];

        if (first && i + 1 < n) {
            e.depth = fmin(list[i - 1].density, list[i + 1].density) / e.density;
            if (!(e.depth > 1 + 1e-6))
                continue;
        } else if (first) {
            continue;
        }
        if (found < most)
            ret[found] = e;
        found++;
    }
    free(list);
    return found;
}

size_t stat_kde_minima(const struct stat_kde *k, struct stat_extremum *ret, size_t most)
{
    return kde_pick(k, ret, most, 1);
}

size_t stat_kde_maxima(const struct stat_kde *k, struct stat_extremum *ret, size_t most)
{
    return kde_pick(k, ret, most, 0);
}
