/* fit_priv.h -- what the files that fit share. */
#ifndef STATE_HMM_FIT_PRIV_H
#define STATE_HMM_FIT_PRIV_H

#include "state/hmm/fit.h"

/* As hmm_gradient, and the curvature if the hidden path were known. */
double hmm_gradient_info(double *g, double *info, struct hmm_work *w, const struct hmm_model *m);

/* Start number `index` of a fit: quantiles, clusters, then random ones. */
void hmm_start(struct hmm_model *ret, const struct hmm_work *w, const struct hmm_fit_opts *opts,
               int index);

/* Pieces of starts. */
enum { HMM_SAMPLE = 512 };

struct hmm_sample {
    double v[HMM_SAMPLE];
    int n;
};

double hmm_unit(uint64_t *rng);                                 /* [0, 1) */
void hmm_take(struct hmm_sample *to, const struct hmm_work *w); /* ascending values */
double hmm_spread_of(const struct hmm_sample *s);
void hmm_other_families(struct hmm_model *m); /* from log-normal emissions to the model's own */

/* Where a good model with one state less leaves most unexplained, best first. */
enum { HMM_GAPS = 24 };

struct hmm_gaps {
    struct hmm_gap {
        double gain, loc, sd, share; /* share: of the observations */
    } at[HMM_GAPS];
    int n;
};

void hmm_find_gaps(struct hmm_gaps *ret, struct hmm_work *w, const struct hmm_model *base);

/* `base` and one more state: one of its states in two, a state for a gap, or one at random. */
void hmm_grow(struct hmm_model *ret, const struct hmm_work *w, const struct hmm_model *base,
              const struct hmm_gaps *gaps, uint64_t seed, int index);

/* Without state s: who went there goes where it would have gone on to. */
void hmm_drop_state(struct hmm_model *m, int s);

enum { HMM_STARTS = 128 }; /* remembered of all that ran */

#endif
