/* online_priv.h -- the inside of a `struct weir_state`.
 *
 *   observation ─> forecasts made k steps ago are scored ─> weights, one set per horizon
 *              └─> filter, levels, window                ─> what the next forecasts start from
 *              └─> every refit_every: the model is fitted to the window again
 *
 * The forecast is a mixture of experts: the model from its filtered state, the model at its long
 * run, a mixture that remembers everything since the beginning, moving averages of different
 * length, the last sixty values, the whole window, and one that is wide enough for anything. Each
 * has the weight that its past forecasts at that horizon have earned (Bayes, with a little shared
 * out at every step: Herbster and Warmuth, "Tracking the best expert", 1998). So the loss against
 * the best of them is bounded, whatever the data do.
 */
#ifndef STATE_LIB_ONLINE_PRIV_H
#define STATE_LIB_ONLINE_PRIV_H

#include <pthread.h>

#include "state/hmm/fit.h"
#include "state/hmm/mix.h"
#include "state/lib/weir-state.h"

enum {
    LEVELS = 5,           /* moving averages */
    EXPERTS = 6 + LEVELS, /* filtered, long run, history, window, last sixty, anything */
    CLASSES = 4,          /* horizons: 1, 5, 15, 60 steps */
    RING = 64,            /* snapshots: a power of two above the longest horizon */
    LAST = 60,            /* values of the short window */
    HISTORY = 6,          /* normals that remember all there was */
    TAYLOR = 10,          /* terms of a step's series */
};

enum expert { BY_FILTER, BY_LONG_RUN, BY_HISTORY, BY_WINDOW, BY_LAST, BY_ANYTHING, BY_LEVEL };

/* What a forecast was made from. */
struct snapshot {
    double t;
    double p[HMM_STATES]; /* filtered */
    double level[LEVELS]; /* moving averages */
    double last_mu, last_sd;
};

/* exp(Q dt) near a centre, see hmm_priv.h. */
struct near_step {
    double g, c, reach;
    double coef[TAYLOR][HMM_STATES * HMM_STATES];
    bool valid;
};

struct weir_state {
    pthread_mutex_t lock;
    struct weir_state_config config;
    /* the window */
    double *t, *x;    /* a ring of config.window */
    size_t n;         /* observations so far */
    size_t held;      /* of them in the ring */
    double sum, sum2; /* over the ring, of x - origin */
    double short_sum, short_sum2;
    double origin, typical_dt;
    /* the model */
    bool has_model;
    struct hmm_model model;
    double long_run[HMM_STATES], to_idle[HMM_STATES];
    struct near_step step[CLASSES + 1]; /* the last is for queries */
    /* forecasters */
    struct snapshot now, ring[RING];
    struct hmm_mix history;          /* learned step by step: Cappe and Moulines, 2009 */
    double h1[HISTORY], h2[HISTORY]; /* its weighted sums of x - origin and its square */
    double err2[CLASSES][LEVELS];    /* mean squared error of the moving averages */
    double weight[CLASSES][EXPERTS];
    size_t since_fit, looked_at;
    /* room for fitting */
    struct hmm_work work;
    struct hmm_data data;
    double *fit_x, *fit_dt, *scratch;
    struct hmm_fit fit;
};

/* The parts below are called with the lock held. */
void online_learn(struct weir_state *s, double t, double x); /* one observation */
void online_begin_history(struct weir_state *s);
void online_refilter(struct weir_state *s); /* the snapshots' states under a new model */
void online_experts(struct hmm_mix mix[EXPERTS], struct weir_state *s, const struct snapshot *from,
                    int cls, double dt, struct near_step *near);
void online_forecast(struct hmm_mix *ret, struct weir_state *s, double horizon_s);
void online_step(double *p, struct weir_state *s, double dt, struct near_step *near);
void online_adopt(struct weir_state *s); /* a new model: derived numbers, filter again */
bool online_fit(struct weir_state *s);
int online_class(const struct weir_state *s, double horizon_s);
extern const int online_steps[CLASSES];

#endif
