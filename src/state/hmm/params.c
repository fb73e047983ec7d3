/* params.c -- a model as a vector of free numbers, its bounds, and the slope of the likelihood. */
#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "emit_priv.h"
#include "fit_priv.h"
#include "hmm_priv.h"

/* A location at most so far from the mean of ln latency: no clock measures a factor of e^100. */
#define PARAMS_FARTHEST 100
/* Smoothed probabilities below this change no digit of a sum of slopes. */
#define PARAMS_NO_SHARE 1e-14
/* Information that every parameter is taken to have, so that a state without observations or jumps
 * does not get an infinite first step: a tenth of an observation, a twentieth of a jump. */
#define PARAMS_LEAST_SEEN 0.1
#define PARAMS_LEAST_INFO 0.05

int hmm_nparams(const struct hmm_model *m)
{
    assert(m->k >= 1 && m->k <= HMM_STATES && m->nblocks >= 1);
    return m->nblocks * m->k * (m->k - 1) + m->k * hmm_family_params(m->family);
}

/* How a number of an emission becomes free: spreads by their logarithm, weights by the logit. */
static double params_freed(int what, double v)
{
    return what == HMM_SPREAD || what == HMM_SPREAD2 ? log(v)
           : what == HMM_WEIGHT2                     ? log(v / (1 - v))
                                                     : v;
}

static double params_bound(int what, double v)
{
    return what == HMM_SPREAD || what == HMM_SPREAD2 ? exp(v)
           : what == HMM_WEIGHT2                     ? 1 / (1 + exp(-v))
                                                     : v;
}

void hmm_params_get(double *ret, const struct hmm_model *m)
{
    int k = m->k, at = 0;

    for (int b = 0; b < m->nblocks; b++)
        for (int i = 0; i < k; i++)
            for (int j = 0; j < k; j++)
                if (i != j)
                    ret[at++] = log(fmax(m->q[b][i * k + j], DBL_MIN));
    for (int e = 0; e < hmm_family_params(m->family); e++)
        for (int s = 0; s < k; s++)
            ret[at++] = params_freed(e, m->emit[s][e]);
}

static void params_fill_diagonal(struct hmm_model *m)
{
    int k = m->k;

    for (int b = 0; b < m->nblocks; b++)
        for (int i = 0; i < k; i++) {
            double out = 0;

            for (int j = 0; j < k; j++)
                if (j != i)
                    out += m->q[b][i * k + j];
            m->q[b][i * k + i] = -out;
        }
}

void hmm_params_set(struct hmm_model *m, const double *theta)
{
    int k = m->k, at = 0;

    for (int b = 0; b < m->nblocks; b++)
        for (int i = 0; i < k; i++)
            for (int j = 0; j < k; j++)
                if (i != j)
                    m->q[b][i * k + j] = exp(theta[at++]);
    for (int e = 0; e < hmm_family_params(m->family); e++)
        for (int s = 0; s < k; s++)
            m->emit[s][e] = params_bound(e, theta[at++]);
    params_fill_diagonal(m);
}

