/* special.c -- digamma, trigamma and the incomplete gamma function. Pure functions, see special.h.
 */
#include "stat/special.h"

#include <float.h>
#include <math.h>

/* Recurrence up to where the asymptotic series (DLMF 5.11.2) has all digits. */
double stat_digamma(double x)
{
    double sum = 0;

    while (x < 15) {
        sum -= 1 / x;
        x += 1;
    }
    double f = 1 / (x * x);

    return sum + log(x) - 0.5 / x -
           f * (1.0 / 12 - f * (1.0 / 120 - f * (1.0 / 252 - f * (1.0 / 240 - f / 132))));
}

double stat_trigamma(double x)
{
    double sum = 0;

    while (x < 15) {
        sum += 1 / (x * x);
        x += 1;
    }
    double f = 1 / (x * x);

    return sum + 1 / x + f / 2 +
           f / x * (1.0 / 6 - f * (1.0 / 30 - f * (1.0 / 42 - f * (1.0 / 30 - f * 5 / 66))));
}

/* Series DLMF 8.11.4 for x < a + 1. */
static double special_gamma_series(double a, double x)
{
    double term = 1 / a, sum = term;

    for (int n = 1; n < 100000 && term > sum * DBL_EPSILON / 8; n++) {
        term *= x / (a + n);
        sum += term;
    }
    return sum * exp(a * log(x) - x - lgamma(a));
}

/* Continued fraction DLMF 8.9.2 for the complement, by the modified method of Lentz. */
static double special_gamma_fraction(double a, double x)
{
    double b = x + 1 - a, c = 1e300, d = 1 / b, h = d;

    for (int n = 1; n < 100000; n++) {
        double an = -n * (n - a), step;

        b += 2;
        d = an * d + b;
        d = 1 / (fabs(d) < 1e-300 ? 1e-300 : d);
        c = b + an / c;
        c = fabs(c) < 1e-300 ? 1e-300 : c;
        step = c * d;
        h *= step;
        if (fabs(step - 1) < DBL_EPSILON)
            break;
    }
    return h * exp(a * log(x) - x - lgamma(a));
}

double stat_incomplete_gamma(double a, double x)
{
    if (!(a > 0) || isnan(x))
        return NAN;
    if (x <= 0)
        return 0;
    if (isinf(x))
        return 1;
    return x < a + 1 ? special_gamma_series(a, x) : 1 - special_gamma_fraction(a, x);
}

/* Bisection on the logarithm finds the place, Newton the digits. */
double stat_incomplete_gamma_inverse(double a, double p)
{
    double low = -800, high = log(a + 1) + 10;

    if (!(p > 0))
        return 0;
    if (!(p < 1))
        return INFINITY;
    for (int i = 0; i < 60; i++) {
        double mid = (low + high) / 2;

        if (stat_incomplete_gamma(a, exp(mid)) < p)
            low = mid;
        else
            high = mid;
    }
    double x = exp((low + high) / 2);

    for (int i = 0; i < 3; i++) {
        double density = exp((a - 1) * log(x) - x - lgamma(a));
        double next = x - (stat_incomplete_gamma(a, x) - p) / density;

        if (!(density > 0) || !(next > 0) || !(fabs(next - x) < 1e-3 * x))
            break;
        x = next;
    }
    return x;
}
