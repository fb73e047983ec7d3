/* grow.c -- starts made from a good model with one state less.
 *
 * What such a model leaves unexplained is often one of its states that should be two, or a narrow
 * state of a few observations. The latter are found by looking where observations lie closer
 * together than the model's forecasts expect, at several widths.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "fit_priv.h"
#include "hmm_priv.h"

/* Gaps nearer than that many widths are one gap. */
#define GROW_OVERLAP 1.5
#define GROW_LEAST_GAIN 0.5 /* of log-likelihood: less is chance */
#define GROW_LEAST_DENSITY 1e-100
#define GROW_NOT_ZERO 1e-9
#define GROW_LEAST_RATE 1e-300 /* of leaving a state: not 0 */
/* Rates of a new state, in jumps per step: it is entered seldom, and left within a step (a gap),
 * after 20 steps (a broad one), or in between (at random). EM corrects them; they must not be 0. */
#define GROW_SELDOM 0.01
#define GROW_LONG 0.05
#define GROW_LEAVE 3
#define GROW_ONCE 1e-3     /* jumps in the whole series into the state of the first observation */
#define GROW_GAP_SD 1.5e-3 /* least spread of a state in a gap: above HMM_DEFAULT_SD_LEAST */

enum { BINS = 4096 };

/* Keeps the best gaps, of those that overlap only the better. */
static void grow_keep(struct hmm_gaps *to, struct hmm_gap g)
{
    int at = 0;

    for (int i = 0; i < to->n; i++)
        if (fabs(to->at[i].loc - g.loc) < GROW_OVERLAP * (to->at[i].sd + g.sd)) {
            if (to->at[i].gain >= g.gain)
                return;
            memmove(to->at + i, to->at + i + 1, sizeof g * (size_t)(--to->n - i));
            i--;
        }
    while (at < to->n && to->at[at].gain >= g.gain)
        at++;
    if (at == HMM_GAPS)
        return;
    to->n += to->n < HMM_GAPS;
    memmove(to->at + at + 1, to->at + at, sizeof g * (size_t)(to->n - 1 - at));
    to->at[at] = g;
}

/* What is gained where a share of the observations falls evenly into one bin of this width. */
static void grow_scan_width(struct hmm_gaps *to, const struct hmm_data *d, const double *density,
                            double low, double width, double share)
{
    double gain[BINS] = {0}, seen = 0;

    for (size_t i = 0; i < d->n; i++) {
        double bin = (d->x[i] - low) / width;

        if (isnan(d->x[i]))
            continue;
        seen++;
        if (bin >= 0 && bin < BINS)
            gain[(int)bin] += log1p(share / (width * fmax(density[i], GROW_LEAST_DENSITY)));
    }
    for (int b = 0; b < BINS; b++)
        if (gain[b] - seen * share > GROW_LEAST_GAIN)
            grow_keep(to, (struct hmm_gap){gain[b] - seen * share, low + (b + 0.5) * width,
                                           width / 3, share});
}

/* density[i] of x[i] as forecast from the observation before it; a usual step will do. */
static void grow_forecast_densities(double *density, struct hmm_work *w, const struct hmm_model *m)
{
    const struct hmm_data *d = w->data;
    const int k = m->k;
    double p[HMM_STATES * HMM_STATES], share[HMM_STATES];

    hmm_filter(w->alpha, w, m);
    hmm_expm(p, m->q[0], k, w->median_dt_s);
    hmm_stationary(share, m, 0);
    for (size_t i = 0; i < d->n; i++) {
        const double *from = d->dt[i] < 0 ? NULL : w->alpha + (i - 1) * (size_t)k;

        density[i] = 0;
        for (int j = 0; j < k && !isnan(d->x[i]); j++) {
            double ahead = from ? 0 : share[j];

            for (int a = 0; from && a < k; a++)
                ahead += from[a] * p[a * k + j];
            density[i] += ahead * exp(hmm_log_density(m, j, d->x[i]));
        }
    }
}

void hmm_find_gaps(struct hmm_gaps *ret, struct hmm_work *w, const struct hmm_model *base)
{
    static const double widths[] = {0.004, 0.012, 0.04, 0.12}; /* of ln latency: 0.4 % to 12 % */
    static const double counts[] = {2, 6, 20};                 /* observations in the state */
    const struct hmm_data *d = w->data;
    double low = INFINITY, seen = 0;

    grow_forecast_densities(w->b, w, base);
    for (size_t i = 0; i < d->n; i++)
        if (!isnan(d->x[i])) {
            low = fmin(low, d->x[i]);
            seen++;
        }
    ret->n = 0;
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++)
        for (int half = 0; half < 2; half++)
            for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++)
                grow_scan_width(ret, d, w->b, low - half * widths[i] / 2, widths[i],
                                counts[c] / seen);
}

/* The new state takes the last place; hmm_tidy sorts. */
static void grow_add_state(struct hmm_model *m, const struct hmm_model *base, double loc, double sd,
                           double in, double out)
{
    int k = base->k + 1;

    *m = *base;
    m->k = k;
    for (int b = 0; b < m->nblocks; b++)
        for (int i = 0; i < k; i++)
            for (int j = 0; j < k; j++)
                m->q[b][i * k + j] = j == k - 1   ? in
                                     : i == k - 1 ? out / (k - 1)
                                                  : base->q[b][i * (k - 1) + j];
    m->emit[k - 1][HMM_LOC] = loc;
    m->emit[k - 1][HMM_SPREAD] = sd;
    for (int i = 0; i < k; i++)
        m->initial[i] = 1.0 / k;
    struct hmm_model only = *m;

    hmm_other_families(&only);
    memcpy(m->emit[k - 1] + HMM_LOC2, only.emit[k - 1] + HMM_LOC2,
           sizeof(double) * (HMM_EMIT - HMM_LOC2));
    hmm_tidy(m);
}

