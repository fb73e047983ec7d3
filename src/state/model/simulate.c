#include "state/model/simulate.h"

#include <math.h>

int state_pick(const double *w, int k, struct wr_rng *g)
{
    double total = 0, u;

    for (int i = 0; i < k; i++)
        total += w[i];
    u = wr_rng_unit(g) * total;
    for (int i = 0; i + 1 < k; i++) {
        if (u < w[i])
            return i;
        u -= w[i];
    }
    return k - 1;
}

double state_draw(const struct hmm_model *m, int s, struct wr_rng *g)
{
    const double *p = m->emit[s];

    if (m->family == HMM_WEIBULL)
        return p[HMM_LOC] + p[HMM_SPREAD] * log(wr_rng_exp(g) + 1e-300);
    if (m->family == HMM_MIXTURE && wr_rng_unit(g) < p[HMM_WEIGHT2])
        p += HMM_LOC2;
    return p[HMM_LOC] + p[HMM_SPREAD] * wr_rng_normal(g);
}

static int part_at(const struct hmm_model *m, double t, double *ret_end)
{
    double len = (double)HMM_DAY_S / m->nblocks, at = floor((t + m->day_offset_s) / len);

    *ret_end = m->nblocks > 1 ? (at + 1) * len - m->day_offset_s : INFINITY;
    if (*ret_end <= t) /* rounding: the boundary is now */
        *ret_end += len;
    int b = (int)fmod(at, m->nblocks);

    return m->nblocks > 1 ? (b + m->nblocks) % m->nblocks : 0;
}

/* Jumps are rare beside observations or common; beyond so many between two of them the state has
 * forgotten where it came from, and one draw from exp(Q dt) says the same. */
int state_advance(const struct hmm_model *m, int s, double from, double to, struct wr_rng *g)
{
    int k = m->k;

    while (from < to) {
        double end, until;
        const double *q = m->q[part_at(m, from, &end)];

        until = fmin(end, to);
        double rate = -q[s * k + s];

        if (rate * (until - from) > 50) {
            double p[HMM_STATES * HMM_STATES];

            hmm_expm(p, q, k, until - from);
            s = state_pick(p + s * k, k, g);
            from = until;
            continue;
        }
        double stay = rate > 0 ? wr_rng_exp(g) / rate : INFINITY;

        if (from + stay >= until) {
            from = until;
            continue;
        }
        double w[HMM_STATES];

        for (int j = 0; j < k; j++)
            w[j] = j == s ? 0 : q[s * k + j];
        s = state_pick(w, k, g);
        from += stay;
    }
    return s;
}

void state_simulate(double *x, uint8_t *state, const double *t, size_t n, const struct hmm_model *m,
                    const double *initial, struct wr_rng *g)
{
    int s = n ? state_pick(initial, m->k, g) : 0;

    for (size_t i = 0; i < n; i++) {
        if (i)
            s = state_advance(m, s, t[i - 1], t[i], g);
        if (state)
            state[i] = (uint8_t)s;
        x[i] = state_draw(m, s, g);
    }
}
