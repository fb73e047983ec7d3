/* emit.c -- what a state says about a latency: densities, their slopes, their best fit.
 *
 * One row per family. Rounded latencies are known to lie between two bounds; then the
 * density is the mean over the interval, P(lo < x < hi)/(hi - lo), so that likelihoods with and
 * without rounding can be compared and the spread of a state cannot collapse on ties.
 */
#include "emit_priv.h"
#include "fit_priv.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "hmm_priv.h"

/* An interval with less probability is so far out that quotients of densities lose their digits. */
#define EMIT_LEAST_MASS 1e-280
#define EMIT_LEAST_VARIANCE 1e-12 /* relative to the variance before the step: not 0 */
#define EMIT_LEAST_SHARE 1e-6     /* of either normal of a mixture: neither dies out */
/* Newton's method for the Weibull: a few rounds per step of EM, each of which moves the location by
 * at most two spreads and the spread by at most a factor of two, where the parabola still holds. */
enum { EMIT_NEWTON_ROUNDS = 4 };
#define EMIT_MOST_SHIFT 2
#define EMIT_MOST_LOG 0.7
#define EMIT_MOST_Z 50 /* e^50 weighs so much that one observation decides; beyond it overflows */
#define EMIT_SINGULAR 1e-12

static const double half_log_2pi = 0.91893853320467274178;

static double emit_normal_log(double x, double mu, double sd)
{
    double z = (x - mu) / sd;

    return -0.5 * z * z - log(sd) - half_log_2pi;
}

static double emit_normal_pdf(double z)
{
    return exp(-0.5 * z * z - half_log_2pi);
}

/* ln(Phi(b) - Phi(a)), a < b, also far out in a tail. */
static double emit_log_normal_between(double a, double b)
{
    if (a > 0) {
        double t = a;

        a = -b;
        b = -t;
    }
    if (b < -8) {
        /* Both far below: the tail's leading terms; the difference of their logarithms is safe. */
        double lb =
            -0.5 * b * b - half_log_2pi - log(-b) + log1p(-1 / (b * b) + 3 / (b * b * b * b));
        double la =
            -0.5 * a * a - half_log_2pi - log(-a) + log1p(-1 / (a * a) + 3 / (a * a * a * a));

        return lb + log(-expm1(fmin(la - lb, -DBL_EPSILON)));
    }
    double p = a > -1 ? 0.5 * (erf(b * M_SQRT1_2) - erf(a * M_SQRT1_2))
                      : 0.5 * (erfc(-b * M_SQRT1_2) - erfc(-a * M_SQRT1_2));

    return p > 0 ? log(p) : -0.5 * b * b - half_log_2pi + log(b - a);
}

static double emit_interval_log(double lo, double hi, double mu, double sd)
{
    return emit_log_normal_between((lo - mu) / sd, (hi - mu) / sd) - log(hi - lo);
}

/* E[z | lo < x < hi] and E[z^2 | ...] of a normal, z its standard form. */
static void emit_interval_moments(double lo, double hi, double mu, double sd, double *z1,
                                  double *z2)
{
    double a = (lo - mu) / sd, b = (hi - mu) / sd, p = exp(emit_log_normal_between(a, b));

    if (p > EMIT_LEAST_MASS) {
        *z1 = -(emit_normal_pdf(b) - emit_normal_pdf(a)) / p;
        *z2 = 1 - (b * emit_normal_pdf(b) - a * emit_normal_pdf(a)) / p;
        if (*z1 >= a && *z1 <= b && *z2 >= *z1 * *z1)
            return;
    }
    *z1 = fabs(a) < fabs(b) ? a : b; /* so far out that all mass is at the near end */
    *z2 = *z1 * *z1;
}

static double emit_lognormal_log(const double *p, double x)
{
    return emit_normal_log(x, p[HMM_LOC], p[HMM_SPREAD]);
}

static double emit_lognormal_log_between(const double *p, double lo, double hi)
{
    return emit_interval_log(lo, hi, p[HMM_LOC], p[HMM_SPREAD]);
}

static double emit_lognormal_cdf(const double *p, double x)
{
    return 0.5 * erfc(-(x - p[HMM_LOC]) / p[HMM_SPREAD] * M_SQRT1_2);
}

/* Slopes with respect to (location, ln spread). */
static void emit_lognormal_slope(double *g, const double *p, double x, double lo, double hi,
                                 bool between)
{
    double z1 = (x - p[HMM_LOC]) / p[HMM_SPREAD], z2 = z1 * z1;

    if (between)
        emit_interval_moments(lo, hi, p[HMM_LOC], p[HMM_SPREAD], &z1, &z2);
    g[HMM_LOC] = z1 / p[HMM_SPREAD];
    g[HMM_SPREAD] = z2 - 1;
}

static double emit_weibull_log(const double *p, double x)
{
    double z = (x - p[HMM_LOC]) / p[HMM_SPREAD];

    return z - exp(z) - log(p[HMM_SPREAD]);
}

static double emit_weibull_cdf(const double *p, double x)
{
    return -expm1(-exp((x - p[HMM_LOC]) / p[HMM_SPREAD]));
}

