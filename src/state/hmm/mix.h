/* mix.h -- a forecast: ln latency as a mixture of normals. */
#ifndef STATE_HMM_MIX_H
#define STATE_HMM_MIX_H

#include "state/hmm/hmm.h"

enum { HMM_MIX = 32 };

struct hmm_mix {
    int n;
    double w[HMM_MIX], mu[HMM_MIX], sd[HMM_MIX];
};

static inline void hmm_mix_add(struct hmm_mix *m, double w, double mu, double sd)
{
    m->w[m->n] = w;
    m->mu[m->n] = mu;
    m->sd[m->n++] = sd;
}

/* The states of a model with probabilities p. A Weibull state is taken as the normal with its
 * mean and variance of ln latency. */
void hmm_mix_states(struct hmm_mix *to, const struct hmm_model *m, const double *p, double scale);

double hmm_mix_density(const struct hmm_mix *m, double x);
double hmm_mix_cdf(const struct hmm_mix *m, double x);
double hmm_mix_above(const struct hmm_mix *m, double x); /* 1 - cdf, exact in the tail */
double hmm_mix_quantile(const struct hmm_mix *m, double p);
double hmm_mix_mean_latency(const struct hmm_mix *m);              /* of exp(x) */
double hmm_mix_mean_below(const struct hmm_mix *m, double most_x); /* of exp(min(x, most_x)) */

/* The continuous ranked probability score of x, and of exp(x) for the distribution of exp(x);
 * smaller is better. Closed forms for mixtures: Grimit and others, 2006. */
double hmm_mix_crps(const struct hmm_mix *m, double x);
double hmm_mix_crps_latency(const struct hmm_mix *m, double x);

#endif
