/* hmm_priv.h -- what the files of this folder share.
 *
 * Steps. A likelihood needs exp(Q dt) for every step. Equal steps share one matrix. Steps that
 * differ a little (a jittered probe) share a centre g <= dt and its Taylor coefficients,
 *
 *   exp(Q (g + d)) = exp(-c d) sum_m C_m d^m,   C_m = exp(Q g) A^m / m!,   A = Q + cI >= 0,
 *
 * all of them non-negative, so this is as exact as an exponential of its own and costs a
 * few multiplications. The factor exp(-c d) is a number: it is left out of the
 * matrices and added to the likelihood. This holds for any Q, whatever its eigenvalues.
 */
#ifndef STATE_HMM_HMM_PRIV_H
#define STATE_HMM_HMM_PRIV_H

#include "state/hmm/hmm.h"

struct hmm_work;

/* For functions that take the number of states as a constant. */
#define HMM_INLINE static inline __attribute__((always_inline))

enum {
    HMM_TERMS = 18, /* of a Taylor series, at most: enough for c d <= 1 */
};

/* k*k rounded up so that rows of coefficients stay aligned. */
static inline int hmm_kk(int k)
{
    return (k * k + 3) & ~3;
}

/* c: the largest rate at which a state is left. */
double hmm_shift(const double *q, int k);
void hmm_matmul(double *restrict out, const double *a, const double *b, int k);

/* Steps that share a centre. Class 0 is the start of a series: its "matrix" has the
 * initial distribution in every row. */
struct hmm_class {
    double g, c;    /* the centre; what was added to the diagonal */
    uint32_t coef;  /* where its coefficients begin, in units of hmm_kk(k) */
    uint16_t terms; /* 1: all its steps equal the centre */
    uint8_t block;  /* part of the day */
};

/* The constants of log-normal emissions. */
struct hmm_normal {
    double mu[HMM_STATES], isd[HMM_STATES], add[HMM_STATES]; /* add = -ln(sd sqrt(2 pi)) */
};

/* A series of steps as the kernels read it. */
struct hmm_view {
    int k;
    size_t n;
    bool complete; /* nothing is missing */
    bool grid;     /* one series, one step */
    const double *x, *dt;
    const uint32_t *id;  /* which distinct step each is; NULL: class 1 but for starts */
    const uint32_t *cls; /* the class of a distinct step */
    const struct hmm_class *classes;
    const double *coef;
    const struct hmm_normal *normal;
};

/* What differs between processors; kernels.c chooses. Results agree to 1e-12. */
struct hmm_kernels {
    const char *name;
    /* b[i][s] = density over the largest among states, returns the sum of the logarithms of
     * those. Missing observations (NaN) give 1 everywhere. */
    double (*emit)(double *b, const double *x, size_t n, const struct hmm_normal *e, int k);
    /* ln likelihood of a view; false when k is not supported or a number left the range. */
    bool (*loglik)(double *ret, const struct hmm_view *v);
};

const struct hmm_kernels *hmm_kernels_plain(void);
const struct hmm_kernels *hmm_kernels_avx2(void);
const struct hmm_kernels *hmm_kernels_avx512(void);
const struct hmm_kernels *hmm_kernels_best(void);

/* The classes of the bound data's steps under the rates of `m`. */
void hmm_work_classes(struct hmm_work *w, const struct hmm_model *m);

/* Emissions of observations from .. from + n - 1 for any family, as hmm_kernels.emit. */
double hmm_emit(double *b, const struct hmm_kernels *kernels, const struct hmm_data *d, size_t from,
                size_t n, const struct hmm_model *m);

void hmm_normal_of(struct hmm_normal *ret, const struct hmm_model *m);

/* The matrix of one step without its factor exp(-c d). */
HMM_INLINE const double *hmm_step_matrix(double *tmp, const struct hmm_class *c, const double *coef,
                                         double d, const int kk)
{
    const double *at = coef + (size_t)c->coef * (size_t)kk;

    if (c->terms == 1)
        return at;
    at += (size_t)(c->terms - 1) * (size_t)kk;
    for (int j = 0; j < kk; j++)
        tmp[j] = at[j];
    for (int t = c->terms - 1; t > 0; t--) {
        at -= kk;
        for (int j = 0; j < kk; j++)
            tmp[j] = tmp[j] * d + at[j];
    }
    return tmp;
}

/* Calls f(k as a constant) so that the common sizes are unrolled. */
#define HMM_BY_STATES(k_, f, ...)    \
    ((k_) == 3   ? f(3, __VA_ARGS__) \
     : (k_) == 2 ? f(2, __VA_ARGS__) \
     : (k_) == 4 ? f(4, __VA_ARGS__) \
                 : f(k_, __VA_ARGS__))

#endif
