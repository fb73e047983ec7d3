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

#include "normals_priv.h"
#include "state/hmm/fit.h"
#include "state/hmm/mix.h"
#include "state/lib/weir-state.h"

enum {
    LEVELS = 5,   /* moving averages */
    MOVING = 6,   /* they and the last sixty values: normals that each snapshot has anew */
    EXPERTS = 11, /* enum expert */
    CLASSES = 4,  /* horizons: 1, 5, 15, 60 steps */
    ASKED = 4,    /* horizons of questions whose matrices are kept */
    RING = 64,    /* snapshots: a power of two above the longest horizon */
    LAST = 60,    /* values of the short window */
    HISTORY = 6,  /* normals that remember all there was */
    TAYLOR = 10,  /* terms of a step's series */
};

/* The first MOVING are the moving normals in their order. */
enum expert {
    BY_LEVEL,
    BY_LAST = LEVELS,
    BY_WINDOW,
    BY_ANYTHING,
    BY_HISTORY,
    BY_FILTER,
    BY_LONG_RUN,
};

/* The lasting normals, which all horizons share: their densities at an observation are computed
 * once, for every horizon, the history and the filter. States come last, because their number
 * varies. */
enum lasting { AT_WINDOW, AT_ANYTHING, AT_HISTORY, AT_STATE = AT_HISTORY + HISTORY };
enum { LASTING = AT_STATE + HMM_STATES, PARTS = MOVING + LASTING };

/* What a forecast was made from. */
struct snapshot {
    double t;
    double p[HMM_STATES]; /* filtered */
    double mu[MOVING];
    double last_inv; /* 1 / sd of the last sixty */
};

/* exp(Q dt) near a centre, see hmm_priv.h. */
struct near_step {
    double g, c, reach;
    double coef[TAYLOR][HMM_STATES * HMM_STATES];
    double dt, at_dt[HMM_STATES * HMM_STATES]; /* the last one */
    bool valid;
};

/* A forecast: normals with weights. */
struct outlook {
    int n;
    double w[PARTS], mu[PARTS], inv[PARTS];
};

struct weir_state {
    pthread_mutex_t lock;
    struct weir_state_config config;
    /* the window */
    double *t, *x;    /* a ring of config.window */
    size_t n;         /* observations so far */
    size_t held;      /* of them in the ring */
    size_t at, tail;  /* where the next goes, and where the oldest of the last sixty is */
    double sum, sum2; /* over the ring, of x - origin */
    double short_sum, short_sum2;
    double origin, typical_dt;
    /* the model */
    bool has_model;
    struct hmm_model model;
    double long_run[HMM_STATES], to_idle[HMM_STATES];
    struct near_step step[CLASSES], asked[ASKED];
    unsigned next_asked;
    /* forecasters */
    struct snapshot now, ring[RING];
    double mu[LASTING], inv[LASTING]; /* unused states have inv 0 */
    int nhistory;                     /* learned step by step: Cappe and Moulines, 2009 */
    double hw[HISTORY];               /* weights of the history's normals */
    double h1[HISTORY], h2[HISTORY];  /* its weighted sums of x - origin and its square */
    double hfloor[HISTORY];           /* least weight of those in use, 0 of others */
    double err2[CLASSES][MOVING];     /* mean squared error of the moving averages */
    double err_inv[CLASSES][MOVING];  /* 1 / its root; the last sixty's is in the snapshot */
    double weight[CLASSES][EXPERTS];
    size_t since_fit, looked_at;
    double tails[TAIL_ROWS][TAIL_TERMS];
    /* room for fitting */
    struct hmm_work work;
    struct hmm_data data;
    double *fit_x, *fit_dt, *scratch;
    struct hmm_fit fit;
};

/* The parts below are called with the lock held. */
void online_begin(struct weir_state *s);                     /* before the first observation */
void online_learn(struct weir_state *s, double t, double x); /* one observation */
void online_begin_history(struct weir_state *s);
void online_refilter(struct weir_state *s); /* the snapshots' states under a new model */
void online_forecast(struct outlook *ret, struct weir_state *s, double horizon_s);
void online_step(double *p, const struct weir_state *s, double dt, struct near_step *near);
struct near_step *online_asked(struct weir_state *s, double dt); /* the matrices of a question */
void online_adopt(struct weir_state *s); /* a new model: derived numbers, filter again */
bool online_fit(struct weir_state *s);
int online_class(const struct weir_state *s, double horizon_s);
extern const int online_steps[CLASSES];

#endif
