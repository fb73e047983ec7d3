/* score_priv.h -- scores of forecasts, summed up one at a time. */
#ifndef STATE_SCORE_PRIV_H
#define STATE_SCORE_PRIV_H

#include "state/hmm/mix.h"
#include "state/validate.h"

/* The series under test and what forecasters remember of it. */
struct trial {
    const double *t, *x; /* x = ln latency */
    size_t n, train;
    double threshold; /* ln */
    /* of the training part, for the empirical forecaster */
    double *sorted_s, *prefix_s;      /* latencies in seconds, their running sums */
    double *sorted_ln, *prefix_ln;    /* the same of x */
    double half_gini_s, half_gini_ln; /* half the mean difference of two values */
    double quantile_s[3], bandwidth;
};

struct tally {
    double logs, crps_ln, crps_ms, pinball[3], brier, pit, pit2, mae;
    double *pits;
    size_t n, cap;
};

void tally_mix(struct tally *to, const struct trial *t, const struct hmm_mix *m, double x);
void tally_empirical(struct tally *to, const struct trial *t, double x);
struct state_scores tally_end(struct tally *t); /* frees it */

void trial_init(struct trial *t, const struct state_series *s, double *x, size_t train);
void trial_fini(struct trial *t);

/* A simple forecaster at one horizon. */
struct simple {
    const char *name;
    /* Learns from the training part; `p` are its numbers. */
    void (*prepare)(double p[4], const struct trial *t, int k, double *scratch);
    void (*predict)(struct hmm_mix *ret, const double p[4], const struct trial *t, size_t i, int k,
                    const double *scratch);
};

extern const struct simple simple_table[]; /* ends with .name == NULL */

#endif
