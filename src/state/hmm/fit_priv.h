/* fit_priv.h -- what the files that fit share. */
#ifndef STATE_HMM_FIT_PRIV_H
#define STATE_HMM_FIT_PRIV_H

#include "state/hmm/fit.h"

/* As hmm_gradient, and the curvature if the hidden path were known. */
double hmm_gradient_info(double *g, double *info, struct hmm_work *w, const struct hmm_model *m);

/* Start number `index` of a fit: quantiles, clusters, then random ones. */
void hmm_start(struct hmm_model *ret, const struct hmm_work *w, const struct hmm_fit_opts *opts,
               int index);

/* `base` and one more state, narrow and short: what a good model with fewer states leaves
 * unexplained is often that. */
void hmm_grow(struct hmm_model *ret, const struct hmm_work *w, const struct hmm_model *base,
              uint64_t seed, int index);

enum { HMM_STARTS = 128 }; /* at most */

#endif