static double emit_weibull_log_between(const double *p, double lo, double hi)
{
    double a = exp((lo - p[HMM_LOC]) / p[HMM_SPREAD]), b = exp((hi - p[HMM_LOC]) / p[HMM_SPREAD]);

    return -a + log(-expm1(fmin(a - b, -DBL_MIN))) - log(hi - lo);
}

static void emit_weibull_slope(double *g, const double *p, double x, double lo, double hi,
                               bool between)
{
    if (!between) {
        double z = (x - p[HMM_LOC]) / p[HMM_SPREAD], e = exp(z);

        g[HMM_LOC] = (e - 1) / p[HMM_SPREAD];
        g[HMM_SPREAD] = z * (e - 1) - 1;
        return;
    }
    double za = (lo - p[HMM_LOC]) / p[HMM_SPREAD], zb = (hi - p[HMM_LOC]) / p[HMM_SPREAD];
    double a = exp(za), b = exp(zb), rest = -expm1(fmin(a - b, -DBL_MIN));
    double fa = a, fb = b * exp(a - b); /* densities of z, over exp(-a) */

    g[HMM_LOC] = (fa - fb) / rest / p[HMM_SPREAD];
    g[HMM_SPREAD] = (za * fa - (isfinite(fb) ? zb * fb : 0)) / rest;
}

/* Shares of the two normals of a mixture. */
static double emit_mixture_parts(const double *p, double x, double lo, double hi, bool between,
                                 double *share2)
{
    double one = between ? emit_interval_log(lo, hi, p[HMM_LOC], p[HMM_SPREAD])
                         : emit_normal_log(x, p[HMM_LOC], p[HMM_SPREAD]);
    double two = between ? emit_interval_log(lo, hi, p[HMM_LOC2], p[HMM_SPREAD2])
                         : emit_normal_log(x, p[HMM_LOC2], p[HMM_SPREAD2]);

    one += log1p(-p[HMM_WEIGHT2]);
    two += log(p[HMM_WEIGHT2]);
    double most = fmax(one, two), sum = most + log(exp(one - most) + exp(two - most));

    *share2 = exp(two - sum);
    return sum;
}

static double emit_mixture_log(const double *p, double x)
{
    double share;

    return emit_mixture_parts(p, x, 0, 0, false, &share);
}

static double emit_mixture_log_between(const double *p, double lo, double hi)
{
    double share;

    return emit_mixture_parts(p, 0, lo, hi, true, &share);
}

static double emit_mixture_cdf(const double *p, double x)
{
    return (1 - p[HMM_WEIGHT2]) * emit_lognormal_cdf(p, x) +
           p[HMM_WEIGHT2] * emit_lognormal_cdf(p + HMM_LOC2, x);
}

static void emit_mixture_slope(double *g, const double *p, double x, double lo, double hi,
                               bool between)
{
    double share;

    emit_mixture_parts(p, x, lo, hi, between, &share);
    emit_lognormal_slope(g, p, x, lo, hi, between);
    emit_lognormal_slope(g + HMM_LOC2, p + HMM_LOC2, x, lo, hi, between);
    for (int j = 0; j < 2; j++) {
        g[j] *= 1 - share;
        g[j + HMM_LOC2] *= share;
    }
    g[HMM_WEIGHT2] = share - p[HMM_WEIGHT2];
}

/* Weighted means of z and z^2 give the next location and spread of a normal. */
static void emit_normal_mstep(double *p, const struct hmm_data *d, const double *w, int stride,
                              const double *share, bool second)
{
    double sw = 0, s1 = 0, s2 = 0;

    for (size_t i = 0; i < d->n; i++) {
        double z1, z2, weight = w[i * (size_t)stride];

        if (isnan(d->x[i]))
            continue;
        if (share)
            weight *= second ? share[i] : 1 - share[i];
        z1 = (d->x[i] - p[HMM_LOC]) / p[HMM_SPREAD];
        z2 = z1 * z1;
        if (d->lo)
            emit_interval_moments(d->lo[i], d->hi[i], p[HMM_LOC], p[HMM_SPREAD], &z1, &z2);
        sw += weight;
        s1 += weight * z1;
        s2 += weight * z2;
    }
    if (!(sw > HMM_LEAST_WEIGHT))
        return;
    double mean = s1 / sw, var = s2 / sw - mean * mean;

    p[HMM_LOC] += mean * p[HMM_SPREAD];
    p[HMM_SPREAD] *= sqrt(fmax(var, EMIT_LEAST_VARIANCE));
}

static void emit_lognormal_mstep(double *p, const struct hmm_data *d, const double *w, int stride,
                                 double *scratch)
{
    (void)scratch;
    emit_normal_mstep(p, d, w, stride, NULL, false);
}

