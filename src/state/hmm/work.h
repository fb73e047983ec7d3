/* work.h -- the recursions over a series, and the memory they need.
 *
 *   hmm_work_init ─> hmm_work_bind (data) ─> hmm_loglik, hmm_estep, hmm_viterbi ... (models)
 *
 * Only hmm_work_init allocates. One thread at a time may use a `struct hmm_work`.
 */
#ifndef STATE_HMM_WORK_H
#define STATE_HMM_WORK_H

#include "state/hmm/hmm.h"

struct hmm_kernels;
struct hmm_class;

struct hmm_work {
    size_t cap, steps_cap; /* observations; distinct steps */
    int k_cap;
    const struct hmm_kernels *kernels;
    const struct hmm_data *data;
    /* of the data */
    uint32_t *id;    /* distinct step of each observation; unused when `same` */
    size_t nsteps;   /* distinct steps */
    double *step_dt; /* ascending within a part of the day */
    uint8_t *step_block;
    bool same;                  /* one distinct step */
    bool grid;                  /* and one series */
    bool complete;              /* no observation is missing */
    double x_mid;               /* taken off x where sums of squares are formed */
    double span_s, median_dt_s; /* for the bounds of a fit */
    /* of the data and a model */
    uint32_t *cls; /* class of each distinct step */
    struct hmm_class *classes;
    size_t nclasses;
    double *coef;
    size_t coef_cap;
    double *acc;   /* like coef: the adjoint of the likelihood */
    double *b;     /* n x k, also scratch for sorting */
    double *alpha; /* n x k; after hmm_estep the smoothed probabilities */
    void *memory;
};

/* False when there is not enough memory. For `steps_cap` 0: any number of distinct steps. */
bool hmm_work_init(struct hmm_work *w, size_t cap, size_t steps_cap, int k_cap);
void hmm_work_fini(struct hmm_work *w);

/* Chooses among the kernels that this processor can run, best first (which is what a new one has);
 * returns their name, NULL when there are no more. */
const char *hmm_work_kernels(struct hmm_work *w, int index);

/* `d` must stay as it is until the next bind; d->n <= cap. */
void hmm_work_bind(struct hmm_work *w, const struct hmm_data *d);

/* ln likelihood of the latencies; -infinity when the data are impossible. */
double hmm_loglik(struct hmm_work *w, const struct hmm_model *m);

/* What a step of EM and a gradient need: expectations over hidden paths given the data. */
struct hmm_stats {
    double loglik;
    double s[HMM_BLOCKS][HMM_STATES * HMM_STATES]; /* d loglik / d q: diagonal = expected time in
                                                      a state, q times the rest = expected jumps */
    double first[HMM_STATES];                      /* of the first observations of series */
    double w[HMM_STATES], wx[HMM_STATES], wxx[HMM_STATES]; /* of x - x_mid, where seen */
    size_t starts;
};

/* Leaves the smoothed probabilities in w->alpha. */
void hmm_estep(struct hmm_stats *ret, struct hmm_work *w, const struct hmm_model *m);

/* Filtered probabilities (given the past only), n x k. */
double hmm_filter(double *ret, struct hmm_work *w, const struct hmm_model *m);

/* The most probable path; returns its ln joint density with the data. */
double hmm_viterbi(uint8_t *ret, struct hmm_work *w, const struct hmm_model *m);

/* The same likelihood by the plainest code, for tests and for numbers out of range. */
double hmm_loglik_plain(struct hmm_work *w, const struct hmm_model *m);

#endif