void hmm_tidy(struct hmm_model *m)
{
    struct hmm_model was = *m;
    int k = m->k, order[HMM_STATES];

    for (int i = 0; i < k; i++) {
        int at = i;

        for (; at > 0 && was.emit[order[at - 1]][HMM_LOC] > was.emit[i][HMM_LOC]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    for (int i = 0; i < k; i++) {
        memcpy(m->emit[i], was.emit[order[i]], sizeof m->emit[i]);
        m->initial[i] = was.initial[order[i]];
        for (int b = 0; b < m->nblocks; b++)
            for (int j = 0; j < k; j++)
                m->q[b][i * k + j] = was.q[b][order[i] * k + order[j]];
    }
    params_fill_diagonal(m);
}

void hmm_bounds_of(struct hmm_bounds *ret, const struct hmm_work *w, const struct hmm_model *m,
                   double sd_least, double sd_most)
{
    int at = 0, nq = m->nblocks * m->k * (m->k - 1);
    double span = w->span_s > 0 ? w->span_s : 1;

    for (; at < nq; at++) {
        ret->low[at] = log(HMM_LEAST_JUMPS / span);
        ret->high[at] = log(HMM_MOST_JUMPS_PER_STEP / w->median_dt_s);
    }
    for (int e = 0; e < hmm_family_params(m->family); e++)
        for (int s = 0; s < m->k; s++, at++) {
            bool spread = e == HMM_SPREAD || e == HMM_SPREAD2;

            ret->low[at] = spread             ? log(sd_least)
                           : e == HMM_WEIGHT2 ? -HMM_MOST_LOGIT
                                              : w->x_mid - PARAMS_FARTHEST;
            ret->high[at] = spread             ? log(sd_most)
                            : e == HMM_WEIGHT2 ? HMM_MOST_LOGIT
                                               : w->x_mid + PARAMS_FARTHEST;
        }
}

/* Slopes of emissions other than plain log-normals: one pass over the smoothed probabilities. */
static void params_emission_slopes(double *g, const struct hmm_work *w, const struct hmm_model *m)
{
    const struct hmm_data *d = w->data;
    const struct emit_ops *ops = &emit_table[m->family];
    int k = m->k, ne = ops->nparams;

    memset(g, 0, sizeof *g * (size_t)(k * ne));
    for (size_t i = 0; i < d->n; i++) {
        if (isnan(d->x[i]))
            continue;
        for (int s = 0; s < k; s++) {
            double gamma = w->alpha[i * (size_t)k + (size_t)s], one[HMM_EMIT];

            if (gamma < PARAMS_NO_SHARE)
                continue;
            ops->slope(one, m->emit[s], d->x[i], d->lo ? d->lo[i] : 0, d->hi ? d->hi[i] : 0, d->lo);
            for (int e = 0; e < ne; e++)
                g[e * k + s] += gamma * one[e];
        }
    }
}

/* The curvature if the hidden path were seen: what EM divides by, and a good first guess of the
 * curvature that there is. */
static void params_complete_information(double *info, const struct hmm_stats *st,
                                        const struct hmm_model *m)
{
    int k = m->k;

    for (int s = 0; s < k; s++) {
        const double *p = m->emit[s];
        double n = fmax(st->w[s], PARAMS_LEAST_SEEN),
               w2 = m->family == HMM_MIXTURE ? p[HMM_WEIGHT2] : 0;

        info[HMM_LOC * k + s] = n * (1 - w2) / (p[HMM_SPREAD] * p[HMM_SPREAD]);
        info[HMM_SPREAD * k + s] = 2 * n * (1 - w2);
        if (m->family == HMM_MIXTURE) {
            info[HMM_LOC2 * k + s] = n * w2 / (p[HMM_SPREAD2] * p[HMM_SPREAD2]);
            info[HMM_SPREAD2 * k + s] = 2 * n * w2;
            info[HMM_WEIGHT2 * k + s] = n * w2 * (1 - w2);
        }
    }
}

double hmm_gradient_info(double *g, double *info, struct hmm_work *w, const struct hmm_model *m)
{
    struct hmm_stats st;
    int k = m->k, at = 0;

    hmm_estep(&st, w, m);
    for (int b = 0; b < m->nblocks; b++)
        for (int i = 0; i < k; i++)
            for (int j = 0; j < k; j++)
                if (i != j) {
                    double q = m->q[b][i * k + j];

                    info[at] = fmax(q * st.s[b][i * k + j], PARAMS_LEAST_INFO);
                    g[at++] = q * (st.s[b][i * k + j] - st.s[b][i * k + i]);
                }
    if (m->family == HMM_LOGNORMAL && !w->data->lo)
        for (int s = 0; s < k; s++) {
            double mu = m->emit[s][HMM_LOC] - w->x_mid, sd = m->emit[s][HMM_SPREAD];
            double first = st.wx[s] - mu * st.w[s];

            g[at + s] = first / (sd * sd);
            g[at + k + s] =
                (st.wxx[s] - 2 * mu * st.wx[s] + mu * mu * st.w[s]) / (sd * sd) - st.w[s];
        }
    else
        params_emission_slopes(g + at, w, m);
    params_complete_information(info + at, &st, m);
    for (int i = at; i < hmm_nparams(m); i++)
        info[i] = fmax(info[i], PARAMS_LEAST_INFO);
    return st.loglik;
}

double hmm_gradient(double *ret, struct hmm_work *w, const struct hmm_model *m)
{
    double info[HMM_PARAMS];

    return hmm_gradient_info(ret, info, w, m);
}
