/* estimate.h -- from series to a fitted model with its uncertainty: what `weir state fit` does. */
#ifndef STATE_ESTIMATE_H
#define STATE_ESTIMATE_H

#include "state/data.h"
#include "state/hmm/hmm_fit.h"

struct state_estimate_opts {
    int k;
    enum hmm_family family;
    enum hmm_initial initial;
    int nblocks;
    double day_offset_s, rounding_s;
    int starts; /* as many again grow from the fit with one state less, twice */
    uint64_t seed;
    bool errors;   /* standard errors too */
    bool profiles; /* 95 % profile intervals too: slow */
    bool (*stop)(void *arg);
    void *stop_arg;
};

struct state_estimate {
    struct hmm_fit fit;
    int nparams;
    size_t n; /* observations */
    double aic, bic;
    double se[HMM_PARAMS]; /* of the parameters as hmm_params_get orders them */
    struct hmm_interval profile[HMM_PARAMS];
    bool has_errors, has_profiles;
    double held_out; /* mean ln density of the second half given the first; NaN: not asked */
};

/* Fits opts->k states, and all smaller numbers on the way. `ret` holds opts->k estimates:
 * the one with j states is ret[j - 1]. Errors and profiles only of the last. */
bool state_estimate(struct state_estimate *ret, const struct state_series *s, size_t nseries,
                    const struct state_estimate_opts *opts, struct wr_err *err);

/* Fits the first half of every series with 1 .. k states and scores the second. */
bool state_held_out(struct state_estimate *io, const struct state_series *s, size_t nseries,
                    const struct state_estimate_opts *opts, struct wr_err *err);

/* ln likelihood of series under a model; its own parts of the day are used. */
bool state_loglik(double *ret, const struct state_series *s, size_t nseries,
                  const struct hmm_model *m, double rounding_s, struct wr_err *err);

#endif
