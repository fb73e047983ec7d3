/* calib.h -- timing models from logs of one or several tests.
 *
 * What a state works is a constant, the median of its samples, each test counting the same; what it
 * waits for a data file may be a line that does not fall. Flows are fitted jointly over all tests
 * by simulating them (calib_flow.c): a constant of each flow from small calls, the time of a byte
 * from large ones, how flows share the medium from tests with several processes. Errors are
 * relative, so that small calls count as much as large ones.
 */
#ifndef STACK_CALIB_H
#define STACK_CALIB_H

#include "stack/stack_log.h"
#include "stack/timing.h"

struct stack_point {
    double x, y;
};

enum stack_shape { STACK_CONSTANT, STACK_PROPORTIONAL, STACK_LINE, STACK_SHAPES };

struct stack_fit {
    enum stack_shape shape;
    double constant, slope;
    double loso; /* leave-one-size-out error, as a logarithm; NaN: too few sizes */
};

/* Of samples, many for a size. Refuses when there is none. */
bool stack_fit(struct stack_fit *ret, const struct stack_point *p, size_t n, enum stack_shape most,
               struct wr_err *err);
/* The prediction for size `x` of the shape fitted to the other sizes; NaN: they are too few. */
double stack_fit_without(enum stack_shape shape, const struct stack_point *p, size_t n, double x);
double stack_fit_at(const struct stack_fit *f, double x);

/* The median of y for each x; `n` is how many pairs, returns how many points. Sorts `p`. */
size_t stack_medians(struct stack_point *p, size_t n);
/* The mean likewise. */
size_t stack_means(struct stack_point *p, size_t n);

/* The lower median of a function's times in one test; false: there is none. */
bool stack_op_median(const struct stack_log *log, uint16_t function, uint8_t io, uint16_t test,
                     double *ret);

/* The median of reads or writes. */
bool stack_io_median(const struct stack_log *log, bool writes, uint16_t test, double *ret);

/* The medium: found by the calibration, or given. */
enum stack_see { STACK_SEE_ITSELF, STACK_SEE_SHARED, STACK_SEE_SWITCHED };

/* The timing models of all states that the log has samples of, as the text of a file of timing
 * models. Other states keep those of `base` (may be NULL). Functions, reads and writes get a band.
 * `report` (may be NULL): the error for tests left out, a line for each way to leave them out, and
 * how certain the medium is. */
bool stack_calibrate(struct wr_str *out, struct wr_str *report, const struct stack_log *log,
                     const struct stack_timings *base, const char *title, enum stack_see see,
                     struct wr_err *err);

#endif
