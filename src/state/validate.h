/* validate.h -- does a model forecast better than what needs no model?
 *
 * The first part of a series trains, every observation of the rest is forecast from those at least
 * k steps before it, and every forecaster is scored by the same rules. Scores on ln latency and on
 * latency in milliseconds; smaller is better, but for the PIT, whose mean should be 0.5 and whose
 * variance times 12 should be 1.
 */
#ifndef STATE_VALIDATE_H
#define STATE_VALIDATE_H

#include "base/err.h"
#include "state/hmm/hmm.h"
#include "state/probes.h"

struct state_scores {
    double logs_ln, crps_ln, crps_ms, pinball_ms[3], brier, pit_ks, pit_mean, pit_var12, mae_ms;
    size_t n;
};

enum { STATE_HORIZONS = 4, STATE_FORECASTERS = 16, STATE_MC = 13 };
extern const int state_horizons[STATE_HORIZONS]; /* 1, 5, 15, 60 steps */
extern const double state_mc_p[STATE_MC];

struct state_forecaster_row {
    const char *name;
    bool baseline; /* needs no hidden states */
    struct state_scores at[STATE_HORIZONS];
    double alpha[STATE_HORIZONS]; /* of the moving average; NaN for others */
};

struct state_validation {
    size_t n, train;
    int nhorizons;      /* long ones are left out of short series */
    double threshold_s; /* 80 % of the training latencies are below */
    struct state_forecaster_row row[STATE_FORECASTERS];
    int nrows;
    /* Monte Carlo quantiles of the test part, log10 seconds */
    double observed[STATE_MC], mc_mean[STATE_MC], mc_low[STATE_MC], mc_high[STATE_MC];
    double model[STATE_MC]; /* the model's long-run quantiles */
    int inside;             /* observed quantiles within the 95 % band */
    double overlap;         /* of the histograms of observed and simulated, 0 to 1 */
};

struct state_validate_opts {
    double train_share;            /* 0: one half */
    size_t train;                  /* so many observations instead; 0: by share */
    const struct hmm_model *model; /* NULL: fitted to the training part */
    const struct hmm_model *truth; /* scored beside; NULL: none */
    int k;                         /* states of what is fitted */
    int starts;
    int rounds; /* of Monte Carlo; 0: 200 */
    uint64_t seed;
    bool rolling; /* the library's forecaster too */
};

bool state_validate(struct state_validation *ret, struct hmm_model *ret_model,
                    const struct state_series *s, const struct state_validate_opts *opts,
                    struct wr_err *err);

#endif
