/* regress.c -- the least-squares line through points, from deviations rather than sums of squares.
 */
#include "stat/regress.h"

#include <math.h>

#include "stat/moments.h"

bool stat_fit_line(const double *x, const double *y, size_t n, struct stat_line *ret,
                   struct wr_err *err)
{
    if (n < 2)
        return wr_fail(err, WR_INPUT, "a line needs two points and there are %zu; measure more", n);
    struct stat_moments mx = stat_moments_of(x, n), my = stat_moments_of(y, n);
    double sxy = 0, rest = 0;

    if (!(mx.m2 > 0))
        return wr_fail(err, WR_INPUT, "all points have the same x; measure at different ones");
    for (size_t i = 0; i < n; i++)
        sxy += (x[i] - mx.mean) * (y[i] - my.mean);

    struct stat_line l = {.slope = sxy / mx.m2};
    l.intercept = my.mean - l.slope * mx.mean;
    for (size_t i = 0; i < n; i++) {
        double e = y[i] - my.mean - l.slope * (x[i] - mx.mean);

        rest += e * e;
    }
    l.residual_sd = n > 2 ? sqrt(rest / (double)(n - 2)) : NAN;
    l.slope_sd = l.residual_sd / sqrt(mx.m2);
    l.intercept_sd = l.residual_sd * sqrt(1 / (double)n + mx.mean * mx.mean / mx.m2);
    l.r2 = my.m2 > 0 ? 1 - rest / my.m2 : 1;
    *ret = l;
    return true;
}
