/* online_priv.h -- the inside of a `struct weir_state`.
 *
 *   observation ─> forecasts made k steps ago are scored ─> weights, one set per horizon
 *              └─> filter, levels, window                ─> what the next forecasts start from
 *              └─> every refit_every: the model is fitted to the window again
 *
 * The forecast is a mixture of experts: the model from its filtered state, the model at its long
 * run, a mixture that remembers everything since the beginning, moving averages of different
 * length, two of them as far as they return to the mean, the last sixty values, the whole window,
 * and one that is wide enough for anything. Each has the weight that its past forecasts at that
 * horizon have earned (Bayes, with a little shared out at every step: Herbster and Warmuth,
 * "Tracking the best expert", 1998). So the loss against the best of them is bounded, whatever the
 * data do.
 *
 * Numbers that are worked on together lie in groups of four (normals_priv.h).
 */
#ifndef STATE_LIB_ONLINE_PRIV_H
#define STATE_LIB_ONLINE_PRIV_H

#include <pthread.h>

#include "normals_priv.h"
#include "state/hmm/hmm_fit.h"
#include "state/hmm/mix.h"
#include "state/lib/weir-state.h"

enum {
    LEVELS = 5,     /* moving averages; the last is the last value */
    RETURNS = 2,    /* of them also as far as they return to the mean */
    MOVING = 8,     /* all these and the last sixty values: normals that each snapshot has anew */
    EXPERTS = 13,   /* enum expert */
    SEATS = 16,     /* the same in whole groups */
    CLASSES = 4,    /* horizons: 1, 5, 15, 60 steps */
    ASKED = 4,      /* horizons of questions whose matrices are kept */
    RING = 64,      /* snapshots: a power of two above the longest horizon */
    LAST = 60,      /* values of the short window */
    HISTORY = 6,    /* normals that remember all there was */
    TERMS = 8,      /* of a step's series: the rest is 2e-13 at its reach */
    FAR_TERMS = 12, /* of one that reaches farther */
};

/* Of the logarithm of a latency, before there is anything to learn it from. */
#define ONLINE_SD_UNKNOWN 0.3

