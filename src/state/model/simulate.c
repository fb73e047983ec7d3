/* model/simulate.c -- draws hidden paths and latencies from a model; randomness is the caller's
 * stream. */
#include "state/model/simulate.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

/* One of 0..k-1 by weights. */
static int simulate_pick(const double *w, int k, struct wr_rng *g)
{
    assert(k >= 1);
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
    assert(s >= 0 && s < m->k);
    const double *p = m->emit[s];

    if (m->family == HMM_WEIBULL)
        return p[HMM_LOC] + p[HMM_SPREAD] * log(wr_rng_exp(g) + 1e-300);
    if (m->family == HMM_MIXTURE && wr_rng_unit(g) < p[HMM_WEIGHT2])
        p += HMM_LOC2;
    return p[HMM_LOC] + p[HMM_SPREAD] * wr_rng_normal(g);
}

static int simulate_part_at(const struct hmm_model *m, double t, double *ret_end)
{
    double len = (double)HMM_DAY_S / m->nblocks, at = floor((t + m->day_offset_s) / len);

    *ret_end = m->nblocks > 1 ? (at + 1) * len - m->day_offset_s : INFINITY;
    if (*ret_end <= t) /* rounding: the boundary is now */
        *ret_end += len;
    int b = (int)fmod(at, m->nblocks);

    return m->nblocks > 1 ? (b + m->nblocks) % m->nblocks : 0;
}

/* Another state than s, by the rates q. */
static int simulate_jump(const double *q, int k, int s, struct wr_rng *g)
{
    double w[HMM_STATES] = {0};

    for (int j = 0; j < k; j++)
        w[j] = j == s ? 0 : q[s * k + j];
    return simulate_pick(w, k, g);
}

/* The state at `to`, in seconds, of a path that is in state s at `from`. Jumps are rare beside
 * observations or common; beyond so many between two of them the state has forgotten where it came
 * from, and one draw from exp(Q dt) says the same. */
static int simulate_advance(const struct hmm_model *m, int s, double from, double to,
                            struct wr_rng *g)
{
    assert(s >= 0 && s < m->k);
    int k = m->k;

    while (from < to) {
        double end, until;
        const double *q = m->q[simulate_part_at(m, from, &end)];

        until = fmin(end, to);
        double rate = -q[s * k + s];

        if (rate * (until - from) > 50) {
            double p[HMM_STATES * HMM_STATES];

            hmm_expm(p, q, k, until - from);
            s = simulate_pick(p + s * k, k, g);
            from = until;
            continue;
        }
        double stay = rate > 0 ? wr_rng_exp(g) / rate : INFINITY;

        if (from + stay >= until) {
            from = until;
            continue;
        }
        s = simulate_jump(q, k, s, g);
        from += stay;
    }
    return s;
}

/* Where parts of the day meet nothing changes but the rates. */
static void simulate_plan(struct state_path *p, double from_s)
{
    double end_s;
    const double *q = p->m->q[simulate_part_at(p->m, from_s, &end_s)];
    double rate = -q[p->now * p->m->k + p->now];
    double stay_s = rate > 0 ? wr_rng_exp(&p->g) / rate : INFINITY;
    bool jumps = from_s + stay_s < end_s;

    p->until_s = jumps ? from_s + stay_s : end_s;
    p->next = jumps ? simulate_jump(q, p->m->k, p->now, &p->g) : p->now;
}

void state_path_open(struct state_path *p, const struct hmm_model *m, const struct wr_rng *g)
{
    double share[HMM_STATES];

    assert(m->k > 0 && m->k <= HMM_STATES);
    *p = (struct state_path){.m = m, .g = *g};
    hmm_stationary(share, m, 0);
    p->now = simulate_pick(share, m->k, &p->g);
    simulate_plan(p, 0);
}

int state_path_at(struct state_path *p, double t_s)
{
    while (p->until_s <= t_s) {
        double at_s = p->until_s;

        p->now = p->next;
        simulate_plan(p, at_s);
    }
    return p->now;
}

void state_simulate(double *x, uint8_t *state, const double *t, size_t n, const struct hmm_model *m,
                    const double *initial, struct wr_rng *g)
{
    int s = n ? simulate_pick(initial, m->k, g) : 0;

    for (size_t i = 0; i < n; i++) {
        if (i)
            s = simulate_advance(m, s, t[i - 1], t[i], g);
        if (state)
            state[i] = (uint8_t)s;
        x[i] = state_draw(m, s, g);
    }
}
