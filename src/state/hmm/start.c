/* start.c -- where a fit begins. */
#include <math.h>
#include <string.h>

#include "fit_priv.h"
#include "hmm_priv.h"

/* SplitMix64 (Steele, Lea and Flood, 2014): a start is a function of the seed and its number. */
static uint64_t next_u64(uint64_t *s)
{
    uint64_t z = (*s += 0x9e3779b97f4a7c15u);

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

double hmm_unit(uint64_t *s)
{
    return (double)(next_u64(s) >> 11) * 0x1p-53;
}

/* A few hundred values spread over the series, ascending. */
void hmm_take(struct hmm_sample *to, const struct hmm_work *w)
{
    const struct hmm_data *d = w->data;
    size_t stride = d->n / HMM_SAMPLE + 1;

    to->n = 0;
    for (size_t i = 0; i < d->n; i += stride) {
        double x = d->x[i];
        int at = to->n;

        if (isnan(x))
            continue;
        for (; at > 0 && to->v[at - 1] > x; at--)
            to->v[at] = to->v[at - 1];
        to->v[at] = x;
        to->n++;
    }
}

/* One group of ascending values becomes one state. */
static void state_of(double *emit, const struct hmm_sample *s, int from, int to, double floor_sd)
{
    double mean = 0, var = 0;

    for (int i = from; i < to; i++)
        mean += s->v[i] / (to - from);
    for (int i = from; i < to; i++)
        var += (s->v[i] - mean) * (s->v[i] - mean) / (to - from);
    emit[HMM_LOC] = mean;
    emit[HMM_SPREAD] = fmax(sqrt(var), floor_sd);
}

/* Cuts ascending values into k groups around centres: Lloyd's algorithm on a line. */
static void cluster(int *cut, const struct hmm_sample *s, double *centre, int k, int rounds)
{
    for (int r = 0; r <= rounds; r++) {
        int at = 0;

        cut[0] = 0;
        for (int j = 1; j < k; j++) {
            double edge = (centre[j - 1] + centre[j]) / 2;

            while (at < s->n && s->v[at] < edge)
                at++;
            cut[j] = at;
        }
        cut[k] = s->n;
        for (int j = 0; r < rounds && j < k; j++) {
            double sum = 0;

            for (int i = cut[j]; i < cut[j + 1]; i++)
                sum += s->v[i];
            if (cut[j + 1] > cut[j])
                centre[j] = sum / (cut[j + 1] - cut[j]);
        }
    }
}

static void sort(double *v, int n)
{
    for (int i = 1; i < n; i++)
        for (int j = i; j > 0 && v[j - 1] > v[j]; j--) {
            double t = v[j];

            v[j] = v[j - 1];
            v[j - 1] = t;
        }
}

double hmm_spread_of(const struct hmm_sample *s)
{
    double iqr = s->v[s->n * 3 / 4 < s->n ? s->n * 3 / 4 : s->n - 1] - s->v[s->n / 4];

    return fmax(iqr / 1.35, (s->v[s->n - 1] - s->v[0]) / 20 + 1e-4);
}

static void by_quantiles(struct hmm_model *m, const struct hmm_sample *s, double floor_sd)
{
    for (int j = 0; j < m->k; j++) {
        int from = s->n * j / m->k, to = s->n * (j + 1) / m->k;

        state_of(m->emit[j], s, from, to > from ? to : from + 1, floor_sd);
    }
}

static void by_clusters(struct hmm_model *m, const struct hmm_sample *s, uint64_t *rng, int rounds,
                        bool evenly, double floor_sd)
{
    double centre[HMM_STATES], broad = hmm_spread_of(s);
    int cut[HMM_STATES + 1];

    for (int j = 0; j < m->k; j++) {
        double u = evenly ? (j + 0.5) / m->k : hmm_unit(rng);

        centre[j] = evenly ? s->v[0] + u * (s->v[s->n - 1] - s->v[0])
                           : s->v[(int)(u * s->n) < s->n ? (int)(u * s->n) : s->n - 1];
    }
    sort(centre, m->k);
    cluster(cut, s, centre, m->k, rounds);
    for (int j = 0; j < m->k; j++) {
        m->emit[j][HMM_LOC] = centre[j];
        m->emit[j][HMM_SPREAD] = broad / m->k;
        if (cut[j + 1] - cut[j] > 1)
            state_of(m->emit[j], s, cut[j], cut[j + 1], floor_sd);
        if (!evenly)
            m->emit[j][HMM_SPREAD] =
                fmax(m->emit[j][HMM_SPREAD] * exp(1.4 * (hmm_unit(rng) - 0.5)), floor_sd);
    }
}

/* All around the middle, from narrow to wide: one state for outliers. */
static void by_width(struct hmm_model *m, const struct hmm_sample *s, uint64_t *rng)
{
    double broad = hmm_spread_of(s), mid = s->v[s->n / 2];

    for (int j = 0; j < m->k; j++) {
        m->emit[j][HMM_LOC] = mid + broad * (hmm_unit(rng) - 0.5);
        m->emit[j][HMM_SPREAD] = broad * pow(3, j - (m->k - 1) / 2.0);
    }
}

/* Quantiles, but one state sits on a few close neighbours. */
static void with_spike(struct hmm_model *m, const struct hmm_sample *s, uint64_t *rng,
                       double floor_sd)
{
    int at = (int)(hmm_unit(rng) * s->n), which = (int)(hmm_unit(rng) * m->k);
    int to = at + 1 < s->n ? at + 1 : at;

    by_quantiles(m, s, floor_sd);
    if (which >= m->k || at >= s->n)
        return;
    m->emit[which][HMM_LOC] = (s->v[at] + s->v[to]) / 2;
    m->emit[which][HMM_SPREAD] = fmax((s->v[to] - s->v[at]) / 2, floor_sd);
}

static void even_rates(struct hmm_model *m, double dwell_s)
{
    int k = m->k;

    for (int b = 0; b < m->nblocks; b++)
        for (int i = 0; i < k; i++)
            for (int j = 0; j < k; j++)
                m->q[b][i * k + j] = i == j ? -1 / dwell_s : 1 / dwell_s / fmax(k - 1, 1);
    if (k == 1)
        for (int b = 0; b < m->nblocks; b++)
            m->q[b][0] = 0;
}

/* A second, wider normal, or the Weibull whose logarithm has the same mean and spread. */
void hmm_other_families(struct hmm_model *m)
{
    for (int s = 0; s < m->k; s++) {
        double *p = m->emit[s];

        if (m->family == HMM_MIXTURE) {
            p[HMM_LOC2] = p[HMM_LOC] + p[HMM_SPREAD];
            p[HMM_SPREAD2] = 2.5 * p[HMM_SPREAD];
            p[HMM_WEIGHT2] = 0.1;
        } else if (m->family == HMM_WEIBULL) {
            p[HMM_SPREAD] *= 0.7797;
            p[HMM_LOC] += 0.5772 * p[HMM_SPREAD];
        }
    }
}

void hmm_start(struct hmm_model *ret, const struct hmm_work *w, const struct hmm_fit_opts *opts,
               int index)
{
    struct hmm_sample s;
    uint64_t rng = opts->seed * 0x2545f4914f6cdd1du + (uint64_t)index;
    double floor_sd, dwell = 20;

    memset(ret, 0, sizeof *ret);
    ret->k = opts->k;
    ret->nblocks = opts->nblocks;
    ret->family = opts->family;
    ret->day_offset_s = opts->day_offset_s;
    for (int j = 0; j < ret->k; j++)
        ret->initial[j] = 1.0 / ret->k;
    hmm_take(&s, w);
    floor_sd = fmax(2e-3, hmm_spread_of(&s) / 100);
    if (index == 0)
        by_quantiles(ret, &s, floor_sd);
    else if (index == 1)
        by_clusters(ret, &s, &rng, 30, true, floor_sd);
    else if (index % 8 == 5)
        by_width(ret, &s, &rng);
    else if (index % 8 == 7)
        with_spike(ret, &s, &rng, 2e-3);
    else
        by_clusters(ret, &s, &rng, index % 3, false, floor_sd);
    if (index > 1)
        dwell = exp(0.7 + 4.5 * hmm_unit(&rng));
    even_rates(ret, dwell * w->median_dt_s);
    hmm_tidy(ret);
    hmm_other_families(ret);
}