/* State s in two: beside each other and quick to change, the same but slow, or one inside the
 * other. Locations and widths are in spreads of the state (two normals of 0.8, 1.2 apart, have its
 * spread), changes in jumps per step. */
static void grow_split_state(struct hmm_model *m, const struct hmm_model *base, int s, int how,
                             double rate)
{
    static const struct {
        double apart, wide, wider, change;
    } ways[] = {{0.6, 0.8, 0.8, 0.3}, {0.6, 0.8, 0.8, 0.02}, {0, 0.5, 1.5, 0.1}};
    struct hmm_model half = *base;
    const double *e = base->emit[s];
    int k = base->k;

    half.emit[s][HMM_LOC] = e[HMM_LOC] - ways[how].apart * e[HMM_SPREAD];
    half.emit[s][HMM_SPREAD] = e[HMM_SPREAD] * ways[how].wide;
    *m = half;
    m->k = k + 1;
    /* The twin has the state's ways out, and is entered from where the state is. */
    for (int b = 0; b < m->nblocks; b++) {
        double *q = m->q[b];

        for (int i = 0; i <= k; i++)
            for (int j = 0; j <= k; j++)
                q[i * (k + 1) + j] = base->q[b][(i < k ? i : s) * k + (j < k ? j : s)] *
                                     (i != s && i != k && (j == s || j == k) ? 0.5 : 1);
        q[s * (k + 1) + k] = q[k * (k + 1) + s] = ways[how].change * rate;
    }
    memcpy(m->emit[k], e, sizeof m->emit[k]);
    m->emit[k][HMM_LOC] = e[HMM_LOC] + ways[how].apart * e[HMM_SPREAD];
    m->emit[k][HMM_SPREAD] = e[HMM_SPREAD] * ways[how].wider;
    for (int i = 0; i <= k; i++)
        m->initial[i] = 1.0 / (k + 1);
    hmm_tidy(m);
}

void hmm_drop_state(struct hmm_model *m, int s)
{
    assert(m->k > 1 && s >= 0 && s < m->k);
    const struct hmm_model was = *m;
    int k = was.k;

    m->k = k - 1;
    for (int i = s; i + 1 < k; i++) {
        memcpy(m->emit[i], was.emit[i + 1], sizeof m->emit[i]);
        m->initial[i] = was.initial[i + 1];
    }
    for (int i = 0; i + 1 < k; i++)
        m->initial[i] /= fmax(1 - was.initial[s], GROW_NOT_ZERO);
    for (int b = 0; b < m->nblocks; b++)
        for (int i = 0; i + 1 < k; i++)
            for (int j = 0; j + 1 < k; j++) {
                const double *q = was.q[b];
                int a = i + (i >= s), z = j + (j >= s);

                m->q[b][i * (k - 1) + j] = q[a * k + z] + q[a * k + s] * q[s * k + z] /
                                                              fmax(-q[s * k + s], GROW_LEAST_RATE);
            }
    hmm_tidy(m);
}

/* Anywhere that was observed, of a width drawn evenly on a logarithmic scale: 0.3 % to 4 %, or for
 * every fourth 0.3 to 1.3 times the width of all. */
static void grow_at_random(struct hmm_model *ret, const struct hmm_work *w,
                           const struct hmm_model *base, uint64_t *rng, int index, double rate)
{
    struct hmm_sample s;

    hmm_take(&s, w);
    double loc = s.v[(int)(hmm_unit(rng) * s.n) % s.n];

    if (index % 4 == 3) /* broad and long: outliers, another regime */
        grow_add_state(ret, base, loc, hmm_spread_of(&s) * (0.3 + hmm_unit(rng)),
                       GROW_SELDOM * rate, GROW_LONG * rate);
    else
        grow_add_state(ret, base, loc, 3e-3 * exp(2.5 * hmm_unit(rng)), GROW_SELDOM * rate,
                       rate * exp(-3 * hmm_unit(rng)));
}

void hmm_grow(struct hmm_model *ret, const struct hmm_work *w, const struct hmm_model *base,
              const struct hmm_gaps *gaps, uint64_t seed, int index)
{
    assert(base->k + 1 <= HMM_STATES);
    enum { WAYS = 3 };
    uint64_t rng = seed * 0x2545f4914f6cdd1du + 0x9e37u + (uint64_t)index;
    double rate = 1 / w->median_dt_s;

    /* The first observation may be anything: a state for it alone. */
    if (index == 0 && !isnan(w->data->x[0])) {
        grow_add_state(ret, base, w->data->x[0], HMM_NARROW,
                       GROW_ONCE / fmax(w->span_s, GROW_NOT_ZERO), rate);
        return;
    }
    int at = index - 1;

    /* Gaps and splits and chance in turns: a request for few starts gets some of each. */
    if (at % 2 == 0 && at / 2 < gaps->n) {
        const struct hmm_gap *g = &gaps->at[at / 2];

        grow_add_state(ret, base, g->loc, fmax(g->sd, GROW_GAP_SD), g->share * rate,
                       GROW_LEAVE * rate);
        return;
    }
    if (at % 2 && at / 2 < WAYS * base->k) {
        grow_split_state(ret, base, at / 2 % base->k, at / 2 / base->k, rate);
        return;
    }
    grow_at_random(ret, w, base, &rng, index, rate);
}
