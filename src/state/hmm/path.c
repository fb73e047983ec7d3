/* path.c -- the most probable path through the states (Viterbi, 1967), in logarithms. */
#include <math.h>
#include <string.h>

#include "hmm_priv.h"
#include "state/hmm/work.h"

#define PATH_UNDERFLOWN (-1e4) /* below the logarithm of any double (-745), far above -infinity */

/* Which state came before: one byte per state and observation, kept where alpha was. */
double hmm_viterbi(uint8_t *ret, struct hmm_work *w, const struct hmm_model *m)
{
    const struct hmm_data *d = w->data;
    int k = m->k;
    uint8_t *from = (void *)w->alpha;
    double score[HMM_STATES] = {0}, sum = 0;

    hmm_work_classes(w, m);
    for (int s = 0; s < k; s++)
        score[s] = s ? -INFINITY : 0;
    for (size_t i = 0; i < d->n; i++) {
        const struct hmm_class *c = &w->classes[d->dt[i] < 0 ? 0 : w->same ? 1 : w->cls[w->id[i]]];
        double tmp[HMM_STATES * HMM_STATES], next[HMM_STATES], b[HMM_STATES];
        double delta = d->dt[i] - c->g;
        const double *p = hmm_step_matrix(tmp, c, w->coef, delta, hmm_kk(k));

        sum += hmm_emit(b, w->kernels, d, i, 1, m) - (c->terms > 1 ? c->c * delta : 0);
        for (int j = 0; j < k; j++) {
            int best = 0;
            double most = -INFINITY;

            for (int a = 0; a < k; a++) {
                double v = score[a] + log(p[a * k + j]);

                if (v > most) {
                    most = v;
                    best = a;
                }
            }
            /* A relative density may underflow to 0 where its logarithm does not. */
            next[j] = most + (b[j] > 0 ? log(b[j]) : PATH_UNDERFLOWN);
            from[i * (size_t)k + (size_t)j] = (uint8_t)best;
        }
        memcpy(score, next, (size_t)k * sizeof *score);
    }
    int at = 0;

    for (int s = 1; s < k; s++)
        if (score[s] > score[at])
            at = s;
    sum += score[at];
    for (size_t i = d->n; i-- > 0;) {
        ret[i] = (uint8_t)at;
        at = from[i * (size_t)k + (size_t)at];
    }
    return sum + d->jacobian;
}
