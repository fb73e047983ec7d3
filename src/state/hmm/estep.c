/* estep.c -- forward and backward: expectations over hidden paths.
 *
 * With alpha (past) and beta (future), W[a][b] = alpha[a] b(x)[b] beta[b] / likelihood is the
 * derivative of the ln likelihood with respect to one step's matrix P[a][b]. Summed per class,
 * times powers of d, it is carried back through the Taylor coefficients and the exponential to Q
 * once per class, not once per step. The result S = d lnL / dQ holds the expected sojourns
 * (diagonal) and, times q, the expected jumps: what EM needs, and an exact gradient.
 */
#include <math.h>
#include <string.h>

#include "hmm_priv.h"
#include "state/hmm/work.h"

/* The product of totals goes into the logarithm when it is that small, and every 16 observations.
 */
#define ESTEP_LEAST_SCALE 1e-200

/* Relative densities below this are cut off here: four in a row still fit a double, and a jump at
 * the lowest rate allowed is always likelier. */
static const double least = 1e-70;

HMM_INLINE const struct hmm_class *estep_class_of(const struct hmm_work *w, size_t i)
{
    if (w->data->dt[i] < 0)
        return &w->classes[0];
    return &w->classes[w->same ? 1 : w->cls[w->id[i]]];
}

HMM_INLINE double estep_forward(const int k, struct hmm_work *w)
{
    const struct hmm_data *d = w->data;
    double a[HMM_STATES] = {1}, tmp[HMM_STATES * HMM_STATES], sum = 0, scale = 1;

    for (size_t i = 0; i < d->n; i++) {
        const struct hmm_class *c = estep_class_of(w, i);
        double delta = d->dt[i] - c->g, next[HMM_STATES], total = 0;
        const double *p = hmm_step_matrix(tmp, c, w->coef, delta, hmm_kk(k));
        const double *b = w->b + i * (size_t)k;

        if (c->terms > 1)
            sum -= c->c * delta;
        for (int j = 0; j < k; j++) {
            double s = 0;

            for (int l = 0; l < k; l++)
                s += a[l] * p[l * k + j];
            next[j] = s * b[j];
            total += next[j];
        }
        /* Every fourth is enough; it keeps the division off the path that everything waits for. */
        if ((i & 3) == 3) {
            scale *= total;
            double inv = 1 / total;

            for (int j = 0; j < k; j++)
                next[j] *= inv;
            if (scale < ESTEP_LEAST_SCALE || (i & 15) == 15) {
                sum += log(scale);
                scale = 1;
            }
        }
        for (int j = 0; j < k; j++)
            w->alpha[i * (size_t)k + (size_t)j] = a[j] = next[j];
    }
    double total = 0;

    for (int j = 0; j < k; j++)
        total += a[j];
    return sum + log(scale) + log(total);
}

struct sums {
    double w[HMM_STATES], wx[HMM_STATES], wxx[HMM_STATES];
};

HMM_INLINE void estep_smooth(const int k, double *alpha, const double *beta, double inv, double x,
                             struct sums *s)
{
    bool seen = !isnan(x);

    for (int j = 0; j < k; j++) {
        double gamma = alpha[j] * beta[j] * inv;

        alpha[j] = gamma;
        if (seen) {
            s->w[j] += gamma;
            s->wx[j] += gamma * x;
            s->wxx[j] += gamma * x * x;
        }
    }
}

/* acc[t] += W d^t for every term of the class. */
HMM_INLINE void estep_accumulate(const int k, double *acc, const double *a, const double *v,
                                 int terms, double delta, double inv)
{
    const int kk = hmm_kk(k);

    for (int t = 0; t < terms; t++, inv *= delta, acc += kk)
        for (int l = 0; l < k; l++) {
            double f = a[l] * inv;

            for (int j = 0; j < k; j++)
                acc[l * k + j] += f * v[j];
        }
}

