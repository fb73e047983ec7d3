/* dist.h -- the normal and Student's t distribution: probabilities and quantiles. */
#ifndef STAT_DIST_H
#define STAT_DIST_H

double stat_normal_cdf(double x);
double stat_normal_quantile(double p); /* 0 < p < 1; infinite at the ends, NaN outside */

/* `df` > 0 degrees of freedom, not necessarily whole. */
double stat_student_cdf(double t, double df);
double stat_student_quantile(double p, double df);

/* The regularised incomplete beta function I_x(a, b). */
double stat_incomplete_beta(double x, double a, double b);

#endif
