/* forward.c -- the forward recursion: likelihood and filtered probabilities. */
#include <math.h>
#include <string.h>

#include "hmm_priv.h"
#include "state/hmm/work.h"

enum { CHUNK = 512 };

static struct hmm_view forward_view_of(const struct hmm_work *w, const struct hmm_normal *e, int k)
{
    return (struct hmm_view){.k = k,
                             .n = w->data->n,
                             .complete = w->complete,
                             .grid = w->grid,
                             .x = w->data->x,
                             .dt = w->data->dt,
                             .id = w->same ? NULL : w->id,
                             .cls = w->cls,
                             .classes = w->classes,
                             .coef = w->coef,
                             .normal = e};
}

/* alpha <- alpha exp(Q dt) without the class's factor, which is returned as a logarithm. */
HMM_INLINE double forward_step(double *alpha, const struct hmm_work *w, size_t i, const int k)
{
    const struct hmm_data *d = w->data;
    size_t cls = d->dt[i] < 0 ? 0 : w->same ? 1 : w->cls[w->id[i]];
    const struct hmm_class *c = &w->classes[cls];
    double tmp[HMM_STATES * HMM_STATES], next[HMM_STATES], delta = d->dt[i] - c->g;
    const double *p = hmm_step_matrix(tmp, c, w->coef, delta, hmm_kk(k));

    for (int j = 0; j < k; j++) {
        double s = 0;

        for (int a = 0; a < k; a++)
            s += alpha[a] * p[a * k + j];
        next[j] = s;
    }
    for (int j = 0; j < k; j++)
        alpha[j] = next[j];
    return c->terms > 1 ? -c->c * delta : 0;
}

/* Returns the ln likelihood; keeps the filtered probabilities where `keep` is not NULL. */
HMM_INLINE double forward_recursion(const int k, struct hmm_work *w, const struct hmm_model *m,
                                    double *keep)
{
    const struct hmm_data *d = w->data;
    double alpha[HMM_STATES] = {1}, b[CHUNK * HMM_STATES], all = 0, rest = 0;

    for (size_t from = 0; from < d->n; from += CHUNK) {
        double sum = 0;
        size_t n = d->n - from < CHUNK ? d->n - from : CHUNK;

        sum += hmm_emit(b, w->kernels, d, from, n, m);
        for (size_t i = 0; i < n; i++) {
            double total = 0;

            sum += forward_step(alpha, w, from + i, k);
            for (int j = 0; j < k; j++) {
                alpha[j] *= b[i * (size_t)k + (size_t)j];
                total += alpha[j];
            }
            if (!(total > 1e-290))
                return NAN;
            sum += log(total);
            for (int j = 0; j < k; j++)
                alpha[j] /= total;
            if (keep)
                memcpy(keep + (from + i) * (size_t)k, alpha, sizeof *keep * (size_t)k);
        }
        /* Chunks are added with what rounding left over: millions of them lose no digit. */
        double next = all + sum;

        rest += fabs(all) >= fabs(sum) ? (all - next) + sum : (sum - next) + all;
        all = next;
    }
    return all + rest;
}

static double forward_log_sum(const double *v, int n)
{
    double most = v[0], s = 0;

    for (int i = 1; i < n; i++)
        most = fmax(most, v[i]);
    if (most == -INFINITY)
        return most;
    for (int i = 0; i < n; i++)
        s += exp(v[i] - most);
    return most + log(s);
}

/* The same in logarithms: slow, and never out of range. */
static double forward_log(struct hmm_work *w, const struct hmm_model *m, double *keep)
{
    const struct hmm_data *d = w->data;
    int k = m->k;
    double alpha[HMM_STATES], sum = 0;

    for (int s = 0; s < k; s++)
        alpha[s] = s ? -INFINITY : 0;
    for (size_t i = 0; i < d->n; i++) {
        double p[HMM_STATES * HMM_STATES], part[HMM_STATES], next[HMM_STATES], tmp[HMM_STATES];

        if (d->dt[i] < 0)
            memcpy(p, w->coef, sizeof *p * (size_t)(k * k));
        else
            hmm_expm(p, m->q[d->block ? d->block[i] : 0], k, d->dt[i]);
        for (int j = 0; j < k; j++) {
            for (int a = 0; a < k; a++)
                part[a] = alpha[a] + log(p[a * k + j]);
            next[j] = forward_log_sum(part, k);
            struct hmm_data one = {.n = 1,
                                   .x = d->x + i,
                                   .lo = d->lo ? d->lo + i : NULL,
                                   .hi = d->hi ? d->hi + i : NULL};
            double b;

            if (!isnan(d->x[i])) {
                struct hmm_model only = *m;

                only.k = 1;
                memcpy(only.emit[0], m->emit[j], sizeof only.emit[0]);
                next[j] += hmm_emit(&b, hmm_kernels_plain(), &one, 0, 1, &only);
            }
        }
        double total = forward_log_sum(next, k);

        if (total == -INFINITY)
            return total;
        sum += total;
        for (int j = 0; j < k; j++)
            tmp[j] = alpha[j] = next[j] - total;
        for (int j = 0; keep && j < k; j++)
            keep[i * (size_t)k + (size_t)j] = exp(tmp[j]);
    }
    return sum;
}

static double forward_run(struct hmm_work *w, const struct hmm_model *m, double *keep)
{
    double sum = HMM_BY_STATES(m->k, forward_recursion, w, m, keep);

    return isfinite(sum) ? sum : forward_log(w, m, keep);
}

double hmm_loglik_plain(struct hmm_work *w, const struct hmm_model *m)
{
    const struct hmm_kernels *was = w->kernels;

    hmm_work_classes(w, m);
    w->kernels = hmm_kernels_plain();
    double sum = forward_run(w, m, NULL);

    w->kernels = was;
    return sum + w->data->jacobian;
}

double hmm_loglik(struct hmm_work *w, const struct hmm_model *m)
{
    double sum;

    hmm_work_classes(w, m);
    if (m->family == HMM_LOGNORMAL && !w->data->lo && !w->data->block && w->kernels->loglik) {
        struct hmm_normal e;

        hmm_normal_of(&e, m);
        struct hmm_view v = forward_view_of(w, &e, m->k);

        if (w->kernels->loglik(&sum, &v))
            return sum + w->data->jacobian;
    }
    return forward_run(w, m, NULL) + w->data->jacobian;
}

double hmm_filter(double *ret, struct hmm_work *w, const struct hmm_model *m)
{
    hmm_work_classes(w, m);
    return forward_run(w, m, ret) + w->data->jacobian;
}