HMM_INLINE int estep_backward(const int k, struct hmm_work *w, struct hmm_stats *st)
{
    const struct hmm_data *d = w->data;
    const int kk = hmm_kk(k);
    double beta[HMM_STATES], tmp[HMM_STATES * HMM_STATES], first[HMM_STATES] = {0};
    struct sums s = {0};

    for (int j = 0; j < k; j++)
        beta[j] = 1;
    double total = 0;

    for (int j = 0; j < k; j++)
        total += w->alpha[(d->n - 1) * (size_t)k + (size_t)j];
    estep_smooth(k, w->alpha + (d->n - 1) * (size_t)k, beta, 1 / total, d->x[d->n - 1] - w->x_mid,
                 &s);
    for (size_t i = d->n - 1;; i--) {
        const struct hmm_class *c = estep_class_of(w, i);
        double delta = d->dt[i] - c->g, v[HMM_STATES], u[HMM_STATES], norm = 0;
        double *gamma = w->alpha + i * (size_t)k;

        if (c == w->classes) {
            for (int j = 0; j < k; j++)
                first[j] += gamma[j];
            st->starts++;
        }
        if (!i)
            break;
        const double *p = hmm_step_matrix(tmp, c, w->coef, delta, kk);
        double *a = gamma - k;

        for (int j = 0; j < k; j++)
            v[j] = w->b[i * (size_t)k + (size_t)j] * beta[j];
        for (int l = 0; l < k; l++) {
            double sum = 0;

            for (int j = 0; j < k; j++)
                sum += p[l * k + j] * v[j];
            u[l] = sum;
            norm += a[l] * sum;
        }
        double inv = 1 / norm;

        estep_accumulate(k, w->acc + (size_t)c->coef * (size_t)kk, a, v, c->terms, delta, inv);
        estep_smooth(k, a, u, inv, d->x[i - 1] - w->x_mid, &s);
        double scale = (i & 3) == 3 ? inv : 1;

        for (int j = 0; j < k; j++)
            beta[j] = u[j] * scale;
    }
    for (int j = 0; j < k; j++) {
        st->first[j] = first[j];
        st->w[j] = s.w[j];
        st->wx[j] = s.wx[j];
        st->wxx[j] = s.wxx[j];
    }
    return 0;
}

/* Carries the accumulated W of a class back to Q. */
static void estep_class_adjoint(struct hmm_stats *st, const struct hmm_work *w,
                                const struct hmm_model *m, const struct hmm_class *c)
{
    enum { KK = HMM_STATES * HMM_STATES };
    int k = m->k, kk = hmm_kk(k);
    const double *q = m->q[c->block];
    const double *coef = w->coef + (size_t)c->coef * (size_t)kk;
    const double *acc = w->acc + (size_t)c->coef * (size_t)kk;
    double *to = st->s[c->block], a[KK], bar[KK], next[KK];

    memcpy(a, q, sizeof *a * (size_t)(k * k));
    for (int i = 0; i < k; i++)
        a[i * k + i] = fmax(a[i * k + i] + c->c, 0);
    memcpy(bar, acc + (size_t)(c->terms - 1) * (size_t)kk, sizeof *bar * (size_t)(k * k));
    /* C_t = C_{t-1} A / t, from the last term to the first. */
    for (int t = c->terms - 1; t > 0; t--) {
        const double *before = coef + (size_t)(t - 1) * (size_t)kk;

        for (int i = 0; i < k; i++)
            for (int j = 0; j < k; j++) {
                double sa = 0, sb = 0;

                for (int l = 0; l < k; l++) {
                    sa += before[l * k + i] * bar[l * k + j];
                    sb += bar[i * k + l] * a[j * k + l];
                }
                to[i * k + j] += sa / t;
                next[i * k + j] = acc[(size_t)(t - 1) * (size_t)kk + (size_t)(i * k + j)] + sb / t;
            }
        memcpy(bar, next, sizeof *bar * (size_t)(k * k));
    }
    hmm_expm_adjoint(next, q, k, c->g, bar);
    for (int i = 0; i < k * k; i++)
        to[i] += next[i];
}

void hmm_estep(struct hmm_stats *ret, struct hmm_work *w, const struct hmm_model *m)
{
    const struct hmm_data *d = w->data;
    int k = m->k;
    size_t nk = d->n * (size_t)k;

    memset(ret, 0, sizeof *ret);
    hmm_work_classes(w, m);
    ret->loglik = hmm_emit(w->b, w->kernels, d, 0, d->n, m) + d->jacobian;
    for (size_t i = 0; i < nk; i++)
        w->b[i] = w->b[i] < least ? least : w->b[i];
    const struct hmm_class *last = &w->classes[w->nclasses - 1];

    memset(w->acc, 0, sizeof *w->acc * (size_t)hmm_kk(k) * (last->coef + last->terms));
    ret->loglik += HMM_BY_STATES(k, estep_forward, w);
    HMM_BY_STATES(k, estep_backward, w, ret);
    for (size_t c = 1; c < w->nclasses; c++)
        estep_class_adjoint(ret, w, m, &w->classes[c]);
}
