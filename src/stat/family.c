/* family.c -- six families of distributions: fit, density, CDF, quantile and draws of each.
 *
 * Pure functions behind the table stat_families[]; see family.h. Parameters are in the order of the
 * row's param[]. Draws take their randomness from the caller's stream only.
 */
#include "stat/family.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "stat/dist.h"
#include "stat/moments.h"
#include "stat/special.h"

static const double half_log_2pi = 0.91893853320467274178;

static double family_mean_log(const double *x, size_t n)
{
    double s = 0;

    for (size_t i = 0; i < n; i++)
        s += log(x[i]);
    return s / (double)n;
}

static bool family_differ(const double *x, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (x[i] != x[0])
            return true;
    return false;
}

/* ---- exponential: rate ---- */

static bool family_exponential_fit(double *p, const double *x, size_t n)
{
    p[0] = n ? 1 / stat_mean(x, n) : 0;
    return n > 0 && isfinite(p[0]);
}

static double family_exponential_log(const double *p, double x)
{
    return x < 0 ? -INFINITY : log(p[0]) - p[0] * x;
}

static double family_exponential_cdf(const double *p, double x)
{
    return x < 0 ? 0 : -expm1(-p[0] * x);
}

static double family_exponential_quantile(const double *p, double q)
{
    return -log1p(-q) / p[0];
}

static double family_exponential_draw(const double *p, struct wr_rng *g)
{
    return wr_rng_exp(g) / p[0];
}

/* ---- normal: mean, sd (with n) ---- */

static bool family_normal_fit(double *p, const double *x, size_t n)
{
    double s = 0;

    if (n < 2 || !family_differ(x, n))
        return false;
    p[0] = stat_mean(x, n);
    for (size_t i = 0; i < n; i++)
        s += (x[i] - p[0]) * (x[i] - p[0]);
    p[1] = sqrt(s / (double)n);
    return true;
}

static double family_normal_log(const double *p, double x)
{
    double z = (x - p[0]) / p[1];

    return -0.5 * z * z - log(p[1]) - half_log_2pi;
}

static double family_normal_cdf(const double *p, double x)
{
    return stat_normal_cdf((x - p[0]) / p[1]);
}

static double family_normal_quantile(const double *p, double q)
{
    return p[0] + p[1] * stat_normal_quantile(q);
}

static double family_normal_draw(const double *p, struct wr_rng *g)
{
    return p[0] + p[1] * wr_rng_normal(g);
}

/* ---- log-normal: meanlog, sdlog ---- */

static bool family_lognormal_fit(double *p, const double *x, size_t n)
{
    double s = 0;

    if (n < 2 || !family_differ(x, n))
        return false;
    p[0] = family_mean_log(x, n);
    for (size_t i = 0; i < n; i++)
        s += (log(x[i]) - p[0]) * (log(x[i]) - p[0]);
    p[1] = sqrt(s / (double)n);
    return p[1] > 0;
}

static double family_lognormal_log(const double *p, double x)
{
    return x <= 0 ? -INFINITY : family_normal_log(p, log(x)) - log(x);
}

static double family_lognormal_cdf(const double *p, double x)
{
    return x <= 0 ? 0 : family_normal_cdf(p, log(x));
}

static double family_lognormal_quantile(const double *p, double q)
{
    return exp(family_normal_quantile(p, q));
}

static double family_lognormal_draw(const double *p, struct wr_rng *g)
{
    return exp(family_normal_draw(p, g));
}

/* ---- Weibull: shape, scale ---- */

/* The shape k solves sum x^k ln x / sum x^k - 1/k = mean ln x, whose left side rises with k. */
static bool family_weibull_fit(double *p, const double *x, size_t n)
{
    if (n < 2 || !family_differ(x, n))
        return false;
    double centre = family_mean_log(x, n), var = 0, k;

    for (size_t i = 0; i < n; i++)
        var += (log(x[i]) - centre) * (log(x[i]) - centre) / (double)n;
    k = 1.2825498 / sqrt(var);
    for (int round = 0; round < 200; round++) {
        double s0 = 0, s1 = 0, s2 = 0;

        for (size_t i = 0; i < n; i++) {
            double l = log(x[i]) - centre, e = exp(k * l);

            s0 += e;
            s1 += e * l;
            s2 += e * l * l;
        }
        double f = s1 / s0 - 1 / k, slope = s2 / s0 - s1 / s0 * (s1 / s0) + 1 / (k * k);
        double next = k - f / slope;

        /* There are two at least, so the sum is positive. */
        /* cppcheck-suppress invalidFunctionArg */
        p[1] = exp(centre + log(s0 / (double)n) / k);
        next = next > k / 3 ? next : k / 3;
        bool done = fabs(next - k) < 1e-14 * k;

        k = next;
        if (done)
            break;
    }
    p[0] = k;
    return isfinite(p[0]) && isfinite(p[1]);
}

