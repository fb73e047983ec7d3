/* fit_priv.h -- what the files that fit share. */
#ifndef STATE_HMM_FIT_PRIV_H
#define STATE_HMM_FIT_PRIV_H

#include "state/hmm/hmm_fit.h"

/* Bounds of rates, in jumps. So few in the whole series cannot be distinguished from none; with so
 * many between two observations a step forgets the state before it, as it would with more. */
#define HMM_LEAST_JUMPS 1e-6
#define HMM_MOST_JUMPS_PER_STEP 20
/* Spread at which a start makes a narrow state: twice the least that is allowed, so that EM can
 * still narrow it. */
#define HMM_NARROW 2e-3
/* Bounds of spreads where the caller names none: of ln latency, so 0.1 % and a factor of 22,000. A
 * spread of 0 on one observation would have infinite likelihood (Kiefer and Wolfowitz 1956). */
#define HMM_DEFAULT_SD_LEAST 1e-3
#define HMM_DEFAULT_SD_MOST 10
/* Bound of |logit| of a weight: 8e-7, less than one observation in a million. */
#define HMM_MOST_LOGIT 14
/* A state to which fewer observations belong than this, summed, keeps its emission: what they say
 * of it is rounding. */
#define HMM_LEAST_WEIGHT 1e-8
/* Log-likelihoods of two runs that differ by less, relatively, come from one summit. */
#define HMM_SAME_SUMMIT 1e-7

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

/* Without state s: jumps into it go where it would have jumped next. */
void hmm_drop_state(struct hmm_model *m, int s);

enum { HMM_STARTS = 128 }; /* remembered of all that ran */

#endif
