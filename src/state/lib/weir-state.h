/* weir-state.h -- is the storage path idle or busy, how long will it stay so, shall I write now?
 *
 *     struct weir_state *s = weir_state_create(NULL);
 *     ...
 *     weir_state_observe(s, now_s, latency_s);             after every write or probe
 *     ...
 *     if (weir_state_exceeds(s, 300, 0.010) < 0.1)         in five minutes, more than 10 ms?
 *         ...
 *     weir_state_destroy(s);
 *
 * A small library that needs libc, libm and nothing else. It learns a hidden Markov model of the
 * latencies that it is given and re-learns it while they change; beside the model it keeps simple
 * forecasters and trusts each as far as it was right, so that a regime never seen costs
 * little. After weir_state_create nothing allocates. Every function may be called from any thread.
 *
 * Times are seconds on any clock that does not go back. Latencies are seconds.
 */
#ifndef WEIR_STATE_H
#define WEIR_STATE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Grows when something is added; functions and fields are never taken away within one. */
#define WEIR_STATE_ABI 3

/* The ABI of the library that is loaded. */
int weir_state_abi(void);
const char *weir_state_version(void);

struct weir_state;

/* Zero is the default of every field. */
struct weir_state_config {
    size_t size;     /* sizeof(struct weir_state_config): later versions have more fields */
    int states;      /* 3 */
    int window;      /* observations remembered for learning, 720 */
    int refit_every; /* observations between fits; 0: a tenth of those held, 10 to 60; < 0: never
                        by itself */
    uint64_t seed;   /* of the fit's random starts */
    int alone; /* not 0: the model that was set, as it is, and nothing else: no fits by itself,
                  no other forecasters, no allowance for outliers (since ABI 2) */
};

/* NULL when memory is short or the configuration makes no sense (states 1-6, window 64-100000). */
struct weir_state *weir_state_create(const struct weir_state_config *config);
void weir_state_destroy(struct weir_state *s); /* NULL is fine */

/* Results: 0 is success. */
enum {
    WEIR_STATE_OK = 0,
    WEIR_STATE_BAD = -1,     /* an argument makes no sense: time goes back, latency <= 0, NaN */
    WEIR_STATE_TOO_FEW = -2, /* too few observations to fit a model */
};

/* A latency was observed. Fits by itself as configured. */
int weir_state_observe(struct weir_state *s, double t_s, double latency_s);

/* Fit the model now to what is remembered. */
int weir_state_refit(struct weir_state *s);

/* Begin with a known model (k x k rates per second row by row; ln seconds), states in any order. */
int weir_state_set_model(struct weir_state *s, int k, const double *q, const double *meanlog,
                         const double *sdlog);
/* The model in use, states in ascending order of meanlog. Returns k; arrays may be NULL. */
int weir_state_get_model(struct weir_state *s, double *q, double *meanlog, double *sdlog);

/* Probabilities of the states so long after the last observation (0: at it). Returns k, at most
 * `most` are stored. */
int weir_state_probabilities(struct weir_state *s, double horizon_s, double *ret, int most);

/* The distribution of a latency so long after the last observation. NaN before the first. */
double weir_state_quantile(struct weir_state *s, double horizon_s, double p);
double weir_state_exceeds(struct weir_state *s, double horizon_s,
                          double latency_s); /* probability */
/* Latencies beyond the largest one seen count as that one, so the mean is never above it. Beside a
 * model that was set, its slowest state's 99.9 % quantile counts as seen. */
double weir_state_mean(struct weir_state *s, double horizon_s);
double weir_state_log_density(struct weir_state *s, double horizon_s, double latency_s); /* of ln */

/* Expected seconds until the fastest state is reached; 0 when it surely is. */
double weir_state_time_to_idle(struct weir_state *s);

/* Probability that the fastest state has the path now and keeps it so long (since ABI 2). */
double weir_state_stays_idle(struct weir_state *s, double horizon_s);

/* Past forecasts so far ahead that could be compared with what came (since ABI 3). With fewer than
 * two for each step to the horizon, forecasts lean on what was learned of shorter horizons. */
uint64_t weir_state_checked(struct weir_state *s, double horizon_s);

/* How far the hidden Markov model can be trusted just now, 0 to 1: the weight it has earned beside
 * the simple forecasters. Near 0 the answers above are theirs. A series that repeats lowers it. */
double weir_state_health(struct weir_state *s);

/* The period in seconds of a series that repeats, so that the mean of what was seen at the same
 * phase would forecast better than all answers above, which know no time of day; 0: none is seen.
 * `ret_gain`, unless NULL: how much better, in nats for each observation (since ABI 3). */
double weir_state_period(struct weir_state *s, double *ret_gain);

uint64_t weir_state_observations(struct weir_state *s);

/* ---- advice ---- */

/* What a policy may look at. */
struct weir_state_view {
    double t_s;           /* now */
    double since_write_s; /* since the last write */
    double budget_s;      /* I/O time that may be spent now */
    double cost_s;        /* expected I/O time of writing now */
    double cost_later_s;  /* expected I/O time of a write at the usual state of the path */
    double p_idle;
    double time_to_idle_s;
    double health;
};

enum weir_state_advice { WEIR_STATE_WAIT = 0, WEIR_STATE_WRITE = 1 };

struct weir_state_policy {
    size_t size;             /* sizeof(struct weir_state_policy) */
    double io_share;         /* at most this part of the run time in I/O; 0: 0.1 */
    double longest_s;        /* write at least this often, whatever it costs; 0: 3600 */
    double probes_per_write; /* a write takes so many times a probe's latency; 0: 1 */
    double start_s;          /* when the run began */
    /* NULL: write when the budget allows it and it is not likely to be cheaper soon. */
    enum weir_state_advice (*decide)(const struct weir_state_view *view, void *arg);
    void *arg;
};

/* Shall a write be made at t_s? `spent_s` is the I/O time so far, `last_write_s` when the last one
 * was. `ret` may be NULL. */
enum weir_state_advice weir_state_advise(struct weir_state *s,
                                         const struct weir_state_policy *policy, double t_s,
                                         double spent_s, double last_write_s,
                                         struct weir_state_view *ret);

#ifdef __cplusplus
}
#endif
#endif