static double family_weibull_log(const double *p, double x)
{
    double l = log(x / p[1]);

    return x <= 0 ? -INFINITY : log(p[0] / p[1]) + (p[0] - 1) * l - exp(p[0] * l);
}

static double family_weibull_cdf(const double *p, double x)
{
    return x <= 0 ? 0 : -expm1(-pow(x / p[1], p[0]));
}

static double family_weibull_quantile(const double *p, double q)
{
    return p[1] * pow(-log1p(-q), 1 / p[0]);
}

static double family_weibull_draw(const double *p, struct wr_rng *g)
{
    return p[1] * pow(wr_rng_exp(g), 1 / p[0]);
}

/* ---- gamma: shape, rate ---- */

static bool family_gamma_fit(double *p, const double *x, size_t n)
{
    if (n < 2 || !family_differ(x, n))
        return false;
    double mean = stat_mean(x, n), s = log(mean) - family_mean_log(x, n);

    if (!(s > 0))
        return false;
    double k = (3 - s + sqrt((s - 3) * (s - 3) + 24 * s)) / (12 * s);

    for (int round = 0; round < 100; round++) {
        double f = log(k) - stat_digamma(k) - s;
        double next = k / (1 + k * f / (k * k * (1 / k - stat_trigamma(k)))); /* Newton on 1/k */

        next = next > 0 ? next : k / 2;
        bool done = fabs(next - k) < 1e-14 * k;

        k = next;
        if (done)
            break;
    }
    p[0] = k;
    p[1] = k / mean;
    return isfinite(k);
}

static double family_gamma_log(const double *p, double x)
{
    return x <= 0 ? -INFINITY : p[0] * log(p[1]) + (p[0] - 1) * log(x) - p[1] * x - lgamma(p[0]);
}

static double family_gamma_cdf(const double *p, double x)
{
    return stat_incomplete_gamma(p[0], p[1] * x);
}

static double family_gamma_quantile(const double *p, double q)
{
    return stat_incomplete_gamma_inverse(p[0], q) / p[1];
}

/* Marsaglia and Tsang, "A simple method for generating gamma variables", 2000. */
static double family_gamma_draw(const double *p, struct wr_rng *g)
{
    double a = p[0] < 1 ? p[0] + 1 : p[0], d = a - 1.0 / 3, c = 1 / sqrt(9 * d), v;

    for (;;) {
        double z = wr_rng_normal(g);

        v = (1 + c * z) * (1 + c * z) * (1 + c * z);
        if (v > 0 && log1p(-wr_rng_unit(g)) < z * z / 2 + d - d * v + d * log(v))
            break;
    }
    double boost = p[0] < 1 ? exp(-wr_rng_exp(g) / p[0]) : 1;

    return d * v * boost / p[1];
}

/* ---- Pareto: least, index ---- */

static bool family_pareto_fit(double *p, const double *x, size_t n)
{
    if (n < 2 || !family_differ(x, n))
        return false;
    p[0] = x[0];
    for (size_t i = 1; i < n; i++)
        p[0] = fmin(p[0], x[i]);
    p[1] = p[0] > 0 ? 1 / (family_mean_log(x, n) - log(p[0])) : NAN;
    return isfinite(p[1]) && p[1] > 0;
}

static double family_pareto_log(const double *p, double x)
{
    return x < p[0] ? -INFINITY : log(p[1]) + p[1] * log(p[0]) - (p[1] + 1) * log(x);
}

static double family_pareto_cdf(const double *p, double x)
{
    return x <= p[0] ? 0 : -expm1(-p[1] * log(x / p[0]));
}

static double family_pareto_quantile(const double *p, double q)
{
    return p[0] * exp(-log1p(-q) / p[1]);
}

static double family_pareto_draw(const double *p, struct wr_rng *g)
{
    return p[0] * exp(wr_rng_exp(g) / p[1]);
}

#define ROW(f, n, a, b)                                                                           \
    {                                                                                             \
#f, n,                                                                                    \
            {a, b }, family_##f##_fit, family_##f##_log, family_##f##_cdf, family_##f##_quantile, \
             family_##f##_draw                                                                    \
    }

const struct stat_family stat_families[] = {
    ROW(exponential, 1, "rate", NULL),
    ROW(normal, 2, "mean", "sd"),
    ROW(lognormal, 2, "meanlog", "sdlog"),
    ROW(weibull, 2, "shape", "scale"),
    ROW(gamma, 2, "shape", "rate"),
    ROW(pareto, 2, "least", "index"),
    {.name = NULL},
};

double stat_family_loglik(const struct stat_family *family, const double *p, const double *x,
                          size_t n)
{
    double s = 0;

    for (size_t i = 0; i < n; i++)
        s += family->log_density(p, x[i]);
    return s;
}
