/* fit_start.c -- where a fit begins. */
#include <math.h>
#include <string.h>

#include "fit_priv.h"
#include "hmm_priv.h"

/* Spread of a sample: its interquartile range as of a normal, or where more than half of all values
 * are equal a share of its range. */
#define START_IQR_OF_SD 1.35
#define START_RANGE 20
#define START_NOT_ZERO 1e-4
/* Random starts: spreads from half to twice those of the clusters, and mean sojourns of e^0.7 to
 * e^5.2 steps (2 to 180): shorter ones look like no state, longer ones are seen too seldom. */
#define START_VARIED 1.4
#define START_LOG_DWELL 0.7
#define START_LOG_DWELLS 4.5
#define START_DWELL 20 /* steps; of the starts that are not random */
#define START_WIDER 3  /* each state of start_by_width is so much wider than the one before */
enum { START_CLUSTER_ROUNDS = 30 }; /* of k-means, which ends before on sorted values */
/* A mixture starts with a tenth of the weight in a wider tail to the right. */
#define START_SECOND_SPREAD 2.5
#define START_SECOND_WEIGHT 0.1
/* ln of a Weibull variable is a Gumbel one: its scale is sqrt(6) / pi of its standard deviation,
 * its mean Euler's constant times the scale below its location. */
#define START_GUMBEL_SCALE 0.7797
#define START_EULER 0.5772

/* SplitMix64 (Steele, Lea and Flood, 2014): a start is a function of the seed and its number. */
static uint64_t start_next_u64(uint64_t *s)
{
    uint64_t z = (*s += 0x9e3779b97f4a7c15u);

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

double hmm_unit(uint64_t *s)
{
    return (double)(start_next_u64(s) >> 11) * 0x1p-53;
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
static void start_state_of(double *emit, const struct hmm_sample *s, int from, int to,
                           double floor_sd)
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
static void start_cluster(int *cut, const struct hmm_sample *s, double *centre, int k, int rounds)
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

static void start_sort(double *v, int n)
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

    return fmax(iqr / START_IQR_OF_SD, (s->v[s->n - 1] - s->v[0]) / START_RANGE + START_NOT_ZERO);
}

static void start_by_quantiles(struct hmm_model *m, const struct hmm_sample *s, double floor_sd)
{
    for (int j = 0; j < m->k; j++) {
        int from = s->n * j / m->k, to = s->n * (j + 1) / m->k;

        start_state_of(m->emit[j], s, from, to > from ? to : from + 1, floor_sd);
    }
}

static void start_by_clusters(struct hmm_model *m, const struct hmm_sample *s, uint64_t *rng,
                              int rounds, bool evenly, double floor_sd)
{
    double centre[HMM_STATES], broad = hmm_spread_of(s);
    int cut[HMM_STATES + 1];

    for (int j = 0; j < m->k; j++) {
        double u = evenly ? (j + 0.5) / m->k : hmm_unit(rng);

        centre[j] = evenly ? s->v[0] + u * (s->v[s->n - 1] - s->v[0])
                           : s->v[(int)(u * s->n) < s->n ? (int)(u * s->n) : s->n - 1];
    }
    start_sort(centre, m->k);
    start_cluster(cut, s, centre, m->k, rounds);
    for (int j = 0; j < m->k; j++) {
        m->emit[j][HMM_LOC] = centre[j];
        m->emit[j][HMM_SPREAD] = broad / m->k;
        if (cut[j + 1] - cut[j] > 1)
            start_state_of(m->emit[j], s, cut[j], cut[j + 1], floor_sd);
        if (!evenly)
            m->emit[j][HMM_SPREAD] =
                fmax(m->emit[j][HMM_SPREAD] * exp(START_VARIED * (hmm_unit(rng) - 0.5)), floor_sd);
    }
}

/* All around the middle, from narrow to wide: one state for outliers. */
static void start_by_width(struct hmm_model *m, const struct hmm_sample *s, uint64_t *rng)
{
    double broad = hmm_spread_of(s), mid = s->v[s->n / 2];

    for (int j = 0; j < m->k; j++) {
        m->emit[j][HMM_LOC] = mid + broad * (hmm_unit(rng) - 0.5);
        m->emit[j][HMM_SPREAD] = broad * pow(START_WIDER, j - (m->k - 1) / 2.0);
    }
}

/* Quantiles, but one state sits on a few close neighbours. */
static void start_with_spike(struct hmm_model *m, const struct hmm_sample *s, uint64_t *rng,
                             double floor_sd)
{
    int at = (int)(hmm_unit(rng) * s->n), which = (int)(hmm_unit(rng) * m->k);
    int to = at + 1 < s->n ? at + 1 : at;

    start_by_quantiles(m, s, floor_sd);
    if (which >= m->k || at >= s->n)
        return;
    m->emit[which][HMM_LOC] = (s->v[at] + s->v[to]) / 2;
    m->emit[which][HMM_SPREAD] = fmax((s->v[to] - s->v[at]) / 2, floor_sd);
}

static void start_even_rates(struct hmm_model *m, double dwell_s)
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
            p[HMM_SPREAD2] = START_SECOND_SPREAD * p[HMM_SPREAD];
            p[HMM_WEIGHT2] = START_SECOND_WEIGHT;
        } else if (m->family == HMM_WEIBULL) {
            p[HMM_SPREAD] *= START_GUMBEL_SCALE;
            p[HMM_LOC] += START_EULER * p[HMM_SPREAD];
        }
    }
}

void hmm_start(struct hmm_model *ret, const struct hmm_work *w, const struct hmm_fit_opts *opts,
               int index)
{
    struct hmm_sample s;
    uint64_t rng = opts->seed * 0x2545f4914f6cdd1du + (uint64_t)index;
    double floor_sd, dwell = START_DWELL;

    memset(ret, 0, sizeof *ret);
    ret->k = opts->k;
    ret->nblocks = opts->nblocks;
    ret->family = opts->family;
    ret->day_offset_s = opts->day_offset_s;
    for (int j = 0; j < ret->k; j++)
        ret->initial[j] = 1.0 / ret->k;
    hmm_take(&s, w);
    floor_sd = fmax(HMM_NARROW, hmm_spread_of(&s) / 100);
    if (index == 0)
        start_by_quantiles(ret, &s, floor_sd);
    else if (index == 1)
        start_by_clusters(ret, &s, &rng, START_CLUSTER_ROUNDS, true, floor_sd);
    else if (index % 8 == 5)
        start_by_width(ret, &s, &rng);
    else if (index % 8 == 7)
        start_with_spike(ret, &s, &rng, HMM_NARROW);
    else
        start_by_clusters(ret, &s, &rng, index % 3, false, floor_sd);
    if (index > 1)
        dwell = exp(START_LOG_DWELL + START_LOG_DWELLS * hmm_unit(&rng));
    start_even_rates(ret, dwell * w->median_dt_s);
    hmm_tidy(ret);
    hmm_other_families(ret);
}
