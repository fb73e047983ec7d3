/* em.c -- one step of expectation and maximisation. */
#include <math.h>
#include <string.h>

#include "emit_priv.h"
#include "fit_priv.h"
#include "hmm_priv.h"

static double em_clamp(double v, double low, double high)
{
    return v < low ? low : v > high ? high : v; /* NaN stays */
}

static void em_new_rates(struct hmm_model *m, const struct hmm_stats *st, const struct hmm_work *w)
{
    int k = m->k;
    double low = HMM_LEAST_JUMPS / (w->span_s > 0 ? w->span_s : 1);
    double high = HMM_MOST_JUMPS_PER_STEP / w->median_dt_s;

    for (int b = 0; b < m->nblocks; b++)
        for (int i = 0; i < k; i++) {
            double out = 0, time = st->s[b][i * k + i];

            for (int j = 0; j < k; j++) {
                double *q = &m->q[b][i * k + j];

                if (i == j)
                    continue;
                if (time > 0)
                    *q = em_clamp(*q * st->s[b][i * k + j] / time, low, high);
                out += *q;
            }
            m->q[b][i * k + i] = -out;
        }
}

double hmm_em_step(struct hmm_work *w, struct hmm_model *m, enum hmm_initial initial,
                   double sd_least, double sd_most)
{
    struct hmm_stats st;
    int k = m->k;

    hmm_estep(&st, w, m);
    if (!isfinite(st.loglik))
        return st.loglik;
    em_new_rates(m, &st, w);
    for (int s = 0; s < k; s++) {
        double *p = m->emit[s];

        if (m->family != HMM_LOGNORMAL || w->data->lo) {
            emit_table[m->family].mstep(p, w->data, w->alpha + s, k, w->b);
        } else if (st.w[s] > HMM_LEAST_WEIGHT) {
            double mean = st.wx[s] / st.w[s];

            p[HMM_LOC] = w->x_mid + mean;
            p[HMM_SPREAD] = sqrt(fmax(st.wxx[s] / st.w[s] - mean * mean, 0));
        }
        p[HMM_SPREAD] = em_clamp(p[HMM_SPREAD], sd_least, sd_most);
        if (m->family == HMM_MIXTURE)
            p[HMM_SPREAD2] = em_clamp(p[HMM_SPREAD2], sd_least, sd_most);
        if (initial == HMM_INITIAL_ESTIMATED && st.starts)
            m->initial[s] = st.first[s] / (double)st.starts;
    }
    return st.loglik;
}
