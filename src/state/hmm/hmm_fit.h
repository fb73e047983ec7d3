/* hmm_fit.h -- the model that makes a series most likely.
 *
 *   starts (quantiles, random)  ─> a few steps of EM each ─> the best go on ─> quasi-Newton
 *
 * EM climbs fast at first and then crawls; a quasi-Newton method with the exact gradient
 * does the opposite. Most starts end at the same summit or a lower one, so few are
 * followed to the end.
 */
#ifndef STATE_HMM_HMM_FIT_H
#define STATE_HMM_HMM_FIT_H

#include "state/hmm/hmm.h"
#include "state/hmm/work.h"

enum hmm_initial {
    HMM_INITIAL_UNIFORM,   /* 1/k each */
    HMM_INITIAL_ESTIMATED, /* from the first observations of the series */
};

struct hmm_fit_opts {
    int k, nblocks;
    enum hmm_family family;
    enum hmm_initial initial;
    double day_offset_s;
    int starts;               /* 0: only `from` */
    int em_steps;             /* of each start before most are given up; 0: 12 */
    int semifinalists;        /* starts of which the finalists are chosen; 0: all */
    int finalists;            /* starts followed to the end; 0: 4 */
    int newton_most;          /* steps of the quasi-Newton method; 0: 400 */
    double sd_least, sd_most; /* 0: 1e-3 and 10 */
    double grad_tol;          /* 0: 1e-6 */
    uint64_t seed;
    const struct hmm_model *from; /* one more start, or NULL */
    const struct hmm_model *base; /* a good model with k - 1 states, or NULL: */
    int grown;                    /* so many starts are this one with a state added */
    int rounds;                   /* of replacing one state of the best, while that gains */
    int renewed;                  /* starts for each state in such a round */
    bool (*stop)(void *arg);      /* asked now and then; may be NULL */
    void *stop_arg;
};

struct hmm_fit {
    struct hmm_model model;
    double loglik;
    double grad_most; /* largest slope of a free parameter */
    bool converged;   /* grad_most is small: a summit, though maybe not the highest */
    int finals;       /* how many starts were followed to the end */
    int evaluations;
    double best_share; /* of the finalists that ended within 1e-3 of the best */
    bool low[HMM_PARAMS], high[HMM_PARAMS]; /* parameters that rest on a bound */
};

/* Parameters in the order of the reference: ln q off-diagonal row by row for each part of the
 * day; then all locations, all ln spreads, and for mixtures second locations, ln spreads, logit
 * weights. */
void hmm_params_get(double *ret, const struct hmm_model *m);
void hmm_params_set(struct hmm_model *m, const double *theta);

struct hmm_bounds {
    double low[HMM_PARAMS], high[HMM_PARAMS];
};

void hmm_bounds_of(struct hmm_bounds *ret, const struct hmm_work *w, const struct hmm_model *m,
                   double sd_least, double sd_most);

/* ln likelihood and its slopes; leaves smoothed probabilities in w->alpha. */
double hmm_gradient(double *ret, struct hmm_work *w, const struct hmm_model *m);

/* One step of EM in place; returns the ln likelihood before it. */
double hmm_em_step(struct hmm_work *w, struct hmm_model *m, enum hmm_initial initial,
                   double sd_least, double sd_most);

/* `scratch` for hmm_polish and hmm_fit: so many doubles. */
size_t hmm_fit_scratch(int nparams);

/* Climbs from *m; parameters with fixed[i] stay (NULL: none does). Returns evaluations. */
struct hmm_polish {
    double loglik, grad_most;
    int evaluations;
    bool converged;
};
struct hmm_polish hmm_polish(struct hmm_model *m, struct hmm_work *w,
                             const struct hmm_bounds *bounds, const bool *fixed, int most,
                             double tol, double *scratch);

/* False when there is nothing to fit: no observation seen. */
bool hmm_fit(struct hmm_fit *ret, struct hmm_work *w, const struct hmm_fit_opts *opts,
             double *scratch);

/* Standard errors of the parameters from the curvature at a maximum; NaN on bounds or where the
 * surface is flat. */
void hmm_standard_errors(double *ret, struct hmm_work *w, const struct hmm_fit *fit,
                         double *scratch);

/* Profile interval of parameter `at`: where the likelihood maximised over all others has fallen
 * by `drop`. An end that is not reached within the bounds is the bound. */
struct hmm_interval {
    double low, high;
};
struct hmm_interval hmm_profile(struct hmm_work *w, const struct hmm_fit *fit, int at, double se,
                                double drop, double *scratch);

#endif
