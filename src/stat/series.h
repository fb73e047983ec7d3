/* series.h -- a series of measurements from one run: where it settles, and the
 * interval of its mean although neighbours resemble each other. */
#ifndef STAT_SERIES_H
#define STAT_SERIES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "stat/sample.h"

/* MSER-5 (White, Cobb and Spratt, "A comparison of five steady-state truncation
 * heuristics for simulation", 2000): of the means of five neighbours each, drop the first d that
 * make the rest's squared standard error smallest. */
struct stat_warmup {
    size_t skip; /* samples to drop, a multiple of five */
    bool steady; /* false: the best cut is past the middle, so run longer */
};

struct stat_warmup stat_mser5(const double *x, size_t n);

/* Batch means: the series is cut into batches and their means are taken as
 * independent. Whether they may be is tested with von Neumann's ratio,
 *
 *   C = 1 - sum (Y[i+1] - Y[i])^2 / (2 sum (Y[i] - mean)^2),
 *
 * which for k independent batches has mean 0 and variance (k - 2)/(k^2 - 1) (Fishman,
 * "Grouping observations in digital simulation", Management Science 24(5), 1978). */
struct stat_batches {
    struct stat_interval mean;
    size_t nbatches, per_batch;
    double ratio;    /* C, close to the correlation of neighbouring batches */
    bool correlated; /* C is too large by chance of 5 %: the interval is too narrow */
};

/* `nbatches` 0: try 64, 32 and 16 and keep the first that passes the test (the last
 * if none does). What does not fill a batch is dropped from the front. */
bool stat_batch_means(const double *x, size_t n, size_t nbatches, double level,
                      struct stat_batches *ret, struct wr_err *err);

/* Correlation of x[i] and x[i + lag]; NaN for a constant series. */
double stat_autocorrelation(const double *x, size_t n, size_t lag);

#endif