/* The first MOVING are the moving normals in their order. */
enum expert {
    BY_LEVEL,
    BY_RETURN = LEVELS,
    BY_LAST = BY_RETURN + RETURNS,
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
enum { LASTING = AT_STATE + HMM_STATES, PARTS = 2 * MOVING + LASTING };

/* Far ahead a moving normal errs in jerks, because levels do: from this class of horizons on, and
 * by degrees on the way there, it is two of the same mean and, together, the same variance, most of
 * the weight on the narrow one. */
enum { TWO_FROM = 2 };
#define ONLINE_WIDE_WEIGHT 0.25
#define ONLINE_WIDE_INV (1 / 1.6)
#define ONLINE_NARROW_INV (1 / 0.7)

/* What a forecast was made from. A moving normal's mean at a horizon is offset + slope * from. */
struct snapshot {
    QUAD_ALIGN double p[HMM_STATES]; /* filtered */
    double from[MOVING];
    double inv[MOVING]; /* 1 / sd of the last sixty, 0 of those whose errors show it */
    double t;
};

/* exp(Q dt) near a centre, see hmm_priv.h. Rows of matrices begin every online_stride(), with zeros
 * between them. The next observation comes soon after the last: few terms reach far enough. Many
 * steps together vary more: those series are `far`. */
struct near_step {
    double g, c, reach;
    QUAD_ALIGN double coef[FAR_TERMS * HMM_STATES * HMM_STATES];
    QUAD_ALIGN double at_dt[HMM_STATES * HMM_STATES]; /* the last one, */
    double dt, scale;                                 /* to be multiplied by this */
    bool valid;
};

/* What was learned of one horizon. */
struct horizon {
    QUAD_ALIGN double weight[SEATS];
    double offset[MOVING], slope[MOVING];
    double err2[MOVING];    /* mean squared error */
    double err_inv[MOVING]; /* 1 / its root; 0 of the last sixty, whose is in the snapshot */
    /* Moments of what was seen (y) and what it came from (x), by which a level returns. */
    double mean_y, mean_x[RETURNS], var_x[RETURNS], cov[RETURNS];
    size_t scored;
};

/* A forecast: normals with weights; a group that is not full ends with weights 0. */
struct outlook {
    int n;
    QUAD_ALIGN double w[PARTS], mu[PARTS], inv[PARTS];
};

struct weir_state {
    pthread_mutex_t lock;
    struct weir_state_config config;
    const struct online_kernel *kernel;
    /* the window */
    double *t, *x;    /* a ring of config.window */
    size_t n;         /* observations so far */
    size_t held;      /* of them in the ring */
    size_t at, tail;  /* where the next goes, and where the oldest of the last sixty is */
    double sum, sum2; /* over the ring, of x - origin */
    double short_sum, short_sum2;
    double origin, typical_dt;
    double most_x; /* the largest that was seen, or that a model which was set allows for */
    /* the model */
    bool has_model;
    struct hmm_model model;
    QUAD_ALIGN double long_run[HMM_STATES], to_idle[HMM_STATES];
    struct near_step step[CLASSES], asked[ASKED];
    unsigned next_asked;
    /* forecasters */
    struct snapshot ring[RING]; /* observation i is at i % RING; the last is online_now() */
    QUAD_ALIGN double mu[LASTING], inv[LASTING]; /* unused states have inv 0 */
    int nhistory; /* learned step by step: Cappe and Moulines, 2009 */
    /* The history's normals begin at AT_HISTORY here too: */
    QUAD_ALIGN double hw[AT_STATE];    /* their weights */
    double h1[AT_STATE], h2[AT_STATE]; /* weighted sums of x - origin and its square */
    double hfloor[AT_STATE];           /* least weight of those in use, 0 of others */
    struct horizon at_horizon[CLASSES];
    size_t since_fit, looked_at;
    /* Does the series repeat? Found when asked for (season.c). */
    double period_s, period_gain; /* 0: no */
    size_t season_at;             /* observations when it was looked for; 0: never */
    QUAD_ALIGN double tails[TAIL_ROWS][TAIL_TERMS];
    /* memory for fitting */
    struct hmm_work work;
    struct hmm_data data;
    double *fit_x, *fit_dt, *scratch;
    double *season; /* sums and counts by phase, a window of numbers */
    struct hmm_fit fit;
};

/* What is compiled for more than one processor: online_learn_priv.h. */
struct online_kernel {
    void (*learn)(struct weir_state *s, double t, double x); /* one observation */
    void (*refilter)(struct weir_state *s); /* the snapshots' states under a new model */
    double (*above)(const struct weir_state *s, const struct outlook *o, double x);
};

extern const struct online_kernel online_kernel_plain, online_kernel_avx2;

/* The parts below are called with the lock held. */
void online_begin(struct weir_state *s); /* before the first observation */
void online_begin_history(struct weir_state *s);
void online_forecast(struct outlook *ret, struct weir_state *s, double horizon_s);
void online_centre(struct near_step *near, const struct weir_state *s, double dt, bool far);
struct near_step *online_asked(struct weir_state *s, double dt); /* the matrices of a question */
void online_adopt(struct weir_state *s); /* a new model: derived numbers, filter again */
bool online_fit(struct weir_state *s);
void online_classes(double part[CLASSES], const struct weir_state *s, double horizon_s);
void online_find_season(struct weir_state *s); /* when enough is new since the last time */
void online_lay_out(struct weir_state *s);     /* the window in order of time, in s->data */
extern const int online_steps[CLASSES];

/* What forecasts start from now; all zero before the first observation. */
QUAD_INLINE struct snapshot *online_now(struct weir_state *s)
{
    return &s->ring[(s->n + RING - 1) % RING];
}

QUAD_INLINE bool online_reaches(const struct near_step *near, double dt)
{
    double d = dt - near->g;

    return near->valid && d >= 0 && d <= near->reach;
}

QUAD_INLINE int online_stride(int k)
{
    return (k + QUAD - 1) / QUAD * QUAD;
}

/* p <- p times the last matrix. Beyond k both p and the matrix hold zeros. */
QUAD_INLINE void online_apply(double *p, const struct near_step *near, int k)
{
    int stride = online_stride(k);
    quad next[HMM_STATES / QUAD];

    for (int g = 0; g < stride / QUAD; g++) {
        next[g] = p[0] * quad_load(near->at_dt + QUAD * g);
        for (int i = 1; i < k; i++)
            next[g] += p[i] * quad_load(near->at_dt + i * stride + QUAD * g);
    }
    for (int g = 0; g < stride / QUAD; g++)
        quad_store(p + QUAD * g, next[g] * near->scale);
}

/* The matrix of a step of dt: a few terms of a series near it, odd and even ones side by side. */
QUAD_INLINE void online_aim(struct near_step *near, const struct weir_state *s, int k, double dt,
                            bool far)
{
    int stride = online_stride(k), size = k * stride, terms = far ? FAR_TERMS : TERMS;

    if (!online_reaches(near, dt))
        online_centre(near, s, dt, far);
    double d = dt - near->g, d2 = d * d;
    quad row = {0};

    for (int i = 0; i < size; i += QUAD) {
        const double *at = near->coef + (terms - 2) * size + i;
        quad even = quad_load(at), odd = quad_load(at + size);

        for (int t = terms - 4; t >= 0; t -= 2) {
            at -= 2 * size;
            even = even * d2 + quad_load(at);
            odd = odd * d2 + quad_load(at + size);
        }
        even += odd * d;
        quad_store(near->at_dt + i, even);
        if (i < stride)
            row += even;
    }
    /* The series is that of Q + cI: its rows sum to exp(c d), those of a step to 1. */
    near->scale = 1 / quad_sum(row);
    near->dt = dt;
}

/* p <- p exp(Q dt): the matrix of the last step again, or one near it. */
QUAD_INLINE void online_step_with(double *p, const struct weir_state *s, int k, double dt,
                                  struct near_step *near, bool far)
{
    if (!near->valid || dt != near->dt)
        online_aim(near, s, k, dt, far);
    online_apply(p, near, k);
}

QUAD_INLINE void online_step(double *p, const struct weir_state *s, double dt,
                             struct near_step *near, bool far)
{
    if (s->model.k == 3)
        online_step_with(p, s, 3, dt, near, far);
    else
        online_step_with(p, s, s->model.k, dt, near, far);
}

#endif
