/* regress.h -- a straight line through points, by least squares. */
#ifndef STAT_REGRESS_H
#define STAT_REGRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct stat_line {
    double slope, intercept;
    double slope_sd, intercept_sd; /* standard errors; NaN with two points */
    double residual_sd;            /* likewise */
    double r2;                     /* part of the spread of y that the line explains */
};

bool stat_fit_line(const double *x, const double *y, size_t n, struct stat_line *ret,
                   struct wr_err *err);

#endif
