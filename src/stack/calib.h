/* calib.h -- laws from logs.
 *
 * Medians by size become points; a law is a constant, so much per byte, a line that does not fall,
 * or a line with a knee beyond which bytes are dearer. Which of them: the one that, fitted without
 * one of the sizes, tells that size best. Errors are relative, so that small sizes count as much as
 * large ones. No law has more parameters than there are sizes.
 */
#ifndef STACK_CALIB_H
#define STACK_CALIB_H

#include "stack/law.h"
#include "stack/log.h"

struct stack_point {
    double x, y;
};

/* Only data are proportional to their bytes, or have a knee. */
enum stack_shape { STACK_CONSTANT, STACK_PROPORTIONAL, STACK_LINE, STACK_KNEE, STACK_SHAPES };

extern const char *const stack_shape_names[];

struct stack_fit {
    enum stack_shape shape;
    double constant, slope, knee, after;
    double loso; /* mean error of the size left out, as a logarithm; NaN: too few sizes to tell */
};

/* Of samples, many for a size. Refuses when there is none. */
bool stack_fit(struct stack_fit *ret, const struct stack_point *p, size_t n, enum stack_shape most,
               struct wr_err *err);
/* What the shape says of the size `x` when it is fitted to the others; NaN: they are too few. */
double stack_fit_without(enum stack_shape shape, const struct stack_point *p, size_t n, double x);
double stack_fit_at(const struct stack_fit *f, double x);

/* The median of y for each x; `n` is how many pairs, returns how many points. Sorts `p`. */
size_t stack_medians(struct stack_point *p, size_t n);
/* The mean likewise. */
size_t stack_means(struct stack_point *p, size_t n);

/* The lower median of a function's times at one size; false: there is none. */
bool stack_op_median(const struct stack_log *log, uint16_t function, uint8_t io, uint64_t bytes,
                     double *ret);

/* The same of reads or writes. */
bool stack_io_median(const struct stack_log *log, bool writes, uint64_t bytes, double *ret);

/* Whether all nodes shared one link or had one each; or what tells sizes left out better. */
enum stack_see { STACK_SEE_ITSELF, STACK_SEE_SHARED, STACK_SEE_SWITCHED };

/* The laws of all states that the log has samples of, as the text of a file of laws. The others
 * keep those of `base` (may be NULL). Functions, reads and writes have a band that they are
 * likely in, found by telling each size by the others. */
bool stack_calibrate(struct wr_str *out, const struct stack_log *log, const struct stack_laws *base,
                     const char *title, enum stack_see see, struct wr_err *err);

#endif