static void emit_mixture_mstep(double *p, const struct hmm_data *d, const double *w, int stride,
                               double *scratch)
{
    double sw = 0, s2 = 0;

    for (size_t i = 0; i < d->n; i++) {
        scratch[i] = 0;
        if (isnan(d->x[i]))
            continue;
        emit_mixture_parts(p, d->x[i], d->lo ? d->lo[i] : 0, d->hi ? d->hi[i] : 0, d->lo,
                           &scratch[i]);
        sw += w[i * (size_t)stride];
        s2 += w[i * (size_t)stride] * scratch[i];
    }
    emit_normal_mstep(p, d, w, stride, scratch, false);
    emit_normal_mstep(p + HMM_LOC2, d, w, stride, scratch, true);
    if (sw > HMM_LEAST_WEIGHT)
        p[HMM_WEIGHT2] = fmin(fmax(s2 / sw, EMIT_LEAST_SHARE), 1 - EMIT_LEAST_SHARE);
}

/* One guarded Newton step on (location, ln spread) of the weighted likelihood of exact values; EM
 * needs no more than an improvement. */
static void emit_weibull_mstep(double *p, const struct hmm_data *d, const double *w, int stride,
                               double *scratch)
{
    (void)scratch;
    for (int round = 0; round < EMIT_NEWTON_ROUNDS && !d->lo; round++) {
        double g0 = 0, g1 = 0, h00 = 0, h01 = 0, h11 = 0;

        for (size_t i = 0; i < d->n; i++) {
            if (isnan(d->x[i]))
                continue;
            double z = fmin((d->x[i] - p[HMM_LOC]) / p[HMM_SPREAD], EMIT_MOST_Z), e = exp(z);
            double weight = w[i * (size_t)stride];

            g0 += weight * (e - 1);
            g1 += weight * (z * (e - 1) - 1);
            h00 += weight * e;
            h01 += weight * (e - 1 + z * e);
            h11 += weight * (z * (e - 1) + z * z * e);
        }
        double det = h00 * h11 - h01 * h01;

        if (!(det > EMIT_SINGULAR * h00 * h11))
            return;
        double d0 = (h11 * g0 - h01 * g1) / det, d1 = (h00 * g1 - h01 * g0) / det;

        p[HMM_LOC] += fmax(-EMIT_MOST_SHIFT, fmin(EMIT_MOST_SHIFT, d0)) * p[HMM_SPREAD];
        p[HMM_SPREAD] *= exp(fmax(-EMIT_MOST_LOG, fmin(EMIT_MOST_LOG, d1)));
    }
}

const struct emit_ops emit_table[HMM_FAMILIES] = {
    [HMM_LOGNORMAL] = {"lognormal", 2, emit_lognormal_log, emit_lognormal_log_between,
                       emit_lognormal_cdf, emit_lognormal_slope, emit_lognormal_mstep},
    [HMM_WEIBULL] = {"weibull", 2, emit_weibull_log, emit_weibull_log_between, emit_weibull_cdf,
                     emit_weibull_slope, emit_weibull_mstep},
    [HMM_MIXTURE] = {"mixture", 5, emit_mixture_log, emit_mixture_log_between, emit_mixture_cdf,
                     emit_mixture_slope, emit_mixture_mstep},
};

const char *hmm_family_name(enum hmm_family family)
{
    return family < HMM_FAMILIES ? emit_table[family].name : NULL;
}

int hmm_family_params(enum hmm_family family)
{
    return emit_table[family].nparams;
}

double hmm_log_density(const struct hmm_model *m, int s, double x)
{
    return emit_table[m->family].log(m->emit[s], x);
}

double hmm_cdf(const struct hmm_model *m, int s, double x)
{
    return emit_table[m->family].cdf(m->emit[s], x);
}

void hmm_normal_of(struct hmm_normal *ret, const struct hmm_model *m)
{
    memset(ret, 0, sizeof *ret);
    for (int s = 0; s < m->k; s++) {
        ret->mu[s] = m->emit[s][HMM_LOC];
        ret->isd[s] = 1 / m->emit[s][HMM_SPREAD];
        ret->add[s] = -log(m->emit[s][HMM_SPREAD]) - half_log_2pi;
    }
}

double hmm_emit(double *b, const struct hmm_kernels *kernels, const struct hmm_data *d, size_t from,
                size_t n, const struct hmm_model *m)
{
    const struct emit_ops *ops = &emit_table[m->family];
    double sum = 0;
    int k = m->k;

    if (m->family == HMM_LOGNORMAL && !d->lo) {
        struct hmm_normal e;

        hmm_normal_of(&e, m);
        return kernels->emit(b, d->x + from, n, &e, k);
    }
    for (size_t i = 0; i < n; i++) {
        double *to = b + i * (size_t)k, most = -INFINITY;

        for (int s = 0; s < k; s++) {
            size_t at = from + i;

            to[s] = isnan(d->x[at]) ? 0
                    : d->lo         ? ops->log_between(m->emit[s], d->lo[at], d->hi[at])
                                    : ops->log(m->emit[s], d->x[at]);
            most = fmax(most, to[s]);
        }
        if (most == -INFINITY)
            most = -DBL_MAX / 1e10;
        for (int s = 0; s < k; s++)
            to[s] = exp(to[s] - most);
        sum += most;
    }
    return sum;
}
