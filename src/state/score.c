/* score.c -- rules that reward honest forecasts: Gneiting and Raftery, 2007. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "score_priv.h"
#include "stat/kde.h"
#include "stat/sample.h"

/* Quantile of training above which a latency counts as slow, for the Brier score. */
#define SCORE_SLOW 0.8
/* Least densities of the logarithmic score: it is infinite where a forecast excludes what comes.
 * The empirical one has no tails and would be infinite often. */
#define SCORE_LEAST_DENSITY 1e-300
#define SCORE_LEAST_EMPIRICAL 1e-12
#define SCORE_NORMAL_TOP 0.39894228040143267794 /* 1 / sqrt(2 pi) */

static const double taus[3] = {0.5, 0.9, 0.99};

static void score_add_pit(struct tally *to, double pit)
{
    if (to->n >= to->cap) {
        to->cap = to->cap ? 2 * to->cap : 1024;
        to->pits = wr_realloc(to->pits, to->cap, sizeof *to->pits);
    }
    to->pits[to->n++] = pit;
    to->pit += pit;
    to->pit2 += pit * pit;
}

/* Everything that follows from quantiles and probabilities, whatever the forecast's form. */
static void score_add_common(struct tally *to, const struct trial *t, double x, double exceed,
                             const double q_s[3], double pit)
{
    double y = exp(x), hit = x > t->threshold;

    to->brier += (exceed - hit) * (exceed - hit);
    for (int i = 0; i < 3; i++) {
        double d = 1e3 * (y - q_s[i]);

        to->pinball[i] += d >= 0 ? taus[i] * d : (taus[i] - 1) * d;
    }
    to->mae += 1e3 * fabs(y - q_s[0]);
    score_add_pit(to, pit);
}

void tally_mix(struct tally *to, const struct trial *t, const struct hmm_mix *m, double x)
{
    double q[3];

    for (int i = 0; i < 3; i++)
        q[i] = exp(hmm_mix_quantile(m, taus[i]));
    to->logs -= log(fmax(hmm_mix_density(m, x), SCORE_LEAST_DENSITY));
    to->crps_ln += hmm_mix_crps(m, x);
    to->crps_ms += 1e3 * hmm_mix_crps_latency(m, x);
    score_add_common(to, t, x, hmm_mix_above(m, t->threshold), q, hmm_mix_cdf(m, x));
}

/* How many of n ascending values are below v, or at most v. */
static size_t score_count_below(const double *sorted, size_t n, double v, bool at_most)
{
    size_t a = 0, b = n;

    while (a < b) {
        size_t mid = (a + b) / 2;

        if (at_most ? sorted[mid] <= v : sorted[mid] < v)
            a = mid + 1;
        else
            b = mid;
    }
    return a;
}

static double score_sample_crps(const double *sorted, const double *prefix, size_t n, double gini,
                                double y)
{
    size_t j = score_count_below(sorted, n, y, false);
    double below = y * (double)j - prefix[j], above = prefix[n] - prefix[j] - y * (double)(n - j);

    return (below + above) / (double)n - gini;
}

void tally_empirical(struct tally *to, const struct trial *t, double x)
{
    size_t n = t->train;
    double f = 0, y = exp(x);

    for (size_t i = 0; i < n; i++) {
        double z = (x - t->sorted_ln[i]) / t->bandwidth;

        f += exp(-0.5 * z * z);
    }
    f *= SCORE_NORMAL_TOP / (t->bandwidth * (double)n);
    to->logs -= log(fmax(f, SCORE_LEAST_EMPIRICAL));
    to->crps_ln += score_sample_crps(t->sorted_ln, t->prefix_ln, n, t->half_gini_ln, x);
    to->crps_ms += 1e3 * score_sample_crps(t->sorted_s, t->prefix_s, n, t->half_gini_s, y);
    double above = (double)(n - score_count_below(t->sorted_ln, n, t->threshold, true)) / (double)n;

    score_add_common(to, t, x, above, t->quantile_s,
                     (double)score_count_below(t->sorted_ln, n, x, true) / (double)n);
}

struct state_scores tally_end(struct tally *t)
{
    double n = (double)(t->n ? t->n : 1), mean = t->pit / n, ks = 0;
    struct state_scores s = {.logs_ln = t->logs / n,
                             .crps_ln = t->crps_ln / n,
                             .crps_ms = t->crps_ms / n,
                             .brier = t->brier / n,
                             .pit_mean = mean,
                             .pit_var12 = 12 * (t->pit2 / n - mean * mean),
                             .mae_ms = t->mae / n,
                             .n = t->n};

    for (int i = 0; i < 3; i++)
        s.pinball_ms[i] = t->pinball[i] / n;
    stat_sort(t->pits, t->n);
    for (size_t i = 0; i < t->n; i++)
        ks = fmax(ks, fmax(t->pits[i] - (double)i / n, (double)(i + 1) / n - t->pits[i]));
    s.pit_ks = ks;
    free(t->pits);
    return s;
}

static double score_half_gini(const double *sorted, size_t n)
{
    double s = 0, d = (double)n;

    for (size_t i = 0; i < n; i++)
        s += (2 * (double)(i + 1) - d - 1) * sorted[i];
    return s / (d * d);
}

static double *score_running_sums(const double *v, size_t n)
{
    double *sum = wr_alloc((n + 1) * sizeof *sum);

    sum[0] = 0;
    for (size_t i = 0; i < n; i++)
        sum[i + 1] = sum[i] + v[i];
    return sum;
}

void trial_init(struct trial *t, const struct state_series *s, double *x, size_t train)
{
    assert(train && train <= s->n);
    *t = (struct trial){.t = s->t, .x = x, .n = s->n, .train = train};
    t->sorted_ln = wr_alloc((train + 1) * sizeof *t->sorted_ln);
    t->sorted_s = wr_alloc((train + 1) * sizeof *t->sorted_s);
    for (size_t i = 0; i < s->n; i++)
        x[i] = log(s->latency[i]);
    memcpy(t->sorted_ln, x, train * sizeof *x);
    memcpy(t->sorted_s, s->latency, train * sizeof *x);
    stat_sort(t->sorted_ln, train);
    stat_sort(t->sorted_s, train);
    t->prefix_ln = score_running_sums(t->sorted_ln, train);
    t->prefix_s = score_running_sums(t->sorted_s, train);
    t->half_gini_ln = score_half_gini(t->sorted_ln, train);
    t->half_gini_s = score_half_gini(t->sorted_s, train);
    t->threshold = log(stat_quantile(t->sorted_s, train, SCORE_SLOW));
    t->bandwidth = stat_kde_bandwidth(t->sorted_ln, train, STAT_NRD0);
    for (int i = 0; i < 3; i++)
        t->quantile_s[i] = stat_quantile(t->sorted_s, train, taus[i]);
}

void trial_fini(struct trial *t)
{
    free(t->sorted_s);
    free(t->sorted_ln);
    free(t->prefix_s);
    free(t->prefix_ln);
}
