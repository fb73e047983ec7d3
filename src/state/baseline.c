/* baseline.c -- forecasters that need no hidden states: what a model must beat. */
#include <math.h>

#include "score_priv.h"
#include "stat/moments.h"

enum { WINDOW = 60 };            /* observations of the moving window */
#define BASELINE_NOT_ZERO 1e-9   /* spread of a constant series: its density must be finite */
#define BASELINE_LEAST_SD 0.02   /* of a window; as for the model, 2 % of a latency */
#define BASELINE_MOST_PHI 0.9999 /* of the autoregression: stationary */

static double baseline_sd_of(const double *x, size_t n)
{
    double m = stat_mean(x, n), s = 0;

    for (size_t i = 0; i < n; i++)
        s += (x[i] - m) * (x[i] - m);
    return fmax(sqrt(s / (double)n), BASELINE_NOT_ZERO);
}

static void baseline_one_normal(struct hmm_mix *ret, double mu, double sd)
{
    ret->n = 0;
    hmm_mix_add(ret, 1, mu, sd);
}

static void baseline_marginal_prepare(double p[4], const struct trial *t, int k, double *scratch)
{
    (void)k;
    (void)scratch;
    p[0] = stat_mean(t->x, t->train);
    p[1] = baseline_sd_of(t->x, t->train);
}

static void baseline_marginal_predict(struct hmm_mix *ret, const double p[4], const struct trial *t,
                                      size_t i, int k, const double *scratch)
{
    (void)t;
    (void)i;
    (void)k;
    (void)scratch;
    baseline_one_normal(ret, p[0], p[1]);
}

/* The last value, as far off as k steps were in training. */
static void baseline_last_prepare(double p[4], const struct trial *t, int k, double *scratch)
{
    size_t n = t->train - (size_t)k;

    for (size_t i = 0; i < n; i++)
        scratch[i] = t->x[i + (size_t)k] - t->x[i];
    p[0] = baseline_sd_of(scratch, n);
}

static void baseline_last_predict(struct hmm_mix *ret, const double p[4], const struct trial *t,
                                  size_t i, int k, const double *scratch)
{
    (void)scratch;
    baseline_one_normal(ret, t->x[i - (size_t)k], p[0]);
}

static double baseline_ewma_run(double *level, const struct trial *t, int k, double alpha)
{
    double m = t->x[0], s = 0;

    for (size_t i = 0; i < t->n; i++)
        level[i] = m += alpha * (t->x[i] - m);
    for (size_t i = (size_t)k; i < t->train; i++) {
        double e = t->x[i] - level[i - (size_t)k];

        s += e * e;
    }
    return s / (double)(t->train - (size_t)k);
}

/* The moving average that erred least in training. */
static void baseline_ewma_prepare(double p[4], const struct trial *t, int k, double *scratch)
{
    static const double alphas[] = {0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9};
    double best = INFINITY;

    for (size_t a = 0; a < sizeof alphas / sizeof alphas[0]; a++) {
        double mse = baseline_ewma_run(scratch, t, k, alphas[a]);

        if (mse < best) {
            best = mse;
            p[3] = alphas[a];
        }
    }
    p[0] = fmax(sqrt(baseline_ewma_run(scratch, t, k, p[3])), BASELINE_NOT_ZERO);
}

static void baseline_ewma_predict(struct hmm_mix *ret, const double p[4], const struct trial *t,
                                  size_t i, int k, const double *level)
{
    (void)t;
    baseline_one_normal(ret, level[i - (size_t)k], p[0]);
}

static void baseline_ar1_prepare(double p[4], const struct trial *t, int k, double *scratch)
{
    double m = stat_mean(t->x, t->train), xy = 0, xx = 0;
    size_t n = t->train - 1;

    for (size_t i = 0; i < n; i++) {
        xy += (t->x[i] - m) * (t->x[i + 1] - m);
        xx += (t->x[i] - m) * (t->x[i] - m);
    }
    double phi = fmin(fmax(xx > 0 ? xy / xx : 0, -BASELINE_MOST_PHI), BASELINE_MOST_PHI);

    for (size_t i = 0; i < n; i++)
        scratch[i] = t->x[i + 1] - m - phi * (t->x[i] - m);
    p[0] = m;
    p[1] = pow(phi, k);
    p[2] = baseline_sd_of(scratch, n) * sqrt((1 - pow(phi, 2 * k)) / (1 - phi * phi));
}

static void baseline_ar1_predict(struct hmm_mix *ret, const double p[4], const struct trial *t,
                                 size_t i, int k, const double *scratch)
{
    (void)scratch;
    baseline_one_normal(ret, p[0] + p[1] * (t->x[i - (size_t)k] - p[0]),
                        fmax(p[2], BASELINE_NOT_ZERO));
}

static void baseline_window_prepare(double p[4], const struct trial *t, int k, double *scratch)
{
    (void)p;
    (void)t;
    (void)k;
    (void)scratch;
}

static void baseline_window_predict(struct hmm_mix *ret, const double p[4], const struct trial *t,
                                    size_t i, int k, const double *scratch)
{
    size_t to = i - (size_t)k + 1, from = to > WINDOW ? to - WINDOW : 0;

    (void)p;
    (void)scratch;
    baseline_one_normal(ret, stat_mean(t->x + from, to - from),
                        fmax(baseline_sd_of(t->x + from, to - from), BASELINE_LEAST_SD));
}

const struct simple simple_table[] = {
    {"marginal_lognormal", baseline_marginal_prepare, baseline_marginal_predict},
    {"last_value_rw", baseline_last_prepare, baseline_last_predict},
    {"ewma", baseline_ewma_prepare, baseline_ewma_predict},
    {"ar1", baseline_ar1_prepare, baseline_ar1_predict},
    {"window60_lognormal", baseline_window_prepare, baseline_window_predict},
    {.name = NULL},
};
