/* hmm.h -- a continuous-time hidden Markov model of latencies.
 *
 *   hidden      one of k states, jumps from i to j with rate q[i][j] per second
 *   seen        at times t_1 <= t_2 <= ...: x = ln(latency in seconds), whose density
 *               depends on the state at that time only
 *
 * The likelihood of a series is
 *
 *   L = initial . diag(b(x_1)) . prod_i expm(Q dt_i) diag(b(x_i)) . 1
 *
 * and everything here is a way to evaluate it, to climb it, or to ask what it implies.
 * This folder needs libc and libm only: libweir-state is made of it. Nothing here
 * allocates but the functions named *_init.
 *
 * States are kept in ascending order of their location (state 0 is the fastest).
 */
#ifndef STATE_HMM_HMM_H
#define STATE_HMM_HMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HMM_STATES = 8,    /* at most */
    HMM_BLOCKS = 24,   /* parts of the day with rates of their own, at most */
    HMM_EMIT = 5,      /* numbers that describe one state's emission, at most */
    HMM_PARAMS = 256,  /* free numbers of a model, at most */
    HMM_DAY_S = 86400, /* a day */
};

/* How latencies are spread within a state; emit.c has one row for each. */
enum hmm_family {
    HMM_LOGNORMAL, /* x is normal: location, spread */
    HMM_WEIBULL,   /* latency is Weibull: location = ln scale, spread = 1/shape */
    HMM_MIXTURE,   /* x is one of two normals: ..., second location, spread, weight */
    HMM_FAMILIES,
};

/* What the numbers of a state's emission mean, by index. */
enum { HMM_LOC, HMM_SPREAD, HMM_LOC2, HMM_SPREAD2, HMM_WEIGHT2 };

struct hmm_model {
    int k;       /* states */
    int nblocks; /* parts of the day of equal length; 1: rates do not depend on it */
    enum hmm_family family;
    double day_offset_s; /* time of day at t = 0 */
    double initial[HMM_STATES];
    double q[HMM_BLOCKS][HMM_STATES * HMM_STATES]; /* row-major k x k, rows sum to 0 */
    double emit[HMM_STATES][HMM_EMIT];
};

/* Series ready for the recursion, one after the other. */
struct hmm_data {
    size_t n;
    const double *x;       /* ln latency; NaN: nothing was seen at this time */
    const double *lo, *hi; /* its bounds when latencies are rounded; both NULL when not */
    const double *dt;      /* since the one before; negative: first of a series */
    const uint8_t *block;  /* part of the day that the step lies in; NULL: 0 */
    double jacobian;       /* what to add to a likelihood of x for that of the latencies */
};

/* How many numbers a fit is free to choose. */
int hmm_nparams(const struct hmm_model *m);
int hmm_family_params(enum hmm_family family);
const char *hmm_family_name(enum hmm_family family);

/* The long-run share of each state, of one part of the day. */
void hmm_stationary(double *ret, const struct hmm_model *m, int block);

/* Sorts states by location and fills the diagonal of q. */
void hmm_tidy(struct hmm_model *m);

/* P = expm(Q dt), k x k row-major: entrywise accurate, rows sum to 1. */
void hmm_expm(double *ret, const double *q, int k, double dt);

/* The adjoint of expm: integral over u in [0, dt] of expm(Q'u) V expm(Q'(dt - u)), which for
 * V[a][b] = weight of a path from a to b holds the expected sojourns (diagonal) and jumps (times
 * q). Van Loan, "Computing integrals involving the matrix exponential", 1978. */
void hmm_expm_adjoint(double *ret, const double *q, int k, double dt, const double *v);

/* Expected time until state `to` is first reached, from each state; infinity when it is never. */
void hmm_time_to(double *ret, const double *q, int k, int to);

/* ln density of x in state s. */
double hmm_log_density(const struct hmm_model *m, int s, double x);
double hmm_cdf(const struct hmm_model *m, int s, double x);

#endif
