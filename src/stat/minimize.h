/* minimize.h -- the least value of a function that has no derivative.
 *
 * Nelder and Mead, "A simplex method for function minimization", The Computer Journal 7(4), 1965,
 * begun again around the best point until that no longer helps: a simplex that has collapsed
 * stops where it should not.
 */
#ifndef STAT_MINIMIZE_H
#define STAT_MINIMIZE_H

#include <stddef.h>
#include <stdint.h>

enum { STAT_MOST_VARIABLES = 16 };

/* May be infinite where x is not allowed; NaN is taken for that. */
typedef double stat_objective(const double *x, size_t n, void *arg);

/* From `x`, which becomes the best point found; `step` is the size of the first simplex in each
 * direction. At most `most` evaluations. Returns the value there. */
double stat_minimize(stat_objective *f, void *arg, double *x, const double *step, size_t n,
                     uint32_t most);

#endif
