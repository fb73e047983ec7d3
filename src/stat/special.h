/* special.h -- the gamma function's relatives that libm lacks. */
#ifndef STAT_SPECIAL_H
#define STAT_SPECIAL_H

double stat_digamma(double x);  /* x > 0 */
double stat_trigamma(double x); /* x > 0 */

/* The regularised incomplete gamma function P(a, x) and its inverse in x. */
double stat_incomplete_gamma(double a, double x);
double stat_incomplete_gamma_inverse(double a, double p);

#endif
