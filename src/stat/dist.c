/* dist.c -- normal and Student's t distribution by their tails; the incomplete beta function.
 *
 * Pure functions. Quantiles are found by bisection of the tail, where the CDF would lose digits.
 */
#include "stat/dist.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

/* The continued fraction DLMF 8.17.22, evaluated by the modified method of Lentz;
 * it converges fast for x < (a + 1)/(a + b + 2). */
static double dist_beta_fraction(double x, double a, double b)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);

    d = 1 / (fabs(d) < tiny ? tiny : d);
    double f = d;
    for (int m = 1; m < 10000; m++) {
        double k = a + 2 * m;
        double step[2] = {m * (b - m) * x / ((k - 1) * k),
                          -(a + m) * (a + b + m) * x / (k * (k + 1))};
        double last = f;

        for (int i = 0; i < 2; i++) {
            d = 1 + step[i] * d;
            c = 1 + step[i] / c;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = fabs(c) < tiny ? tiny : c;
            f *= c * d;
        }
        if (fabs(f - last) <= DBL_EPSILON * fabs(f))
            break;
    }
    return f;
}

/* What Stirling's formula leaves out of ln Gamma(x), for x >= 20. */
static double dist_stirling_rest(double x)
{
    double x2 = x * x;

    return (1.0 / 12 - (1.0 / 360 - 1 / (1260 * x2)) / x2) / x;
}

/* ln B(a, b). Of large arguments the gamma functions nearly cancel, so their
 * quotient is taken from Stirling's formula, where what cancels is left out. */
static double dist_log_beta(double a, double b)
{
    double large = fmax(a, b), small = fmin(a, b);

    if (large < 20)
        return lgamma(a) + lgamma(b) - lgamma(a + b);
    double ratio = (large + small - 0.5) * log1p(small / large) + small * (log(large) - 1) +
                   dist_stirling_rest(large + small) - dist_stirling_rest(large);

    return lgamma(small) - ratio;
}

double stat_incomplete_beta(double x, double a, double b)
{
    if (!(x >= 0 && x <= 1 && a > 0 && b > 0))
        return NAN;
    if (x == 0 || x == 1)
        return x;
    if (x > (a + 1) / (a + b + 2))
        return 1 - stat_incomplete_beta(1 - x, b, a);
    double front = exp(a * log(x) + b * log1p(-x) - dist_log_beta(a, b));

    return front * dist_beta_fraction(x, a, b) / a;
}

static double dist_normal_tail(double x, double unused)
{
    (void)unused;
    return erfc(x * M_SQRT1_2) / 2;
}

/* P(T > t) for t >= 0. */
static double dist_student_tail(double t, double df)
{
    /* Near the middle the argument of the beta function is close to 1: use the
     * complement, which is small there. */
    double t2 = t * t;

    if (t2 < df)
        return 0.5 - stat_incomplete_beta(t2 / (df + t2), 0.5, df / 2) / 2;
    return stat_incomplete_beta(df / (df + t2), df / 2, 0.5) / 2;
}

/* The x >= 0 beyond which a decreasing tail holds q <= 1/2: bracket, then halve
 * until the interval is two neighbouring doubles. Slow; not for inner loops. */
static double dist_tail_inverse(double (*tail)(double, double), double q, double df)
{
    double low = 0, high = 1;

    while (tail(high, df) > q) {
        low = high;
        high *= 2;
        if (high > DBL_MAX / 4)
            return INFINITY;
    }
    for (int i = 0; i < 200; i++) {
        double mid = low + (high - low) / 2;

        if (mid == low || mid == high)
            break;
        if (tail(mid, df) > q)
            low = mid;
        else
            high = mid;
    }
    return low + (high - low) / 2;
}

static double dist_quantile(double (*tail)(double, double), double p, double df)
{
    if (!(p >= 0 && p <= 1 && df > 0))
        return NAN;
    if (p == 0 || p == 1)
        return p == 0 ? -INFINITY : INFINITY;
    if (p == 0.5)
        return 0;
    return p < 0.5 ? -dist_tail_inverse(tail, p, df) : dist_tail_inverse(tail, 1 - p, df);
}

double stat_normal_cdf(double x)
{
    return dist_normal_tail(-x, 0);
}

double stat_normal_quantile(double p)
{
    return dist_quantile(dist_normal_tail, p, 1);
}

double stat_student_cdf(double t, double df)
{
    if (!(df > 0))
        return NAN;
    return t < 0 ? dist_student_tail(-t, df) : 1 - dist_student_tail(t, df);
}

double stat_student_quantile(double p, double df)
{
    return dist_quantile(dist_student_tail, p, df);
}
