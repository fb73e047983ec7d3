/* ks.c -- Kolmogorov and Smirnov's distance and its distribution.
 *
 * Pure functions, declared in family.h.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "stat/family.h"
#include "stat/sample.h"

double stat_ks_distance(const struct stat_family *family, const double *p, const double *sorted,
                        size_t n)
{
    double most = 0;

    for (size_t i = 0; i < n; i++) {
        double f = family->cdf(p, sorted[i]);

        most = fmax(most, fmax(f - (double)i / (double)n, (double)(i + 1) / (double)n - f));
    }
    return most;
}

double stat_ks_p_limit(double d, size_t n)
{
    double l = sqrt((double)n) * d, sum = 0;

    if (l < 0.2)
        return 1;
    for (int k = 1; k < 200; k++) {
        double term = exp(-2.0 * k * k * l * l);

        sum += k % 2 ? term : -term;
        if (term < 1e-18)
            break;
    }
    return fmin(fmax(2 * sum, 0), 1);
}

/* c = a b, scaled: the exponent of ten is kept apart so that powers do not overflow. */
static void ks_multiply(double *c, const double *a, const double *b, int m)
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) {
            double s = 0;

            for (int k = 0; k < m; k++)
                s += a[i * m + k] * b[k * m + j];
            c[i * m + j] = s;
        }
}

/* H^n by squaring; `e` is the decimal exponent of the result. */
static void ks_power(double *a, int *e, double *h, int m, size_t n)
{
    double *t = wr_alloc(sizeof *t * (size_t)(m * m));
    int eh = 0;

    *e = 0;
    memset(a, 0, sizeof *a * (size_t)(m * m));
    for (int i = 0; i < m; i++)
        a[i * m + i] = 1;
    for (; n; n >>= 1) {
        if (n & 1) {
            ks_multiply(t, a, h, m);
            memcpy(a, t, sizeof *t * (size_t)(m * m));
            *e += eh;
        }
        ks_multiply(t, h, h, m);
        memcpy(h, t, sizeof *t * (size_t)(m * m));
        eh *= 2;
        if (h[m / 2 * m + m / 2] > 1e140) {
            for (int i = 0; i < m * m; i++)
                h[i] *= 1e-140;
            eh += 140;
        }
        if (a[m / 2 * m + m / 2] > 1e140) {
            for (int i = 0; i < m * m; i++)
                a[i] *= 1e-140;
            *e += 140;
        }
    }
    free(t);
}

double stat_ks_p_exact(double d, size_t n)
{
    double s = d * d * (double)n;

    if (!(d > 0))
        return 1;
    if (d >= 1)
        return 0;
    if (s > 18 || n > 20000)
        return n > 20000 && s < 18
                   ? stat_ks_p_limit(d * (1 + 0.12 / sqrt((double)n) + 0.11 / (double)n), n)
                   : 2 * exp(-(2.000071 + 0.331 / sqrt((double)n) + 1.409 / (double)n) * s);
    if (s > 7.24 || (s > 3.76 && n > 99))
        return 2 * exp(-(2.000071 + 0.331 / sqrt((double)n) + 1.409 / (double)n) * s);
    int k = (int)((double)n * d) + 1, m = 2 * k - 1, e;
    double h = k - (double)n * d, *hm = wr_alloc(sizeof *hm * (size_t)(m * m));
    double *q = wr_alloc(sizeof *q * (size_t)(m * m));

    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++)
            hm[i * m + j] = i - j + 1 < 0 ? 0 : 1;
    for (int i = 0; i < m; i++) {
        hm[i * m] -= pow(h, i + 1);
        hm[(m - 1) * m + i] -= pow(h, m - i);
    }
    hm[(m - 1) * m] += 2 * h - 1 > 0 ? pow(2 * h - 1, m) : 0;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++)
            for (int g = 1; g <= i - j + 1; g++)
                hm[i * m + j] /= g;
    ks_power(q, &e, hm, m, n);
    double p = q[(k - 1) * m + k - 1];

    for (size_t i = 1; i <= n; i++) {
        p = p * (double)i / (double)n;
        if (p < 1e-140) {
            p *= 1e140;
            e -= 140;
        }
    }
    p *= pow(10, e);
    free(hm);
    free(q);
    return fmin(fmax(1 - p, 0), 1);
}

double stat_ks_p_fitted(const struct stat_family *family, const double *p, double d, size_t n,
                        uint32_t rounds, uint64_t seed)
{
    assert(n && d >= 0);
    double *x = wr_alloc(sizeof *x * (n + 1));
    uint32_t beyond = 0;

    for (uint32_t r = 0; r < rounds; r++) {
        struct wr_rng g;
        double fitted[2];

        wr_rng_init(&g, seed, r, 0x6b73);
        for (size_t i = 0; i < n; i++)
            x[i] = family->draw(p, &g);
        stat_sort(x, n);
        beyond += family->fit(fitted, x, n) && stat_ks_distance(family, fitted, x, n) >= d;
    }
    free(x);
    return (beyond + 1.0) / (rounds + 1.0);
}
